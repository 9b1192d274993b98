//! Named agents that stay up. An agent is a directory, `agents/<name>/`, with `agent.json` (what is wanted) and
//! `journal.ndjson` (what happened). Every start of an agent is a run; an idle agent has no process.
//!
//! ```text
//! agent.json ──────────────► desired ─┐
//! journal.ndjson ─► fold ─► AgentState ├─► plan() ─► decisions ─► Reconciler ─► Runs (start, stop)
//! run.json ────────────────► observed ─┘   pure     with reasons       │
//!        ▲                                                             │
//!        └──────────────── what happened is appended ◄─────────────────┘
//! ```
//!
//! Commands write `agent.json`, only the [`Reconciler`] writes journals. [`plan`] has no clock and does no I/O. What the
//! reconciler needs from the world are three traits: [`Storage`] (agents and their journals; [`AgentStore`] keeps them on
//! disk), [`Runs`] (runners) and [`WorkSource`] (tasks for workers without a prompt).

mod agent;
mod backoff;
mod driver;
mod journal;
mod lock;
mod name;
mod outcome;
mod plan;
mod record;
mod runs;
mod state;
mod store;
mod usage_hold;
mod work;

pub use agent::{Agent, AgentRole, DailyLimits, Desired};
pub use backoff::{MAX_FAILURES, retry_delay};
pub use driver::{MAX_PARALLEL_STARTS, Reconciler, RoundReport};
pub use journal::{AgentJournal, read_records};
pub use lock::{ReconcilerLock, RunningReconciler};
pub use name::{AgentName, InvalidName};
pub use outcome::{RunOutcome, conclude};
pub use plan::{Action, AgentObservation, Decision, Observed, StartPlan, plan};
pub use record::{AgentEvent, AgentRecord, RunConclusion, StartCount};
pub use runs::{EndedRun, LiveRun, LocalRuns, RunPhase, Runs, StartFailure, StartFailureKind, StartOrder};
pub use state::{ActiveRun, AgentState, DayUse, MAX_RECONCILE_FAILURES, ProcessStatus, ReconcileFailure};
pub use store::{AgentStore, HeldLock, LoadedAgent, ReadAgent, Storage, StoreError};
pub use usage_hold::{Account, UsageHolds};
pub use work::{Claimed, NoWork, Offer, Work, WorkEnding, WorkError, WorkSource};
