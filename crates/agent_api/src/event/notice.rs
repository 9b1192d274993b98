//! Notices, status, retries and rate limits: what a user may want to know about a run.

use serde::{Deserialize, Serialize};

use super::error_info::ErrorInfo;
use super::payload::Json;

/// Something that the user may want to know and that has no event of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Notice {
    /// Its importance.
    pub severity: Severity,
    /// A code for programs, for example `compacted`, `hook`, `stderr`, `noise`.
    pub code: String,
    /// A message for people, at most [`bounds::MESSAGE_BYTES`](crate::bounds::MESSAGE_BYTES) long.
    pub message: String,
    /// More details, as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

impl Notice {
    /// A notice without data.
    #[must_use]
    pub fn new(severity: Severity, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: code.into(),
            message: message.into(),
            data: None,
        }
    }
}

/// The importance of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Useful for debugging.
    Debug,
    /// Good to know.
    Info,
    /// Something may be wrong.
    Warning,
    /// Something went wrong.
    Error,
}

/// What the agent is doing now, as it reports itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct StatusChanged {
    /// The new status.
    pub status: Status,
}

/// What the agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waiting for the model.
    Requesting,
    /// The model is thinking.
    Thinking,
    /// Replacing the conversation by a summary.
    Compacting,
    /// Working.
    Running,
    /// Nothing to do.
    Idle,
    /// Waiting for an answer.
    Waiting,
}

/// A request to the model failed, and the agent will repeat it by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Retry {
    /// The number of the retry, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The agent gives up after this many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// The wait before the retry in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// What went wrong.
    pub error: ErrorInfo,
}

impl Retry {
    /// A retry of which only the error is known.
    #[must_use]
    pub fn new(error: ErrorInfo) -> Self {
        Self {
            attempt: None,
            max_attempts: None,
            delay_ms: None,
            error,
        }
    }
}

/// The state of a subscription's limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct RateLimit {
    /// Whether requests still pass.
    pub status: RateLimitStatus,
    /// Which limit, as the vendor names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The used part in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<f64>,
    /// When it resets, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
}

impl RateLimit {
    /// A limit of which only the status is known.
    #[must_use]
    pub fn new(status: RateLimitStatus) -> Self {
        Self {
            status,
            window: None,
            used_percent: None,
            resets_at: None,
        }
    }
}

/// Whether requests still pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RateLimitStatus {
    /// Requests pass.
    Allowed,
    /// Requests pass, but the limit is near.
    Warning,
    /// Requests are rejected.
    Rejected,
    /// A status that is not known.
    #[serde(other)]
    Unknown,
}
