//! `EndReason`: why a run ended. Records, `run.json` and exit codes use it.

use serde::{Deserialize, Serialize};

/// Why a run ended. Closed: everything that can end a run is here, and each has one exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The work is done: the agent says so, and every verify command agrees.
    Completed,
    /// The agent failed, in the only iteration or too often in a row.
    AgentError,
    /// The agent says that it is done, and a verify command disagrees.
    VerifyFailed,
    /// Something was not allowed.
    Denied,
    /// The agent is not logged in, or its key is not accepted.
    NotLoggedIn,
    /// There is no such model.
    ModelNotFound,
    /// The account has no credit left.
    NoCredit,
    /// The prompt does not fit into the model's context.
    PromptTooLong,
    /// A rule of the watchdog stopped it.
    Watchdog,
    /// The agent is not installed, or does not start.
    BackendUnavailable,
    /// A limit was reached.
    Limit(LimitKind),
    /// A person interrupted it.
    Interrupted,
    /// A person stopped it.
    Stopped,
    /// SIGTERM.
    Terminated,
    /// SIGHUP: the terminal is gone.
    HungUp,
    /// The reader of our output has closed it.
    OutputClosed,
    /// The agent's process died, twice.
    Crashed,
    /// The agent's process ended without a result, twice.
    NoResult,
    /// The run's own files could not be written.
    StorageFailed,
    /// Its runner died before it could record an end.
    Lost,
}

/// Which limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Of iterations.
    Iterations,
    /// Of the run's time.
    Runtime,
    /// Of one iteration's time.
    IterationTimeout,
    /// Of money.
    Cost,
    /// Of the model's turns.
    Turns,
    /// Of tokens.
    Tokens,
    /// Of the vendor: the agent's usage limit does not reset soon enough.
    Usage,
}

impl EndReason {
    /// What the process exits with.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::AgentError
            | Self::VerifyFailed
            | Self::Denied
            | Self::Crashed
            | Self::NoResult
            | Self::PromptTooLong
            | Self::Watchdog
            | Self::StorageFailed
            | Self::Stopped
            | Self::Lost => 1,
            Self::Limit(_) => 2,
            Self::NotLoggedIn | Self::ModelNotFound | Self::NoCredit | Self::BackendUnavailable => 69,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::OutputClosed => 141,
            Self::Terminated => 143,
        }
    }

    /// Whether something went wrong. A limit that was reached or a person who stopped it did not.
    #[must_use]
    pub fn is_failure(self) -> bool {
        match self {
            Self::Completed
            | Self::Limit(_)
            | Self::Interrupted
            | Self::Stopped
            | Self::Terminated
            | Self::HungUp
            | Self::OutputClosed => false,
            Self::AgentError
            | Self::VerifyFailed
            | Self::Denied
            | Self::NotLoggedIn
            | Self::ModelNotFound
            | Self::NoCredit
            | Self::PromptTooLong
            | Self::Watchdog
            | Self::BackendUnavailable
            | Self::Crashed
            | Self::NoResult
            | Self::StorageFailed
            | Self::Lost => true,
        }
    }

    /// For people, after "the run ended: ".
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::AgentError => "the agent failed",
            Self::VerifyFailed => "verification failed",
            Self::Denied => "a tool call was denied",
            Self::NotLoggedIn => "not logged in",
            Self::ModelNotFound => "no such model",
            Self::NoCredit => "no credit left",
            Self::PromptTooLong => "the prompt is too long",
            Self::Watchdog => "stopped by the watchdog",
            Self::BackendUnavailable => "the agent is not available",
            Self::Limit(LimitKind::Iterations) => "iteration limit reached",
            Self::Limit(LimitKind::Runtime) => "time limit reached",
            Self::Limit(LimitKind::IterationTimeout) => "iteration timeout reached",
            Self::Limit(LimitKind::Cost) => "cost limit reached",
            Self::Limit(LimitKind::Turns) => "turn limit reached",
            Self::Limit(LimitKind::Tokens) => "token limit reached",
            Self::Limit(LimitKind::Usage) => "usage limit reached",
            Self::Interrupted => "interrupted",
            Self::Stopped => "stopped",
            Self::Terminated => "terminated",
            Self::HungUp => "the terminal was closed",
            Self::OutputClosed => "the output was closed",
            Self::Crashed => "the agent crashed",
            Self::NoResult => "the agent ended without a result",
            Self::StorageFailed => "the run's files could not be written",
            Self::Lost => "the runner died",
        }
    }
}
