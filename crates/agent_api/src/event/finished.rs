//! The end of a run.

use serde::{Deserialize, Serialize};

use super::error_info::ErrorInfo;
use super::turn::Outcome;
use super::usage::RunUsage;

/// The run is over: the process and everything it started are gone, and no event follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Finished {
    /// How it ended. What we caused comes first, then what the agent said, then its exit status.
    pub outcome: Outcome,
    /// Whether the agent did not say how it ended, so that the outcome is our conclusion.
    pub is_synthetic: bool,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// How the process ended.
    pub exit: ExitInfo,
    /// What the run used.
    pub usage: RunUsage,
    /// Turns that ended.
    pub turns: u32,
    /// Lines of the output that could not be read; each was an error event.
    pub line_errors: u64,
    /// From the start to the exit of the process.
    pub duration_ms: u64,
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
    /// Whether we had to stop it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_stopped: bool,
    /// How many of its descendants were still alive and had to be killed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub survivors_killed: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
