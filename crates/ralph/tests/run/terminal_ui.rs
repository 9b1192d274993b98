//! The doors of the terminal UI, and what it leaves behind: a terminal as it was, and runs that continue.

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::SpecialCodeIndex;
use test_support::wait_for;

use crate::stage::{Ran, Stage, success, works};
use crate::terminal::Terminal;

/// The title of the home screen.
const HOME_TITLE: &str = "\u{1b}]2;ralph\u{7}";

fn open_home(stage: &Stage) -> Terminal {
    let terminal = Terminal::ralph(stage, &[]);
    terminal.wait_until("open", |terminal| terminal.written().contains(HOME_TITLE));
    assert!(terminal.is_alternate());
    assert!(!terminal.has_echo());
    terminal
}

/// Modes of the line and of the screen are as before.
#[track_caller]
fn assert_restored(terminal: &Terminal) {
    terminal.wait_until("restored", |terminal| !terminal.is_alternate());
    assert_eq!(format!("{:?}", terminal.mode()), terminal.initial_mode());
    assert!(!terminal.has_screen_modes());
    let written = terminal.written();
    for mode in ["1000", "1002", "1004", "1006", "1049", "2004"] {
        let (on, off) = (format!("\u{1b}[?{mode}h"), format!("\u{1b}[?{mode}l"));
        assert!(written.rfind(&on) < written.rfind(&off), "mode {mode} is left on");
    }
}

#[test]
fn ralph_alone_opens_the_home_screen_and_q_leaves_it() {
    let stage = Stage::empty();
    let mut terminal = open_home(&stage);
    terminal.press("q");
    assert_eq!(terminal.wait().code(), Some(0));
    assert_restored(&terminal);
}

#[test]
fn the_terminal_is_restored_after_a_signal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let stage = Stage::empty();
        let mut terminal = open_home(&stage);
        kill_process(terminal.pid(), signal).unwrap();
        assert_eq!(terminal.wait().code(), Some(code));
        assert_restored(&terminal);
    }
}

#[test]
fn it_ends_with_its_terminal() {
    let stage = Stage::empty();
    let mut child = open_home(&stage).hang_up();
    wait_for("the end", || child.try_wait().unwrap());
}

#[test]
fn a_terminal_that_is_too_small_is_asked_to_grow_and_takes_no_keys() {
    let stage = Stage::empty();
    let mut terminal = open_home(&stage);
    terminal.resize(40, 10);
    terminal.wait_for("terminal is too small: 40×10");
    terminal.press("?");
    // Drawn after the key was taken.
    terminal.resize(41, 10);
    terminal.wait_for("41×10");
    terminal.resize(100, 30);
    terminal.wait_for("? help");
    assert!(!terminal.screen().contains("Keys"), "{}", terminal.screen());
    terminal.resize(59, 15);
    terminal.wait_for("too small");
    terminal.press("q");
    assert_eq!(terminal.wait().code(), Some(0));
    assert_restored(&terminal);
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back() {
    let stage = Stage::empty();
    let mut terminal = Terminal::shell(&stage);
    terminal.wait_for("shell>");
    terminal.press(concat!(env!("CARGO_BIN_EXE_ralph"), "\n"));
    terminal.wait_until("open", Terminal::is_alternate);
    terminal.wait_until("drawn", |terminal| terminal.written().contains(HOME_TITLE));
    terminal.press("\u{1a}");
    terminal.wait_until("suspended", |terminal| !terminal.is_alternate());
    assert!(!terminal.has_screen_modes());
    terminal.press("echo se''en\n");
    terminal.wait_for("seen");
    terminal.press("fg\n");
    terminal.wait_until("open again", |terminal| {
        terminal.is_alternate() && terminal.written().matches(HOME_TITLE).count() > 1
    });
    terminal.press("q");
    terminal.wait_until("left", |terminal| !terminal.is_alternate());
    terminal.press("echo do''ne\n");
    terminal.wait_for("done");
    assert!(!terminal.has_screen_modes());
}

#[test]
fn the_shell_goes_on_after_the_terminal_ui_was_killed() {
    let stage = Stage::empty();
    let mut terminal = Terminal::shell(&stage);
    terminal.wait_for("shell>");
    terminal.press(concat!(env!("CARGO_BIN_EXE_ralph"), "\n"));
    terminal.wait_until("drawn", |terminal| terminal.written().contains(HOME_TITLE));
    let shell = terminal.pid().as_raw_nonzero();
    let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    let ralph = children.split_whitespace().next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(ralph).unwrap(), Signal::KILL).unwrap();
    // A shell that reads 0 bytes from a terminal without `VMIN` ends, as after Ctrl-D.
    terminal.wait_until("killed", |terminal| terminal.written().contains("Killed"));
    terminal.press("echo sti''ll here\n");
    terminal.wait_until("alive", |terminal| terminal.written().contains("still here"));
    assert_eq!(terminal.mode().special_codes[SpecialCodeIndex::VMIN], 1);
    // The screen and the mouse are as they were left. Opening it again and leaving it restores them.
    assert!(terminal.is_alternate());
    terminal.press(concat!(env!("CARGO_BIN_EXE_ralph"), "\n"));
    terminal.wait_until("open again", |terminal| {
        terminal.written().matches(HOME_TITLE).count() > 1
    });
    terminal.press("q");
    terminal.wait_until("left", |terminal| !terminal.is_alternate());
    assert!(!terminal.has_screen_modes());
}

