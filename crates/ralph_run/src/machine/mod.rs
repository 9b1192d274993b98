//! The run as a pure state machine: [`Input`]s go in, [`Effect`]s come out.
//!
//! It has no clock, no process and no file. The driver performs the effects and reports their results. A loop and a
//! conversation are two types behind [`Machine`]; what they have in common is `Supervisor`.

mod accept;
mod conversation;
mod effect;
mod input;
mod loop_machine;
mod plan;
mod queue;
mod requests;
mod state;
mod stopping;
mod supervisor;

pub use effect::{Effect, SpawnPrompt, Timer};
pub use input::{AttemptReport, CommandInput, Input, SendMode, Signal, StorageStatus};
pub use plan::{ConversationPlan, DenialPolicy, LoopPlan, Plan, WorkPlan};
pub use queue::{MessagePlace, QueuedMessage};
pub use state::Machine;
