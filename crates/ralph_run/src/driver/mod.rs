//! `drive`: the one loop that performs what the machine decides and reports the results to it.

mod attempt;
mod changes;
mod coalesce;
mod commands;
mod effects;
mod events;
mod record_keeper;
mod run;
mod spec;
mod status;
mod storage;
mod suspend;
mod task;
#[cfg(test)]
mod text_once_tests;
mod timers;
mod verify;
mod watch;
mod workspace_keeper;

pub use run::drive;
pub use spec::{DriveError, RoleSpec, RunSpec, WorkspaceCloser};
pub use task::{Task, TaskReader};
pub use verify::{Verified, VerifySpec, run_command_line};
