//! Closures of the caller that answer a scripted CLI, requests in its own words, and its own words beside events.

use std::future::pending;
use std::time::Duration;

use agent_api::backends::claude_code::ClaudeCode;
use agent_api::backends::claude_code::host::{Hook, HookEvent, HookOutput, Host};
use agent_api::{
    AgentRegistry, Answer, Attachment, Body, Close, CommandError, Completed, Environment, Event, GrantId,
    Input, MessageState, Outcome, RunHandle, RunOptions, RunRequest, ToolKind, VendorEvents,
};
use serde_json::{Map, Value, json};
use test_support::script::{Script, ScriptedAgent};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}"#;
const RESULT: &str =
    r#"{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}"#;
const DONE: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{"used":7}}}"#;
const REFUSED: &str = r#"{"type":"control_response","response":{"subtype":"error","request_id":"${/request_id}","error":"not today"}}"#;

fn options() -> RunOptions {
    RunOptions::new().environment(Environment::clear().set("PATH", "/usr/bin:/bin"))
}

async fn start(script: Script, request: RunRequest, host: Host) -> (RunHandle, ScriptedAgent) {
    let agent = script.install().unwrap();
    let backend = ClaudeCode::program(agent.as_program().unwrap()).host(host);
    let registry = AgentRegistry::new().with(backend).unwrap();
    (registry.run("claude_code", request).await.unwrap(), agent)
}

async fn play(script: Script, request: RunRequest, host: Host) -> (Vec<Event>, Completed) {
    let (handle, _agent) = start(script, request, host).await;
    handle.collect().await.unwrap()
}

fn asks(body: &Value) -> String {
    json!({"type": "control_request", "request_id": "r1", "request": body}).to_string()
}

fn answered(response: &Value) -> Value {
    json!({"type": "control_response", "response": {"request_id": "r1", "response": response}})
}

fn rule() -> Value {
    json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "make *"}], "behavior": "allow",
        "destination": "localSettings"})
}

/// A CLI that asks for a command, and goes on only if the answer has this in it.
fn asking(answer: &Value) -> Script {
    let asked = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"},
        "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}, rule()]});
    Script::new()
        .expect_argument("--permission-prompt-tool=stdio")
        .expect_line(json!({"type": "user"}))
        .emit_lines([INIT, &asks(&asked)])
        .expect_line(answered(answer))
        .emit(RESULT)
        .read_to_end()
}

#[tokio::test]
async fn a_closure_decides_without_anyone_reading_events() {
    let request = RunRequest::new("Go.").options(options());
    let deny = request.clone().on_permission(|asked| async move {
        assert_eq!(
            (asked.kind, asked.subject.as_deref()),
            (ToolKind::Execute, Some("make"))
        );
        Answer::deny("not here")
    });
    let always = request
        .clone()
        .on_permission(|asked| async move { Answer::allow_by_rules(&asked) });
    let late = request
        .clone()
        .on_permission(|_| pending())
        .permission_timeout(Duration::from_millis(20));
    let broken = request
        .clone()
        .on_permission(|_| async { unreachable!("on purpose") });
    let wrong = request.on_permission(|_| async {
        Answer::AllowWithGrants {
            grants: vec![GrantId::new("everything")],
        }
    });
    for (request, answer) in [
        (deny, json!({"behavior": "deny", "message": "not here"})),
        (
            always,
            json!({"behavior": "allow", "updatedPermissions": [rule()]}),
        ),
        (late, json!({"behavior": "deny"})),
        (broken, json!({"behavior": "deny"})),
        (wrong, json!({"behavior": "deny"})),
    ] {
        let (events, completed) = play(asking(&answer), request, Host::new()).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded, "{answer}");
        let closed = events
            .iter()
            .filter(|event| event.body.name() == "request_closed")
            .count();
        assert_eq!(closed, 1, "{answer}");
    }
}

