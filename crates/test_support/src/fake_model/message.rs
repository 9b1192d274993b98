use super::tools;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// A content block. Fields are in the order in which the real API sends them: the CLI passes them on as they come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Thinking, with its signature.
    Thinking {
        /// The thought.
        thinking: String,
        /// What the real API signs it with.
        signature: String,
    },
    /// Thinking that only the vendor can read.
    RedactedThinking {
        /// What is left of it.
        data: String,
    },
    /// A tool call.
    ToolUse {
        /// Given by the server where empty.
        #[serde(default)]
        id: String,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
    /// A tool call that the API itself answers.
    ServerToolUse {
        /// Given by the server where empty.
        #[serde(default)]
        id: String,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
    /// What the API's own web search found.
    WebSearchToolResult {
        /// The call's id.
        tool_use_id: String,
        /// The hits.
        content: Value,
    },
}

impl Block {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Thinking with a made-up signature.
    #[must_use]
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking {
            thinking: thinking.into(),
            signature: STANDARD.encode("a signature for tests").repeat(3),
        }
    }

    /// A tool call.
    #[must_use]
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::ToolUse {
            id: String::new(),
            name: name.into(),
            input,
        }
    }

    /// A shell command, run with the tool that the agent has for it.
    #[must_use]
    pub fn shell(command: &str) -> Self {
        Self::tool(tools::SHELL, json!({"command": command}))
    }

    /// A new file in the agent's directory, written with the tool that the agent has for it.
    #[must_use]
    pub fn write(path: &str, content: &str) -> Self {
        Self::tool(tools::WRITE, json!({"path": path, "content": content}))
    }

    /// A change of whole lines of a file in the agent's directory, made with the tool that the agent has for it.
    #[must_use]
    pub fn edit(path: &str, old: &str, new: &str) -> Self {
        Self::tool(tools::EDIT, json!({"path": path, "old": old, "new": new}))
    }
}

/// A prompt that makes the model say these messages, one per step. `{cwd}` in a tool's input is the CLI's directory.
#[must_use]
pub fn scripted_prompt(steps: &[Vec<Block>]) -> String {
    // Blocks are strings, numbers and JSON values: they always serialise.
    format!(
        "SCENARIO:generic:{}",
        STANDARD.encode(serde_json::to_string(steps).unwrap_or_default())
    )
}

/// What the server answers.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Message(Message),
    Error(ApiError),
}

/// A message of the model and how it is delivered.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) blocks: Vec<Block>,
    pub(super) stop_reason: &'static str,
    pub(super) usage: Option<Usage>,
    pub(super) headers: Vec<(&'static str, String)>,
    /// Characters per delta.
    pub(super) delta_chars: usize,
    /// Between two deltas.
    pub(super) pace: Duration,
    /// Before the first byte.
    pub(super) delay: Duration,
    /// Something that happens after that many deltas.
    pub(super) incident: Option<(usize, Incident)>,
    /// Sent in place of a tool's input, as it is.
    pub(super) broken_input: Option<&'static str>,
    pub(super) web_searches: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Incident {
    /// Waits until the gate is opened.
    Gate(String),
    /// An `error` event, then the end of the stream.
    Error,
    /// The stream ends as if all had been said.
    End,
    /// The connection is cut, before the client had a chance to read.
    Cut,
    /// The connection is cut, some time after the client has read.
    LateCut,
}

#[derive(Clone, Debug)]
pub(super) struct ApiError {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) message: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    /// In place of the JSON.
    pub(super) page: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_creation: u64,
    pub(super) cache_read: u64,
}

impl Message {
    pub(super) fn new(blocks: impl Into<Vec<Block>>) -> Self {
        let blocks = blocks.into();
        let calls_tool = blocks.iter().any(|block| matches!(block, Block::ToolUse { .. }));
        Self {
            blocks,
            stop_reason: if calls_tool { "tool_use" } else { "end_turn" },
            usage: None,
            headers: Vec::new(),
            delta_chars: 24,
            pace: Duration::ZERO,
            delay: Duration::ZERO,
            incident: None,
            broken_input: None,
            web_searches: 0,
        }
    }

    pub(super) fn stopped_by(blocks: impl Into<Vec<Block>>, stop_reason: &'static str) -> Self {
        Self {
            stop_reason,
            ..Self::new(blocks)
        }
    }

    pub(super) fn usage(&self) -> Usage {
        let characters: usize = self
            .blocks
            .iter()
            .map(|block| serde_json::to_string(block).map_or(0, |json| json.len()))
            .sum();
        self.usage.unwrap_or(Usage {
            input: 12,
            output: characters as u64 / 4 + 1,
            cache_creation: 2048,
            cache_read: 1024,
        })
    }
}

impl From<Message> for Answer {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

impl From<ApiError> for Answer {
    fn from(error: ApiError) -> Self {
        Self::Error(error)
    }
}

impl<const N: usize> From<[Block; N]> for Answer {
    fn from(blocks: [Block; N]) -> Self {
        Message::new(blocks).into()
    }
}
