//! Runs any backend: spawns, frames, watches deadlines, stops and gates. The same code for all of them.

mod conclude;
mod control;
mod drive;
mod handle;
mod input;
mod said;
mod start;
mod stderr;
mod stdout;

pub use control::{CancelOutcome, RunControl, new_message_id};
pub use handle::{Completed, Completion, Events, RunHandle};
pub(crate) use start::start;
