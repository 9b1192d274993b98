//! `Response`: the answer to a `Request`, as `Client::run` returns it.

use std::path::PathBuf;

use agent_client::{MicroUsd, Tokens};
use agent_process::ExitReport;

use crate::argv::Note;
use crate::event::{PermissionDenial, TurnResult};

/// The answer to a [`Request`](crate::Request).
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
    pub usage: Tokens,
    /// The cost of this run.
    pub total_cost: Option<MicroUsd>,
    /// What the session has cost so far, as the CLI counts it. Give it as [`CostBasis::Resumed`](crate::CostBasis)
    /// when the session is resumed.
    pub session_total: Option<MicroUsd>,
    /// Tool calls that were not allowed.
    pub permission_denials: Vec<PermissionDenial>,
    /// The file with the whole output, byte for byte, if one was asked for.
    pub raw_log: Option<PathBuf>,
    /// Whether `final_text` had to be put together from what was streamed.
    pub degraded: bool,
    /// The result that counts. It decides, whatever the exit status says.
    pub result: Box<TurnResult>,
    /// Results of earlier turns: background work that ends wakes another one.
    pub earlier_results: Vec<TurnResult>,
    /// How the process ended.
    pub exit: ExitReport,
    /// Parts of the request that this CLI could not fulfil as asked.
    pub notes: Vec<Note>,
    /// Anything unusual; first what keeps the run from being a success.
    pub warnings: Vec<RunWarning>,
}

impl Response {
    /// Whether the run succeeded: its last result says so, and nothing was cut off after it.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.result.is_success() && !self.warnings.iter().any(|warning| warning.is_failure())
    }
}

/// Something unusual about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunWarning {
    /// A turn was running, or waiting to run, and has no result: `result` is that of an earlier turn.
    UnfinishedTurn,
    /// The run timed out before everything was done, and the process was stopped.
    TimedOut,
    /// The process was stopped before everything was done, or its exit status is unknown.
    Stopped,
    /// This many background tasks were open when the process ended.
    OpenTasks(usize),
    /// The session has another id than the requested one: `session_id` is the one to resume.
    SessionForked,
    /// Results that belong to no turn. They were ignored.
    SpuriousResults(u32),
    /// Lines that are not events. The raw log has them.
    BrokenLines(u64),
    /// The process did not exit after its result and was stopped.
    StoppedAfterResult,
    /// `total_cost` may include earlier runs of a resumed session: see [`RunOptions::cost_basis`](crate::RunOptions).
    CostMayIncludeEarlierRuns,
    /// The exit status contradicts the result, which counts.
    ExitContradictsResult,
}

impl RunWarning {
    /// Whether the run is not a success, whatever its result says.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::UnfinishedTurn | Self::TimedOut | Self::Stopped)
    }
}
