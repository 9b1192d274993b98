//! What all requests have in common.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agent_process::{Isolation, Limits, StdoutMode};

use super::choices::{Expansion, PartialMessages, Persistence, SessionChoice, SystemPrompt};
use super::environment::Environment;
use crate::event::PermissionMode;
use crate::money::MicroUsd;
use crate::usage::CostBasis;

/// How to run the CLI. Everything is optional; what a request leaves open, the client's options decide.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Where the agent works; this process's directory if nobody says otherwise.
    pub cwd: Option<PathBuf>,
    /// From the start to the exit of the process; no limit if nobody says otherwise.
    pub timeout: Option<Duration>,
    /// The child's environment.
    pub environment: Environment,
    /// The model, by name or alias.
    pub model: Option<String>,
    /// Replaces the CLI's system prompt.
    pub system_prompt: Option<SystemPrompt>,
    /// Added to the system prompt.
    pub append_system_prompt: Option<SystemPrompt>,
    /// The only tools there are; an empty list is none at all.
    pub tools: Option<Vec<String>>,
    /// Tools, or patterns such as `Bash(git:*)`, that run without asking. This does not take any tool away.
    pub allowed_tools: Option<Vec<String>>,
    /// Tools, or patterns, that do not run.
    pub disallowed_tools: Option<Vec<String>>,
    /// What may happen without asking.
    pub permission_mode: Option<PermissionMode>,
    /// Which conversation to go on with; a new one if nobody says otherwise.
    pub session: Option<SessionChoice>,
    /// Whether text is delivered while it is generated.
    pub partial_messages: Option<PartialMessages>,
    /// Whether the CLI keeps the conversation.
    pub persistence: Option<Persistence>,
    /// What `/` and `@` in a prompt mean.
    pub expansion: Option<Expansion>,
    /// The run ends after so many turns.
    pub max_turns: Option<u32>,
    /// The run ends once it has cost so much. It is checked after each call of the model, so it may cost more.
    pub max_budget: Option<MicroUsd>,
    /// Further options, passed as they are after all others. Each is one argument, its value after `=`; those that
    /// decide how this library talks to the CLI or in which session are refused.
    pub extra_args: Vec<OsString>,
    /// Keeps stdout verbatim. The file must not exist yet; it is created with mode 0600.
    pub raw_log: Option<PathBuf>,
    /// Keeps stderr verbatim, likewise.
    pub stderr_log: Option<PathBuf>,
    /// What the child writes to. All deliver the same events; a pipe if nobody says otherwise.
    pub transport: Option<StdoutMode>,
    /// Whether the child gets a process namespace of its own.
    pub isolation: Option<Isolation>,
    /// [`Client::run`](crate::Client::run): how long the process may take to exit after its result before it is
    /// stopped; 5 seconds if nobody says otherwise. Background work that goes on is waited for.
    pub exit_after_result: Option<Duration>,
    /// [`Client::run`](crate::Client::run): what the session that is gone on with had cost before, so that the cost of
    /// this run can be told apart.
    pub cost_basis: Option<CostBasis>,
    /// Names the run to [`agent_process::sweep`].
    pub marker: Option<String>,
    /// Deadlines and sizes of the process. `timeout` above counts, not the one in here.
    pub limits: Option<Limits>,
}

