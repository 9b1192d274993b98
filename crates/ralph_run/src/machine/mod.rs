//! The run as a pure state machine: [`Input`]s go in, [`Effect`]s come out.
//!
//! It has no clock, no process and no file: each input comes with its [`Moment`]. The driver performs the effects and reports their results. A loop and a
//! conversation are two types behind [`Machine`]; what they have in common is `Supervisor`.

mod accept;
mod conversation;
mod effect;
mod findings;
mod input;
mod limits;
mod loop_machine;
mod plan;
mod queue;
mod requests;
mod role_turns;
mod state;
mod stopping;
mod supervisor;
mod usage_limit;

pub use effect::{Effect, Handover, SpawnPrompt, Timer};
pub use input::{AttemptReport, CommandInput, Input, Moment, SendMode, Signal, StorageStatus};
pub use plan::{
    ConversationPlan, DenialPolicy, LimitPolicy, LoopPlan, Plan, RolePlan, RoleSession, WorkPlan,
};
pub use queue::{MessagePlace, QueuedMessage};
pub use state::Machine;
