//! `Settings`: the result of `resolve`. `ralph run` uses them, and sends them to a detached runner as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agent_api::MicroUsd;
use ralph_run::RunKind;
use ralph_run::control::PermissionChoice;
use serde::{Deserialize, Serialize};

use super::backend::BackendName;
use super::choices::{AgentOutput, Auth, Denials, PromptMode, SessionPolicy, Transport};
use super::layer::Origin;
use super::mode::ModeTools;
use super::notify::NotifySettings;
use super::prompt::PromptSource;
use super::view::View;
use super::watch::WatchSettings;

/// Settings with every default applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// An absolute path.
    pub workspace: PathBuf,
    pub agent: AgentSettings,
    pub mode: Option<String>,
    pub task: Option<String>,
    /// Run one iteration and accept the agent's own result.
    pub once: bool,
    pub kind: RunKind,
    /// How long a conversation waits for a message; without a limit if absent.
    pub idle_timeout: Option<Duration>,
    /// The agent does not save the session.
    pub ephemeral: bool,
    pub limits: LimitSettings,
    pub cooldown: Duration,
    /// The last line of an answer that says that the work is complete.
    pub completion_promise: String,
    pub prompt: PromptSource,
    /// The prompt of the mode, which is placed before the other one.
    pub mode_prompt: Option<PromptSource>,
    /// The roles that take turns, from the mode that was chosen; empty unless it names a `next` one.
    pub roles: Vec<RoleSettings>,
    /// Iterations share notes.
    pub memory: bool,
    pub session: SessionStart,
    /// Whether a run without a session of its own continues the mode's last one.
    pub session_policy: SessionPolicy,
    /// Commands that must succeed before the work counts as done.
    pub verify: Vec<String>,
    /// How long each of them may take.
    #[serde(default)]
    pub verify_timeout: Option<Duration>,
    /// How worktrees are made.
    #[serde(default)]
    pub worktree: WorktreeSettings,
    /// The worktree that the agent works in.
    #[serde(default)]
    pub own_worktree: Option<OwnWorktree>,
    pub ask: bool,
    /// Whether the agent must, or must not, take messages while it works; by what it can if absent.
    #[serde(default)]
    pub accepts_input: Option<bool>,
    /// Whether a person can raise a limit that is reached.
    #[serde(default)]
    pub asks_about_limits: bool,
    /// How long to wait for an answer; without a limit if absent.
    pub ask_timeout: Option<Duration>,
    pub denials: Denials,
    pub view: View,
    pub detach: bool,
    pub dry_run: bool,
    pub reset_budget: bool,
    /// Regular expressions of further secrets.
    pub redact: Vec<String>,
    #[serde(default)]
    pub allow_secrets: bool,
    pub watch: WatchSettings,
    pub notify: NotifySettings,
    /// The values by name, as `--dry-run` shows them.
    #[serde(default)]
    pub shown: BTreeMap<String, String>,
    /// The layer that decided each setting, by its key or flag.
    pub origins: BTreeMap<String, Origin>,
}

impl Settings {
    /// Whether no layer gives this setting.
    pub fn is_default(&self, name: &str) -> bool {
        self.origins
            .get(name)
            .is_none_or(|origin| *origin == Origin::Default)
    }

    /// The settings as they are for one of the roles.
    pub fn for_role(&self, role: &RoleSettings) -> Self {
        Self {
            mode: Some(role.name.clone()),
            agent: AgentSettings {
                // `--resume` may have chosen another one than the settings.
                backend: self.agent.backend.clone(),
                ..role.agent.clone()
            },
            mode_prompt: role.prompt.clone(),
            ..self.clone()
        }
    }

    /// Replaces what the report shows for a setting.
    pub fn show(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => drop(self.shown.insert(name.to_owned(), value)),
            None => drop(self.shown.remove(name)),
        }
    }
}

/// A mode as a role of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleSettings {
    /// The name of the mode.
    pub name: String,
    /// The role of the next iteration, as an index into the roles.
    pub next: usize,
    pub session_policy: SessionPolicy,
    pub agent: AgentSettings,
    pub prompt: Option<PromptSource>,
}

/// The agent, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSettings {
    pub backend: BackendName,
    /// Replaces the agent's usual program; `custom` always has one. A name without `/` is looked up on `PATH`.
    pub program: Option<PathBuf>,
    /// Extra arguments: those of `ralph.yml`, then those of the command line.
    pub args: Vec<String>,
    /// Changes to its environment; a variable without a value is removed.
    pub env: BTreeMap<String, Option<String>>,
    /// The agent of the backend `acp`.
    #[serde(default)]
    pub acp: Option<AcpSettings>,
    pub prompt_mode: PromptMode,
    /// The option before the prompt of a custom command.
    pub prompt_flag: Option<String>,
    pub output_format: AgentOutput,
    /// The agent chooses if absent.
    pub model: Option<String>,
    pub auth: Auth,
    pub permission_mode: PermissionChoice,
    /// The only tools the agent may use, without patterns; all of its tools if absent.
    pub tools: Option<Vec<String>>,
    /// Tools that need no permission, with patterns.
    pub allowed_tools: Option<Vec<String>>,
    /// The tools of a built-in mode. Their names depend on the agent, so they are resolved once it is chosen.
    #[serde(default)]
    pub mode_tools: Option<ModeTools>,
    /// At most one of the text and the file is given, here and below.
    #[serde(default)]
    pub system_prompt: Option<String>,
    pub system_prompt_file: Option<PathBuf>,
    #[serde(default)]
    pub append_system_prompt: Option<String>,
    pub append_system_prompt_file: Option<PathBuf>,
    pub transport: Transport,
    /// Show text while it is written.
    pub partials: bool,
    /// The agent expands `/command` and `@file` in a prompt.
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

/// How worktrees are made and prepared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeSettings {
    pub base: Option<String>,
    pub setup: Vec<String>,
    /// How long each setup command may take.
    pub setup_timeout: Option<Duration>,
    pub copy: Vec<String>,
}

/// The worktree of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnWorktree {
    pub name: String,
    /// Its top folder.
    pub path: PathBuf,
    /// The folder from which its repository is found.
    pub checkout: PathBuf,
    /// What setup, verify commands and the agent see.
    pub variables: BTreeMap<String, String>,
}

/// `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitSettings {
    pub iterations: Option<u32>,
    pub cost: Option<MicroUsd>,
    pub runtime: Option<Duration>,
    pub iteration_timeout: Option<Duration>,
    pub turns: Option<u32>,
    pub tokens: Option<u64>,
    pub consecutive_failures: Option<u32>,
    /// The longest wait for a usage limit of the agent.
    #[serde(default)]
    pub wait: Option<Duration>,
}

/// The session of the first iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStart {
    /// A new one.
    Fresh,
    /// The last session of the mode, or a fork of it.
    Continue { fork: bool },
    /// This session, or a fork of it.
    Resume { id: String, fork: bool },
}
