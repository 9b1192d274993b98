//! The answer to a request.

use std::path::PathBuf;

use agent_process::ExitReport;

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
    /// Tokens of this run, subagents included where the CLI counts them.
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
    /// What was odd.
    pub remarks: Vec<Remark>,
}

impl Response {
    /// Whether the run succeeded, by its result.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.result.is_success()
    }
}

/// Something odd about a run that does not change its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
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
