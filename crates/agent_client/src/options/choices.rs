//! The choices in [`RunOptions`](super::RunOptions): session, permissions, system prompt and the two-valued switches.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use serde_json::Value;

/// Which conversation a run continues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new session.
    #[default]
    New,
    /// A new session with this id. Most agents require a UUID.
    NewWithId(String),
    /// Resume the session with this id.
    Resume(String),
    /// Resume the newest session of the working directory. Prefer `Resume` if you know the id: an agent that finds no
    /// session may start a new one without saying so.
    Last,
    /// Continue in a copy of a session and leave the original unchanged.
    Fork {
        /// The session to copy.
        id: String,
        /// The id of the copy; the agent chooses one by default.
        new_id: Option<String>,
    },
    /// Continue in a copy of the newest session of the working directory.
    ForkLast {
        /// The id of the copy; the agent chooses one by default.
        new_id: Option<String>,
    },
}

impl SessionChoice {
    /// Continues in a copy of this session, under an id that the agent chooses.
    pub fn fork(id: impl Into<String>) -> Self {
        Self::Fork {
            id: id.into(),
            new_id: None,
        }
    }

    /// Continues in a copy of the newest session of the working directory, under an id that the agent chooses.
    #[must_use]
    pub fn fork_last() -> Self {
        Self::ForkLast { new_id: None }
    }

    /// The id that the run's session will have, if the choice fixes it.
    #[must_use]
    pub fn expected_id(&self) -> Option<&str> {
        match self {
            Self::NewWithId(id) | Self::Resume(id) => Some(id),
            Self::Fork { new_id, .. } | Self::ForkLast { new_id } => new_id.as_deref(),
            Self::New | Self::Last => None,
        }
    }
}

/// What the agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PermissionMode {
    /// The agent asks before it acts, or refuses if no one can answer.
    Ask,
    /// File edits are allowed; everything else is asked.
    AcceptEdits,
    /// The agent only plans; nothing changes before the plan is approved.
    Plan,
    /// Whatever would be asked is refused.
    Refuse,
    /// The vendor's own classifier decides what is safe.
    Auto,
    /// Everything is allowed.
    Bypass,
}

/// Who answers when a tool needs permission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PermissionHost {
    /// No one: what would be asked is denied at once.
    #[default]
    None,
    /// The caller, who must answer every request. Questions and plans come the same way.
    Caller,
}

/// Whether text is delivered while the model writes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PartialMessages {
    /// Yes, if the agent supports it.
    #[default]
    WhereSupported,
    /// Only complete messages.
    Off,
}

/// Whether events carry the agent's own words beside the common ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VendorEvents {
    /// No.
    #[default]
    Off,
    /// Each event has the line, or the part of it, that it comes from.
    Attached,
}

/// Whether the agent stores the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Persistence {
    /// In the agent's own files, so that it can be resumed.
    #[default]
    Kept,
    /// Not at all.
    Off,
}

/// Whether the agent interprets `/` at the start of a prompt and `@` in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expansion {
    /// A prompt is plain text.
    #[default]
    Literal,
    /// `/command` runs a command and `@file` adds a file.
    Commands,
}

/// A JSON document: a value, or a file that holds it.
#[derive(Clone, PartialEq)]
pub enum JsonSource {
    /// This value.
    Value(Value),
    /// The contents of this file. A relative path is resolved from the agent's working directory.
    File(PathBuf),
}

impl fmt::Debug for JsonSource {
    /// Leaves out a value, which may hold secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => formatter.write_str("Value(…)"),
            Self::File(path) => formatter.debug_tuple("File").field(path).finish(),
        }
    }
}

impl From<Value> for JsonSource {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<PathBuf> for JsonSource {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// A system prompt.
#[derive(Clone, PartialEq, Eq)]
pub enum SystemPrompt {
    /// This text.
    Text(String),
    /// The contents of this file. A relative path is resolved from the agent's working directory.
    File(PathBuf),
}

impl fmt::Debug for SystemPrompt {
    /// Shows only the length of a text, which may hold secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(formatter, "Text(<{} bytes>)", text.len()),
            Self::File(path) => formatter.debug_tuple("File").field(path).finish(),
        }
    }
}

impl SystemPrompt {
    /// The text itself, for agents that take no file. A relative path is resolved from `cwd`.
    ///
    /// # Errors
    /// When the file cannot be read as UTF-8 text.
    pub fn text(&self, cwd: Option<&Path>) -> io::Result<Cow<'_, str>> {
        match self {
            Self::Text(text) => Ok(Cow::Borrowed(text)),
            Self::File(path) => {
                let path = cwd.map_or_else(|| path.clone(), |cwd| cwd.join(path));
                std::fs::read_to_string(path).map(Cow::Owned)
            }
        }
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
