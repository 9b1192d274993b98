//! `Cli` and `Command`: the command line as types, and `parse`, which `main` calls. Each command's arguments are in its
//! own file in [`commands`](crate::commands).

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::answer::AnswerArgs;
use crate::commands::attach::AttachArgs;
use crate::commands::clean::CleanArgs;
use crate::commands::complete::CompleteArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::init::InitArgs;
use crate::commands::interrupt::InterruptArgs;
use crate::commands::logs::LogsArgs;
use crate::commands::queue::QueueArgs;
use crate::commands::reindex::ReindexArgs;
use crate::commands::replay::ReplayArgs;
use crate::commands::run::{RunArgs, RunnerArgs};
use crate::commands::runs::RunsArgs;
use crate::commands::search::SearchArgs;
use crate::commands::send::SendArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::show::ShowArgs;
use crate::commands::stop::StopArgs;
use crate::commands::trust::TrustArgs;

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
  78 configuration, 129 hung up, 130 interrupted, 141 output closed, 143 terminated"
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
    /// Show what a ralph.yml would run, and trust it
    Trust(TrustArgs),
    /// Remove finished runs
    Clean(CleanArgs),
    /// All runs in a browser: watch, answer, steer, search; and an API for scripts
    Serve(ServeArgs),
    /// Search in what all agents said and did
    Search(SearchArgs),
    /// Rebuild the search index from the runs on disk
    Reindex(ReindexArgs),
    /// See a run from start to end with a scripted agent: no agent, no key, no costs
    Demo(DemoArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print words for completion scripts
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
    /// Carry on a run without a terminal
    #[command(name = "__runner", hide = true)]
    Runner(RunnerArgs),
}

impl Command {
    /// Whether the user asked for silence.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        match self {
            Self::Run(args) => args.view.quiet == Some(true),
            Self::Attach(args) => args.view.quiet == Some(true),
            Self::Logs(args) => args.view.quiet == Some(true),
            Self::Replay(args) => args.view.quiet == Some(true),
            Self::Demo(args) => args.view.quiet == Some(true),
            Self::Send(_)
            | Self::Queue(_)
            | Self::Answer(_)
            | Self::Interrupt(_)
            | Self::Stop(_)
            | Self::Runs(_)
            | Self::Show(_)
            | Self::Doctor(_)
            | Self::Init(_)
            | Self::Trust(_)
            | Self::Clean(_)
            | Self::Serve(_)
            | Self::Search(_)
            | Self::Reindex(_)
            | Self::Completions(_)
            | Self::Complete(_)
            | Self::Runner(_) => false,
        }
    }
}

/// The exit code for invalid usage (`EX_USAGE`).
pub const USAGE_EXIT_CODE: u8 = 64;

/// Why there is nothing to do but to print something and leave: help, version, or a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// What to print, with its line end.
    pub text: String,
    /// What to exit with.
    pub exit_code: u8,
    /// Whether it is a mistake, and so belongs on stderr.
    pub is_error: bool,
}

/// Reads a command line; its first word is the program's name.
///
/// # Errors
/// A text to print and the code to exit with.
pub fn parse<I, T>(args: I) -> Result<Cli, Stop>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    Cli::try_parse_from(args).map_err(|error| {
        let is_error = error.use_stderr();
        Stop {
            text: error.render().to_string(),
            exit_code: if is_error { USAGE_EXIT_CODE } else { 0 },
            is_error,
        }
    })
}

/// The whole command line as data, for help pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}
