//! `ralph agents`: named agents that stay up.

mod change;
mod create;
mod launch;
mod list;
mod logs;
mod show;
mod up;
mod words;

pub use create::AgentCreateArgs;
pub use logs::AgentLogsArgs;

use std::io::Write;
use std::path::Path;

use clap::{Args, Subcommand};
use ralph_agents::{AgentName, RunningReconciler};
use ralph_run::Home;

use crate::console::write_stderr;

/// Keep named agents at work through crashes and restarts
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  ralph agents create docs -p \"Bring docs/ up to date\"
  ralph agents up                 start them, and keep them up
  ralph agents                    what they are doing
  ralph agents stop docs

An agent is a name with work. Whatever interrupts it, `ralph agents up` starts
it again where it stopped; `ralph service install` does that in the background.
Agents without work have no process and cost nothing."
)]
pub struct AgentsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,

    #[command(subcommand)]
    pub command: Option<AgentsCommand>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum AgentsCommand {
    List(AgentListArgs),
    Create(Box<AgentCreateArgs>),
    Show(AgentShowArgs),
    Start(AgentStartArgs),
    Pause(AgentPauseArgs),
    Stop(AgentStopArgs),
    Delete(AgentDeleteArgs),
    Logs(AgentLogsArgs),
    Up(AgentsUpArgs),
}

/// List agents
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents list
  ralph agents list --json")]
pub struct AgentListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Show what an agent is, does and has done
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents show docs
  ralph agents show docs --json")]
pub struct AgentShowArgs {
    /// Name of the agent
    pub name: AgentName,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Give an agent its work, again if it is done; a paused agent continues
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents start docs
  ralph agents start docs -p \"Now the tutorial\"   with a new prompt

Also clears an error.")]
pub struct AgentStartArgs {
    /// Name of the agent
    pub name: AgentName,

    /// Replace the prompt
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub prompt: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Let an agent end its turn and then wait
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents pause docs
  ralph agents start docs      continues the session")]
pub struct AgentPauseArgs {
    /// Name of the agent
    pub name: AgentName,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Stop an agent and everything it started; its work is given up
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents stop docs
  ralph agents stop docs --no-wait")]
pub struct AgentStopArgs {
    /// Name of the agent
    pub name: AgentName,

    /// Do not wait for its run to end
    #[arg(long)]
    pub no_wait: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Delete an agent that has no active run; its runs are kept
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents stop docs && ralph agents delete docs")]
pub struct AgentDeleteArgs {
    /// Name of the agent
    pub name: AgentName,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Start agents and keep them up, in the foreground
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents up
  ralph agents up --json       one JSON object per event

Ctrl-C ends this command; runs continue, and the next `ralph agents up` adopts
them. In the background: `ralph service install`.")]
pub struct AgentsUpArgs {
    /// Print JSON lines
    #[arg(long)]
    pub json: bool,
}

/// Carries out the command. Gives the exit code.
pub async fn execute(args: AgentsArgs, home: &Home, cwd: &Path, out: &mut dyn Write) -> anyhow::Result<u8> {
    let command = args
        .command
        .unwrap_or(AgentsCommand::List(AgentListArgs { json: args.json }));
    match command {
        AgentsCommand::List(args) => list::execute(&args, home, out),
        AgentsCommand::Create(args) => create::execute(*args, home, cwd, out),
        AgentsCommand::Show(args) => show::execute(&args, home, out),
        AgentsCommand::Start(args) => change::start(args, home, out),
        AgentsCommand::Pause(args) => change::pause(&args, home, out),
        AgentsCommand::Stop(args) => change::stop(&args, home, out).await,
        AgentsCommand::Delete(args) => change::delete(&args, home, out),
        AgentsCommand::Logs(args) => logs::execute(&args, home, out).await,
        AgentsCommand::Up(args) => up::execute(&args, home, out).await,
    }
}

/// Says how agents are started, if nothing starts them.
fn warn_without_reconciler(home: &Home) {
    if RunningReconciler::find(home).is_none() {
        write_stderr(
            "ralph: nothing starts agents at the moment; run `ralph agents up`, or `ralph service install`\n",
        );
    }
}
