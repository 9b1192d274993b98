//! However an agent misbehaves, a run has one honest end and says what to do.

use std::time::Duration;

use agent_api::{Body, ErrorClass, Limit, Outcome, RunRequest};
use serde_json::json;
use test_support::script::{Script, Signal};

use super::scripted::{
    PROMPT, ending, error_line, has_notice, initialized, names, options, play, play_with, prompted,
    result_line, run, stopped, text_chunk, update,
};

#[tokio::test]
async fn a_prompt_runs_and_the_agent_exits_when_its_input_ends() {
    let script = prompted()
        .emit_lines([text_chunk("Hel"), text_chunk("lo"), stopped(PROMPT, "end_turn")])
        .read_to_end();
    let (events, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert_eq!(finished.exit.code, Some(0));
    let names = names(&events);
    let expected = [
        "notice",
        "session_started",
        "turn_started",
        "delta",
        "delta",
        "text_block",
        "usage",
        "turn_finished",
    ];
    assert_eq!(names[..expected.len()], expected);
}

#[tokio::test]
async fn stop_reasons_are_outcomes() {
    for (reason, outcome) in [
        ("max_tokens", Outcome::LimitReached(Limit::Tokens)),
        ("max_turn_requests", Outcome::LimitReached(Limit::Turns)),
        ("refusal", Outcome::Refused),
        ("cancelled", Outcome::Interrupted),
        ("a_newer_word", Outcome::Failed),
    ] {
        let (_, finished) = run(&prompted().emit(stopped(PROMPT, reason)).read_to_end()).await;
        assert_eq!(finished.outcome, outcome, "{reason}");
    }
    let (_, finished) = run(&prompted().emit(result_line(PROMPT, &json!({}))).read_to_end()).await;
    assert_eq!(finished.error.unwrap().code, "no_stop_reason");
}

#[tokio::test]
async fn an_agent_that_stays_after_its_input_ended_is_stopped_and_has_succeeded() {
    let script = prompted().emit(stopped(PROMPT, "end_turn")).sleep_forever();
    let (_, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(finished.exit.was_stopped);
}

#[tokio::test]
async fn an_agent_that_dies_in_initialize_says_why_on_stderr() {
    let script = Script::new().read_line().stderr("Error: not logged in\n").exit(1);
    let (_, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Failed);
    let error = finished.error.unwrap();
    assert_eq!(
        (error.class, error.code.as_str()),
        (ErrorClass::Auth, "not_logged_in")
    );
    let (_, finished) = run(&Script::new().read_line().die(Signal::Kill)).await;
    assert_eq!(finished.outcome, Outcome::Crashed);
}

#[tokio::test]
async fn an_agent_that_never_answers_initialize_fails_with_advice() {
    // It exits when its input ends.
    let script = Script::new().read_to_end();
    let request = RunRequest::new("Go.").options(options());
    let limit = Duration::from_millis(300);
    let played = play_with(&script, request, |backend| backend.initialize_limit(limit)).await;
    let (events, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Failed);
    let error = completed.finished.error.unwrap();
    assert_eq!(error.code, "no_answer");
    assert!(
        error.message.contains("run it in a terminal"),
        "{}",
        error.message
    );
    assert!(names(&events).contains(&"turn_finished"));
}

#[tokio::test]
async fn an_agent_without_a_login_fails_with_the_hint_how_to_log_in() {
    let script = initialized(&json!({}))
        .read_line()
        .emit(error_line(2, -32000, "Authentication required"))
        .read_to_end();
    let (_, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Failed);
    let error = finished.error.unwrap();
    assert_eq!(
        (error.class, error.code.as_str()),
        (ErrorClass::Auth, "not_logged_in")
    );
    assert!(error.message.contains("to log in, "), "{}", error.message);
}

#[tokio::test]
async fn an_error_instead_of_an_answer_is_a_failed_turn() {
    let script = prompted()
        .emit(text_chunk("I wi"))
        .emit(error_line(PROMPT, 429, "Too many requests"))
        .read_to_end();
    let (events, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Failed);
    let error = finished.error.unwrap();
    assert_eq!(
        (error.class, error.http_status),
        (ErrorClass::RateLimit, Some(429))
    );
    assert!(error.is_retryable && finished.usage.is_partial);
    assert!(names(&events).contains(&"text_block"), "what was said stays");
}

#[tokio::test]
async fn an_agent_that_only_speaks_a_newer_protocol_is_refused() {
    let result = json!({"protocolVersion": 2, "capabilities": {}});
    let script = Script::new()
        .read_line()
        .emit(result_line(1, &result))
        .read_to_end();
    let (_, finished) = run(&script).await;
    assert_eq!(finished.error.unwrap().code, "protocol_version");
}

#[tokio::test]
async fn an_end_in_the_middle_of_a_turn_is_no_success() {
    let (events, finished) = run(&prompted().emit(text_chunk("I wi")).exit(0)).await;
    assert_eq!(finished.outcome, Outcome::NoResult);
    let is_aborted = events
        .iter()
        .any(|event| matches!(&event.body, Body::TextBlock(block) if block.is_aborted));
    assert!(is_aborted, "the text so far is kept");
    let (_, finished) = run(&prompted().exit(1)).await;
    assert_eq!(finished.outcome, Outcome::Crashed);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run", "kind": "execute"});
    let (events, finished) = run(&prompted().emit(update(&call)).close_stdout().read_to_end()).await;
    assert_eq!(
        finished.outcome,
        Outcome::TimedOut,
        "it closed its output and stayed"
    );
    assert!(names(&events).contains(&"tool_finished"), "open calls are closed");
}

#[tokio::test]
async fn a_banner_and_other_noise_before_the_messages_do_no_harm() {
    let script = Script::new().emit("  __\n (oo)  welcome").read_line();
    let script = script
        .emit(r#"loading…{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#)
        .read_line()
        .emit(result_line(2, &json!({"sessionId": "s1"})))
        .read_line()
        .emit_lines(["not json", "{\"half\":", "[1,2]", "{}", "{\"type\":\"odd\"}"])
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let (events, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(finished.line_errors >= 5, "{}", finished.line_errors);
    assert!(names(&events).contains(&"unknown"));
}

#[tokio::test]
async fn answers_with_a_wrong_id_and_second_answers_are_noted_and_change_nothing() {
    let script = initialized(&json!({}))
        .emit(result_line(1, &json!({"protocolVersion": 1})))
        .emit(result_line(77, &json!({"sessionId": "other"})))
        .expect_line(json!({"method": "session/new"}))
        .emit(result_line(2, &json!({"sessionId": "s1"})))
        .read_line()
        .emit(json!({"jsonrpc": "2.0", "id": "3", "result": {"stopReason": "refusal"}}).to_string())
        .emit(stopped(PROMPT, "end_turn"))
        .emit(stopped(PROMPT, "refusal"))
        .read_to_end();
    let (events, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    let noted = events
        .iter()
        .filter(|event| matches!(&event.body, Body::Notice(notice) if notice.code == "unexpected_answer"));
    assert_eq!(noted.count(), 4);
    assert_eq!(finished.turns, 1);
    assert!(has_notice(&events, "unexpected_answer"));
}

#[tokio::test]
async fn requests_that_this_client_does_not_know_are_refused() {
    let mut script = prompted();
    for method in [
        "fs/read_text_file",
        "terminal/create",
        "craft/drainMidTurnQueue",
        "_vendor/odd",
    ] {
        let request = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": {}});
        script = script
            .emit(request.to_string())
            .expect_line(json!({"id": method, "error": {"code": -32601}}));
    }
    let (events, finished) = run(&script.emit(stopped(PROMPT, "end_turn")).read_to_end()).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(has_notice(&events, "unsupported_request"));
}

#[tokio::test]
async fn the_last_text_of_a_turn_without_an_end_is_all_of_it() {
    let text = "0123456789abcde\n".repeat(10_000);
    let script = prompted().emit(text_chunk(&text)).exit(1);
    let played = play(&script, RunRequest::new("Go.").options(options())).await;
    let (_, completed) = ending(played).await;
    assert!(
        completed.final_text.is_some_and(|last| last == text),
        "not the last piece alone"
    );
}
