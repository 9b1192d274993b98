//! How Qwen Code is started: arguments, messages, permission requests.

use agent_api::backends::qwen::Qwen;
use agent_api::{
    Answer, Body, Close, ErrorClass, Input, Limit, Outcome, PermissionMode, RunOptions, RunRequest,
    SessionChoice,
};
use serde_json::json;
use test_support::script::Script;

use crate::support::{arguments, finish, install, isolated, play, preview, soon, start, stdin};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"00000000-0000-4000-8000-000000000001","cwd":"/w","tools":[],"mcp_servers":[],"model":"m","permission_mode":"default","qwen_code_version":"0.24.4"}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","session_id":"00000000-0000-4000-8000-000000000001","is_error":false,"duration_ms":1,"num_turns":1,"result":"Done.","usage":{"input_tokens":1200,"output_tokens":34,"cache_read_input_tokens":1000,"total_tokens":1234}}"#;
const ASK: &str = r#"{"type":"control_request","request_id":"ask-1","request":{"subtype":"can_use_tool","tool_name":"run_shell_command","tool_use_id":"call-1","input":{"command":"ls"}}}"#;

fn with(change: impl FnOnce(&mut RunOptions)) -> Vec<String> {
    let mut options = RunOptions::new();
    options.partial_messages = Some(agent_client::PartialMessages::Off);
    change(&mut options);
    let arguments = arguments(Qwen::new(), options);
    assert_eq!(arguments[0], "--output-format=stream-json");
    arguments[1..].to_vec()
}

#[test]
fn the_prompt_goes_in_on_standard_input_and_text_comes_as_it_is_written() {
    let launch = preview(Qwen::new(), RunRequest::new("Say hello.")).unwrap();
    assert_eq!(stdin(&launch), b"Say hello.");
    assert_eq!(
        launch.spec.args,
        ["--output-format=stream-json", "--include-partial-messages"]
    );
}

#[test]
fn every_option_has_its_argument() {
    let arguments = with(|options| {
        options.permission_mode = Some(PermissionMode::Bypass);
        options.model = Some("qwen3".into());
        options.system_prompt = Some("Be brief.".into());
        options.append_system_prompt = Some("Be kind.".into());
        options.tools = Some(vec!["read_file".into(), "edit".into()]);
        options.disallowed_tools = Some(vec!["web_fetch".into()]);
        options.max_turns = Some(7);
        options.persistence = Some(agent_client::Persistence::Off);
        options.additional_directories = vec!["/data".into()];
        options.extra_args = vec!["--debug".into()];
    });
    assert_eq!(
        arguments,
        [
            "--approval-mode=yolo",
            "--model=qwen3",
            "--system-prompt=Be brief.",
            "--append-system-prompt=Be kind.",
            "--core-tools=read_file",
            "--core-tools=edit",
            "--exclude-tools=web_fetch",
            "--max-session-turns=7",
            "--chat-recording=false",
            "--add-dir=/data",
            "--debug",
        ]
    );
    for (session, expected) in [
        (
            SessionChoice::NewWithId("00000000-0000-4000-8000-000000000001".into()),
            &["--session-id=00000000-0000-4000-8000-000000000001"][..],
        ),
        (SessionChoice::Resume("abc".into()), &["--resume=abc"]),
        (SessionChoice::fork("abc"), &["--resume=abc", "--fork-session"]),
        (SessionChoice::Last, &["--continue"]),
        (SessionChoice::fork_last(), &["--continue", "--fork-session"]),
    ] {
        assert_eq!(with(|options| options.session = Some(session)), expected);
    }
}

/// Qwen Code 0.24.4 prints its help and exits for a UUID of version 7.
#[test]
fn an_id_that_qwen_would_refuse_is_refused_before_it_starts() {
    let with_id = |id: String| {
        let mut options = RunOptions::new();
        options.session = Some(SessionChoice::NewWithId(id));
        preview(Qwen::new(), RunRequest::new("Say hello.").options(options)).map(drop)
    };
    with_id(agent_api::new_session_id()).unwrap();
    for id in [agent_api::new_message_id(), "abc".to_owned()] {
        let error = with_id(id).unwrap_err().to_string();
        assert!(error.contains("UUIDs of version 1 to 5"), "{error}");
    }
}

