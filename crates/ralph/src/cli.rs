//! `Cli` and `Command`: the command line as types, and `parse`, which `main` calls. Each command's arguments are in its
//! own file in [`commands`](crate::commands).

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::agents::AgentsArgs;
use crate::commands::answer::AnswerArgs;
use crate::commands::attach::AttachArgs;
use crate::commands::clean::CleanArgs;
use crate::commands::complete::CompleteArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::help::HelpArgs;
use crate::commands::init::InitArgs;
use crate::commands::interrupt::InterruptArgs;
use crate::commands::logs::LogsArgs;
use crate::commands::merge::MergeArgs;
use crate::commands::notify::NotifyArgs;
use crate::commands::plan::PlanArgs;
use crate::commands::queue::QueueArgs;
use crate::commands::reindex::ReindexArgs;
use crate::commands::replay::ReplayArgs;
use crate::commands::run::{RunArgs, RunnerArgs};
use crate::commands::runs::RunsArgs;
use crate::commands::search::SearchArgs;
use crate::commands::send::SendArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::service::ServiceArgs;
use crate::commands::show::ShowArgs;
use crate::commands::stop::StopArgs;
use crate::commands::tasks::TasksArgs;
use crate::commands::token::TokenArgs;
use crate::commands::top_up::TopUpArgs;
use crate::commands::trust::TrustArgs;
use crate::commands::worktrees::WorktreesArgs;

/// Run coding agents in a loop that people can watch, trust and stop
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = "ralph",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = "Examples:
  ralph demo                        see it work, without an agent or a key
  ralph init                        write ralph.yml and PROMPT.md
  ralph run --verify \"cargo test\"   work through PROMPT.md until the tests pass
  ralph run -p \"Explain this repository\" --once
  ralph attach latest               watch a run from another terminal
  ralph                             all runs, in the terminal UI
  ralph help config                 every setting

Exit codes:
    0  completed                         78  invalid configuration
    1  failed                           129  the terminal was closed
    2  a limit was reached              130  interrupted
   64  invalid usage                    141  the output was closed
   69  agent missing or not logged in   143  terminated"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, PartialEq, Subcommand)]
pub enum Command {
    Run(Box<RunArgs>),
    Attach(AttachArgs),
    Send(SendArgs),
    Queue(QueueArgs),
    Answer(AnswerArgs),
    Interrupt(InterruptArgs),
    Stop(StopArgs),
    TopUp(TopUpArgs),
    Tasks(Box<TasksArgs>),
    Plan(Box<PlanArgs>),
    Runs(RunsArgs),
    Show(ShowArgs),
    Logs(LogsArgs),
    Replay(ReplayArgs),
    Agents(AgentsArgs),
    Service(ServiceArgs),
    Doctor(DoctorArgs),
    Init(InitArgs),
    Trust(TrustArgs),
    Notify(NotifyArgs),
    Clean(CleanArgs),
    Worktrees(WorktreesArgs),
    Merge(MergeArgs),
    Serve(ServeArgs),
    Token(TokenArgs),
    Search(SearchArgs),
    Reindex(ReindexArgs),
    Demo(DemoArgs),
    Completions(CompletionsArgs),
    Help(HelpArgs),
    /// `ralph` alone in a terminal: all runs in the terminal UI.
    #[command(skip)]
    Home,
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
    #[command(name = "__runner", hide = true)]
    Runner(RunnerArgs),
}

impl Command {
    pub fn is_quiet(&self) -> bool {
        match self {
            Self::Run(args) => args.view.quiet == Some(true),
            Self::Attach(args) => args.view.quiet == Some(true),
            Self::Logs(args) => args.view.quiet == Some(true),
            Self::Replay(args) => args.view.quiet == Some(true),
            Self::Demo(args) => args.view.quiet == Some(true),
            Self::Plan(args) => args.view.quiet == Some(true),
            Self::Agents(_)
            | Self::Service(_)
            | Self::Send(_)
            | Self::Queue(_)
            | Self::Answer(_)
            | Self::Interrupt(_)
            | Self::Stop(_)
            | Self::TopUp(_)
            | Self::Tasks(_)
            | Self::Runs(_)
            | Self::Show(_)
            | Self::Doctor(_)
            | Self::Init(_)
            | Self::Trust(_)
            | Self::Notify(_)
            | Self::Clean(_)
            | Self::Worktrees(_)
            | Self::Merge(_)
            | Self::Serve(_)
            | Self::Token(_)
            | Self::Search(_)
            | Self::Reindex(_)
            | Self::Completions(_)
            | Self::Help(_)
            | Self::Home
            | Self::Complete(_)
            | Self::Runner(_) => false,
        }
    }
}

/// The exit code for invalid usage (`EX_USAGE`).
pub const USAGE_EXIT_CODE: u8 = 64;

/// A command line that only prints something: help, version, or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub text: String,
    pub exit_code: u8,
    /// Errors go to stderr.
    pub is_error: bool,
}

/// Parses a command line whose first word is the program's name.
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
pub fn command() -> clap::Command {
    Cli::command()
}
