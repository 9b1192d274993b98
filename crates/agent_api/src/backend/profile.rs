//! What differs from agent to agent, as data.

use std::time::Duration;

use agent_process::{Limits, StdoutMode};

use crate::event::{AgentKind, ErrorClass};

/// What differs from agent to agent. One table instead of branches.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Names the backend.
    pub kind: AgentKind,
    /// For people: `Claude`.
    pub display_name: &'static str,
    /// The program, as it is called when it is installed; empty for a backend that is always there.
    pub program: &'static str,
    /// How to ask for its version; empty where it must not be asked.
    pub version_args: &'static [&'static str],
    /// The line of the answer that has the version holds this word, where several numbers may be there.
    pub version_word: Option<&'static str>,
    /// The oldest and the newest version that the mapping was tested with.
    pub tested_versions: Option<(&'static str, &'static str)>,
    /// How to install it.
    pub install_hint: &'static str,
    /// How to log in.
    pub login_hint: &'static str,
    /// What it can do: ids of [`capability`](crate::capability).
    pub capabilities: &'static [&'static str],
    /// Extension keys of its own.
    pub extension_keys: &'static [&'static str],
    /// What the agent writes to if nobody says otherwise. The spool is for agents that lose their tail on a sudden
    /// exit; it needs a raw log, and without one it is a pipe.
    pub transport: StdoutMode,
    /// What a turn is interrupted by.
    pub interrupt_by: InterruptBy,
    /// The stop ladder's graces, and other deadlines.
    pub limits: fn() -> Limits,
    /// How long the process may take to exit once all is done and its input has ended; then it is stopped.
    pub exit_after_idle: Duration,
    /// How long silence is normal. `None` is for ever.
    pub inactivity_limit: Option<Duration>,
    /// What the exit code says.
    pub exit_trust: ExitTrust,
    /// Words on stderr by which a failure to start is recognised; the first that fits counts.
    pub stderr_classes: &'static [StderrClass],
    /// Variables that the agent always gets, unless somebody says otherwise.
    pub environment: &'static [(&'static str, &'static str)],
}

impl Profile {
    /// Whether it can do this.
    #[must_use]
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }
}

/// What a turn is interrupted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptBy {
    /// A message in the agent's protocol, where its input is open; a signal otherwise.
    Message,
    /// SIGINT to its process group.
    Signal,
}

/// What an exit code says where the agent itself said nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitTrust {
    /// 0 is success and anything else a failure: there is nothing else to go by.
    Decides,
    /// The agent owes a result; without one even 0 is no success.
    NeedsResult,
}

/// A word on stderr and what it means.
#[derive(Debug, Clone, Copy)]
pub struct StderrClass {
    /// Anywhere in the last lines, in lower case.
    pub word: &'static str,
    /// What it means.
    pub class: ErrorClass,
    /// A word for programs.
    pub code: &'static str,
}