fn script() -> Script {
    Script::new().with_version("0.24.4")
}

#[tokio::test]
async fn limits_that_end_the_process_without_a_result_are_explained() {
    for (code, outcome, word) in [
        (53, Outcome::LimitReached(Limit::Turns), "max_turns"),
        (55, Outcome::Failed, "run_budget"),
    ] {
        let script = script().emit(INIT).exit(code);
        let request = RunRequest::new("Go.").options(isolated());
        let (_, completed) = play(|program| Qwen::program(program), &script, request).await;
        let error = completed.finished.error.unwrap();
        assert_eq!(completed.finished.outcome, outcome, "{code}");
        assert_eq!((error.class, error.code.as_str()), (ErrorClass::Quota, word));
        assert!(completed.finished.is_synthetic);
    }
}

#[tokio::test]
async fn tokens_from_the_cache_are_counted_once() {
    let script = script().emit(INIT).emit(RESULT);
    let request = RunRequest::new("Go.").options(isolated());
    let (_, completed) = play(|program| Qwen::program(program), &script, request).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    let tokens = completed.finished.usage.tokens;
    assert_eq!((tokens.input, tokens.cache_read, tokens.output), (200, 1_000, 34));
}

/// Asks for permission after the two first lines of a conversation, and must be told `behavior`.
fn asking(behavior: &str) -> Script {
    script()
        .expect_argument("--input-format=stream-json")
        .expect_line(json!({"type": "control_request", "request": {"subtype": "initialize"}}))
        .answer(r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{}}}"#)
        .expect_line(json!({"type": "user", "message": {"content": "Go."}}))
        .emit(INIT)
        .emit(ASK)
        .expect_line(json!({
            "type": "control_response",
            "response": {"request_id": "ask-1", "response": {"behavior": behavior}},
        }))
        .emit(RESULT)
        .read_to_end()
}

#[tokio::test]
async fn a_permission_request_is_answered() {
    for (answer, behavior) in [
        (Answer::Allow, "allow"),
        (Answer::Deny { reason: "no".into() }, "deny"),
    ] {
        let (_agent, program) = install(&asking(behavior));
        let mut options = isolated();
        options.permission_host = Some(agent_client::PermissionHost::Caller);
        options.permission_mode = Some(PermissionMode::Ask);
        let request = RunRequest::new("Go.")
            .options(options)
            .input(Input::Messages(Close::WhenIdle));
        let mut handle = start(Qwen::program(program), request).await;
        loop {
            let event = soon(handle.events.next()).await.expect("no request came");
            if let Body::PermissionRequested(asked) = event.body {
                handle.control.answer(&asked.request, answer).unwrap();
                break;
            }
        }
        let (_, completed) = finish(handle).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded, "{behavior}");
    }
}

#[tokio::test]
async fn a_run_that_takes_no_answers_denies_permission_requests_at_once() {
    let request = RunRequest::new("Go.")
        .options(isolated())
        .input(Input::Messages(Close::WhenIdle));
    let (events, completed) = play(|program| Qwen::program(program), &asking("deny"), request).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    let is_denial =
        |body: &Body| matches!(body, Body::PermissionDenied(denial) if denial.tool == "run_shell_command");
    assert!(events.iter().any(|event| is_denial(&event.body)));
    let is_receipt = |body: &Body| matches!(body, Body::CommandAnswered(_));
    assert!(
        !events.iter().any(|event| is_receipt(&event.body)),
        "the caller said nothing"
    );
}

#[test]
fn a_system_prompt_that_is_too_long_for_an_argument_is_refused() {
    let mut options = RunOptions::new();
    options.append_system_prompt = Some("a".repeat(200_000).as_str().into());
    let error = preview(Qwen::new(), RunRequest::new("Go.").options(options));
    let error = error.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("128000 bytes"), "{error}");
}