#[test]
fn without_a_terminal_there_is_help_as_before() {
    let ran = Ran::of(&Stage::empty().ralph(&[]).output().unwrap());
    assert_eq!(ran.code, Some(64));
    assert!(ran.stderr.contains("Usage: ralph"), "{}", ran.stderr);
}

#[test]
fn a_terminal_that_cannot_show_it_gets_a_reason_and_help() {
    for (variables, reason) in [
        (("TERM", "dumb"), "cannot move its cursor"),
        (("ACCESSIBLE", "1"), "ACCESSIBLE is set"),
    ] {
        let stage = Stage::empty();
        let mut terminal = Terminal::ralph_with(&stage, &[], &[variables]);
        assert_eq!(terminal.wait().code(), Some(64));
        terminal.wait_until("explained", |terminal| {
            let written = terminal.written();
            written.contains(reason) && written.contains("Usage: ralph")
        });
        assert!(!terminal.written().contains("?1049h"));
    }
}

#[test]
fn an_unknown_run_is_the_error_of_attach() {
    let stage = Stage::empty();
    let mut terminal = Terminal::ralph(&stage, &["attach", "nope", "--tui"]);
    let code = terminal.wait().code();
    let plain = Ran::of(&stage.ralph(&["attach", "nope"]).output().unwrap());
    assert_eq!(code, plain.code);
    terminal.wait_until("explained", |terminal| {
        terminal.written().replace('\r', "").contains(plain.stderr.trim())
    });
    assert!(!terminal.written().contains("?1049h"));
}

#[test]
fn a_run_continues_when_its_terminal_ui_is_left_and_can_be_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let go = directory.path().join("go");
    let script = works()
        .wait_for_file(go.clone())
        .emit(success("LOOP_COMPLETE"))
        .read_to_end();
    let stage = Stage::new(&script);
    let mut terminal = Terminal::ralph(&stage, &["run", "-p", "Work.", "--tui"]);
    terminal.wait_for("Working.");
    terminal.press("q");
    assert_eq!(terminal.wait().code(), Some(0));
    assert_restored(&terminal);
    terminal.wait_for("continues; come back with `ralph attach");
    assert_eq!(stage.run_file()["ended_at"], serde_json::Value::Null);

    let mut terminal = Terminal::ralph(&stage, &["attach", "--tui"]);
    terminal.wait_for("Working.");
    std::fs::write(&go, "").unwrap();
    let ended = stage.wait_for_end();
    terminal.press("q");
    assert_eq!(
        terminal.wait().code(),
        ended["exit_code"]
            .as_i64()
            .and_then(|code| i32::try_from(code).ok())
    );
    assert_restored(&terminal);
    assert!(!terminal.screen().contains("continues"));
}

#[test]
fn without_a_terminal_a_run_with_the_terminal_ui_is_shown_on_the_console() {
    let stage = Stage::new(&works().emit(success("LOOP_COMPLETE")).read_to_end());
    let ran = stage.run(&["--tui"]);
    assert!(ran.stderr.contains("using the console"), "{}", ran.stderr);
    assert!(ran.stdout.contains("Working."), "{}", ran.stdout);
}
