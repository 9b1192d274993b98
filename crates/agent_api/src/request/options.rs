//! How to run an agent.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use agent_process::{Isolation, Limits, StdoutMode};
use claude_code::{CostBasis, MicroUsd};
use serde_json::Value;

use super::environment::Environment;
use super::session::{PermissionMode, SessionChoice};

/// How to run an agent. Everything is optional: what a request leaves open, the backend's configuration decides.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Where the agent works; this process's directory if nobody says otherwise.
    pub cwd: Option<PathBuf>,
    /// From the start to the exit of the process; no limit if nobody says otherwise.
    pub timeout: Option<Duration>,
    /// How long the agent may be silent, on stdout and stderr, before it is stopped. Zero is for ever; the backend's
    /// profile decides if nobody says otherwise.
    pub inactivity_limit: Option<Duration>,
    /// The agent's environment.
    pub environment: Environment,
    /// The model, in the vendor's words.
    pub model: Option<String>,
    /// Replaces the agent's system prompt.
    pub system_prompt: Option<String>,
    /// Added to the agent's system prompt.
    pub append_system_prompt: Option<String>,
    /// The only tools there are.
    pub tools: Option<Vec<String>>,
    /// Tools that run without asking.
    pub allowed_tools: Option<Vec<String>>,
    /// Tools that do not run.
    pub disallowed_tools: Option<Vec<String>>,
    /// What may happen without asking.
    pub permission_mode: Option<PermissionMode>,
    /// Whether the agent may ask this run's holder for permission, and questions. Needs
    /// [`Input::Messages`](super::Input::Messages).
    pub asks: Option<bool>,
    /// Which conversation to go on with.
    pub session: Option<SessionChoice>,
    /// What an earlier run of the session has cost, so that the cost of this one can be told apart.
    pub cost_basis: Option<CostBasis>,
    /// Whether text is delivered while it is generated; yes if nobody says otherwise.
    pub partial_messages: Option<bool>,
    /// Whether the agent keeps the conversation; yes if nobody says otherwise.
    pub keeps_session: Option<bool>,
    /// Whether `/command` and `@file` in a prompt mean something to the agent; no if nobody says otherwise.
    pub expands_prompt: Option<bool>,
    /// The run ends after so many turns of the model.
    pub max_turns: Option<u32>,
    /// The run ends once it has cost so much.
    pub max_budget: Option<MicroUsd>,
    /// Further folders that the agent may touch.
    pub additional_directories: Vec<PathBuf>,
    /// Further arguments for the agent's program, each with its value after `=`.
    pub extra_args: Vec<OsString>,
    /// Keeps the agent's output, byte for byte. The file must not exist yet; it is created with mode 0600.
    pub raw_log: Option<PathBuf>,
    /// Keeps its stderr likewise.
    pub stderr_log: Option<PathBuf>,
    /// What the agent writes to; the backend's profile decides if nobody says otherwise.
    pub transport: Option<StdoutMode>,
    /// Whether the agent gets a process namespace of its own.
    pub isolation: Option<Isolation>,
    /// Names the run to [`agent_process::sweep`].
    pub marker: Option<String>,
    /// Deadlines and sizes of the process. `timeout` above counts, not the one in here.
    pub limits: Option<Limits>,
    /// Settings by name: capabilities that take a value, and the backend's own keys. All are checked before anything
    /// is started.
    pub extensions: BTreeMap<String, Value>,
}

impl fmt::Debug for RunOptions {
    /// Without what may be secret: values of variables and extensions, arguments, system prompts.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunOptions")
            .field("cwd", &self.cwd)
            .field("timeout", &self.timeout)
            .field("inactivity_limit", &self.inactivity_limit)
            .field("environment", &self.environment)
            .field("model", &self.model)
            .field(
                "system_prompt_bytes",
                &self.system_prompt.as_ref().map(String::len),
            )
            .field(
                "append_system_prompt_bytes",
                &self.append_system_prompt.as_ref().map(String::len),
            )
            .field("tools", &self.tools)
            .field("allowed_tools", &self.allowed_tools)
            .field("disallowed_tools", &self.disallowed_tools)
            .field("permission_mode", &self.permission_mode)
            .field("asks", &self.asks)
            .field("session", &self.session)
            .field("cost_basis", &self.cost_basis)
            .field("partial_messages", &self.partial_messages)
            .field("keeps_session", &self.keeps_session)
            .field("expands_prompt", &self.expands_prompt)
            .field("max_turns", &self.max_turns)
            .field("max_budget", &self.max_budget)
            .field("additional_directories", &self.additional_directories)
            .field("extra_args", &self.extra_args.len())
            .field("raw_log", &self.raw_log)
            .field("stderr_log", &self.stderr_log)
            .field("transport", &self.transport)
            .field("isolation", &self.isolation)
            .field("marker", &self.marker)
            .field("limits", &self.limits)
            .field("extensions", &self.extensions.keys().collect::<Vec<_>>())
            .finish()
    }
}

impl RunOptions {
    /// Nothing is decided.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills in what `self` leaves open. Variables and extensions are taken one by one, lists as a whole.
    #[must_use]
    pub fn or(mut self, defaults: &Self) -> Self {
        macro_rules! fill {
            ($($field:ident),+ $(,)?) => { $( self.$field = self.$field.or_else(|| defaults.$field.clone()); )+ };
        }
        fill!(
            cwd,
            timeout,
            inactivity_limit,
            model,
            system_prompt,
            append_system_prompt,
            tools,
            allowed_tools,
            disallowed_tools,
            permission_mode,
            asks,
            session,
            cost_basis,
            partial_messages,
            keeps_session,
            expands_prompt,
            max_turns,
            max_budget,
            raw_log,
            stderr_log,
            transport,
            isolation,
            marker,
            limits,
        );
        self.environment = self.environment.or(&defaults.environment);
        if self.additional_directories.is_empty() {
            self.additional_directories
                .clone_from(&defaults.additional_directories);
        }
        if self.extra_args.is_empty() {
            self.extra_args.clone_from(&defaults.extra_args);
        }
        for (key, value) in &defaults.extensions {
            self.extensions
                .entry(key.clone())
                .or_insert_with(|| value.clone());
        }
        self
    }
}
