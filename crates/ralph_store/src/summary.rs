//! A run at a glance.

use agent_api::ContextUse;
use jiff::Timestamp;
use ralph_run::model::RunState;
use ralph_run::{EndReason, Open, RunKind, Totals};
use serde::{Deserialize, Serialize};

/// A run at a glance: what lists show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunSummary {
    /// Names the run.
    pub id: String,
    /// Changes when its journal is another one: what was read before means nothing then.
    pub epoch: String,
    /// Whether it works by itself or waits for messages.
    #[cfg_attr(feature = "ts", ts(as = "RunKind"))]
    pub kind: Open<RunKind>,
    /// Where the agent works.
    pub workspace: String,
    /// Which backend.
    pub backend: String,
    /// The backend's name for people.
    pub display_name: String,
    /// The model: as asked for, then as the agent says.
    pub model: Option<String>,
    /// Planner, coder, or a mode of the user's.
    pub mode: Option<String>,
    /// Names the task.
    pub task: Option<String>,
    /// What happens without asking.
    pub permission_mode: Option<String>,
    /// The start of the first prompt, redacted.
    pub title: String,
    /// When it began.
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub started_at: Timestamp,
    /// When it ended.
    #[cfg_attr(feature = "ts", ts(type = "string | null"))]
    pub ended_at: Option<Timestamp>,
    /// When something happened last.
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub updated_at: Timestamp,
    /// What it is doing.
    pub activity: RunState,
    /// Why it ended.
    #[cfg_attr(feature = "ts", ts(as = "Option<EndReason>"))]
    pub reason: Option<Open<EndReason>>,
    /// What the runner exited with.
    pub exit_code: Option<u8>,
    /// More about its end, for people.
    pub message: Option<String>,
    /// Which prompt of the loop.
    pub iteration: u32,
    /// Which process of the iteration.
    pub attempt: u32,
    /// What it cost, and what it used.
    pub totals: Totals,
    /// What it may cost, in millionths of a dollar.
    pub max_cost_micro_usd: Option<u64>,
    /// How full the model's memory is.
    pub context: Option<ContextUse>,
    /// The agent's conversations, in order.
    pub session_ids: Vec<String>,
    /// The run whose conversation this one goes on with.
    pub resumed_from: Option<String>,
    /// Whether the agent keeps nothing of the conversation: it cannot be resumed.
    #[serde(default)]
    pub is_ephemeral: bool,
    /// How many requests wait for an answer.
    pub pending: u32,
    /// How many errors it has met.
    pub errors: u32,
    /// The last record.
    pub head_seq: u64,
}
