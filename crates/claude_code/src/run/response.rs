//! The answer to a request.

use std::path::PathBuf;

use agent_process::ExitReport;

use crate::argv::Note;
use crate::event::{PermissionDenial, TurnResult};
use crate::money::MicroUsd;
use crate::usage::TokenCount;

/// What came of a [`Request`](crate::Request).
#[derive(Debug)]
#[non_exhaustive]
pub struct Response {
    /// The session, which can be resumed.
    pub session_id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The CLI's version, as it says itself or as it was probed.
    pub version: Option<String>,
    /// The answer: the last text of the last turn. If the CLI gave none, all that was streamed in that turn.
    pub final_text: String,
    /// Everything the model said in the main conversation, turn by turn.
    pub stream_text: String,
    /// Tokens of this run, subagents included where the CLI counts them. Of a turn that did not end they are a low
    /// estimate.
    pub usage: TokenCount,
    /// What this run cost.
    pub total_cost: Option<MicroUsd>,
    /// What the session has cost so far, as the CLI counts it. Give it as [`CostBasis::Resumed`](crate::CostBasis)
    /// when the session is resumed.
    pub session_total: Option<MicroUsd>,
    /// What was not allowed.
    pub permission_denials: Vec<PermissionDenial>,
    /// The whole output, byte for byte.
    pub raw_events_path: PathBuf,
    /// Whether `final_text` had to be put together from what was streamed.
    pub degraded: bool,
    /// The result that counts. It decides, whatever the exit status says.
    pub result: Box<TurnResult>,
    /// Results of earlier turns: background work that ends wakes another one.
    pub earlier_results: Vec<TurnResult>,
    /// How the process ended.
    pub exit: ExitReport,
    /// What was asked for and could not be had in full.
    pub notes: Vec<Note>,
    /// What was odd; first what keeps the run from being a success.
    pub remarks: Vec<Remark>,
}

impl Response {
    /// Whether the run succeeded: its last result says so, and nothing was cut off after it.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.result.is_success() && !self.remarks.iter().any(|remark| remark.is_failure())
    }
}

/// Something odd about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// A turn had begun, or waited to begin, and has no result: `result` is that of a turn before.
    UnfinishedTurn,
    /// The time was up before everything was done, and the process was stopped.
    TimedOut,
    /// The process was stopped before everything was done, or nobody saw how it ended.
    Stopped,
    /// So many background tasks had not ended when the process did.
    OpenTasks(usize),
    /// The session has another id than the one that was asked for: `session_id` is the one to resume.
    SessionForked,
    /// Results that no turn belongs to; they were ignored.
    SpuriousResults(u32),
    /// Lines that are no events; the raw log has them.
    BrokenLines(u64),
    /// The process did not exit after its result and was stopped.
    StoppedAfterResult,
    /// `total_cost` may include earlier runs of a resumed session: see [`Options::cost_basis`](crate::Options).
    CostMayIncludeEarlierRuns,
    /// The exit status contradicts the result, which counts.
    ExitContradictsResult,
}

impl Remark {
    /// Whether a run with this remark is no success, whatever its result says.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::UnfinishedTurn | Self::TimedOut | Self::Stopped)
    }
}
