//! The commands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::answer::AnswerArgs;
use super::clean::CleanArgs;
use super::logs::LogsArgs;
use super::queue::QueueArgs;
use super::replay::ReplayArgs;
use super::run::RunArgs;
use super::runs::RunsArgs;
use super::send::SendArgs;
use super::serve::{ReindexArgs, SearchArgs, ServeArgs};
use super::view::ViewArgs;
use crate::settings::values::parse_speed;

/// Run coding agents in a loop that people can watch, trust and stop
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = "ralph",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = "Examples:
  ralph demo                                       see it work, without an agent or a key
  ralph init                                       write ralph.yml and PROMPT.md
  ralph run --verify \"cargo test\"                  work through PROMPT.md until the tests pass
  ralph run -p \"Explain this repository\" --once
  ralph attach latest                              watch a run from another terminal

Exit codes:
  0 completed, 1 failed, 2 a limit was reached, 64 usage, 69 the agent is not available or not logged in,
  78 configuration, 129 hung up, 130 interrupted, 141 nobody reads the output, 143 terminated"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub enum Command {
    /// Run an agent until its work is done and verified, or a limit is reached
    Run(Box<RunArgs>),
    /// Watch a run, from its beginning
    Attach(AttachArgs),
    /// Send a message to a running agent
    Send(SendArgs),
    /// List the messages to an agent, change them or take them back
    Queue(QueueArgs),
    /// Answer what an agent asks, or list what it asks
    Answer(AnswerArgs),
    /// End the agent's turn; a loop ends with it
    Interrupt(InterruptArgs),
    /// End a run, and everything its agent started
    Stop(StopArgs),
    /// List runs, the newest first
    Runs(RunsArgs),
    /// Show what is known about a run
    Show(ShowArgs),
    /// Show what a run has done
    Logs(LogsArgs),
    /// Play a recorded run, or any recorded output of an agent
    Replay(ReplayArgs),
    /// Check this machine: agents, logins, directories, protection
    Doctor(DoctorArgs),
    /// Write a commented ralph.yml and a PROMPT.md
    Init(InitArgs),
    /// Remove finished runs
    Clean(CleanArgs),
    /// All runs in a browser: watch, answer, steer, search; and an API for scripts
    Serve(ServeArgs),
    /// Search in what all agents said and did
    Search(SearchArgs),
    /// Build the server's index anew from the runs on disk
    Reindex(ReindexArgs),
    /// See a run from start to end with a scripted agent: no agent, no key, no costs
    Demo(DemoArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Carry on a run without a terminal
    #[command(name = "__runner", hide = true)]
    Runner(RunnerArgs),
}

impl Command {
    /// Whether the user asked for silence.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        match self {
            Self::Run(args) => args.view.quiet,
            Self::Attach(args) => args.view.quiet,
            Self::Logs(args) => args.view.quiet,
            Self::Replay(args) => args.view.quiet,
            Self::Demo(args) => args.view.quiet,
            Self::Send(_)
            | Self::Queue(_)
            | Self::Answer(_)
            | Self::Interrupt(_)
            | Self::Stop(_)
            | Self::Runs(_)
            | Self::Show(_)
            | Self::Doctor(_)
            | Self::Init(_)
            | Self::Clean(_)
            | Self::Serve(_)
            | Self::Search(_)
            | Self::Reindex(_)
            | Self::Completions(_)
            | Self::Runner(_) => false,
        }
    }
}

/// Watch a run, from its beginning
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph attach
  ralph attach 0198c3 -v

Ctrl-C leaves; the run goes on. The exit code is the run's.")]
pub struct AttachArgs {
    /// The run: its id, the first characters of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// Begin with this record
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    pub from: u64,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// End the agent's turn; a loop ends with it
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph interrupt latest")]
pub struct InterruptArgs {
    /// The run: its id, the first characters of it, or `latest`
    pub run: String,
}

/// End a run, and everything its agent started
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph stop latest
  ralph stop --all")]
pub struct StopArgs {
    /// The run: its id, the first characters of it, or `latest`
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub run: Option<String>,

    /// Every run that is not over
    #[arg(long)]
    pub all: bool,

    /// Do not wait until it has ended
    #[arg(long)]
    pub no_wait: bool,
}

/// Show what is known about a run
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph show
  ralph show 0198c3 --json")]
pub struct ShowArgs {
    /// The run: its id, the first characters of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Check this machine: agents, logins, directories, protection
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph doctor
  ralph doctor --json

Exits with 0 if a run can start, else with 1.")]
pub struct DoctorArgs {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Write a commented ralph.yml and a PROMPT.md
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph init
  ralph init -C ../other

A file that exists is left as it is.")]
pub struct InitArgs {
    /// Where; the top of the git repository otherwise
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// See a run from start to end with a scripted agent: no agent, no key, no costs
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_help = "Examples:
  ralph demo
  ralph demo --speed 3 -v")]
pub struct DemoArgs {
    /// Where the agent works; a new folder under the system's temporary one otherwise
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// 2 is twice as fast, `max` is without any pause
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Print a completion script for a shell
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph completions bash > ~/.local/share/bash-completion/completions/ralph
  ralph completions zsh > ~/.zfunc/_ralph
  ralph completions fish > ~/.config/fish/completions/ralph.fish")]
pub struct CompletionsArgs {
    /// Which shell
    pub shell: Shell,
}

/// Carry on a run without a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct RunnerArgs {
    /// The run's directory
    pub directory: PathBuf,
}
