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
use ralph_run::{Home, RUN_ID_VARIABLE};

use crate::console::write_stderr;
use crate::failure::Failure;

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

An agent is a named piece of work. Whatever interrupts it, `ralph agents up`
starts it again where it stopped; `ralph service install` does that in the
background. Agents whose work is done have no process and cost nothing."
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

/// Start an agent: resume it if paused, otherwise run its prompt again
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

/// Pause an agent after its current turn
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

/// Stop an agent and everything it started; its work is abandoned
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
pub async fn execute(
    args: AgentsArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    let command = args
        .command
        .unwrap_or(AgentsCommand::List(AgentListArgs { json: args.json }));
    if !matches!(
        command,
        AgentsCommand::List(_) | AgentsCommand::Show(_) | AgentsCommand::Logs(_)
    ) {
        refuse_agents(variables)?;
    }
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

/// What the service starts outlives a run and knows none of its limits, so the agent of a run must not change it by
/// accident.
///
/// # Errors
/// In the process of a run.
pub(super) fn refuse_agents(variables: &dyn Fn(&str) -> Option<String>) -> Result<(), Failure> {
    match variables(RUN_ID_VARIABLE) {
        Some(run) if !run.is_empty() => Err(Failure::config(format!(
            "a run cannot change agents or the service (this is run `{}`): ask the user to do it",
            run_view::excerpt(&run)
        ))),
        _ => Ok(()),
    }
}

/// Says how agents are started, if nothing starts them.
fn warn_without_reconciler(home: &Home) {
    if RunningReconciler::find(home).is_none() {
        write_stderr(
            "ralph: agents are not being kept up; run `ralph agents up`, or `ralph service install`\n",
        );
    }
}
