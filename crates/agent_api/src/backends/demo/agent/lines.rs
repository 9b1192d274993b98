//! Lines as Claude Code 2.1.325 writes them. The names of its fields that others must not know are in here only.

use serde_json::{Value, json};

use super::meter::Figures;

/// The release whose dialect is spoken.
const DIALECT: &str = "2.1.325";

/// Makes the lines of a session. Ids are counted: the same session says the same under the same ids.
pub(super) struct Lines {
    session_id: String,
    /// The part of the session's id that its other ids begin with, so that two sessions share none.
    prefix: String,
    events: u64,
    messages: u64,
    tools: u64,
    requests: u64,
}

/// How a call of a tool ended.
pub(super) struct ToolEnd {
    pub(super) content: String,
    pub(super) is_error: bool,
    /// The structured twin of `content`.
    pub(super) twin: Value,
    /// Only a call that somebody decided about has one.
    pub(super) decision: Value,
}

impl ToolEnd {
    /// It worked.
    pub(super) fn done(content: impl Into<String>, twin: Value) -> Self {
        Self {
            content: content.into(),
            is_error: false,
            twin,
            decision: json!({"permission_decision": {"decision": "accept", "source": "config", "reason_type": "mode"}}),
        }
    }

    /// It did not.
    pub(super) fn failed(content: impl Into<String>) -> Self {
        let content = content.into();
        Self {
            twin: format!("Error: {content}").into(),
            is_error: true,
            content,
            decision: json!({}),
        }
    }
}

impl Lines {
    pub(super) fn new(session_id: String) -> Self {
        let prefix: String = session_id
            .chars()
            .filter(char::is_ascii_hexdigit)
            .take(20)
            .collect();
        Self {
            prefix,
            session_id,
            events: 0,
            messages: 0,
            tools: 0,
            requests: 0,
        }
    }

    pub(super) fn next_message_id(&mut self) -> String {
        self.messages += 1;
        format!("msg_{}{:04x}", self.prefix, self.messages)
    }

    pub(super) fn next_tool_id(&mut self) -> String {
        self.tools += 1;
        format!("toolu_{}{:04x}", self.prefix, self.tools)
    }

    pub(super) fn next_request_id(&mut self) -> String {
        self.requests += 1;
        format!("{}-{:04x}", self.prefix, self.requests)
    }

    pub(super) fn init(&mut self, cwd: &str, model: &str, permission_mode: &str, has_host: bool) -> Value {
        let mut tools = vec!["Bash", "Edit", "Read", "TodoWrite"];
        tools.extend(has_host.then_some("AskUserQuestion"));
        self.complete(json!({
            "type": "system", "subtype": "init",
            "cwd": cwd, "tools": tools, "mcp_servers": [], "model": model, "permissionMode": permission_mode,
            "slash_commands": [], "apiKeySource": "none", "claude_code_version": DIALECT,
            "output_style": "default", "agents": [], "skills": [], "plugins": [],
            "capabilities": ["interrupt_receipt_v1"], "original_cwd": cwd, "additional_directories": [],
        }))
    }

    pub(super) fn system(&mut self, subtype: &str, mut body: Value) -> Value {
        body["type"] = "system".into();
        body["subtype"] = subtype.into();
        self.complete(body)
    }

    pub(super) fn stream(&mut self, message_id: &str, event: Value) -> Value {
        let line = json!({
            "type": "stream_event", "event": event, "parent_tool_use_id": null, "api_message_id": message_id,
        });
        self.complete(line)
    }

    pub(super) fn message(id: &str, model: &str, content: Value, usage: Value) -> Value {
        json!({
            "id": id, "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        })
    }

    pub(super) fn assistant(&mut self, message: Value) -> Value {
        self.complete(json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))
    }

    pub(super) fn tool_result(&mut self, tool_id: &str, end: ToolEnd) -> Value {
        let mut meta = end.decision;
        meta["id"] = tool_id.into();
        self.complete(json!({
            "type": "user",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": tool_id, "content": end.content, "is_error": end.is_error},
            ]},
            "parent_tool_use_id": null,
            "tool_use_result": end.twin,
            "tool_result_meta": [meta],
        }))
    }

    pub(super) fn user_text(&mut self, text: &str) -> Value {
        let content = json!([{"type": "text", "text": text}]);
        self.complete(json!({
            "type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": null,
        }))
    }

    pub(super) fn replay(&mut self, id: Option<&str>, content: &Value) -> Value {
        let mut line = self.complete(json!({
            "type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": null,
            "isReplay": true,
        }));
        if let Some(id) = id {
            line["uuid"] = id.into();
        }
        line
    }

    pub(super) fn lifecycle(&mut self, message_id: &str, state: &str) -> Value {
        self.complete(json!({"type": "command_lifecycle", "command_uuid": message_id, "state": state}))
    }

    pub(super) fn result(&mut self, mut body: Value, figures: Figures) -> Value {
        body["type"] = "result".into();
        body["total_cost_usd"] = figures.total_cost;
        body["usage"] = figures.usage;
        body["modelUsage"] = figures.model_usage;
        body["model_usage_since_last_result"] = figures.since_last_result;
        self.complete(body)
    }

    pub(super) fn question(request_id: &str, tool_id: &str, input: &Value) -> Value {
        json!({"type": "control_request", "request_id": request_id, "request": {
            "subtype": "can_use_tool", "tool_name": "AskUserQuestion", "display_name": "AskUserQuestion",
            "input": input, "tool_use_id": tool_id, "requires_user_interaction": true,
        }})
    }

    pub(super) fn denial(tool_id: &str, input: &Value) -> Value {
        json!({"tool_name": "AskUserQuestion", "tool_use_id": tool_id, "tool_input": input})
    }

    pub(super) fn withdrawal(request_id: &str) -> Value {
        json!({"type": "control_cancel_request", "request_id": request_id})
    }

    pub(super) fn response(request_id: &str, response: &Value) -> Value {
        json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": request_id, "response": response,
        }})
    }

    pub(super) fn refusal(request_id: &str, error: &str, code: &str) -> Value {
        json!({"type": "control_response", "response": {
            "subtype": "error", "request_id": request_id, "error": error, "error_code": code,
        }})
    }

    /// What every line of a session carries.
    fn complete(&mut self, mut line: Value) -> Value {
        self.events += 1;
        let stem = self.session_id.get(..24).unwrap_or_default();
        line["uuid"] = format!("{stem}{:012x}", self.events).into();
        line["session_id"] = self.session_id.as_str().into();
        line
    }
}
