//! What a person may want to know.

use serde::{Deserialize, Serialize};

use super::error_info::ErrorInfo;
use super::payload::Json;

/// Something that a person may want to know and that has no event of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Notice {
    /// How important.
    pub severity: Severity,
    /// A word for programs, for example `compacted`, `hook`, `stderr`, `noise`.
    pub code: String,
    /// For people, at most [`bounds::MESSAGE_BYTES`](crate::bounds::MESSAGE_BYTES) long.
    pub message: String,
    /// Further facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

/// How important.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For those who look for a fault.
    Debug,
    /// Good to know.
    Info,
    /// Something is not as it should be.
    Warning,
    /// Something went wrong.
    Error,
}

/// What the agent is doing right now, in its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct StatusChanged {
    /// What.
    pub status: Status,
}

/// What the agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for the model.
    Requesting,
    /// The model thinks.
    Thinking,
    /// Shortens the conversation.
    Compacting,
    /// Works.
    Running,
    /// Has nothing to do.
    Idle,
    /// Waits for an answer.
    Waiting,
}

/// A call of the model failed and will be repeated by the agent itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Retry {
    /// Counts from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// After this many it gives up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// How long it waits, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// What went wrong.
    pub error: ErrorInfo,
}

/// Where a subscription stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RateLimit {
    /// Whether requests still pass.
    pub status: RateLimitStatus,
    /// Which limit, in the vendor's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// How much of it is used, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<f64>,
    /// When it starts over, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
}

/// Whether requests still pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RateLimitStatus {
    /// They do.
    Allowed,
    /// They do, but not for long.
    Warning,
    /// They do not.
    Rejected,
    /// The vendor used a word that is not known.
    #[serde(other)]
    Unknown,
}
