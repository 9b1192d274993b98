//! Odd output arrives whole, or as an error with its place.

use agent_api::{Body, ErrorClass, Outcome, Position, RawRef, RunOptions};
use agent_process::Limits;

use super::stage::{ending, names, shell, shell_with, text};

#[tokio::test]
async fn partial_line_at_eof_is_delivered() {
    let (events, completed) = ending(shell("printf 'one\\ntwo'").await).await;
    assert_eq!(text(&events), "one\ntwo");
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn carriage_returns_before_newlines_are_no_text() {
    let (events, _) = ending(shell("printf 'one\\r\\ntwo\\r\\n'").await).await;
    assert_eq!(text(&events), "one\ntwo\n");
}

#[tokio::test]
async fn an_overlong_line_is_an_error_with_its_place_and_the_next_line_survives() {
    let mut options = RunOptions::new();
    options.limits = Some(Limits::default().max_line_bytes(10));
    let (events, completed) =
        ending(shell_with("echo one; echo SECRET-12345; echo two", options).await).await;
    assert_eq!(text(&events), "one\ntwo\n");
    let error = events.iter().find_map(|event| match &event.body {
        Body::Error(error) => Some(error),
        _ => None,
    });
    let error = error.expect("there is an error");
    assert_eq!(error.class, ErrorClass::Protocol);
    assert_eq!(
        error.position,
        Some(Position {
            line: 2,
            column: 1,
            offset: 4,
            length: 12
        })
    );
    assert!(!format!("{events:?}").contains("SECRET"));
    assert_eq!(completed.finished.line_errors, 1);
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn every_event_says_where_it_comes_from() {
    let (events, _) = ending(shell("echo one; echo two").await).await;
    assert_eq!(names(&events), ["delta", "delta", "text_block"]);
    let raw: Vec<_> = events.iter().map(|event| event.raw).collect();
    let place = |line, offset| {
        Some(RawRef {
            line,
            offset,
            length: 3,
        })
    };
    assert_eq!(raw, [place(1, 0), place(2, 4), None]);
    assert!(events.iter().all(|event| event.agent_kind.as_str() == "custom"));
}

#[tokio::test]
async fn offsets_count_a_byte_order_mark() {
    let (events, _) = ending(shell("printf '\\357\\273\\277one\\ntwo\\n'").await).await;
    assert_eq!(text(&events), "one\ntwo\n");
    let offsets: Vec<u64> = events
        .iter()
        .filter_map(|event| Some(event.raw?.offset))
        .collect();
    assert_eq!(offsets, [3, 7]);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_and_lose_nothing_else() {
    let (events, _) = ending(shell("printf 'a\\377b\\n'").await).await;
    assert_eq!(text(&events), "a\u{fffd}b\n");
}

#[tokio::test]
async fn lines_on_stderr_are_notices() {
    let (events, completed) = ending(shell("echo warning >&2; printf tail >&2; exit 1").await).await;
    let notices: Vec<&str> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Notice(notice) if notice.code == "stderr" => Some(notice.message.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(notices, ["warning", "tail"]);
    let message = completed.finished.error.unwrap().message;
    assert!(message.ends_with("warning\ntail"), "{message}");
}

#[tokio::test]
async fn a_flood_on_stderr_does_not_flood_the_events() {
    let script = "i=0; while [ $i -lt 3000 ]; do echo line >&2; i=$((i+1)); done";
    let (events, _) = ending(shell(script).await).await;
    assert!(events.len() <= 1_000, "{}", events.len());
}
