//! Layers of Escape and Ctrl-C, text fields, notices, ticks, and what goes wrong.

use std::time::Duration;

use ralph_run::RunKind;
use ralph_run::control::{ControlCommand, SendMode};
use serde_json::json;
use terminal_input::{Background, Key, Mouse, MouseAction};

use super::{Desk, RUN, command, run_of};
use crate::bindings::Keymap;
use crate::effect::Effect;
use crate::input::{Input, MouseMode};
use crate::theme::ColorScheme;

fn send(text: &str, mode: SendMode) -> Effect {
    let text = text.to_owned();
    command(ControlCommand::Send { text, mode })
}

#[test]
fn ctrl_c_twice_within_a_second_leaves_and_the_run_continues() {
    let mut desk = Desk::started(RunKind::Loop);
    assert_eq!(desk.press("\u{3}"), []);
    assert!(desk.shows("press Ctrl-C again within 1 s to leave; the run continues"));
    assert_eq!(desk.press("\u{3}"), [Effect::Quit]);
    assert_eq!(desk.app.continuing_run(), Some(RUN));
    desk.wait(1_000);
    assert_eq!(desk.press("\u{3}"), []);
    desk.wait(1_000);
    assert_eq!(desk.press("\u{3}"), []);
    // Another key in between starts over.
    assert_eq!(desk.press("j\u{3}"), []);
}

#[test]
fn ctrl_c_cancels_fields_and_dialogs_one_at_a_time() {
    for open in ["m", "/", "X", "+", "L", "p", "Q", "?", "x"] {
        let mut desk = Desk::started(RunKind::Loop);
        desk.press(open);
        assert_eq!(desk.press("\u{3}"), [], "{open}");
        let now = desk.now;
        assert!(!run_of(&mut desk).takes_all_keys(now), "{open}");
        assert!(!desk.shows("Ctrl-C again"), "{open}");
        assert_eq!(desk.press("\u{3}\u{3}"), [Effect::Quit], "{open}");
    }
}

#[test]
fn escape_closes_a_field_then_the_search_then_the_run() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("/abc\nmhello");
    assert_eq!(desk.press("\u{1b}"), []);
    assert_eq!(desk.press("\u{1b}"), []);
    assert_eq!(run_of(&mut desk).view.hits(), None);
    desk.press("F");
    assert_eq!(desk.press("\u{1b}"), []);
    assert_eq!(run_of(&mut desk).view.filter(), crate::transcript::Filter::All);
    assert_eq!(desk.press("\u{1b}"), [Effect::Close]);
    assert!(desk.app.run_mut().is_none());
}

#[test]
fn text_fields_take_every_key() {
    let mut desk = Desk::started(RunKind::Loop);
    assert_eq!(desk.press("mq?XjG/+ y"), []);
    assert_eq!(desk.key(Key::Control('l')), []);
    assert_eq!(desk.key(Key::Control('z')), []);
    assert_eq!(desk.key(Key::Paste("\nq".to_owned())), []);
    assert_eq!(desk.press("\n"), [send("q?XjG/+ y\nq", SendMode::Steer)]);
    assert_eq!(desk.key(Key::Control('l')), [Effect::Redraw]);
    assert_eq!(desk.key(Key::Control('z')), [Effect::Suspend]);
}

#[test]
fn a_message_is_steered_or_queued_and_comes_back_if_it_is_refused() {
    let mut desk = Desk::started(RunKind::Loop);
    let sent = desk.press("Mlater\n");
    assert_eq!(sent, [send("later", SendMode::Queue)]);
    assert_eq!(desk.press("m\tlater too\n"), [send("later too", SendMode::Queue)]);
    let refused = ControlCommand::Send {
        text: "later".to_owned(),
        mode: SendMode::Queue,
    };
    desk.reply(refused.clone(), Err("the agent takes no messages".to_owned()));
    assert!(desk.shows("refused: the agent takes no messages"));
    assert_eq!(run_of(&mut desk).composer.draft(), "later");
    assert!(run_of(&mut desk).composer.is_open);
    // What was typed meanwhile is worth more.
    desk.press("!");
    desk.reply(refused, Err("no".to_owned()));
    assert_eq!(desk.press("\n"), [send("later!", SendMode::Queue)]);
}

