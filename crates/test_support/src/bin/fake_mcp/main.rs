//! A small MCP server on stdio, for the real CLI: `echo`, `big`, `fail`, and `approve`, which grants every permission.

use serde_json::{Value, json};
use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return ExitCode::FAILURE };
        let Some(answer) = serde_json::from_str(&line).ok().as_ref().and_then(answer) else {
            continue;
        };
        // One write per message, and the end when nobody reads.
        if io::stdout().write_all(format!("{answer}\n").as_bytes()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// `None` for notifications.
fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fixture", "version": "1.0"},
        }),
        "tools/list" => json!({"tools": [
            tool("echo", json!({"text": {"type": "string"}})),
            tool("big", json!({"size": {"type": "integer"}})),
            tool("fail", json!({})),
            tool("approve", json!({"tool_name": {"type": "string"}, "input": {"type": "object"}, "tool_use_id": {"type": "string"}})),
        ]}),
        "tools/call" => call(&message["params"]),
        _ => {
            return Some(
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "method not found"}}),
            );
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn tool(name: &str, properties: Value) -> Value {
    json!({"name": name, "description": name, "inputSchema": {"type": "object", "properties": properties}})
}

fn call(parameters: &Value) -> Value {
    let arguments = &parameters["arguments"];
    let text = match parameters["name"].as_str().unwrap_or_default() {
        "echo" => format!("echo: {}", arguments["text"].as_str().unwrap_or_default()),
        "big" => "y".repeat(
            arguments["size"]
                .as_u64()
                .and_then(|size| usize::try_from(size).ok())
                .unwrap_or(1000),
        ),
        "approve" => json!({"behavior": "allow", "updatedInput": arguments["input"]}).to_string(),
        _ => return json!({"content": [{"type": "text", "text": "failed on purpose"}], "isError": true}),
    };
    json!({"content": [{"type": "text", "text": text}]})
}
