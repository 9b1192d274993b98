//! `Profile`: the facts about one agent, as data. Callers read them here instead of special-casing a vendor.

use std::time::Duration;

use agent_process::{Limits, StdoutMode};

use crate::event::{AgentKind, ErrorClass, Outcome};

/// Tool calls may be silent for this long: a shell command may take ten minutes, and not every agent sends heartbeats.
pub(crate) const TOOL_INACTIVITY_LIMIT: Duration = Duration::from_secs(15 * 60);

/// The facts about one agent. [`Profile::new`] gives the defaults; a backend sets what differs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Profile {
    /// Identifies the backend in events and journals. Never changes, because old journals carry it.
    pub kind: AgentKind,
    /// The name that people type and that log directories carry, where it differs from `kind`: `claude` for
    /// `claude_code`. Read it with [`Profile::name`].
    pub short_name: Option<&'static str>,
    /// Further spellings that [`AgentRegistry::backend`](crate::AgentRegistry::backend) accepts.
    pub aliases: &'static [&'static str],
    /// Shown to people: `Claude`.
    pub display_name: &'static str,
    /// The agent's program on `PATH`; empty for a backend that is always there.
    pub program: &'static str,
    /// Arguments that print the version; empty if the program must not be started for that.
    pub version_args: &'static [&'static str],
    /// Picks the line with the version when the output has several numbers: the line contains this word.
    pub version_word: Option<&'static str>,
    /// The oldest and the newest version that the mapping was tested with.
    pub tested_versions: Option<(&'static str, &'static str)>,
    /// How to install it.
    pub install_hint: &'static str,
    /// How to log in.
    pub login_hint: &'static str,
    /// How ralph talks to the agent, for people: `exec --json`, `ACP`.
    pub driven_by: &'static str,
    /// Whether an automatic choice may pick it. False for the demo.
    pub is_chosen_automatically: bool,
    /// The ids of [`capability`](crate::capability) that it has.
    pub capabilities: &'static [&'static str],
    /// The backend's own extension keys.
    pub extension_keys: &'static [&'static str],
    /// Environment variables with API keys. A run that must use the agent's own login removes all of them; a run that
    /// must use a key needs one of them.
    pub auth_variables: &'static [&'static str],
    /// Where a login can be seen without asking the agent.
    pub login_check: LoginCheck,
    /// The names of the agent's tools, for restricting a run to reading or editing.
    pub tools: ToolNames,
    /// Set if the agent refuses to skip permission checks as root.
    pub root_refusal: Option<RootRefusal>,
    /// What the agent's stdout is by default. The spool is for agents that lose their last output on a sudden exit; it
    /// needs a raw log, and without one a pipe is used.
    pub transport: StdoutMode,
    /// How a turn is interrupted.
    pub interrupt_by: InterruptBy,
    /// Grace periods of the stop ladder, and other deadlines.
    pub limits: Limits,
    /// How long the process may take to exit after its work is done and its input has ended; then it is stopped.
    pub exit_after_idle: Duration,
    /// The longest silence that is normal while the agent works. `None` means no limit.
    pub inactivity_limit: Option<Duration>,
    /// Whether the form that takes messages reports less than the one-shot form, so that a caller should ask for it
    /// only if it answers permission requests or holds a conversation.
    pub messages_on_demand: bool,
    /// What the exit code means.
    pub exit_trust: ExitTrust,
    /// Exit codes with a documented meaning. They count only for a run that ended without a result.
    pub exit_codes: &'static [ExitCode],
    /// Words on stderr that classify a failure to start; the first match wins.
    pub stderr_classes: &'static [StderrClass],
    /// Whether the agent runs a command for a prompt that starts with `/`, even if the prompt should be plain text.
    pub runs_commands: bool,
    /// Whether the agent adds the file that `@file` in a prompt names, even if the prompt should be plain text.
    pub adds_files: bool,
    /// Variables that the agent gets unless the request sets them.
    pub environment: &'static [(&'static str, &'static str)],
}

impl Profile {
    /// A profile of a plain command: no capabilities beyond running a prompt, a pipe, interrupted by a signal, and the
    /// exit code decides. `program` is looked up on the agent's `PATH`.
    #[must_use]
    pub fn new(kind: AgentKind, program: &'static str) -> Self {
        Self {
            kind,
            short_name: None,
            aliases: &[],
            display_name: "Agent",
            program,
            version_args: &[],
            version_word: None,
            tested_versions: None,
            install_hint: "",
            login_hint: "",
            driven_by: "",
            is_chosen_automatically: true,
            capabilities: &[],
            extension_keys: &[],
            auth_variables: &[],
            login_check: LoginCheck::default(),
            tools: ToolNames::default(),
            root_refusal: None,
            transport: StdoutMode::Pipe,
            interrupt_by: InterruptBy::Signal,
            limits: Limits::default(),
            exit_after_idle: Duration::from_secs(5),
            inactivity_limit: None,
            messages_on_demand: false,
            exit_trust: ExitTrust::Decides,
            exit_codes: &[],
            stderr_classes: &[],
            runs_commands: false,
            adds_files: false,
            environment: &[],
        }
    }

