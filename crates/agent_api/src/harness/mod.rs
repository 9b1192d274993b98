//! Runs any backend in the shared loop of `agent_client`: the same code for all of them.

mod conclude;
mod control;
mod handle;
mod pending_commands;
mod protocol;
mod start;

pub use control::{RunControl, new_message_id, new_session_id};
pub use handle::{Completed, Completion, DetachedRun, Events, RunHandle};
pub(crate) use start::start;
