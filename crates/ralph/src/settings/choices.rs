//! Settings whose values are a fixed list of words.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// How the agent's output reaches ralph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// What is best for the agent
    Auto,
    /// A file that ralph follows
    Spool,
    /// A pipe
    Pipe,
    /// A terminal
    Pty,
}

/// What happens without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// The agent asks, or is refused where nobody can answer
    #[value(alias = "default")]
    Ask,
    /// Edits need no asking
    #[value(alias = "acceptEdits", alias = "accept_edits")]
    AcceptEdits,
    /// Nothing changes before a plan is approved
    Plan,
    /// What would be asked is refused
    #[value(alias = "dontAsk", alias = "dont-ask")]
    Refuse,
    /// Everything is allowed
    #[value(alias = "bypassPermissions", alias = "bypass-permissions")]
    Bypass,
}

impl From<PermissionMode> for agent_api::PermissionMode {
    fn from(mode: PermissionMode) -> Self {
        match mode {
            PermissionMode::Ask => Self::Ask,
            PermissionMode::AcceptEdits => Self::AcceptEdits,
            PermissionMode::Plan => Self::Plan,
            PermissionMode::Refuse => Self::Refuse,
            PermissionMode::Bypass => Self::Bypass,
        }
    }
}

/// Which login the agent uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// Whatever it finds
    Inherit,
    /// Its own login: it starts without the key in the environment
    Login,
    /// The key in the environment, which must be there
    #[value(name = "api_key", alias = "api-key")]
    ApiKey,
}

/// What a denied permission does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Denials {
    /// It ends
    Fail,
    /// It goes on
    Continue,
}

/// What an iteration starts with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum SessionPolicy {
    /// A new session: only the repository carries over
    #[default]
    Fresh,
    /// The session before it
    Keep,
}

/// How a command of your own gets its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum PromptMode {
    /// On its standard input
    Stdin,
    /// As its last argument, which everybody on the machine can read
    Arg,
}

/// What a command of your own writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum AgentOutput {
    /// Text
    Text,
    /// One JSON event per line, as `--output-format stream-json` writes them
    #[value(alias = "stream_json")]
    StreamJson,
}

/// What stdout is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// People
    Text,
    /// Programs: one record per line
    Json,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ColorChoice {
    /// In a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
