//! `Refusal`: why a runner did not do a command.

use agent_api::CommandError;
use serde::{Deserialize, Serialize};

/// Why a command is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub code: RefusalCode,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// Not JSON, not an object, or without an id.
    Malformed,
    /// Over the limit of a line.
    TooLong,
    /// This version knows no such command.
    UnknownCommand,
    /// A field of the command is missing or wrong.
    Invalid,
    /// The id was used for something else.
    IdReused,
    /// Too much waits to be done already.
    Busy,
    /// Too many clients are connected already.
    TooManyClients,
    /// The agent of the run asks for what only its user may do.
    Forbidden,
    /// The agent, or this run, cannot do that.
    Unsupported,
    /// No such request is open.
    NoSuchRequest,
    AlreadyAnswered,
    /// The answer does not fit the request.
    Unfitting,
    /// No queued message has this id.
    NoSuchMessage,
    /// The agent was given the message already.
    AlreadySent,
    /// The agent takes no more input.
    InputClosed,
    RunEnded,
    #[serde(other)]
    Other,
}

impl Refusal {
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The run has ended.
    pub fn run_ended() -> Self {
        Self::new(RefusalCode::RunEnded, "the run has ended")
    }
}

impl From<CommandError> for Refusal {
    fn from(error: CommandError) -> Self {
        let code = match &error {
            CommandError::Unsupported { .. } => RefusalCode::Unsupported,
            CommandError::Closed => RefusalCode::InputClosed,
            CommandError::Busy => RefusalCode::Busy,
            CommandError::NoSuchRequest { .. } => RefusalCode::NoSuchRequest,
            // Further kinds are about what was said, too.
            _ => RefusalCode::Invalid,
        };
        Self::new(code, error.to_string())
    }
}
