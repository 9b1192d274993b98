//! What the APIs' requests have in common when they are read as conversations of the Messages API.

use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// How the CLIs tell the model their working directory, each in its own words.
static DIRECTORY: LazyLock<Regex> = LazyLock::new(|| {
    crate::fake_model::request::pattern(
        r"(?:<cwd>|Workspace Directories:\*\*\s+- |currently working in the directory: |[Ww]orking directory: )([^<\n]+)",
    )
});

/// A conversation of which not everything is known yet.
#[derive(Default)]
pub(super) struct Conversation {
    messages: Vec<Value>,
    directory: Option<String>,
}

impl Conversation {
    /// Messages of the same side in a row are one.
    pub(super) fn say(&mut self, role: &str, blocks: Vec<Value>) {
        for text in blocks.iter().filter_map(|block| block["text"].as_str()) {
            self.look_for_directory(text);
        }
        match self.messages.last_mut() {
            Some(last) if last["role"] == role => {
                if let Some(content) = last["content"].as_array_mut() {
                    content.extend(blocks);
                }
            }
            _ => self.messages.push(json!({"role": role, "content": blocks})),
        }
    }

    /// Keeps the first directory that a text names.
    pub(super) fn look_for_directory(&mut self, text: &str) {
        if self.directory.is_none() {
            let found = DIRECTORY.captures(text).and_then(|found| found.get(1));
            self.directory = found.map(|path| path.as_str().trim().to_owned());
        }
    }

    /// The request.
    pub(super) fn finish(self, model: &Value, tools: &[&str], session: &Value, streams: bool) -> Value {
        let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name})).collect();
        let directory = self.directory.unwrap_or_default();
        json!({
            "model": model,
            "system": format!("Working directory: {directory}"),
            "messages": self.messages,
            "tools": tools,
            "metadata": {"user_id": session},
            "stream": streams,
        })
    }
}

pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The texts in a list of parts, or the only one.
pub(super) fn texts(content: &Value) -> Vec<Value> {
    match content {
        Value::String(only) => vec![text(only)],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .map(text)
            .collect(),
        _ => Vec::new(),
    }
}

pub(super) fn elements(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn tool_result(output: &Value) -> Value {
    json!({"type": "tool_result", "content": output.to_string()})
}
