//! What went wrong.

use serde::{Deserialize, Serialize};

/// Something went wrong. As an event it never ends the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ErrorInfo {
    /// What kind of trouble.
    pub class: ErrorClass,
    /// A word for programs, for example `not_json` or `rate_limit`.
    pub code: String,
    /// For people, at most [`bounds::MESSAGE_BYTES`](crate::bounds::MESSAGE_BYTES) long. Never a line of the agent's
    /// output that could not be read.
    pub message: String,
    /// The status of the API's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Whether the same may work later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_retryable: bool,
    /// Where in the agent's output, if that is what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

impl ErrorInfo {
    /// An error without further details.
    #[must_use]
    pub fn new(class: ErrorClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            code: code.into(),
            message: message.into(),
            http_status: None,
            is_retryable: false,
            position: None,
        }
    }
}

/// What kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// Not logged in, or a key that is not accepted: a person has to act.
    Auth,
    /// The money or the plan is used up.
    Quota,
    /// Too many requests.
    RateLimit,
    /// The vendor has no capacity.
    Overloaded,
    /// The request cannot be carried out as it is.
    InvalidRequest,
    /// It does not fit into the model's context.
    ContextWindow,
    /// No such model.
    ModelNotFound,
    /// The connection failed.
    Network,
    /// The agent's sandbox refused.
    Sandbox,
    /// Not allowed.
    Permission,
    /// The folder is not trusted.
    Trust,
    /// Settings of the agent are wrong.
    Config,
    /// A tool failed.
    Tool,
    /// The agent's output could not be read.
    Protocol,
    /// The process died or could not be dealt with.
    Process,
    /// Something else at the vendor's.
    Vendor,
    /// Nobody knows, or a word of a newer version.
    #[serde(other)]
    Unknown,
}

/// A place in the agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: u64,
    /// Where the line starts in the output.
    pub offset: u64,
    /// How long the line is.
    pub length: u64,
}
