//! Callbacks of a host: permissions, hooks and in-process tools, answered without a process.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::time::Duration;

use claude_code::event::{ControlRequestBody, Kind};
use claude_code::host::{
    Hook, HookEvent, HookOutput, Host, HostResponse, Tool, ToolError, ToolOutput, ToolServer,
};
use claude_code::input::{Answer, HostRequest, PermissionAnswer, answer};
use claude_code::parse_line;
use serde_json::{Value, json};

fn request(body: &Value) -> ControlRequestBody {
    request_as_written(body.to_string().as_bytes())
}

fn request_as_written(body: &[u8]) -> ControlRequestBody {
    let start = br#"{"type":"control_request","request_id":"r1","request":"#;
    let line = [&start[..], body, b"}"].concat();
    match parse_line(&line).unwrap().kind() {
        Kind::ControlRequest(request) => request.body.clone(),
        other => panic!("not a control request: {other:?}"),
    }
}

/// The body that the CLI would read as the answer.
async fn answered(response: HostResponse) -> Value {
    let line = answer("r1", &response.answer.await);
    let line: Value = serde_json::from_slice(&line).unwrap();
    line["response"].clone()
}

fn hook_callback(id: &str, input: &Value) -> ControlRequestBody {
    request(&json!({"subtype": "hook_callback", "callback_id": id, "input": input}))
}

fn tool_message(message: &Value) -> ControlRequestBody {
    request(&json!({"subtype": "mcp_message", "server_name": "host", "message": message}))
}

fn tools() -> Host {
    let greet = Tool::new(
        "greet",
        "Greets",
        json!({"type": "object"}),
        |arguments| async move {
            match arguments["name"].as_str() {
                Some(name) => Ok(ToolOutput::text(format!("hello {name}"))),
                None => Err(ToolError::new("`name` is missing")),
            }
        },
    );
    Host::new().tools(ToolServer::new("host").tool(greet))
}

#[test]
fn a_host_without_hooks_and_tools_announces_nothing() {
    let host = Host::new().on_permission(|request| async move { request.allow() });
    assert_eq!(host.initialize(), None);
    assert!(host.answers_permissions());
}

#[test]
fn hooks_and_tool_servers_are_announced() {
    let host = tools()
        .hook(
            Hook::new(HookEvent::PreToolUse, |_| async { HookOutput::proceed() })
                .matcher("Bash")
                .timeout(Duration::from_secs(5)),
        )
        .hook(Hook::new(HookEvent::PreToolUse, |_| async {
            HookOutput::proceed()
        }));
    let Some(HostRequest::Initialize(body)) = host.initialize() else {
        panic!("nothing is announced");
    };
    assert_eq!(
        Value::Object(body),
        json!({
            "hooks": {"PreToolUse": [
                {"matcher": "Bash", "hookCallbackIds": ["hook-0"], "timeout": 10},
                {"matcher": null, "hookCallbackIds": ["hook-1"], "timeout": 65},
            ]},
            "sdkMcpServers": ["host"],
        })
    );
}

#[tokio::test]
async fn a_hook_sees_the_call_and_its_decision_names_the_event() {
    let host = Host::new().hook(Hook::new(HookEvent::PreToolUse, |input| async move {
        assert_eq!(input.event_name, "PreToolUse");
        assert_eq!(input.tool_name.as_deref(), Some("Bash"));
        match input.tool_input["command"].as_str() {
            Some("ls") => HookOutput::allow().updated_input(json!({"command": "ls -a"})),
            _ => HookOutput::deny("only ls"),
        }
    }));
    let callback = |command: &str| {
        let input =
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}});
        hook_callback("hook-0", &input)
    };
    let allowed = answered(host.respond(&callback("ls")).unwrap()).await;
    assert_eq!(
        allowed["response"],
        json!({"hookSpecificOutput": {
            "permissionDecision": "allow", "updatedInput": {"command": "ls -a"}, "hookEventName": "PreToolUse",
        }})
    );
    let denied = answered(host.respond(&callback("rm")).unwrap()).await;
    assert_eq!(
        denied["response"]["hookSpecificOutput"]["permissionDecisionReason"],
        "only ls"
    );
}

/// A dangerous command with something behind it that strict readers refuse. The model chooses this text.
const ODD_COMMANDS: [&[u8]; 2] = [
    br#"{"command":"rm -rf x # \ud83c"}"#,
    b"{\"command\":\"rm -rf x # \xff\"}",
];

/// Nobody can read the number, so nobody can judge the call.
const UNREADABLE: &[u8] = br#"{"command":"ls","timeout":1e400}"#;

