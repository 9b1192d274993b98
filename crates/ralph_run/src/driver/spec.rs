//! `RunSpec`: everything that `drive` needs to run an agent. Made by the `run` command from its settings.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use agent_api::{AgentRegistry, RunOptions};

use crate::home::{Home, RunDirectory};
use crate::journal::JournalError;
use crate::machine::Plan;
use crate::record::RunStarted;
use crate::redact::Redactor;
use crate::state::WorkspaceFiles;

/// A run, ready to be driven.
pub struct RunSpec {
    pub home: Home,
    pub directory: RunDirectory,
    pub registry: Arc<AgentRegistry>,
    /// Record 1.
    pub started: RunStarted,
    /// Warnings about the settings, recorded after the first record.
    pub warnings: Vec<String>,
    /// The prompt of every iteration, or the first message of a session.
    pub task: String,
    /// How the agent is run; session, logs and marker are filled in for each attempt.
    pub options: RunOptions,
    pub plan: Plan,
    /// Prompts of the task in earlier runs.
    pub iterations_before: u32,
    pub workspace: PathBuf,
    /// The files that people look for there; none if they cannot be written.
    pub files: Option<WorkspaceFiles>,
    pub redactor: Arc<Redactor>,
    /// Variables that neither the agent nor a verify command sees.
    pub withheld: Vec<OsString>,
    /// How to log in, for the message when that is what is missing.
    pub login_hint: String,
    /// The backend's name in log directories and session files.
    pub backend_name: String,
}

/// Why a run could not start. Nothing was spawned and nothing recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// Without a socket the run could be neither stopped nor answered.
    #[error(
        "cannot create the run's control socket; set XDG_RUNTIME_DIR to a directory with a short path that only you \
         can write to"
    )]
    ControlSocket(#[source] std::io::Error),
    /// The journal could not be made.
    #[error("cannot begin the run's journal")]
    Journal(#[from] JournalError),
}
