//! Callbacks that answer a running CLI.

use std::future::pending;
use std::time::Duration;

use claude_code::host::{Hook, HookEvent, HookOutput, Host, Tool, ToolOutput, ToolServer};
use claude_code::input::PermissionAnswer;
use claude_code::{Error, Kind, PrintRequest, Request, SessionRequest};
use serde_json::{Value, json};
use test_support::script::Script;
use tokio::sync::oneshot;

use crate::support::{next_event, play, rest_of_events, soon};

const DONE: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{}}}"#;
const REFUSED: &str = r#"{"type":"control_response","response":{"subtype":"error","request_id":"${/request_id}","error":"no hooks here"}}"#;

fn asks(id: &str, body: &Value) -> Script {
    Script::new().emit(json!({"type": "control_request", "request_id": id, "request": body}).to_string())
}

fn bash() -> Value {
    json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}})
}

fn pre_tool_use() -> Value {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    json!({"subtype": "hook_callback", "callback_id": "hook-0", "input": input})
}

fn call() -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "wait"}});
    json!({"subtype": "mcp_message", "server_name": "host", "message": message})
}

/// A CLI that asks once it has a message, and ends its turn with the answer that it got as its result.
fn cli(asked: &Value) -> Script {
    Script::new().converse([
        (json!({"request": {"subtype": "initialize"}}), Script::new().answer(DONE)),
        (json!({"type": "user"}), asks("r1", asked)),
        (
            json!({"type": "control_response", "response": {"request_id": "r1"}}),
            Script::new()
                .emit(r#"{"type":"assistant","message":{"content":[]}}"#)
                .answer(r#"{"type":"result","subtype":"success","is_error":false,"structured_output":${/response}}"#),
        ),
    ])
}

/// What the CLI was answered in a run to its end.
async fn answered(asked: &Value, host: Host) -> Value {
    let (client, _agent) = play(&cli(asked));
    let mut handle = client
        .print_stream_json(PrintRequest::new("Go.").host(host))
        .await
        .unwrap();
    let mut answer = None;
    for event in rest_of_events(&mut handle.events).await {
        if let Kind::Result(_) = event.kind() {
            answer = event
                .field("structured_output")
                .map(|raw| raw.deserialize().unwrap());
        }
    }
    assert!(soon(handle.completion).await.unwrap().exit.success());
    answer.expect("there is no result")
}

const SOON: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_run_of_one_prompt_asks_its_callback_and_ends_by_itself() {
    let host = Host::new().on_permission(|asked| async move {
        assert_eq!(asked.tool_name, "Bash");
        asked.allow()
    });
    let answer = answered(&bash(), host).await;
    assert_eq!(
        answer["response"],
        json!({"behavior": "allow", "updatedInput": {"command": "ls"}})
    );
}

#[tokio::test]
async fn a_decision_that_is_not_made_is_a_denial() {
    let slow = Host::new().on_permission(|_| pending()).permission_timeout(SOON);
    let broken = Host::new().on_permission(|_| async { unreachable!("on purpose") });
    for host in [slow, broken] {
        let answer = answered(&bash(), host).await;
        assert_eq!(answer["response"]["behavior"], "deny");
    }
}

#[tokio::test]
async fn a_hook_without_an_answer_blocks_the_call() {
    let slow = Hook::new(HookEvent::PreToolUse, |_| pending()).timeout(SOON);
    let broken = Hook::new(HookEvent::PreToolUse, |_| async { unreachable!("on purpose") });
    for hook in [slow, broken] {
        let answer = answered(&pre_tool_use(), Host::new().hook(hook)).await;
        let decision = &answer["response"]["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(decision, "deny");
    }
}

#[tokio::test]
async fn a_tool_without_an_answer_is_an_error_with_the_id_of_its_call() {
    let wait = Tool::new("wait", "Waits", json!({"type": "object"}), |_| pending());
    let host = Host::new().tools(ToolServer::new("host").tool(wait).timeout(SOON));
    let answer = answered(&call(), host).await;
    assert_eq!(answer["response"]["mcp_response"]["id"], 7);
    assert!(answer["response"]["mcp_response"]["error"].is_object());
}

#[tokio::test]
async fn a_request_without_a_callback_is_refused_in_a_run_of_one_prompt() {
    let hook = Hook::new(HookEvent::Stop, |_| async { HookOutput::proceed() });
    let asked = json!({"subtype": "something_new"});
    let answer = answered(&asked, Host::new().hook(hook)).await;
    assert_eq!(answer["subtype"], "error");
}

#[tokio::test]
async fn hooks_and_tools_are_announced_before_the_first_message() {
    let greet = Tool::new("greet", "Greets", json!({"type": "object"}), |_| async {
        Ok(ToolOutput::text("hello"))
    });
    let hook = Hook::new(HookEvent::PreToolUse, |_| async { HookOutput::proceed() }).matcher("Bash");
    let host = Host::new().hook(hook).tools(ToolServer::new("host").tool(greet));
    let announced = json!({"type": "control_request", "request": {
        "subtype": "initialize",
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook-0"]}]},
        "sdkMcpServers": ["host"],
    }});
    let script = Script::new()
        .expect_no_argument("--permission-prompt-tool=stdio")
        .expect_line(announced)
        .answer(DONE)
        .expect_line(json!({"type": "user"}))
        .emit(r#"{"type":"assistant","message":{"content":[]}}"#)
        .emit(r#"{"type":"result","subtype":"success","is_error":false,"result":"done"}"#)
        .read_to_end();
    let (client, _agent) = play(&script);
    let response = soon(client.run(Request::new("Go.").host(host))).await.unwrap();
    assert_eq!(response.final_text, "done");
}

#[tokio::test]
async fn a_cli_that_refuses_the_hooks_is_not_given_the_prompt() {
    let script = Script::new().converse([(
        json!({"request": {"subtype": "initialize"}}),
        Script::new().answer(REFUSED),
    )]);
    let (client, _agent) = play(&script);
    let hook = Hook::new(HookEvent::PreToolUse, |_| async { HookOutput::deny("no") });
    let refused = soon(client.run(Request::new("Go.").host(Host::new().hook(hook)))).await;
    assert!(matches!(refused, Err(Error::Refused { subtype, .. }) if subtype == "initialize"));
}

#[tokio::test]
async fn a_request_that_is_withdrawn_drops_its_callback_and_the_session_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let asked = directory.path().join("asked");
    let cancel = r#"{"type":"control_cancel_request","request_id":"r1"}"#;
    let script = Script::new()
        .expect_argument("--permission-prompt-tool=stdio")
        .expect_line(json!({"type": "user"}))
        .then(asks("r1", &bash()))
        .wait_for_file(&asked)
        .emit(cancel)
        .then(asks(
            "r2",
            &json!({"subtype": "can_use_tool", "tool_name": "Read", "input": {}}),
        ))
        .expect_line(json!({"type": "control_response", "response": {
            "request_id": "r2", "response": {"behavior": "deny", "message": "not Read"}}}))
        .emit(r#"{"type":"result","subtype":"success","is_error":false}"#)
        .read_to_end();
    let (client, _agent) = play(&script);
    let (held, dropped) = oneshot::channel::<()>();
    let held = std::sync::Mutex::new(Some(held));
    let host = Host::new().on_permission(move |request| {
        let held = match request.tool_name.as_str() {
            "Bash" => held.lock().unwrap().take(),
            _ => None,
        };
        let asked = asked.clone();
        async move {
            if let Some(_held) = held {
                std::fs::write(&asked, "").unwrap();
                return pending().await;
            }
            PermissionAnswer::deny(format!("not {}", request.tool_name))
        }
    });
    let mut session = client.session(SessionRequest::new().host(host)).await.unwrap();
    session.sender.send("Go.").await.unwrap();
    while !matches!(next_event(&mut session.events).await.kind(), Kind::Result(_)) {}
    assert!(
        soon(dropped).await.is_err(),
        "the future of the callback was dropped"
    );
    session.sender.close().await;
    rest_of_events(&mut session.events).await;
    assert!(soon(session.completion).await.unwrap().exit.success());
}