#[tokio::test]
async fn a_hook_cannot_be_blinded_by_text_that_strict_readers_refuse() {
    let host = Host::new().hook(Hook::new(HookEvent::PreToolUse, |input| async move {
        let command = input.tool_input["command"].as_str().unwrap_or_default();
        if input.tool_name.as_deref() == Some("Bash") && command.contains("rm -rf") {
            return HookOutput::deny("deleting folders is not allowed");
        }
        HookOutput::proceed()
    }));
    let decide = async |arguments: &[u8]| {
        let start =
            br#"{"subtype":"hook_callback","callback_id":"hook-0","input":{"tool_name":"Bash","tool_input":"#;
        let body = [&start[..], arguments, b"}}"].concat();
        answered(host.respond(&request_as_written(&body)).unwrap()).await["response"]["hookSpecificOutput"]
            .clone()
    };
    for command in ODD_COMMANDS {
        assert_eq!(
            decide(command).await["permissionDecisionReason"],
            "deleting folders is not allowed"
        );
    }
    assert_eq!(decide(UNREADABLE).await["permissionDecision"], "deny");
    let without_input = request(&json!({"subtype": "hook_callback", "callback_id": "hook-0"}));
    let answer = answered(host.respond(&without_input).unwrap()).await;
    assert_eq!(
        answer["response"]["hookSpecificOutput"]["permissionDecision"],
        "deny"
    );
}

#[tokio::test]
async fn a_hook_that_cannot_forbid_anything_reports_input_that_cannot_be_read() {
    let host = Host::new().hook(Hook::new(HookEvent::PostToolUse, |_| async {
        HookOutput::proceed()
    }));
    let body = br#"{"subtype":"hook_callback","callback_id":"hook-0","input":{"tool_response":1e400}}"#;
    let answer = answered(host.respond(&request_as_written(body)).unwrap()).await;
    assert_eq!(answer["subtype"], "error");
}

#[tokio::test]
async fn a_permission_callback_sees_what_it_decides_about() {
    let host = Host::new().on_permission(|request| async move {
        if request.input["command"]
            .as_str()
            .is_some_and(|command| command.contains("rm -rf"))
        {
            return PermissionAnswer::deny("seen");
        }
        request.allow()
    });
    let decide = async |arguments: &[u8]| {
        let start = br#"{"subtype":"can_use_tool","tool_name":"Bash","input":"#;
        let body = [&start[..], arguments, b"}"].concat();
        answered(host.respond(&request_as_written(&body)).unwrap()).await["response"].clone()
    };
    for command in ODD_COMMANDS {
        assert_eq!(decide(command).await["message"], "seen");
    }
    assert_eq!(decide(UNREADABLE).await["behavior"], "deny");
}

