//! `WireLines`: builds lines as Claude Code 2.1.325 writes them.

use serde_json::{Map, Value, json};

/// The release whose stream format is written.
const CLAUDE_CODE_VERSION: &str = "2.1.325";

/// Builds the lines of a session. Ids are counters behind a prefix from the session id, so a session repeats exactly
/// and two sessions share no ids.
pub(crate) struct WireLines {
    session_id: String,
    prefix: String,
    lines: u64,
    messages: u64,
    tools: u64,
    requests: u64,
}

/// The end of a tool call.
pub(crate) struct ToolResult {
    pub(crate) content: String,
    pub(crate) is_error: bool,
    /// `tool_use_result`: the result as data.
    pub(crate) structured: Value,
    /// The entry in `tool_result_meta`, without the id.
    pub(crate) meta: Value,
}

impl ToolResult {
    pub(crate) fn success(content: impl Into<String>, structured: Value) -> Self {
        Self {
            content: content.into(),
            is_error: false,
            structured,
            meta: json!({"permission_decision": {"decision": "accept", "source": "config", "reason_type": "mode"}}),
        }
    }

    pub(crate) fn failure(content: impl Into<String>) -> Self {
        let content = content.into();
        Self {
            structured: format!("Error: {content}").into(),
            is_error: true,
            content,
            meta: json!({}),
        }
    }
}

impl WireLines {
    pub(crate) fn new(session_id: String) -> Self {
        let hex = session_id.chars().filter(char::is_ascii_hexdigit);
        Self {
            prefix: hex.take(20).collect(),
            session_id,
            lines: 0,
            messages: 0,
            tools: 0,
            requests: 0,
        }
    }

    pub(crate) fn next_message_id(&mut self) -> String {
        self.messages += 1;
        format!("msg_{}{:04x}", self.prefix, self.messages)
    }

    pub(crate) fn next_tool_id(&mut self) -> String {
        self.tools += 1;
        format!("toolu_{}{:04x}", self.prefix, self.tools)
    }

    pub(crate) fn next_request_id(&mut self) -> String {
        self.requests += 1;
        format!("{}-{:04x}", self.prefix, self.requests)
    }

    pub(crate) fn init(&mut self, cwd: &str, model: &str, permission_mode: &str, can_ask: bool) -> Value {
        let mut tools = vec!["Bash", "Edit", "Read", "TodoWrite"];
        tools.extend(can_ask.then_some("AskUserQuestion"));
        self.system(
            "init",
            json!({
                "cwd": cwd, "tools": tools, "mcp_servers": [], "model": model, "permissionMode": permission_mode,
                "slash_commands": [], "apiKeySource": "none", "claude_code_version": CLAUDE_CODE_VERSION,
                "output_style": "default", "agents": [], "skills": [], "plugins": [],
                "capabilities": ["interrupt_receipt_v1"], "original_cwd": cwd, "additional_directories": [],
            }),
        )
    }

    pub(crate) fn system(&mut self, subtype: &str, mut body: Value) -> Value {
        body["type"] = "system".into();
        body["subtype"] = subtype.into();
        self.finish(body)
    }

    pub(crate) fn stream_event(&mut self, message_id: &str, event: Value) -> Value {
        self.finish(json!({
            "type": "stream_event", "event": event, "parent_tool_use_id": null, "api_message_id": message_id,
        }))
    }

    pub(crate) fn assistant(&mut self, message: Value) -> Value {
        self.finish(json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))
    }

    pub(crate) fn user(&mut self, content: Value) -> Value {
        self.finish(json!({
            "type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": null,
        }))
    }

    pub(crate) fn tool_result(&mut self, tool_id: &str, result: ToolResult) -> Value {
        let mut line = self.user(json!([
            {"type": "tool_result", "tool_use_id": tool_id, "content": result.content, "is_error": result.is_error},
        ]));
        let mut meta = result.meta;
        meta["id"] = tool_id.into();
        line["tool_use_result"] = result.structured;
        line["tool_result_meta"] = json!([meta]);
        line
    }

    pub(crate) fn replay(&mut self, id: Option<&str>, content: &Value) -> Value {
        let mut line = self.user(content.clone());
        line["isReplay"] = true.into();
        if let Some(id) = id {
            line["uuid"] = id.into();
        }
        line
    }

    pub(crate) fn command_lifecycle(&mut self, message_id: &str, state: &str) -> Value {
        self.finish(json!({"type": "command_lifecycle", "command_uuid": message_id, "state": state}))
    }

    pub(crate) fn result(&mut self, mut body: Map<String, Value>) -> Value {
        body.insert("type".to_owned(), "result".into());
        self.finish(body.into())
    }

    /// Adds what every line of a session has.
    fn finish(&mut self, mut line: Value) -> Value {
        self.lines += 1;
        let stem = self.session_id.get(..24).unwrap_or_default();
        line["uuid"] = format!("{stem}{:012x}", self.lines).into();
        line["session_id"] = self.session_id.as_str().into();
        line
    }
}

pub(crate) fn message(id: &str, model: &str, content: Value, usage: Value) -> Value {
    json!({
        "id": id, "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    })
}

/// `AskUserQuestion` asks its question as a permission request.
pub(crate) fn question_request(request_id: &str, tool_id: &str, input: &Value) -> Value {
    json!({"type": "control_request", "request_id": request_id, "request": {
        "subtype": "can_use_tool", "tool_name": "AskUserQuestion", "display_name": "AskUserQuestion",
        "input": input, "tool_use_id": tool_id, "requires_user_interaction": true,
    }})
}

pub(crate) fn question_denial(tool_id: &str, input: &Value) -> Value {
    json!({"tool_name": "AskUserQuestion", "tool_use_id": tool_id, "tool_input": input})
}

pub(crate) fn cancel_request(request_id: &str) -> Value {
    json!({"type": "control_cancel_request", "request_id": request_id})
}

pub(crate) fn control_success(request_id: &str, response: &Value) -> Value {
    json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": request_id, "response": response,
    }})
}

pub(crate) fn control_error(request_id: &str, error: &str, code: &str) -> Value {
    json!({"type": "control_response", "response": {
        "subtype": "error", "request_id": request_id, "error": error, "error_code": code,
    }})
}
