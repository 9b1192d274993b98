//! `RunModel`: the only fold of a run's records. Everything that shows or indexes a run is a projection of it.

mod activity_tracker;
mod changed_files;
mod message_log;
mod permission_tracker;
mod run_facts;
mod run_model;
mod run_state;
mod text_tail;

pub use activity_tracker::ScheduledRetry;
pub use changed_files::{ChangedFile, ChangedFiles};
pub use message_log::{Message, MessageLog, MessageState};
pub use run_facts::{Change, Counts, Iteration};
pub use run_model::RunModel;
pub use run_state::{RunState, WaitingFor};