#[tokio::test]
async fn a_tool_is_not_called_without_the_arguments_that_cannot_be_read() {
    let call = async |arguments: &str| {
        let body = format!(
            r#"{{"subtype":"mcp_message","server_name":"host","message":{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"greet","arguments":{arguments}}}}}}}"#
        );
        answered(tools().respond(&request_as_written(body.as_bytes())).unwrap()).await["response"]["mcp_response"]
            .clone()
    };
    let greeted = call(r#"{"name":"\ud83c"}"#).await;
    assert_eq!(greeted["result"]["content"][0]["text"], "hello \u{fffd}");
    let refused = call("1e400").await;
    assert_eq!(
        (&refused["error"]["code"], &refused["id"]),
        (&json!(-32700), &json!(5))
    );
}

#[tokio::test]
async fn a_hook_without_an_answer_forbids_what_it_should_approve() {
    for event in [HookEvent::PreToolUse, HookEvent::Other("PreToolUse".to_owned())] {
        let host = Host::new().hook(Hook::new(event, |_| async { HookOutput::allow() }));
        let response = host.respond(&hook_callback("hook-0", &json!({}))).unwrap();
        let Answer::Body(body) = response.fallback else {
            panic!("a hook is answered with a body");
        };
        assert_eq!(body["hookSpecificOutput"]["permissionDecision"], "deny");
    }
}

#[test]
fn the_cli_waits_longer_for_a_hook_than_we_do() {
    for (timeout, announced) in [
        (Duration::from_millis(500), 6),
        (Duration::from_secs(60), 65),
        // More milliseconds than the CLI's clock can count would be none.
        (Duration::MAX, 2_147_483),
    ] {
        let hook = Hook::new(HookEvent::Stop, |_| async { HookOutput::proceed() }).timeout(timeout);
        let Some(HostRequest::Initialize(body)) = Host::new().hook(hook).initialize() else {
            panic!("nothing is announced");
        };
        assert_eq!(body["hooks"]["Stop"][0]["timeout"], announced);
    }
}

#[tokio::test]
async fn hooks_block_prompts_and_stop_runs_in_the_format_of_the_cli() {
    let host = Host::new()
        .hook(Hook::new(HookEvent::UserPromptSubmit, |_| async {
            HookOutput::block("not now")
        }))
        .hook(Hook::new(HookEvent::Stop, |_| async {
            HookOutput::stop("enough")
        }));
    let blocked = answered(host.respond(&hook_callback("hook-0", &json!({}))).unwrap()).await;
    assert_eq!(
        blocked["response"],
        json!({"decision": "block", "reason": "not now"})
    );
    let stopped = answered(host.respond(&hook_callback("hook-1", &Value::Null)).unwrap()).await;
    assert_eq!(
        stopped["response"],
        json!({"continue": false, "stopReason": "enough"})
    );
}

#[tokio::test]
async fn an_unknown_hook_or_server_is_refused_and_never_left_waiting() {
    let host = tools();
    let hook = answered(host.respond(&hook_callback("hook-7", &json!({}))).unwrap()).await;
    assert_eq!(hook["subtype"], "error");
    let other = request(&json!({"subtype": "mcp_message", "server_name": "other", "message": {}}));
    let server = answered(host.respond(&other).unwrap()).await;
    assert_eq!(server["subtype"], "error");
}

#[tokio::test]
async fn the_cli_lists_and_calls_tools() {
    let host = tools();
    let call = async |message: Value| {
        answered(host.respond(&tool_message(&message)).unwrap()).await["response"]["mcp_response"].clone()
    };
    let hello = call(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25"}}))
    .await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["id"], 0);
    let noted = call(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    assert_eq!(noted, json!({"jsonrpc": "2.0", "result": {}}));
    let list = call(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    assert_eq!(
        list["result"]["tools"],
        json!([{"name": "greet", "description": "Greets", "inputSchema": {"type": "object"}}])
    );
    let greeted = call(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "greet", "arguments": {"name": "Ada"}}}))
    .await;
    assert_eq!(
        greeted["result"],
        json!({"content": [{"type": "text", "text": "hello Ada"}]})
    );
}

#[tokio::test]
async fn a_failing_tool_tells_the_model_and_an_unknown_one_is_an_error() {
    let host = tools();
    let call = async |params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
        answered(host.respond(&tool_message(&message)).unwrap()).await["response"]["mcp_response"].clone()
    };
    let failed = call(json!({"name": "greet"})).await;
    assert_eq!(failed["result"]["isError"], true);
    assert_eq!(failed["result"]["content"][0]["text"], "`name` is missing");
    let unknown = call(json!({"name": "nope"})).await;
    assert_eq!(unknown["error"]["code"], -32602);
    let message = json!({"jsonrpc": "2.0", "id": 4, "method": "resources/list"});
    let method = answered(host.respond(&tool_message(&message)).unwrap()).await;
    assert_eq!(method["response"]["mcp_response"]["error"]["code"], -32601);
}

#[tokio::test]
async fn a_tool_that_takes_too_long_has_an_answer_with_the_same_id() {
    let message = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "greet"}});
    let response = tools().respond(&tool_message(&message)).unwrap();
    assert_eq!(response.timeout, Duration::from_secs(60));
    let Answer::Body(body) = response.fallback else {
        panic!("a tool call is answered with a body");
    };
    assert_eq!(body["mcp_response"]["id"], "x");
    assert!(body["mcp_response"]["error"]["message"].is_string());
}

#[tokio::test]
async fn the_permission_callback_decides_and_sends_the_arguments_back_as_written() {
    let host = Host::new().on_permission(|request| async move {
        match request.tool_name.as_str() {
            "Read" => request.allow(),
            tool => PermissionAnswer::deny(format!("{tool} is not allowed")),
        }
    });
    let ask = |tool: &str| {
        request(&json!({"subtype": "can_use_tool", "tool_name": tool, "input": {"file": "a.rs"}}))
    };
    let allowed = answered(host.respond(&ask("Read")).unwrap()).await;
    assert_eq!(
        allowed["response"],
        json!({"behavior": "allow", "updatedInput": {"file": "a.rs"}})
    );
    let denied = answered(host.respond(&ask("Bash")).unwrap()).await;
    assert_eq!(denied["response"]["message"], "Bash is not allowed");
    assert!(tools().respond(&ask("Read")).is_none(), "no callback decides");
}
