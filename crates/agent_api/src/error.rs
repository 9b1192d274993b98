//! Why a run could not be started.

use std::path::PathBuf;
use std::time::Duration;

use agent_process::SpawnError;

use crate::event::AgentKind;

/// Why something could not be done. Never quotes prompts, variables or the agent's output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such backend.
    #[error("unknown backend `{name}`: choose one of {}", known.join(", "))]
    UnknownBackend {
        /// As it was asked for.
        name: String,
        /// Those that are registered, in order.
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
    /// The request makes no sense. Nothing was started.
    #[error("invalid request: {what}")]
    InvalidRequest {
        /// What is wrong and what to do, without any value of the request.
        what: String,
    },
    /// The agent's program is not there.
    #[error("`{agent_kind}` is not installed: {hint} (looked for `{}`)", program.display())]
    NotInstalled {
        /// The backend.
        agent_kind: AgentKind,
        /// What was looked for.
        program: PathBuf,
        /// What to do.
        hint: String,
    },
    /// The agent's program is there but does not say its version.
    #[error("`{}` does not answer `--version` within {} seconds: run it by hand to see why", program.display(), limit.as_secs())]
    Silent {
        /// The program.
        program: PathBuf,
        /// How long it was given.
        limit: Duration,
    },
    /// The agent's program is there but fails before it does anything.
    #[error("`{}` does not work ({exit}): run `{} --version` by hand to see why", program.display(), program.display())]
    Broken {
        /// The program.
        program: PathBuf,
        /// How it ended.
        exit: agent_process::Exit,
    },
    /// None of the backends is installed.
    #[error("no agent found: {needed}")]
    NothingFound {
        /// What would be needed, for each.
        needed: String,
    },
    /// The process could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The request could not be turned into a command line.
    #[error(transparent)]
    Claude(#[from] claude_code::Error),
    /// The runtime was shut down before the run ended.
    #[error("the run was lost: its runtime was shut down")]
    Lost,
}

impl Error {
    /// A request that makes no sense.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidRequest { what: what.into() }
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
    /// Too much waits to be read by the agent.
    #[error("the agent does not read its input: too many messages wait")]
    Busy,
    /// Nobody waits for this answer, or not any more.
    #[error("no open request `{request}`: it was answered, withdrawn, or never there")]
    NoSuchRequest {
        /// As it was named.
        request: String,
    },
    /// The message is empty.
    #[error("an empty message: say something")]
    Empty,
    /// It cannot be written in the agent's protocol.
    #[error("cannot be said to this agent: {what}")]
    Unsayable {
        /// Why.
        what: String,
    },
}