    /// Whether the agent has this capability.
    #[must_use]
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }

    /// The longest silence that is normal while a tool call is open. `None` means no limit.
    #[must_use]
    pub fn tool_inactivity_limit(&self) -> Option<Duration> {
        self.inactivity_limit
            .map(|limit| limit.max(TOOL_INACTIVITY_LIMIT))
    }

    /// The name that people type and that log directories carry.
    #[must_use]
    pub fn name(&self) -> &str {
        self.short_name.unwrap_or_else(|| self.kind.as_str())
    }

    /// Whether this is a name of the backend: its kind, its short name or an alias. Case, `-` and `_` do not matter.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.names().any(|known| folded(known).eq(folded(name)))
    }

    /// Its kind, its short name and its aliases.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let names = [self.kind.as_str(), self.name()];
        names.into_iter().chain(self.aliases.iter().copied())
    }
}

fn folded(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().map(|byte| match byte {
        b'-' => b'_',
        other => other.to_ascii_lowercase(),
    })
}

/// Where a login can be seen without starting the agent. Contents are never read.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct LoginCheck {
    /// Environment variables that stand for a login besides [`Profile::auth_variables`].
    pub variables: &'static [&'static str],
    /// Files that exist after a login.
    pub files: &'static [LoginFile],
    /// Whether the login is in the keychain on macOS, where it cannot be seen.
    pub uses_macos_keychain: bool,
}

impl LoginCheck {
    /// A check of variables and files.
    #[must_use]
    pub const fn new(variables: &'static [&'static str], files: &'static [LoginFile]) -> Self {
        Self {
            variables,
            files,
            uses_macos_keychain: false,
        }
    }

    /// Whether there is anything to look at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.files.is_empty() && !self.uses_macos_keychain
    }
}

/// A file that exists after a login.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LoginFile {
    /// The variable that moves the agent's directory, where there is one.
    pub directory_variable: Option<&'static str>,
    /// The agent's directory, relative to the home directory.
    pub home_directory: &'static str,
    /// The file, relative to the agent's directory.
    pub file: &'static str,
}

impl LoginFile {
    /// A file in the agent's directory, for example `auth.json` in `.codex`.
    #[must_use]
    pub const fn new(
        directory_variable: Option<&'static str>,
        home_directory: &'static str,
        file: &'static str,
    ) -> Self {
        Self {
            directory_variable,
            home_directory,
            file,
        }
    }
}

/// The names of an agent's tools. Empty where the agent takes no tool list.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolNames {
    /// Enough to read a project and make a plan.
    pub planner: &'static [&'static str],
    /// Enough to change a project.
    pub coder: &'static [&'static str],
    /// Searches the web.
    pub search: Option<&'static str>,
}

/// An agent that refuses to skip permission checks as root.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RootRefusal {
    /// It does not refuse if this variable is set to anything but an empty string or `0`.
    pub sandbox_variable: Option<&'static str>,
    /// What to do instead, for people.
    pub message: &'static str,
}

impl RootRefusal {
    /// A refusal, and the variable that lifts it.
    #[must_use]
    pub const fn new(sandbox_variable: Option<&'static str>, message: &'static str) -> Self {
        Self {
            sandbox_variable,
            message,
        }
    }
}

/// How a turn is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterruptBy {
    /// A message in the agent's protocol, where its input is open; a signal otherwise.
    Message,
    /// SIGINT to its process group.
    Signal,
}

/// What an exit code means if the agent reported no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitTrust {
    /// 0 is success and anything else a failure.
    Decides,
    /// The agent owes a result; without one even 0 is a failure.
    NeedsResult,
}

/// A word on stderr and the kind of failure it stands for.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StderrClass {
    /// Matched anywhere in the last lines, in lower case.
    pub word: &'static str,
    /// The kind of failure.
    pub class: ErrorClass,
    /// The error code, for programs.
    pub code: &'static str,
}

impl StderrClass {
    /// A word in lower case, and what it means.
    #[must_use]
    pub const fn new(word: &'static str, class: ErrorClass, code: &'static str) -> Self {
        Self { word, class, code }
    }
}

/// An exit code with a documented meaning.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ExitCode {
    /// The code.
    pub code: i32,
    /// How a run that ends with it is reported.
    pub outcome: Outcome,
    /// The class of its error.
    pub class: ErrorClass,
    /// The code of its error, for programs.
    pub word: &'static str,
    /// What happened and what to do, for people.
    pub message: &'static str,
}

impl ExitCode {
    /// A code, how a run that ends with it is reported, and its error.
    #[must_use]
    pub const fn new(
        code: i32,
        outcome: Outcome,
        class: ErrorClass,
        word: &'static str,
        message: &'static str,
    ) -> Self {
        Self {
            code,
            outcome,
            class,
            word,
            message,
        }
    }
}
