//! The examples run against a scripted CLI, and show what they promise.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use test_support::script::Script;

const DONE: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{}}}"#;

fn request(body: &serde_json::Value) -> String {
    json!({"type": "control_request", "request_id": "r1", "request": body}).to_string()
}

fn result(text: &str) -> Script {
    Script::new()
        .emit(r#"{"type":"assistant","message":{"content":[]}}"#)
        .emit(json!({"type": "result", "subtype": "success", "is_error": false, "result": text}).to_string())
}

/// Runs an example with a CLI that asks this once it has its prompt, and ends when the answer has `part` in it.
fn shown(name: &str, asked: &serde_json::Value, part: serde_json::Value) -> String {
    let agent = Script::new()
        .with_version("2.1.325 (Claude Code)")
        .converse([
            (
                json!({"request": {"subtype": "initialize"}}),
                Script::new().answer(DONE),
            ),
            (json!({"type": "user"}), Script::new().emit(request(asked))),
            (
                json!({"type": "control_response", "response": {"response": part}}),
                result("That is it."),
            ),
        ])
        .install()
        .unwrap();
    let output = Command::new(example(name))
        .arg(agent.as_program().unwrap())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(agent.script().parent().unwrap())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Cargo puts examples beside the folder of the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(path.exists(), "run `cargo build -p claude_code --examples` first");
    path
}

#[test]
fn permission_denies_a_shell_command() {
    let asked = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}});
    let answer = json!({"behavior": "deny", "message": "no shell commands here"});
    assert_eq!(
        shown("permission", &asked, answer),
        "Bash: {\"command\":\"ls\"}\nThat is it.\n"
    );
}

#[test]
fn hook_blocks_a_dangerous_command() {
    let input =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
    let asked = json!({"subtype": "hook_callback", "callback_id": "hook-0", "input": input});
    let answer = json!({"hookSpecificOutput": {"permissionDecision": "deny"}});
    assert_eq!(shown("hook", &asked, answer), "blocked: rm -rf /\nThat is it.\n");
}

#[test]
fn tool_is_called() {
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 19, "b": 23}}});
    let asked = json!({"subtype": "mcp_message", "server_name": "calculator", "message": call});
    let answer = json!({"mcp_response": {"id": 2, "result": {"content": [{"text": "42"}]}}});
    assert_eq!(shown("tool", &asked, answer), "That is it.\n");
}
