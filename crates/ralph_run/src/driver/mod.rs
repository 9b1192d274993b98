//! The one loop that performs what the machine decides, and tells it what came of it.

mod attempt;
mod changes;
mod coalesce;
mod commands;
mod effects;
mod events;
mod record_keeper;
mod run;
mod session_keeper;
mod spec;
mod status;
mod storage;
mod suspend;
#[cfg(test)]
mod text_once_tests;
mod timers;
mod verify;

pub use run::drive;
pub use spec::{DriveError, RunSpec};
