//! The agent's conversation as a whole.

use serde::{Deserialize, Serialize};

/// The agent is there. Sent once per process, as soon as it says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct SessionStarted {
    /// The vendor's conversation, which can be resumed. Omitted where it is over
    /// [`bounds::SESSION_ID_BYTES`](crate::bounds::SESSION_ID_BYTES) long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where the agent works, as it says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The agent's own version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// What happens without asking, in the vendor's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// Tools the model can call, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// MCP servers and how they are, as `name: status`; bounded likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<String>,
}

/// Something about the conversation has changed; what is absent has not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct SessionUpdated {
    /// It goes on under another id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Another model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What happens without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// What became of a message that was sent: its receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MessageUpdated {
    /// The message, as [`RunControl::send`](crate::RunControl::send) named it.
    pub message_id: String,
    /// How far it is.
    pub state: MessageState,
}

/// How far a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// Waits for its turn.
    Queued,
    /// The model has it.
    Started,
    /// Its turn is over.
    Completed,
    /// Taken back.
    Cancelled,
}

/// The agent answered a command, such as a change of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CommandAnswered {
    /// The command, as [`RunControl`](crate::RunControl) named it.
    pub command_id: String,
    /// Why it refused, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
