//! `ErrorInfo`: an error, with a class and a code for programs and a message for people.

use serde::{Deserialize, Serialize};

/// An error. As an event it never ends the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct ErrorInfo {
    /// The kind of error.
    pub class: ErrorClass,
    /// A code for programs, for example `not_json` or `rate_limit`.
    pub code: String,
    /// A message for people, at most [`bounds::MESSAGE_BYTES`](crate::bounds::MESSAGE_BYTES) long. Never a line of the agent's
    /// output that could not be read.
    pub message: String,
    /// The HTTP status of the API's response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Whether the same request may work later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_retryable: bool,
    /// When the same request may work again, in seconds since 1970, where the vendor says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
    /// How long to wait before the same request, where the vendor says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
    /// The line of the agent's output that could not be read.
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
            resets_at: None,
            retry_after_seconds: None,
            position: None,
        }
    }
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// Not logged in, or the API key was rejected. The user has to act.
    Auth,
    /// The credit or the plan is used up.
    Quota,
    /// Too many requests.
    RateLimit,
    /// The vendor has no capacity.
    Overloaded,
    /// The request cannot be carried out as it is.
    InvalidRequest,
    /// The conversation does not fit into the model's context.
    ContextWindow,
    /// No such model.
    ModelNotFound,
    /// The connection failed.
    Network,
    /// The agent's sandbox refused an action.
    Sandbox,
    /// Not allowed.
    Permission,
    /// The folder is not trusted.
    Trust,
    /// The agent's configuration is invalid.
    Config,
    /// A tool failed.
    Tool,
    /// The agent's output could not be read.
    Protocol,
    /// The process died or could not be managed.
    Process,
    /// Another error of the vendor's service.
    Vendor,
    /// Unknown, or a class of a newer version.
    #[serde(other)]
    Unknown,
}

/// A position in the agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: u64,
    /// Where the line starts: a byte offset in the output.
    pub offset: u64,
    /// The line's length in bytes.
    pub length: u64,
}
