//! Tool calls and tasks.

use serde::{Deserialize, Serialize};

use super::id::ItemId;
use super::payload::Json;

/// A tool is called. Sent again with the same item when more is known about the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolStarted {
    /// The call.
    pub item: ItemId,
    /// The tool, as the agent calls it.
    pub name: String,
    /// What kind of tool.
    pub kind: ToolKind,
    /// What it is used on, in one line: a path, a command, a pattern, an address. There even when `input` had to be
    /// dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The arguments as the agent gave them; none while they are being written. [`ToolStarted::typed_input`] reads
    /// those of well-known tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// The MCP server that has the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<String>,
    /// How far the call is.
    pub state: ToolState,
}

/// What kind of tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Runs a command.
    Execute,
    /// Reads a file.
    Read,
    /// Changes or writes a file.
    Edit,
    /// Removes a file.
    Delete,
    /// Moves a file.
    Move,
    /// Searches files.
    Search,
    /// Fetches a page.
    Fetch,
    /// Searches the web.
    WebSearch,
    /// Keeps the list of things to do.
    Plan,
    /// Belongs to an MCP server.
    Mcp,
    /// Starts or speaks to a subagent.
    Agent,
    /// Asks a person.
    Question,
    /// Changes what may happen without asking.
    SwitchMode,
    /// Something else, or a word of a newer version.
    #[serde(other)]
    Other,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// The model is writing the arguments.
    Preparing,
    /// It runs, or waits for permission.
    Running,
}

/// A tool is still running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolProgressed {
    /// The call.
    pub item: ItemId,
    /// For how long, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
}

/// A tool call has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolFinished {
    /// The call.
    pub item: ItemId,
    /// How it ended.
    pub status: ToolStatus,
    /// What it gave, for people. Longer than [`bounds::TEXT_BYTES`](crate::bounds::TEXT_BYTES) it keeps its beginning
    /// and its end, with a line between them that says how much is missing.
    pub output: String,
    /// How long `output` was before it was cut, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// Pictures and other things that are no text, in words: `image/png, 1234 bytes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    /// The exit code of a command, only where the vendor's data has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Files that the call changed, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It worked, by the agent's account.
    Completed,
    /// It failed.
    Failed,
    /// It was not allowed.
    Denied,
    /// It was interrupted, or the run ended before it did.
    Cancelled,
    /// It goes on in the background.
    Background,
}

/// A file that a call changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// The hunks of a unified diff, where the agent gives them and they are not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Lines added and removed, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is different.
    Modified,
    /// It is gone.
    Deleted,
    /// It is elsewhere.
    Moved,
}

/// A subagent or a command in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Task {
    /// Names the task.
    pub task_id: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// What it is for, or what it is doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How far it is.
    pub state: TaskState,
    /// What came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Works.
    Running,
    /// Done.
    Completed,
    /// Failed.
    Failed,
    /// Stopped.
    Stopped,
}
