//! Turns and how they end.

use serde::{Deserialize, Serialize};

use super::error_info::ErrorInfo;
use super::id::ItemId;
use super::payload::Json;

/// The model begins to work on a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TurnStarted {
    /// Counts the turns of the process from 1.
    pub number: u32,
}

/// A turn has ended. Not the end of the run: background work can wake a further turn, and the last one counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TurnFinished {
    /// Counts the turns of the process from 1.
    pub number: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// The answer in short: the last text of the turn, which came as a block before. The beginning, if it is longer
    /// than [`bounds::TEXT_BYTES`](crate::bounds::TEXT_BYTES).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// Why it stopped, in the vendor's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Wall time in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Time in the API in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_duration_ms: Option<u64>,
    /// Steps of the model, as the vendor counts them: for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// What was not allowed, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// The answer in a requested schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Json>,
}

impl TurnFinished {
    /// An end of which nothing else is known.
    #[must_use]
    pub fn new(number: u32, outcome: Outcome) -> Self {
        Self {
            number,
            outcome,
            text: None,
            error: None,
            stop_reason: None,
            duration_ms: None,
            api_duration_ms: None,
            steps: None,
            denials: Vec::new(),
            structured_output: None,
        }
    }
}

/// A tool call that was not allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Denial {
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The tool.
    pub tool: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a turn or a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it was asked to, by its own account.
    Succeeded,
    /// It failed; the error says why.
    Failed,
    /// A limit that the agent was given is reached.
    LimitReached(Limit),
    /// The model refused.
    Refused,
    /// It was interrupted before it was done.
    Interrupted,
    /// The caller cancelled the run.
    Cancelled,
    /// The run's time was up.
    TimedOut,
    /// The agent was silent for too long and was stopped.
    Stalled,
    /// The process died.
    Crashed,
    /// The process ended in order, but without the result it owes.
    NoResult,
    /// Nobody saw how the process ended.
    Lost,
}

impl Outcome {
    /// Whether it did what it was asked to.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Succeeded
    }
}

/// Which limit of the agent's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Of turns.
    Turns,
    /// Of money.
    Budget,
    /// Of output or context tokens.
    Tokens,
}
