//! Turns, their outcome, and the end of a run.

use serde::{Deserialize, Serialize};

use super::error_info::ErrorInfo;
use super::id::ItemId;
use super::payload::Json;
use super::usage::RunUsage;

/// A turn started: the model works on a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TurnStarted {
    /// The number of the turn in this process, from 1.
    pub number: u32,
}

/// A turn ended. Not the end of the run: background work can start another turn, and the last one counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct TurnFinished {
    /// The number of the turn in this process, from 1.
    pub number: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// The final answer: the last text of the turn, which was also sent as a block. Only its start, if it is longer than
    /// [`bounds::TEXT_BYTES`](crate::bounds::TEXT_BYTES).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// Why it stopped, as the vendor names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Wall time in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Time spent in the API in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_duration_ms: Option<u64>,
    /// Steps of the model, for display: vendors count them in different ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Tool calls that were not allowed, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// The answer in the requested schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<Json>,
}

impl TurnFinished {
    /// The end of a turn of which only the outcome is known.
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
    /// The tool's name.
    pub tool: String,
    /// Why it was not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a turn or a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It did what was asked, as the agent reports.
    Succeeded,
    /// It failed. The error says why.
    Failed,
    /// The agent reached one of its own limits.
    LimitReached(Limit),
    /// The model refused.
    Refused,
    /// It was interrupted before its end.
    Interrupted,
    /// The caller cancelled the run.
    Cancelled,
    /// The run timed out.
    TimedOut,
    /// The agent was silent for too long and was stopped.
    Stalled,
    /// The process died.
    Crashed,
    /// The process exited normally, but without the result that it must report.
    NoResult,
    /// The exit status of the process is unknown.
    Lost,
}

impl Outcome {
    /// Whether it is [`Outcome::Succeeded`].
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Succeeded
    }
}

/// A limit that the agent enforces itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The number of turns.
    Turns,
    /// The cost.
    Budget,
    /// Output or context tokens.
    Tokens,
}

/// The run ended: the process and everything it started are gone, and no event follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Finished {
    /// How it ended. A stop that we caused takes precedence, then the agent's report, then the exit status.
    pub outcome: Outcome,
    /// Whether the agent did not report an outcome, so that it was concluded from other facts.
    pub is_synthetic: bool,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// How the process ended.
    pub exit: ExitInfo,
    /// Tokens and cost of the run.
    pub usage: RunUsage,
    /// The number of turns that ended.
    pub turns: u32,
    /// The number of lines that could not be read. Each was reported as an error event.
    pub line_errors: u64,
    /// From the start to the exit of the process, in milliseconds.
    pub duration_ms: u64,
}

impl Finished {
    /// The end of a run of which only the outcome is known.
    #[must_use]
    pub fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            is_synthetic: false,
            error: None,
            exit: ExitInfo::default(),
            usage: RunUsage::default(),
            turns: 0,
            line_errors: 0,
            duration_ms: 0,
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct ExitInfo {
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Whether it was stopped by us.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_stopped: bool,
    /// How many of its descendants were alive after its exit and had to be killed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub survivors_killed: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
