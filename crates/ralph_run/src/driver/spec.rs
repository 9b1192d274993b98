//! `RunSpec`: everything that `drive` needs to run an agent. Made by the `run` command from its settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use agent_api::{AgentRegistry, RunOptions};
use async_trait::async_trait;

use super::task::Task;
use crate::home::{Home, RunDirectory};
use crate::journal::JournalError;
use crate::machine::Plan;
use crate::record::{RunStarted, Warned};
use crate::redact::Redactor;
use crate::state::WorkspaceFiles;
use crate::watchdog::WatchRules;

/// A run, ready to be driven.
pub struct RunSpec {
    pub home: Home,
    pub directory: RunDirectory,
    pub registry: Arc<AgentRegistry>,
    /// Record 1.
    pub started: RunStarted,
    /// Warnings about the settings, recorded after the first record.
    pub warnings: Vec<String>,
    pub task: Task,
    /// How the agent is run and told to work, unless the loop has roles.
    pub own: RoleSpec,
    /// The same for each role of the plan, by its name.
    pub roles: BTreeMap<String, RoleSpec>,
    pub plan: Plan,
    pub watch: WatchRules,
    /// Prompts of the task in earlier runs.
    pub iterations_before: u32,
    pub workspace: PathBuf,
    /// The files that people look for there; none if they cannot be written.
    pub files: Option<WorkspaceFiles>,
    pub redactor: Arc<Redactor>,
    /// Variables that verify commands see besides our own. Those of the agent are in its options.
    pub environment: Vec<(OsString, OsString)>,
    /// What to do with the workspace once the last process of the agent has ended.
    pub closer: Option<Box<dyn WorkspaceCloser>>,
    /// Variables that neither the agent nor a verify command sees.
    pub withheld: Vec<OsString>,
    /// How to log in, for the message when that is what is missing.
    pub login_hint: String,
    /// The backend's name in log directories and session files.
    pub backend_name: String,
}

/// Leaves a workspace as it should be after a run. Called once, before the end of the run is recorded.
#[async_trait]
pub trait WorkspaceCloser: Send + Sync {
    /// Gives what a person should know; the run records it.
    async fn close(&self) -> Vec<Warned>;
}

/// How the agent is run in a role.
#[derive(Debug, Clone, Default)]
pub struct RoleSpec {
    /// Session, logs and marker are filled in for each attempt.
    pub options: RunOptions,
    /// Placed before the task in every prompt.
    pub instructions: Option<String>,
}

impl RunSpec {
    pub(super) fn role(&self, name: Option<&str>) -> &RoleSpec {
        name.and_then(|name| self.roles.get(name)).unwrap_or(&self.own)
    }

    pub(super) fn role_mut(&mut self, name: Option<&str>) -> &mut RoleSpec {
        name.and_then(|name| self.roles.get_mut(name))
            .unwrap_or(&mut self.own)
    }
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
