//! `RunSummary`: a run as lists, the API and the feed `runs` show it.

use agent_api::{ContextUse, Tokens};
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
    /// The title that a person gave it, else the start of the first prompt, redacted.
    pub title: String,
    /// The tags that people gave it.
    #[serde(default)]
    pub tags: Vec<String>,
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
    #[serde(with = "in_micro_usd")]
    #[cfg_attr(feature = "ts", ts(as = "RunTotals"))]
    pub totals: Totals,
    /// What it may cost, in millionths of a dollar.
    pub max_cost_micro_usd: Option<u64>,
    /// How full the model's memory is.
    pub context: Option<ContextUse>,
    /// The agent's conversations, in order.
    pub session_ids: Vec<String>,
    /// Who started it through a server: the token or login session. None for runs of the command line.
    #[serde(default)]
    pub started_by: Option<String>,
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

/// The totals of a run as lists have them. A journal calls the cost `cost`; here the name says the unit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct RunTotals {
    /// Tokens.
    tokens: Tokens,
    /// Money, in millionths of a dollar; absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none", alias = "cost")]
    #[cfg_attr(feature = "ts", ts(optional))]
    cost_micro_usd: Option<u64>,
    /// Whether the money is our estimate, at least in part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<bool>"))]
    is_estimate: bool,
    /// Turns of the agent.
    turns: u32,
    /// Wall time.
    duration_ms: u64,
}

mod in_micro_usd {
    use agent_api::MicroUsd;
    use ralph_run::Totals;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::RunTotals;

    pub(super) fn serialize<S: Serializer>(totals: &Totals, serializer: S) -> Result<S::Ok, S::Error> {
        RunTotals {
            tokens: totals.tokens,
            cost_micro_usd: totals.cost.map(MicroUsd::as_micro_usd),
            is_estimate: totals.is_estimate,
            turns: totals.turns,
            duration_ms: totals.duration_ms,
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Totals, D::Error> {
        let totals = RunTotals::deserialize(deserializer)?;
        Ok(Totals {
            tokens: totals.tokens,
            cost: totals.cost_micro_usd.map(MicroUsd::new),
            is_estimate: totals.is_estimate,
            turns: totals.turns,
            duration_ms: totals.duration_ms,
        })
    }
}
