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
    /// The run ends
    Fail,
    /// The run continues
    Continue,
}

/// The session that a run of a mode starts with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum SessionPolicy {
    /// A new session
    #[default]
    Fresh,
    /// The last session of the mode
    Keep,
}

/// How a custom command gets its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum PromptMode {
    /// On its standard input
    Stdin,
    /// As its last argument, which every user of the machine can read
    Arg,
}

/// What a custom command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum AgentOutput {
    /// Text
    Text,
    /// One JSON event per line, as `--output-format stream-json` writes them
    #[value(alias = "stream_json")]
    StreamJson,
}

/// The form of stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Text for people
    Text,
    /// One JSON record per line
    Json,
}

/// Which colors the terminal UI uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ThemeChoice {
    /// Those that fit the background of the terminal
    #[default]
    Auto,
    /// Those for a dark background
    Dark,
    /// Those for a light background
    Light,
}

/// When to use colors.
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
