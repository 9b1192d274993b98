//! What the driver needs.

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
    /// Where all runs are kept.
    pub home: Home,
    /// Where it is kept.
    pub directory: RunDirectory,
    /// Who can run agents.
    pub registry: Arc<AgentRegistry>,
    /// Record 1.
    pub started: RunStarted,
    /// What people should know before it begins and nobody else tells them: records after the first one.
    pub warnings: Vec<String>,
    /// What the agent is told in every iteration, or first in a session.
    pub task: String,
    /// How the agent is run; session, logs and marker are filled in for each attempt.
    pub options: RunOptions,
    /// The rules of the loop.
    pub plan: Plan,
    /// Prompts of the task in earlier runs.
    pub iterations_before: u32,
    /// Where the agent works.
    pub workspace: PathBuf,
    /// The files that people look for there; none if they cannot be written.
    pub files: Option<WorkspaceFiles>,
    /// What is never written down.
    pub redactor: Arc<Redactor>,
    /// Variables that neither the agent nor a verify command sees.
    pub withheld: Vec<OsString>,
    /// How to log in, for the message when that is what is missing.
    pub login_hint: String,
    /// The backend's name in log directories and session files.
    pub backend_name: String,
}

/// Why a run could not begin. Nothing was spawned and nothing recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// Nobody could stop or answer the run.
    #[error(
        "cannot create the run's control socket; set XDG_RUNTIME_DIR to a directory with a short path that only you \
         can write to"
    )]
    ControlSocket(#[source] std::io::Error),
    /// The journal could not be made.
    #[error("cannot begin the run's journal")]
    Journal(#[from] JournalError),
}
