//! `ralph queue`.

use clap::{Args, Subcommand};

/// List the messages to an agent, change them or take them back
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  ralph queue latest
  ralph queue 0198c3 --json
  ralph queue edit latest 3fd2 \"Update the README and the changelog\"
  ralph queue withdraw latest 3fd2

States: queued, sent (the agent was given it), delivered (it says that it has it), withdrawn, lost (the
agent ended first). Only a queued message can be changed or taken back."
)]
pub struct QueueArgs {
    /// The run: its id, the first characters of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// As JSON, with the whole text
    #[arg(long)]
    pub json: bool,

    /// What to do with a message; without it they are listed.
    #[command(subcommand)]
    pub command: Option<QueueCommand>,
}

/// What to do with a message.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum QueueCommand {
    /// Replace the text of a message that the agent was not given yet
    Edit(QueueEditArgs),
    /// Take back a message that the agent was not given yet
    Withdraw(QueueWithdrawArgs),
}

/// Replace the text of a message that the agent was not given yet
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph queue edit latest 3fd2 \"Update the README and the changelog\"
  git diff | ralph queue edit 0198c3 3fd2 -")]
pub struct QueueEditArgs {
    /// The run: its id, the first characters of it, or `latest`
    pub run: String,

    /// The message: its id, or the first characters of it
    pub id: String,

    /// What it says from now on; `-` reads it from stdin
    pub text: String,
}

/// Take back a message that the agent was not given yet
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph queue withdraw latest 3fd2")]
pub struct QueueWithdrawArgs {
    /// The run: its id, the first characters of it, or `latest`
    pub run: String,

    /// The message: its id, or the first characters of it
    pub id: String,
}
