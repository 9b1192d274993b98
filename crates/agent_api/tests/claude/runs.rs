//! Whole runs of a scripted CLI.

use agent_api::backends::claude_code::ClaudeCode;
use agent_api::{
    AgentRegistry, Close, Completed, Environment, Input, MicroUsd, Outcome, RunOptions, RunRequest,
};
use serde_json::json;
use test_support::script::{Script, Signal};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s","total_cost_usd":0.01}"#;
const EMPTY_RESULT: &str =
    r#"{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s"}"#;

async fn run(script: Script, input: Input) -> Completed {
    let agent = script.install().unwrap();
    let registry = AgentRegistry::new()
        .with(ClaudeCode::program(agent.as_program().unwrap()))
        .unwrap();
    let mut options = RunOptions::new();
    options.environment = Environment::clear().set("PATH", "/usr/bin:/bin");
    let request = RunRequest::new("Go.").options(options).input(input);
    let handle = registry.run("claude_code", request).await.unwrap();
    handle.wait().await.unwrap()
}

fn said(text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"m-{text}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

#[tokio::test]
async fn a_run_that_is_killed_in_the_second_of_two_turns_is_no_success() {
    let script = Script::new()
        .read_to_end()
        .emit_lines([INIT, INIT, RESULT])
        .die(Signal::Kill);
    let completed = run(script, Input::PromptOnly).await;
    assert_eq!(completed.finished.outcome, Outcome::Crashed);
    assert!(completed.finished.usage.is_partial);
    assert_eq!(completed.session_total, Some(MicroUsd::new(10_000)));
}

#[tokio::test]
async fn the_total_of_a_session_is_not_that_of_the_one_after_it() {
    let reset = r#"{"type":"conversation_reset","new_conversation_id":"c","session_id":"s"}"#;
    let next = INIT.replace(r#""session_id":"s""#, r#""session_id":"next""#);
    let script = Script::new()
        .read_to_end()
        .emit_lines([INIT, RESULT, reset, &next])
        .exit(1);
    let completed = run(script, Input::PromptOnly).await;
    assert_eq!(
        (completed.session_id.as_deref(), completed.session_total),
        (Some("next"), None)
    );
}

#[tokio::test]
async fn an_end_without_a_text_does_not_take_the_answer_back() {
    let answer = said("answer");
    let script = Script::new()
        .read_to_end()
        .emit_lines([INIT, &answer, EMPTY_RESULT]);
    let completed = run(script, Input::PromptOnly).await;
    assert!(completed.is_success());
    assert_eq!(completed.final_text.as_deref(), Some("answer"));
    assert!(completed.is_degraded);
}

#[tokio::test]
async fn the_text_of_a_later_turn_counts_also_if_its_end_has_none() {
    let second = said("second");
    let script = Script::new()
        .read_to_end()
        .emit_lines([INIT, RESULT, INIT, &second, EMPTY_RESULT]);
    let completed = run(script, Input::PromptOnly).await;
    assert_eq!(completed.final_text.as_deref(), Some("second"));
    assert!(completed.is_degraded);
    let script = Script::new()
        .read_to_end()
        .emit_lines([INIT, &second, RESULT, INIT, EMPTY_RESULT]);
    let completed = run(script, Input::PromptOnly).await;
    assert_eq!(completed.final_text.as_deref(), Some("done"));
    assert!(!completed.is_degraded);
}

#[tokio::test]
async fn a_cli_that_asks_for_what_nobody_can_serve_goes_on() {
    let asked = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"hook_callback","callback_id":"c"}}"#;
    let script = Script::new()
        .read_line()
        .emit_lines([INIT, asked])
        .expect_line(
            json!({"type": "control_response", "response": {"subtype": "error", "request_id": "r1"}}),
        )
        .emit_lines([RESULT])
        .read_to_end();
    let completed = run(script, Input::Messages(Close::WhenIdle)).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.finished.exit.code, Some(0));
}