#[test]
fn a_refused_message_does_not_take_the_keys_of_an_answer() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("mhello\n");
    desk.ask("a");
    desk.settle();
    desk.press("nno");
    let refused = ControlCommand::Send {
        text: "hello".to_owned(),
        mode: SendMode::Steer,
    };
    desk.reply(refused, Err("no".to_owned()));
    assert!(!run_of(&mut desk).composer.is_open);
    assert_eq!(run_of(&mut desk).composer.draft(), "hello");
    assert!(desk.shows("Reason (optional)"));
}

#[test]
fn the_line_of_a_conversation_stays_open() {
    let mut desk = Desk::started(RunKind::Session);
    assert_eq!(
        desk.press("mone\ntwo\n"),
        [send("one", SendMode::Steer), send("two", SendMode::Steer)]
    );
}

#[test]
fn clocks_tick_once_a_second_while_the_run_is_alive_and_never_after() {
    let mut desk = Desk::started(RunKind::Loop);
    let second = desk.now.instant + Duration::from_secs(1);
    assert_eq!(desk.app.next_tick(desk.now), Some(second));
    desk.wait(300);
    assert_eq!(desk.app.next_tick(desk.now), Some(second));
    desk.run_event(
        "run_ended",
        &json!({"reason": "completed", "exit_code": 0, "iterations": 1, "totals": {}}),
    );
    assert_eq!(desk.app.next_tick(desk.now), None);
}

#[test]
fn nothing_ticks_before_a_run_is_loaded_or_after_its_runner_is_gone() {
    let (app, _) = crate::app::App::new(crate::theme::Theme::default(), Some(RUN.to_owned()));
    let mut desk = Desk::started(RunKind::Loop);
    assert_eq!(app.next_tick(desk.now), None);
    desk.input(Input::RunnerGone { run: RUN.to_owned() });
    assert_eq!(desk.app.next_tick(desk.now), None);
    assert!(desk.shows("the run was cut off"));
    assert_eq!(desk.press("X"), []);
    assert!(desk.shows("the run has ended"));
}

#[test]
fn a_request_is_a_deadline_until_it_is_armed() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    let armed = desk.now.instant + Duration::from_millis(425);
    assert_eq!(desk.app.next_tick(desk.now), Some(armed));
    desk.screen(80, 24);
    assert_eq!(desk.app.next_tick(desk.now), Some(armed));
    desk.wait(425);
    let second = desk.now.instant + Duration::from_millis(575);
    assert_eq!(desk.app.next_tick(desk.now), Some(second));
}

#[test]
fn a_journal_that_cannot_be_read_is_reported_and_what_is_loaded_stays() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.input(Input::LoadFailed {
        run: RUN.to_owned(),
        reason: "line 7 is not JSON\u{1b}[31m".to_owned(),
    });
    assert!(desk.shows("line 7 is not JSON"));
    assert!(desk.shows("Claude Code"));
    assert_eq!(desk.app.next_tick(desk.now), None);
    desk.input(Input::LoadFailed {
        run: "another".to_owned(),
        reason: "no".to_owned(),
    });
    assert!(desk.shows("line 7"));
}

#[test]
fn the_first_click_after_focus_only_focuses() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.screen(80, 24);
    let click = Key::Mouse(Mouse {
        action: MouseAction::Press,
        column: 3,
        row: 4,
    });
    desk.key(Key::Unfocused);
    desk.key(Key::Focused);
    desk.key(click.clone());
    assert_eq!(run_of(&mut desk).view.selected(), None);
    desk.key(click);
    assert!(run_of(&mut desk).view.selected().is_some());
}

