//! The agent's session: its start, its changes, and answers to what was sent to it.

use serde::{Deserialize, Serialize};

/// The agent's session started. Sent once per process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct SessionStarted {
    /// The vendor's id, by which the session can be resumed. Omitted if it is longer than
    /// [`bounds::SESSION_ID_BYTES`](crate::bounds::SESSION_ID_BYTES).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's working directory, as it reports itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The agent's own version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The permission mode, as the vendor names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// Tools that the model can call, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// MCP servers and their state, as `name: status`; bounded likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_servers: Vec<String>,
}

/// The session changed. Fields that are `None` did not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct SessionUpdated {
    /// The new id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The new model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The new permission mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// The progress of a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MessageUpdated {
    /// The message's id, as [`RunControl::send`](crate::RunControl::send) returned it.
    pub message_id: String,
    /// Its progress.
    pub state: MessageState,
}

/// The progress of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// It waits for its turn.
    Queued,
    /// The model works on it.
    Started,
    /// Its turn ended.
    Completed,
    /// It was withdrawn.
    Cancelled,
}

/// The agent answered a command, such as changing the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CommandAnswered {
    /// The command's id, as [`RunControl`](crate::RunControl) returned it.
    pub command_id: String,
    /// Why the agent refused; `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
