//! Tool calls, the agent's to-do list, and tasks such as subagents.

use serde::{Deserialize, Serialize};

use super::id::ItemId;
use super::payload::Json;

/// A tool call started. Sent again with the same item when more is known about the call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct ToolStarted {
    /// Identifies the call.
    pub item: ItemId,
    /// The tool's name, as the agent writes it.
    pub name: String,
    /// What the tool does.
    pub kind: ToolKind,
    /// What it is used on, in one line: a path, a command, a pattern, a URL. Present even if `input` was dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The arguments in the agent's own shape; `None` while they are being written. [`ToolStarted::typed_input`] reads
    /// those of common tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// The MCP server that provides the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<String>,
    /// The progress of the call.
    pub state: ToolState,
}

impl ToolStarted {
    /// A running call of which only the tool is known.
    #[must_use]
    pub fn new(item: ItemId, name: impl Into<String>, kind: ToolKind) -> Self {
        Self {
            item,
            name: name.into(),
            kind,
            subject: None,
            input: None,
            mcp_server: None,
            state: ToolState::Running,
        }
    }
}

/// What a tool does, whatever the agent calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
    /// Fetches a web page.
    Fetch,
    /// Searches the web.
    WebSearch,
    /// Maintains the agent's to-do list.
    Plan,
    /// Belongs to an MCP server.
    Mcp,
    /// Starts or messages a subagent.
    Agent,
    /// Asks the user.
    Question,
    /// Changes the permission mode.
    SwitchMode,
    /// Any other tool, or a kind of a newer version.
    #[serde(other)]
    Other,
}

/// The progress of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// The model is writing the arguments.
    Preparing,
    /// The tool runs, or waits for permission.
    Running,
}

/// A tool is still running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolProgressed {
    /// The call.
    pub item: ItemId,
    /// Time since its start in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
}

/// A tool call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct ToolFinished {
    /// The call.
    pub item: ItemId,
    /// How it ended.
    pub status: ToolStatus,
    /// The output as text. If it is longer than [`bounds::TEXT_BYTES`](crate::bounds::TEXT_BYTES), its start and its end
    /// are kept, with a line in between that says how much is missing.
    pub output: String,
    /// The length of `output` before it was cut; `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    /// Images and other output that is not text, described: `image/png, 1234 bytes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    /// The exit code of a command, if the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Files that the call changed, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
}

impl ToolFinished {
    /// The end of a call without any output.
    #[must_use]
    pub fn new(item: ItemId, status: ToolStatus) -> Self {
        Self {
            item,
            status,
            output: String::new(),
            output_bytes: None,
            attachments: Vec::new(),
            exit_code: None,
            changes: Vec::new(),
        }
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It succeeded, as the agent reports.
    Completed,
    /// It failed.
    Failed,
    /// It was not allowed.
    Denied,
    /// It was interrupted, or the run ended before it did.
    Cancelled,
    /// It continues in the background.
    Background,
}

/// A file that a tool call changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct FileChange {
    /// The file's path.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// The hunks of a unified diff, if the agent reports them and they are not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Lines added and removed, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
}

impl FileChange {
    /// A change with the hunks of a unified diff, whose lines are counted.
    #[must_use]
    pub fn new(path: impl Into<String>, kind: ChangeKind, diff: Option<String>) -> Self {
        let count = |hunks: &str, sign| {
            let lines = hunks.lines().filter(|line| line.starts_with(sign));
            u32::try_from(lines.count()).unwrap_or(u32::MAX)
        };
        Self {
            path: path.into(),
            kind,
            lines: diff
                .as_deref()
                .map(|hunks| (count(hunks, '+'), count(hunks, '-'))),
            diff,
        }
    }
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was created.
    Added,
    /// It was changed.
    Modified,
    /// It was deleted.
    Deleted,
    /// It was moved or renamed.
    Moved,
}

/// The agent's complete to-do list. It replaces the previous one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PlanUpdated {
    /// The call that changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The entries in order, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    pub entries: Vec<PlanEntry>,
}

/// One entry of a to-do list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PlanEntry {
    /// What is to be done.
    pub text: String,
    /// Its progress.
    pub status: PlanStatus,
}

/// The progress of a to-do entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not started.
    Pending,
    /// In progress.
    InProgress,
    /// Done.
    Completed,
    /// No longer needed.
    Cancelled,
}

impl PlanStatus {
    /// By the word that most agents use; any other counts as pending.
    #[cfg(feature = "_json_lines")]
    pub(crate) fn named(word: Option<&str>) -> Self {
        match word {
            Some("in_progress" | "inProgress") => Self::InProgress,
            Some("completed") => Self::Completed,
            Some("cancelled") => Self::Cancelled,
            _ => Self::Pending,
        }
    }
}

/// A subagent or background command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Task {
    /// Identifies the task.
    pub task_id: String,
    /// The call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// What it is for, or what it is doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its progress.
    pub state: TaskState,
    /// Its result in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl Task {
    /// A task of which only the state is known.
    #[must_use]
    pub fn new(task_id: impl Into<String>, state: TaskState) -> Self {
        Self {
            task_id: task_id.into(),
            item: None,
            title: None,
            state,
            summary: None,
        }
    }
}

/// The progress of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It is running.
    Running,
    /// Done.
    Completed,
    /// Failed.
    Failed,
    /// Stopped.
    Stopped,
}