#[test]
fn the_clock_of_a_window_without_focus_is_slow() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.screen(80, 24);
    desk.key(Key::Unfocused);
    let due = desk.app.next_tick(desk.now).unwrap();
    assert!(due >= desk.now.instant + Duration::from_secs(10));
    desk.key(Key::Focused);
    let due = desk.app.next_tick(desk.now).unwrap();
    assert!(due <= desk.now.instant + Duration::from_secs(1));
}

#[test]
fn a_drag_says_how_text_is_selected_and_the_mouse_can_be_left_to_the_terminal() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.screen(80, 24);
    let (action, column, row) = (MouseAction::Drag, 3, 4);
    desk.key(Key::Mouse(Mouse { action, column, row }));
    assert!(desk.shows("hold shift to select text"));
    assert_eq!(desk.press("S"), [Effect::SetMouse(MouseMode::Wheel)]);
    assert_eq!(desk.press("S"), [Effect::SetMouse(MouseMode::Off)]);
    assert_eq!(desk.press("S"), [Effect::SetMouse(MouseMode::Full)]);
}

#[test]
fn a_changed_key_is_used_and_named_by_footer_and_help() {
    let mut desk = Desk::started(RunKind::Loop);
    let changes = [("run.stop".to_owned(), vec!["ctrl-x".to_owned()])];
    desk.app
        .set_keymap(Keymap::with_changes(&changes.into_iter().collect()).unwrap());
    assert!(desk.screen(120, 40).contains("ctrl-x stop"));
    desk.press("X");
    assert!(!desk.shows("Stop the run?"));
    desk.key(Key::Control('x'));
    assert!(desk.shows("Stop the run?"));
    desk.press("\u{1b}?");
    assert!(desk.screen(120, 200).contains("ctrl-x            Stop the run."));
}

#[test]
fn the_theme_follows_the_terminal_only_if_it_may() {
    let mut desk = Desk::started(RunKind::Loop);
    let before = desk.app.theme();
    desk.key(Key::Background(Background::Light));
    assert_eq!(desk.app.theme(), before);
    desk.app.follow_background();
    desk.key(Key::Background(Background::Light));
    assert_eq!(desk.app.theme().scheme, ColorScheme::Light);
}

#[test]
fn a_click_on_a_request_answers_nothing() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    desk.screen(80, 24);
    for row in 0..24 {
        for column in 0..80 {
            let action = MouseAction::Press;
            let click = Key::Mouse(Mouse { action, column, row });
            assert_eq!(desk.key(click), []);
        }
    }
}

#[test]
fn a_click_at_the_moment_when_a_request_opens_answers_nothing() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.screen(80, 24);
    // The request has come, and the screen that was clicked does not show it yet.
    desk.ask("a");
    let (action, column, row) = (MouseAction::Press, 3, 20);
    assert_eq!(desk.key(Key::Mouse(Mouse { action, column, row })), []);
    desk.screen(80, 24);
    assert_eq!(desk.key(Key::Mouse(Mouse { action, column, row })), []);
    assert!(desk.shows("Allow Bash: cargo test?"));
}

#[test]
fn a_terminal_that_is_too_small_says_so_until_it_grows() {
    let mut desk = Desk::started(RunKind::Loop);
    assert!(desk.screen(59, 20).contains("too small"));
    assert!(desk.screen(60, 14).contains("too small"));
    assert!(!desk.screen(60, 15).contains("too small"));
    desk.screen(1, 1);
    desk.screen(0, 0);
}

#[test]
fn an_oversized_paste_is_reported() {
    let mut desk = Desk::started(RunKind::Loop);
    assert_eq!(desk.key(Key::OversizedPaste), []);
    assert!(desk.shows("larger than 4 MiB"));
}

#[test]
fn the_arrow_keys_bring_back_what_was_sent() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("mfirst\nmsecond\nmdraft");
    desk.key(Key::Up);
    desk.key(Key::Up);
    assert_eq!(run_of(&mut desk).composer.draft(), "first");
    desk.key(Key::Down);
    assert_eq!(desk.press("!\n"), [send("second!", SendMode::Steer)]);
    desk.press("m");
    desk.key(Key::Up);
    desk.key(Key::Down);
    assert_eq!(run_of(&mut desk).composer.draft(), "");
}