#[tokio::test]
async fn a_hook_of_the_caller_is_announced_before_the_prompt_and_called() {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    let called = json!({"subtype": "hook_callback", "callback_id": "hook-0", "input": input});
    let script = Script::new()
        .expect_line(
            json!({"request": {"subtype": "initialize", "hooks": {"PreToolUse": [{"matcher": "Bash"}]}}}),
        )
        .answer(DONE)
        .expect_line(json!({"type": "user"}))
        .emit_lines([INIT, &asks(&called)])
        .expect_line(answered(
            &json!({"hookSpecificOutput": {"permissionDecision": "deny"}}),
        ))
        .emit(RESULT)
        .read_to_end();
    let hook = Hook::new(HookEvent::PreToolUse, |_| async { HookOutput::deny("no") }).matcher("Bash");
    let request = RunRequest::new("Go.").options(options());
    let (_, completed) = play(script, request, Host::new().hook(hook)).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

/// A host with a hook, which the CLI must know before the prompt.
fn with_hook() -> Host {
    Host::new().hook(Hook::new(HookEvent::Stop, |_| async { HookOutput::proceed() }))
}

fn states_of(events: &[Event], id: &str) -> Vec<MessageState> {
    let state = |event: &Event| match &event.body {
        Body::MessageUpdated(message) if message.message_id == id => Some(message.state),
        _ => None,
    };
    events.iter().filter_map(state).collect()
}

#[tokio::test]
async fn a_message_waits_for_the_prompt_that_waits_for_the_hooks() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let user = |text: &str| json!({"type": "user", "message": {"content": text}});
    let script = Script::new()
        .expect_line(json!({"request": {"subtype": "initialize"}}))
        .wait_for_file(&gate)
        .answer(DONE)
        .expect_line(user("Go."))
        .expect_line(user("And then?"))
        .emit_lines([INIT, RESULT])
        .read_to_end();
    let request = RunRequest::new("Go.")
        .options(options())
        .input(Input::Messages(Close::WhenIdle));
    let (mut handle, _agent) = start(script, request, with_hook()).await;
    let id = handle.control.send("And then?").unwrap();
    let queued = handle.events.next().await.unwrap();
    assert_eq!(states_of(&[queued], &id), [MessageState::Queued]);
    std::fs::write(gate, "").unwrap();
    assert!(handle.wait().await.unwrap().is_success());
}

#[tokio::test]
async fn messages_that_waited_for_the_hooks_in_vain_are_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    for end in [Script::new().answer(REFUSED).read_to_end(), Script::new().exit(1)] {
        let gate = folder.path().join("gate");
        let script = Script::new().read_line().wait_for_file(&gate).then(end);
        let request = RunRequest::new("Go.")
            .options(options())
            .input(Input::Messages(Close::WhenIdle));
        let (handle, _agent) = start(script, request, with_hook()).await;
        let id = handle.control.send("And then?").unwrap();
        std::fs::write(&gate, "").unwrap();
        let (events, completed) = handle.collect().await.unwrap();
        assert!(!completed.is_success());
        assert_eq!(
            states_of(&events, &id),
            [MessageState::Queued, MessageState::Cancelled]
        );
        std::fs::remove_file(gate).unwrap();
    }
}

#[tokio::test]
async fn a_cli_that_does_not_answer_about_hooks_is_given_up() {
    let script = Script::new().read_line().read_to_end();
    let request = RunRequest::new("Go.").options(options());
    let (handle, _agent) = start(script, request, with_hook()).await;
    tokio::time::pause();
    let completed = handle.wait().await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Failed);
    assert_eq!(completed.finished.error.unwrap().code, "no_answer");
    assert!(completed.finished.duration_ms >= 60_000);
}

#[tokio::test]
async fn a_cli_that_takes_no_hooks_is_not_given_the_prompt() {
    let script = Script::new().read_line().answer(REFUSED).read_to_end();
    let request = RunRequest::new("Go.").options(options().vendor_events(VendorEvents::Attached));
    let (events, completed) = play(script, request, with_hook()).await;
    assert_eq!(completed.finished.outcome, Outcome::Failed);
    let code = events.iter().find_map(|event| match &event.body {
        Body::TurnFinished(turn) => turn.error.as_ref().map(|error| error.code.clone()),
        _ => None,
    });
    assert_eq!(code.as_deref(), Some("hooks_refused"));
    // What the script has read after its answer.
    let lines = events.iter().find_map(|event| {
        let line: Value = serde_json::from_slice(event.vendor.as_ref()?).ok()?;
        (line["type"] == "fake_input").then(|| line["lines"].clone())
    });
    assert_eq!(lines, Some(json!(0)));
}

