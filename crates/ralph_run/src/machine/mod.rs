//! The loop as a pure machine: what happens goes in, what to do comes out.
//!
//! It knows no clock, no process and no file. The driver performs the effects and tells what came of them.

mod asks;
mod attempt;
mod effect;
mod input;
mod iteration;
mod plan;
mod queue;
mod session;
mod state;
mod stopping;

pub use effect::{Effect, Finality, Timer};
pub use input::{AttemptReport, Input, RunCommand, SendMode, Signal, StartFailure};
pub use plan::{DenialPolicy, Plan, SessionPlan};
pub use queue::{MessagePlace, QueuedMessage};
pub use state::Machine;
