//! The choices a request can make.

use std::path::PathBuf;

use super::session_id::SessionId;

/// Which conversation to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChoice {
    /// A new one, with an id of the caller's choice or one that the CLI makes up. An id that is already taken ends
    /// the run at once.
    New {
        /// The id it gets.
        id: Option<SessionId>,
    },
    /// The newest one of the working directory, whoever started it. If there is none, the CLI silently starts a new
    /// one: prefer `Resume` when an id is known.
    ContinueLatest {
        /// Leave the original as it is and go on in a copy.
        fork: Option<Fork>,
    },
    /// This one.
    Resume {
        /// Its id.
        id: SessionId,
        /// Leave the original as it is and go on in a copy.
        fork: Option<Fork>,
    },
}

impl Default for SessionChoice {
    fn default() -> Self {
        Self::New { id: None }
    }
}

/// Goes on in a copy of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fork {
    /// The id the copy gets; the CLI makes one up if there is none here.
    pub id: Option<SessionId>,
}

/// A system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemPrompt {
    /// This text. It reaches the CLI by a file that only this user can read, where the CLI can read one.
    Text(String),
    /// The contents of this file; a relative path counts from the child's working directory.
    File(PathBuf),
}

/// Whether text is delivered while it is generated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PartialMessages {
    /// As `stream_event`s, besides the whole messages; nothing where the CLI cannot do it.
    #[default]
    WhereSupported,
    /// Only whole messages.
    Off,
}

/// Whether the CLI keeps the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Persistence {
    /// In its own files, so that it can be resumed.
    #[default]
    Kept,
    /// Nowhere.
    Off,
}

/// What a `/` at the start of a prompt and an `@` in it mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expansion {
    /// Nothing: a prompt is data.
    ///
    /// A CLI without [`Feature::ClientComposed`](crate::Feature::ClientComposed) cannot be told so. Then a space
    /// before the `/` keeps the command from running, and `@file` is still expanded.
    #[default]
    Literal,
    /// `/command` runs a command and `@file` adds a file.
    Commands,
}

/// Who is asked when a tool needs permission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PermissionHost {
    /// Nobody: what would ask is denied at once.
    #[default]
    Nobody,
    /// The owner of the session, by `can_use_tool` requests that it must answer. Questions and plans come this way
    /// too.
    Session,
}

/// Whether user messages come back as events once the model has got them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Replay {
    /// They do, where the CLI can.
    #[default]
    WhereSupported,
    /// They do not.
    Off,
}