#[tokio::test]
async fn a_request_in_the_words_of_the_cli_gets_its_own_answer() {
    let control = |subtype: &str| json!({"type": "control_request", "request": {"subtype": subtype}});
    let script = Script::new().read_line().emit_lines([INIT, RESULT]).converse([
        (control("get_context_usage"), Script::new().answer(DONE)),
        (control("rewind_files"), Script::new().answer(REFUSED)),
    ]);
    let request = RunRequest::new("Go.")
        .options(options())
        .input(Input::Messages(Close::ByCaller));
    let (handle, _agent) = start(script, request, Host::new()).await;
    let control = handle.control.clone();
    let reading = tokio::spawn(handle.collect());
    let usage = control.request("get_context_usage", Map::new()).await;
    assert_eq!(usage, Ok(json!({"used": 7})));
    let refused = control.request("rewind_files", Map::new()).await;
    assert_eq!(
        refused,
        Err(CommandError::Refused {
            reason: "not today".to_owned()
        })
    );
    control.close_input();
    assert!(reading.await.unwrap().unwrap().1.is_success());
    assert_eq!(
        control.request("mcp_status", Map::new()).await,
        Err(CommandError::Closed)
    );
}

#[tokio::test]
async fn images_and_documents_go_with_the_prompt_and_with_messages() {
    let blocks = json!([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQID"}},
        {"type": "document", "title": "notes", "source": {"type": "text", "data": "remember"}},
        {"type": "text", "text": "Go."},
    ]);
    let script = Script::new()
        .expect_line(json!({"type": "user", "message": {"content": blocks}}))
        .emit_lines([INIT, RESULT])
        .expect_line(json!({"type": "user", "message": {"content": [{"type": "image"}]}}))
        .emit_lines([INIT, RESULT])
        .read_to_end();
    let request = RunRequest::new("Go.")
        .options(options())
        .attach(Attachment::image("image/png", [1, 2, 3]))
        .attach(Attachment::text("notes", "remember"))
        .input(Input::Messages(Close::ByCaller));
    let (handle, _agent) = start(script, request, Host::new()).await;
    let picture = Attachment::image("image/png", [1, 2, 3]);
    handle.control.send_with("", vec![picture]).unwrap();
    handle.control.close_input();
    assert!(handle.wait().await.unwrap().is_success());
}

#[tokio::test]
async fn events_carry_the_words_of_the_cli_only_on_request() {
    let script = || Script::new().read_to_end().emit_lines([INIT, RESULT]);
    let request = |vendor| RunRequest::new("Go.").options(options().vendor_events(vendor));
    let (plain, _) = play(script(), request(VendorEvents::Off), Host::new()).await;
    assert!(plain.iter().all(|event| event.vendor.is_none()));
    let (attached, _) = play(script(), request(VendorEvents::Attached), Host::new()).await;
    let words = |name: &str| {
        let event = attached.iter().find(|event| event.body.name() == name).unwrap();
        event.vendor.clone()
    };
    assert_eq!(words("session_started").unwrap(), INIT.as_bytes());
    assert_eq!(words("turn_finished").unwrap(), RESULT.as_bytes());
    assert_eq!(words("finished"), None, "nobody said that");
    let text = |events: &[Event]| {
        let without_times = |event: &Event| !matches!(event.body, Body::Finished(_));
        let kept: Vec<_> = events.iter().filter(|event| without_times(event)).collect();
        serde_json::to_string(&kept).unwrap()
    };
    assert_eq!(text(&plain), text(&attached), "what is stored does not change");
}

#[tokio::test]
async fn an_input_that_is_closed_before_the_hooks_are_known_still_carries_the_prompt() {
    let script = Script::new()
        .expect_line(json!({"request": {"subtype": "initialize"}}))
        .answer(DONE)
        .expect_line(json!({"type": "user"}))
        .emit_lines([INIT, RESULT])
        .read_to_end();
    let hook = Hook::new(HookEvent::PreToolUse, |_| async { HookOutput::deny("no") });
    let request = RunRequest::new("Go.")
        .options(options())
        .input(Input::Messages(Close::ByCaller));
    let (handle, _agent) = start(script, request, Host::new().hook(hook)).await;
    handle.control.close_input();
    let (_, completed) = handle.collect().await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}