/// Builds options in one expression.
macro_rules! setters {
    ($( $(#[$meta:meta])* $name:ident: $argument:ty => $value:expr; )+) => {
        impl Options {
            $(
                $(#[$meta])*
                #[must_use]
                pub fn $name(mut self, $name: $argument) -> Self {
                    self.$name = $value;
                    self
                }
            )+
        }
    };
}

setters! {
    /// Sets where the agent works.
    cwd: impl Into<PathBuf> => Some(cwd.into());
    /// Limits the time from the start to the exit of the process.
    timeout: Duration => Some(timeout);
    /// Sets the child's environment.
    environment: Environment => environment;
    /// Chooses the model.
    model: impl Into<String> => Some(model.into());
    /// Replaces the CLI's system prompt.
    system_prompt: SystemPrompt => Some(system_prompt);
    /// Adds to the system prompt.
    append_system_prompt: SystemPrompt => Some(append_system_prompt);
    /// Leaves only these tools.
    tools: impl IntoIterator<Item = impl Into<String>> => Some(tools.into_iter().map(Into::into).collect());
    /// Lets these run without asking.
    allowed_tools: impl IntoIterator<Item = impl Into<String>> =>
        Some(allowed_tools.into_iter().map(Into::into).collect());
    /// Forbids these.
    disallowed_tools: impl IntoIterator<Item = impl Into<String>> =>
        Some(disallowed_tools.into_iter().map(Into::into).collect());
    /// Sets what may happen without asking.
    permission_mode: PermissionMode => Some(permission_mode);
    /// Chooses the conversation.
    session: SessionChoice => Some(session);
    /// Chooses whether text is delivered while it is generated.
    partial_messages: PartialMessages => Some(partial_messages);
    /// Chooses whether the CLI keeps the conversation.
    persistence: Persistence => Some(persistence);
    /// Chooses what `/` and `@` in a prompt mean.
    expansion: Expansion => Some(expansion);
    /// Ends the run after so many turns.
    max_turns: u32 => Some(max_turns);
    /// Ends the run once it has cost so much.
    max_budget: MicroUsd => Some(max_budget);
    /// Passes further arguments.
    extra_args: impl IntoIterator<Item = impl Into<OsString>> => extra_args.into_iter().map(Into::into).collect();
    /// Keeps stdout verbatim in this file.
    raw_log: impl Into<PathBuf> => Some(raw_log.into());
    /// Keeps stderr verbatim in this file.
    stderr_log: impl Into<PathBuf> => Some(stderr_log.into());
    /// Chooses what the child writes to.
    transport: StdoutMode => Some(transport);
    /// Chooses whether the child gets a process namespace of its own.
    isolation: Isolation => Some(isolation);
    /// Limits how long the process may take to exit after its result.
    exit_after_result: Duration => Some(exit_after_result);
    /// Says what the session that is gone on with had cost before.
    cost_basis: CostBasis => Some(cost_basis);
    /// Names the run to [`agent_process::sweep`].
    marker: impl Into<String> => Some(marker.into());
    /// Sets deadlines and sizes of the process.
    limits: Limits => Some(limits);
}

impl Options {
    /// Nothing chosen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills in what `self` leaves open. Variables are merged one by one, extra arguments are put after the
    /// defaults' own, everything else is one or the other.
    #[must_use]
    pub fn or(self, defaults: &Self) -> Self {
        let mut extra_args = defaults.extra_args.clone();
        extra_args.extend(self.extra_args);
        Self {
            cwd: self.cwd.or_else(|| defaults.cwd.clone()),
            timeout: self.timeout.or(defaults.timeout),
            environment: self.environment.or(&defaults.environment),
            model: self.model.or_else(|| defaults.model.clone()),
            system_prompt: self.system_prompt.or_else(|| defaults.system_prompt.clone()),
            append_system_prompt: self
                .append_system_prompt
                .or_else(|| defaults.append_system_prompt.clone()),
            tools: self.tools.or_else(|| defaults.tools.clone()),
            allowed_tools: self.allowed_tools.or_else(|| defaults.allowed_tools.clone()),
            disallowed_tools: self
                .disallowed_tools
                .or_else(|| defaults.disallowed_tools.clone()),
            permission_mode: self.permission_mode.or_else(|| defaults.permission_mode.clone()),
            session: self.session.or_else(|| defaults.session.clone()),
            partial_messages: self.partial_messages.or(defaults.partial_messages),
            persistence: self.persistence.or(defaults.persistence),
            expansion: self.expansion.or(defaults.expansion),
            max_turns: self.max_turns.or(defaults.max_turns),
            max_budget: self.max_budget.or(defaults.max_budget),
            extra_args,
            raw_log: self.raw_log.or_else(|| defaults.raw_log.clone()),
            stderr_log: self.stderr_log.or_else(|| defaults.stderr_log.clone()),
            transport: self.transport.or(defaults.transport),
            isolation: self.isolation.or(defaults.isolation),
            exit_after_result: self.exit_after_result.or(defaults.exit_after_result),
            cost_basis: self.cost_basis.or(defaults.cost_basis),
            marker: self.marker.or_else(|| defaults.marker.clone()),
            limits: self.limits.or_else(|| defaults.limits.clone()),
        }
    }
}
