//! `Error`: why a run could not start. `CommandError`: why a command was not passed on.

use std::path::PathBuf;
use std::time::Duration;

use agent_client::DetectError;
use agent_process::SpawnError;

use crate::event::AgentKind;

/// Why a run could not start. Never quotes prompts, variables or the agent's output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such backend.
    #[error("unknown backend `{name}`{}; available: {}", suggestion(nearest.as_deref()), known.join(", "))]
    UnknownBackend {
        /// The unknown name.
        name: String,
        /// A similar known name.
        nearest: Option<String>,
        /// All names, in order of preference.
        known: Vec<String>,
    },
    /// A backend of this name is registered already.
    #[error("the backend `{name}` is registered already")]
    DuplicateBackend {
        /// Its name.
        name: AgentKind,
    },
    /// The backend cannot do this. Nothing was started.
    #[error("`{agent_kind}` does not support `{capability}`: leave it out or choose another backend")]
    UnsupportedCapability {
        /// The backend.
        agent_kind: AgentKind,
        /// What was asked for: a capability or an extension key.
        capability: String,
    },
    /// The request cannot be carried out. Nothing was started.
    #[error("invalid request: {what}")]
    InvalidRequest {
        /// What is wrong and what to do, without any value of the request.
        what: String,
    },
    /// The agent's program was not found.
    #[error("`{}` is not installed: {hint}", program.display())]
    NotInstalled {
        /// The backend.
        agent_kind: AgentKind,
        /// What was looked for.
        program: PathBuf,
        /// What to do.
        hint: String,
    },
    /// The agent's program could not be asked for its version.
    #[error(transparent)]
    Detect(DetectError),
    /// None of the backends is installed.
    #[error("no agent found: {needed}")]
    NothingFound {
        /// Why each of them cannot be used.
        needed: String,
    },
    /// The process could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The backend could not build a command line from the request.
    #[error(transparent)]
    Launch(Box<dyn std::error::Error + Send + Sync>),
    /// The runtime was shut down before the run ended.
    #[error("the run was lost: its runtime was shut down")]
    Lost,
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

impl Error {
    /// A request that cannot be carried out.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidRequest { what: what.into() }
    }

    /// A backend's own error while it builds a command line.
    pub fn launch(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Launch(Box::new(error))
    }
}

impl From<DetectError> for Error {
    fn from(error: DetectError) -> Self {
        match error {
            DetectError::Spawn(error) => Self::Spawn(error),
            DetectError::VersionTimeout { .. } | DetectError::VersionCheckFailed { .. } => {
                Self::Detect(error)
            }
        }
    }
}

/// Why a command was not passed on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The backend, or this run, cannot do that.
    #[error("this run does not support `{capability}`: {reason}")]
    Unsupported {
        /// What is missing.
        capability: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The run has ended, or its input was closed.
    #[error("the run no longer takes input")]
    Closed,
    /// Too many messages wait to be read by the agent.
    #[error("the agent does not read its input: too many messages wait")]
    Busy,
    /// No request waits for this answer.
    #[error("no open request `{request}`: it was answered, withdrawn, or never there")]
    NoSuchRequest {
        /// The id that was passed.
        request: String,
    },
    /// The message is empty.
    #[error("an empty message: say something")]
    Empty,
    /// The agent refused it.
    #[error("the agent refused: {reason}")]
    Refused {
        /// In its own words.
        reason: String,
    },
    /// The agent did not answer.
    #[error("no answer from the agent within {} seconds", timeout.as_secs())]
    Unanswered {
        /// The time it had.
        timeout: Duration,
    },
    /// The agent's protocol has no form for it.
    #[error("this agent's protocol cannot express it: {what}")]
    NotExpressible {
        /// Why.
        what: String,
    },
}
