//! Settings in which nothing is left to decide.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agent_api::MicroUsd;
use ralph_run::RunKind;
use serde::{Deserialize, Serialize};

use super::backend::BackendName;
use super::choices::{AgentOutput, Auth, Denials, PermissionMode, PromptMode, SessionPolicy, Transport};
use super::layer::Origin;
use super::mode::ModeTools;
use super::prompt::PromptSource;
use super::view::View;

/// Settings in which nothing is left to decide: what is absent here is absent on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Where the agent works, as an absolute path.
    pub workspace: PathBuf,
    /// Which agent, and how it is started.
    pub agent: AgentSettings,
    /// Planner, coder, or a mode of the user's.
    pub mode: Option<String>,
    /// Names the task.
    pub task: Option<String>,
    /// Whether one iteration is all, and its own verdict counts.
    pub once: bool,
    /// Whether it works by itself or waits for messages.
    pub kind: RunKind,
    /// How long it waits for a message; for ever if absent.
    pub idle_timeout: Option<Duration>,
    /// Whether the agent keeps nothing of the conversation.
    pub ephemeral: bool,
    /// When to stop.
    pub limits: LimitSettings,
    /// The pause between iterations.
    pub cooldown: Duration,
    /// The last line of an answer that says that all is done.
    pub completion_promise: String,
    /// Where the prompt comes from.
    pub prompt: PromptSource,
    /// The session of the first iteration.
    pub session: SessionStart,
    /// Whether a run without a session of its own continues the mode's last one.
    pub session_policy: SessionPolicy,
    /// Commands that must succeed before the work counts as done.
    pub verify: Vec<String>,
    /// Whether the agent may ask.
    pub ask: bool,
    /// How long to wait for an answer; without a limit if absent.
    pub ask_timeout: Option<Duration>,
    /// What a denied permission does to the run.
    pub denials: Denials,
    /// How the run is shown.
    pub view: View,
    /// Whether it runs in the background.
    pub detach: bool,
    /// Whether nothing runs at all.
    pub dry_run: bool,
    /// Whether what the task has cost so far is forgotten.
    pub reset_budget: bool,
    /// Regular expressions of further secrets.
    pub redact: Vec<String>,
    /// Whether a prompt with a secret is sent.
    #[serde(default)]
    pub allow_secrets: bool,
    /// The values by name, as `--dry-run` shows them.
    #[serde(default)]
    pub shown: BTreeMap<String, String>,
    /// The layer that decided each setting, by its key or flag.
    pub origins: BTreeMap<String, Origin>,
}

impl Settings {
    /// Whether no layer gives this setting.
    #[must_use]
    pub fn is_default(&self, name: &str) -> bool {
        self.origins
            .get(name)
            .is_none_or(|origin| *origin == Origin::Default)
    }

    /// Replaces what the report shows for a setting.
    pub fn show(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => drop(self.shown.insert(name.to_owned(), value)),
            None => drop(self.shown.remove(name)),
        }
    }
}

/// Which agent, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSettings {
    /// Which agent.
    pub backend: BackendName,
    /// Its program where it is not the usual one; `custom` always has one. A name without `/` is looked up on `PATH`.
    pub program: Option<PathBuf>,
    /// Further arguments for the program: those of `ralph.yml`, then those of the command line.
    pub args: Vec<String>,
    /// Changes to its environment; one without a value is taken away.
    pub env: BTreeMap<String, Option<String>>,
    /// The agent of the backend `acp`.
    #[serde(default)]
    pub acp: Option<AcpSettings>,
    /// How a custom command gets its prompt.
    pub prompt_mode: PromptMode,
    /// The option before a custom command's prompt.
    pub prompt_flag: Option<String>,
    /// What a custom command writes.
    pub output_format: AgentOutput,
    /// The model; the agent's own choice if absent.
    pub model: Option<String>,
    /// Which login it uses.
    pub auth: Auth,
    /// What happens without asking.
    pub permission_mode: PermissionMode,
    /// The only tools the agent may use, without patterns; all of its tools if absent.
    pub tools: Option<Vec<String>>,
    /// Tools that need no permission, with patterns.
    pub allowed_tools: Option<Vec<String>>,
    /// The tools of a built-in mode. Their names depend on the agent, so they are resolved once it is chosen.
    #[serde(default)]
    pub mode_tools: Option<ModeTools>,
    /// Replaces its system prompt.
    pub system_prompt_file: Option<PathBuf>,
    /// Added to its system prompt.
    pub append_system_prompt_file: Option<PathBuf>,
    /// How its output reaches us.
    pub transport: Transport,
    /// Whether text is delivered while it is written.
    pub partials: bool,
    /// Whether `/command` and `@file` in a prompt mean something to it.
    pub slash: bool,
}

/// An agent that speaks the Agent Client Protocol, from `ralph.yml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcpSettings {
    /// Its program. A name without `/` is looked up on `PATH`.
    pub program: PathBuf,
    /// The arguments that start it as an ACP server.
    pub args: Vec<String>,
    /// Changes to its environment; a variable without a value is removed.
    pub env: BTreeMap<String, Option<String>>,
}

/// When to stop. What is absent is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitSettings {
    /// Iterations.
    pub iterations: Option<u32>,
    /// What the task may cost.
    pub cost: Option<MicroUsd>,
    /// The run's time.
    pub runtime: Option<Duration>,
    /// One iteration's time.
    pub iteration_timeout: Option<Duration>,
    /// The model's turns.
    pub turns: Option<u32>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Failed iterations in a row.
    pub consecutive_failures: Option<u32>,
}

/// What the first iteration goes on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStart {
    /// Nothing.
    Fresh,
    /// The last session of the mode, or a copy of it.
    Continue {
        /// Whether it is a copy.
        fork: bool,
    },
    /// This session, or a copy of it.
    Resume {
        /// Which.
        id: String,
        /// Whether it is a copy.
        fork: bool,
    },
}