#[test]
fn the_footer_names_only_keys_that_do_something() {
    let mut desk = Desk::started(RunKind::Loop);
    let footer = |desk: &mut Desk| desk.screen(250, 40).lines().last().unwrap_or_default().to_owned();
    let working = footer(&mut desk);
    for hint in [
        "m message",
        "X stop",
        "x interrupt",
        "+ raise limits",
        "f follow",
        "e error",
    ] {
        assert!(working.contains(hint), "{hint}: {working}");
    }
    for hint in ["Q messages", "n next hit"] {
        assert!(!working.contains(hint), "{hint}: {working}");
    }
    desk.press("/fix\n");
    assert!(footer(&mut desk).contains("n next hit"));
    // These keys answer the request.
    desk.ask("a");
    desk.settle();
    let asking = footer(&mut desk);
    assert!(
        !asking.contains("e error") && !asking.contains("n next hit"),
        "{asking}"
    );
    desk.close("a", None);
    desk.wait(5_000);
    let ended = json!({"reason": "completed", "exit_code": 0, "iterations": 1, "totals": {}});
    desk.run_event("run_ended", &ended);
    desk.press("\u{1b}G");
    let ended = footer(&mut desk);
    for hint in [
        "message",
        "stop",
        "interrupt",
        "raise limits",
        "model",
        "permissions",
        "follow",
    ] {
        assert!(!ended.contains(hint), "{hint}: {ended}");
    }
    assert!(ended.contains("/ search") && ended.contains("q quit"), "{ended}");
}

#[test]
fn the_title_says_first_whether_somebody_is_needed() {
    let mut desk = Desk::started(RunKind::Loop);
    assert!(
        desk.app.title().ends_with("run-1 Fix it. · ralph"),
        "{}",
        desk.app.title()
    );
    desk.ask("a");
    assert_eq!(desk.app.title(), "waiting · run-1 Fix it. · ralph");
    desk.input(Input::RunnerGone { run: RUN.to_owned() });
    assert_eq!(desk.app.title(), "lost · run-1 Fix it. · ralph");
}

#[test]
fn a_search_goes_on_with_the_clock_and_finds_what_is_new() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.agent("text_block", &json!({"item": "a", "text": "a needle"}));
    desk.screen(80, 24);
    desk.press("/needle\n");
    assert!(desk.shows("hit 1/1"));
    desk.agent("text_block", &json!({"item": "b", "text": "another needle"}));
    let now = desk.now;
    let due = desk.app.next_tick(now).unwrap();
    assert!(due <= now.instant + Duration::from_millis(250));
    desk.wait(250);
    desk.input(Input::Tick);
    assert!(desk.shows("hit 1/2"));
}

#[test]
fn a_request_is_armed_again_after_another_program_had_the_terminal() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.ask("a");
    desk.settle();
    desk.input(Input::Resumed);
    assert_eq!(desk.press("y"), []);
    desk.settle();
    assert_eq!(desk.press("y").len(), 1);
}

#[test]
fn a_tool_that_ran_when_the_runner_was_killed_does_not_count_on() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.agent(
        "tool_started",
        &json!({"item": "t", "name": "Bash", "kind": "execute", "state": "running", "subject": "make"}),
    );
    desk.wait(5_000);
    assert!(desk.shows("Bash: make  5s"));
    desk.input(Input::RunnerGone { run: RUN.to_owned() });
    desk.wait(60_000);
    assert!(desk.shows("Bash: make  0s"), "{}", desk.screen(100, 40));
}

#[test]
fn diffs_side_by_side_say_how_much_room_they_need() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.screen(80, 24);
    desk.press("|");
    assert!(
        desk.screen(80, 24)
            .contains("once the transcript has 120 columns")
    );
    desk.press("|");
    assert!(!desk.screen(80, 24).contains("120 columns"));
    desk.screen(200, 60);
    desk.press("|");
    assert!(!desk.screen(200, 60).contains("120 columns"));
}
