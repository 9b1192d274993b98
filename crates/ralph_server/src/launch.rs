//! `Launcher`: starts runs for the server. What a run's settings mean is known to the program, not to the server.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use ralph_run::RunKind;
use ralph_run::control::PermissionChoice;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Starts runs in processes of their own, which outlive the server.
#[async_trait]
pub trait Launcher: Send + Sync + 'static {
    /// Starts a run, returns once its runner is there, and says what it is called. If that is settled, no other run
    /// has the name, and the same again, by a server after one that was killed half way, finds the run that was started
    /// or starts it.
    async fn start(&self, id: Option<&str>, request: StartRun) -> Result<String, LaunchError>;

    /// The agents that could run in a workspace, or in the server's own directory. Settings of the workspace that are
    /// not trusted are neither used nor run.
    async fn backends(&self, workspace: Option<&Path>) -> Result<FoundBackends, LaunchError>;
}

/// What a run is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartRun {
    /// Whether it works by itself or waits for messages.
    #[serde(default)]
    pub kind: RunKind,
    /// Where the agent works: an absolute path.
    pub workspace: PathBuf,
    /// Which agent; by the workspace's settings if absent.
    #[serde(default)]
    pub backend: Option<String>,
    /// Which model.
    #[serde(default)]
    pub model: Option<String>,
    /// What the agent is told. A session may begin without.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Planner, coder, or a mode of the user's.
    #[serde(default)]
    pub mode: Option<String>,
    /// Names the task.
    #[serde(default)]
    pub task: Option<String>,
    /// What replaces the agent's system prompt.
    #[serde(default)]
    pub system_prompt: Option<String>,
    /// What is added to the agent's system prompt.
    #[serde(default)]
    pub append_system_prompt: Option<String>,
    /// The tools that need no permission.
    #[serde(default)]
    pub allowed_tools: Option<Vec<String>>,
    /// Which login the agent uses; by the workspace's settings if absent.
    #[serde(default)]
    pub auth: Option<AuthChoice>,
    /// Whether the agent must, or must not, take messages while it works; by what it can if absent.
    #[serde(default)]
    pub accepts_input: Option<bool>,
    /// Whether one iteration is all.
    #[serde(default)]
    pub once: bool,
    /// How many iterations at most.
    #[serde(default)]
    pub max_iterations: Option<u32>,
    /// What it may cost, in millionths of a dollar; 0 for no limit.
    #[serde(default)]
    pub max_cost_micro_usd: Option<u64>,
    /// What its cost limit is at most, wherever the limit comes from.
    #[serde(default)]
    pub cost_ceiling_micro_usd: Option<u64>,
    /// How long it may take.
    #[serde(default)]
    pub max_runtime_seconds: Option<u64>,
    /// How many turns at most.
    #[serde(default)]
    pub max_turns: Option<u32>,
    /// How many tokens at most.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// The commands that verify the work; by the workspace's settings if absent.
    #[serde(default)]
    pub verify: Option<Vec<String>>,
    /// What may happen without asking. An agent that can ask does so if absent.
    #[serde(default)]
    pub permission_mode: Option<PermissionChoice>,
    /// Which conversation.
    #[serde(default)]
    pub session: SessionStart,
    /// Whether the agent keeps nothing of the conversation, where it can do so.
    #[serde(default)]
    pub ephemeral: bool,
    /// What a person decided about a `ralph.yml` that is not trusted.
    #[serde(default)]
    pub trust: Option<TrustChoice>,
    /// Who starts it, for people: `token ci`.
    #[serde(default)]
    pub by: Option<String>,
}

/// Which login an agent uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthChoice {
    /// Its own login: API keys are removed from its environment.
    Login,
    /// An API key, which must be in the environment of the server or in the settings of the workspace.
    ApiKey,
}

/// What a person decided about the settings of a workspace that need trust, after they were shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TrustChoice {
    /// Trust the file and the scripts that it names, as they were shown. The decision is stored, as by `ralph trust`.
    Trust {
        /// `digest` of the refusal that listed them. If a file has changed since, the run does not start.
        digest: String,
    },
    /// Run without the settings that need trust.
    LeaveOut,
}

/// Which conversation a run begins with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionStart {
    /// A new one.
    #[default]
    New,
    /// The last one of an earlier run.
    Resume {
        /// The run.
        run: String,
    },
    /// A copy of the last one of an earlier run.
    Fork {
        /// The run.
        run: String,
    },
    /// One that the agent has, perhaps not from a run.
    ResumeSession {
        /// The agent's name for it.
        session: String,
    },
    /// A copy of one that the agent has.
    ForkSession {
        /// The agent's name for it.
        session: String,
    },
}

/// Why a run did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Something in the request is wrong.
    #[error("{message}")]
    Invalid {
        /// What.
        message: String,
        /// Which part of the request, as a JSON pointer, if it is one.
        pointer: Option<&'static str>,
    },
    /// Another run has the workspace or the conversation.
    #[error("{message}")]
    Busy {
        /// Who.
        message: String,
    },
    /// The workspace's `ralph.yml` is not trusted. A person has to decide.
    #[error("{message}")]
    Untrusted {
        /// Why, and what to do.
        message: String,
        /// What it would do.
        workspace: UntrustedWorkspace,
    },
    /// The agent is not there, or not logged in.
    #[error("{message}")]
    BackendUnavailable {
        /// What to do.
        message: String,
    },
    /// Something else.
    #[error("{message}")]
    Failed {
        /// What.
        message: String,
    },
}

/// What a `ralph.yml` that is not trusted would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UntrustedWorkspace {
    /// The settings that need trust.
    pub settings: Vec<UntrustedSetting>,
    /// The files in the workspace that these settings name. Trust covers their content.
    pub files: Vec<String>,
    /// Names what would be trusted: the content of `ralph.yml` and of the files. Absent if it cannot be trusted.
    pub digest: Option<String>,
}

/// A setting of a `ralph.yml` that is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UntrustedSetting {
    /// Its key.
    pub key: String,
    /// Its value, without secrets and control characters.
    pub value: String,
    /// What it would do.
    pub effect: String,
}

/// The agents that could run in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundBackends {
    /// The agents.
    pub items: Vec<BackendInfo>,
    /// What was not used to find them, because the workspace is not trusted.
    pub untrusted: Option<UntrustedWorkspace>,
}

/// An agent that could run here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackendInfo {
    /// Its name.
    pub name: String,
    /// For people.
    pub display_name: String,
    /// Whether it is installed.
    pub is_installed: bool,
    /// Its version.
    pub version: Option<String>,
    /// Where it is.
    pub path: Option<PathBuf>,
    /// Whether it takes messages while it works.
    pub takes_messages: bool,
    /// Whether it can be told which model to use.
    pub takes_model: bool,
    /// What it can be told about what may happen without asking; none if it never asks.
    pub permission_modes: Vec<PermissionChoice>,
    /// Whether an earlier conversation can be gone on with.
    pub can_resume: bool,
    /// Whether a copy of an earlier conversation can be gone on with.
    pub can_fork: bool,
    /// Whether it can keep nothing of a conversation.
    pub can_be_ephemeral: bool,
    /// Its capabilities.
    pub capabilities: Vec<String>,
    /// What is wrong, and what to do.
    pub problem: Option<String>,
}
