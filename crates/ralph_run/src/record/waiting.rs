//! What a run waits for: a message, the end of a pause, or a higher limit.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::open::Open;
use crate::reason::LimitKind;

/// A session has no process just now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MessageAwaited {
    /// The conversation that the next message goes on with; none where it begins one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// The run pauses before the next iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CooldownStarted {
    /// When the next iteration starts.
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub until: Timestamp,
    #[serde(default)]
    pub cause: CooldownCause,
    /// The agent's service is overloaded, or nothing is known about when its limit resets: the run only tries again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_retry: bool,
}

/// Why a run pauses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CooldownCause {
    /// The pause between iterations, or after a failed one.
    #[default]
    Pause,
    /// The agent's usage limit is reached. It resets at `until`, unless `is_retry`.
    UsageLimit,
    /// The last iteration failed, and another try makes sense only after a while.
    Backoff,
}

/// A limit is reached, and the run waits for somebody to raise it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct BudgetAwaited {
    /// Which limit.
    #[cfg_attr(feature = "ts", ts(as = "LimitKind"))]
    pub limit: Open<LimitKind>,
    /// How much is used, for people.
    pub message: String,
    /// The limit as it is: micro-dollars, tokens, iterations or seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_value: Option<u64>,
    /// When the run ends if the limit is not raised; none waits without limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(type = "string | null"))]
    pub until: Option<Timestamp>,
}

/// A limit was raised while the run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct LimitRaised {
    /// Which limit.
    #[cfg_attr(feature = "ts", ts(as = "LimitKind"))]
    pub limit: Open<LimitKind>,
    /// The new limit: micro-dollars, tokens, iterations or seconds.
    pub to: u64,
}
