//! The terminal UI over runs that are damaged, replaced, of another version or without a runner, and on a full disk: a
//! clear line, and a terminal that is restored.

use std::fs;
use std::path::PathBuf;

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use test_support::{FUTURE_RUN, future_journal, future_run_file};

use crate::stage::{Ran, Stage, says, success, works};
use crate::terminal::Terminal;

/// A run of another version of ralph.
fn future(format_version: u32) -> Stage {
    let stage = Stage::empty();
    let directory = stage.path("state/ralph/runs").join(FUTURE_RUN);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("journal.ndjson"), future_journal(format_version)).unwrap();
    fs::write(directory.join("run.json"), future_run_file()).unwrap();
    stage
}

fn ended() -> Stage {
    let stage = Stage::new(&says("All is well."));
    assert_eq!(stage.run(&["--once"]).code, Some(0));
    stage
}

fn attach(stage: &Stage) -> Terminal {
    Terminal::ralph(stage, &["attach", "latest", "--tui"])
}

fn leave(mut terminal: Terminal) {
    terminal.press("q");
    terminal.wait();
    terminal.wait_until("restored", |terminal| !terminal.is_alternate());
    assert_eq!(format!("{:?}", terminal.mode()), terminal.initial_mode());
    assert!(!terminal.has_screen_modes());
}

/// A run that works until the file exists.
fn working() -> (Stage, PathBuf, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let go = directory.path().join("go");
    let script = works()
        .wait_for_file(go.clone())
        .emit(success("LOOP_COMPLETE"))
        .read_to_end();
    (Stage::new(&script), go, directory)
}

#[test]
fn an_ambiguous_run_is_the_error_of_attach() {
    let stage = Stage::new(&says("All is well."));
    for _ in 0..2 {
        stage.run(&["--once"]);
    }
    // Ids begin with their date.
    let plain = Ran::of(&stage.ralph(&["attach", "20"]).output().unwrap());
    assert!(plain.stderr.contains("20"), "{}", plain.stderr);
    let mut terminal = Terminal::ralph(&stage, &["attach", "20", "--tui"]);
    assert_eq!(terminal.wait().code(), plain.code);
    let first = plain.stderr.lines().next().unwrap_or_default().to_owned();
    terminal.wait_until("explained", |terminal| {
        terminal.written().replace(['\r', '\n'], "").contains(&first)
    });
    assert!(!terminal.written().contains("?1049h"));
}

#[test]
fn a_newer_format_says_to_upgrade() {
    let stage = future(2);
    let terminal = Terminal::ralph(&stage, &["attach", FUTURE_RUN, "--tui"]);
    terminal.wait_for("Upgrade ralph to read it.");
    assert!(!terminal.screen().contains("All is well."));
    leave(terminal);
}

#[test]
fn records_of_unknown_kinds_are_named_and_the_others_are_shown() {
    let stage = future(1);
    let terminal = Terminal::ralph(&stage, &["attach", FUTURE_RUN, "--tui"]);
    terminal.wait_for("All is well.");
    terminal.wait_for("unknown record `dream`");
    leave(terminal);
}

#[test]
fn lines_that_are_not_records_or_not_utf_8_are_counted_and_the_others_are_shown() {
    let stage = ended();
    let path = stage.last_run().join("journal.ndjson");
    let journal = fs::read(&path).unwrap();
    let first = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut damaged = journal[..first].to_vec();
    damaged.extend_from_slice(b"not a record\n\xff\xfe\x80\n{\"seq\":\n");
    damaged.extend_from_slice(&journal[first..]);
    fs::write(&path, damaged).unwrap();
    let mut terminal = attach(&stage);
    terminal.wait_for("All is well.");
    terminal.press("g");
    terminal.wait_for("of the journal is not a record");
    leave(terminal);
}

#[test]
fn a_journal_that_is_replaced_under_an_open_view_is_reported() {
    let (stage, go, _directory) = working();
    let terminal = Terminal::ralph(&stage, &["run", "-p", "Work.", "--tui"]);
    terminal.wait_for("Working.");
    let path = stage.last_run().join("journal.ndjson");
    let copy = path.with_extension("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    terminal.wait_for("open the run again");
    assert!(terminal.screen().contains("Working."), "{}", terminal.screen());
    fs::write(&go, "").unwrap();
    stage.wait_for_end();
    leave(terminal);
}

#[test]
fn a_journal_that_is_cut_off_under_an_open_view_is_reported() {
    let (stage, go, _directory) = working();
    let terminal = Terminal::ralph(&stage, &["run", "-p", "Work.", "--tui"]);
    terminal.wait_for("Working.");
    let path = stage.last_run().join("journal.ndjson");
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(10)
        .unwrap();
    terminal.wait_for("open the run again");
    fs::write(&go, "").unwrap();
    stage.wait_for_end();
    leave(terminal);
}

#[test]
fn a_runner_that_is_killed_in_mid_view_is_reported() {
    let (stage, _go, _directory) = working();
    let mut terminal = Terminal::ralph(&stage, &["run", "-p", "Work.", "--tui"]);
    terminal.wait_for("Working.");
    let runner = stage.run_file()["runner"]["pid"].as_i64().unwrap();
    let runner = Pid::from_raw(i32::try_from(runner).unwrap()).unwrap();
    kill_process(runner, Signal::KILL).unwrap();
    terminal.wait_for("the run was cut off");
    terminal.press("X");
    terminal.wait_for("the run has ended");
    leave(terminal);
}

#[test]
fn a_full_disk_is_reported_and_leaves_no_half_of_an_export() {
    let stage = ended();
    // Without this the system kills who writes too much, instead of telling.
    let mut terminal = Terminal::shell(&stage);
    terminal.wait_for("shell>");
    terminal.press(concat!(
        "trap '' XFSZ; exec ",
        env!("CARGO_BIN_EXE_ralph"),
        " attach latest --tui\n"
    ));
    terminal.wait_for("All is well.");
    let full = Rlimit {
        current: Some(16),
        maximum: None,
    };
    prlimit(Some(terminal.pid()), Resource::Fsize, full).unwrap();
    terminal.press("w");
    terminal.wait_for("cannot write `ralph-");
    let names = fs::read_dir(stage.workspace()).unwrap();
    let names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(!names.iter().any(|name| name.ends_with(".md")), "{names:?}");
    terminal.press("q");
    terminal.wait();
    terminal.wait_until("restored", |terminal| !terminal.is_alternate());
}

#[test]
fn without_a_server_the_key_for_the_browser_says_how_to_start_one() {
    let stage = ended();
    let mut terminal = attach(&stage);
    terminal.wait_for("All is well.");
    terminal.press("B");
    terminal.wait_for("start one with `ralph serve`");
    leave(terminal);
}

#[test]
fn a_run_that_is_removed_leaves_the_home_screen_usable() {
    let stage = ended();
    let mut terminal = Terminal::ralph(&stage, &[]);
    terminal.wait_for("completed");
    // Whoever removes it writes nothing that the screen could read.
    fs::remove_dir_all(stage.last_run()).unwrap();
    terminal.press("\r");
    terminal.wait_until("told", |terminal| {
        let screen = terminal.screen();
        screen.contains("does not exist any more") || screen.contains("There are no runs yet")
    });
    leave(terminal);
}
