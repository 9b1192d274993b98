//! Notices: what was done or why it failed, at the bottom of the screen for a few seconds.

use std::time::Duration;

use ralph_run::RunKind;

use super::Desk;
use crate::input::Input;

/// Sixty words, in 400 columns.
fn long_reason() -> String {
    let words: Vec<String> = (10..56).map(|number| format!("word{number}")).collect();
    words.join(" ")
}

#[test]
fn a_notice_is_shown_for_a_few_seconds() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.input(Input::Notice("copied\u{1b}[2J".to_owned()));
    assert!(desk.shows("copied"));
    let tick = desk.app.next_tick(desk.now).unwrap();
    assert!(tick <= desk.now.instant + Duration::from_secs(4));
    desk.wait(4_000);
    desk.input(Input::Tick);
    assert!(!desk.shows("copied"));
}

#[test]
fn a_long_notice_has_the_rows_and_the_time_that_it_needs() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.input(Input::Notice(long_reason()));
    let screen = desk.screen(80, 24);
    for number in 10..46 {
        assert!(screen.contains(&format!("word{number}")), "{number}: {screen}");
    }
    assert_eq!(screen.lines().count(), 24);
    desk.wait(9_000);
    desk.input(Input::Tick);
    assert!(desk.screen(80, 24).contains("word10"));
    desk.wait(1_000);
    desk.input(Input::Tick);
    assert!(!desk.screen(80, 24).contains("word10"));
}

#[test]
fn a_notice_covers_no_part_of_a_request() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.size = (60, 15);
    desk.ask("a");
    desk.settle();
    let before = desk.screen(60, 15);
    let panel: Vec<&str> = before
        .lines()
        .filter(|line| line.starts_with(['│', '┌', '└']))
        .collect();
    assert!(panel.len() > 3, "{before}");
    desk.input(Input::Notice("a short one".to_owned()));
    let with_notice = desk.screen(60, 15);
    assert!(
        panel.iter().all(|line| with_notice.contains(line)),
        "{with_notice}"
    );
    desk.input(Input::Notice(long_reason()));
    let with_notice = desk.screen(60, 15);
    assert!(with_notice.contains("y once"), "{with_notice}");
    assert!(
        with_notice.lines().next().unwrap().contains("Fix it."),
        "{with_notice}"
    );
}

#[test]
fn a_notice_is_gone_when_another_program_had_the_terminal() {
    let mut desk = Desk::started(RunKind::Loop);
    desk.press("W");
    assert!(desk.shows("preparing the transcript"));
    desk.input(Input::Resumed);
    assert!(!desk.shows("preparing the transcript"));
}
