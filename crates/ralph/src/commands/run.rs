//! `ralph run`: runs an agent in a loop, or as a conversation.

mod agent;
mod detach;
mod dry_run;
mod foreground;
mod hidden_env;
mod launch;
mod prepare;
mod prompt;
mod resume;
mod scope;
mod secrets;
mod signals;
mod silence_limits;
#[cfg(test)]
mod tests;
mod unsupported;
mod verify_programs;
mod worktree;

pub(super) use agent::{check_bypass, options, registry};
pub use detach::{RunnerArgs, runner};
pub(super) use foreground::{Finished, console_options};
pub(super) use hidden_env::hidden_variables;
pub(super) use launch::is_starting;
pub use launch::{Start, StartError, Started, start_detached};
use prepare::FirstPrompt;
pub(super) use resume::{session_of, use_backend_of};
pub(super) use secrets::check_prompt;
pub(crate) use secrets::find_secret;
pub(super) use signals::{CtrlZ, ending, guard_terminal, listen};
pub(super) use worktree::{CommandsEnv, find_repository, run_commands};

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use ralph_run::{Home, reconcile};

use super::trust;
use super::tui;
use crate::console::write_stderr;
use crate::settings::values::{StdinMarker, parse_stdin_marker};
use crate::settings::{
    OpenedFile, SessionStart, Settings, SettingsLayer, Verbosity, ViewArgs, unknown_variables,
};

/// Run an agent until its work is verified or a limit is reached
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph run                            PROMPT.md, until it says LOOP_COMPLETE
  ralph run --verify \"cargo test\"      ... and the tests pass
  ralph run -p \"Fix the test\" --once   one prompt, one answer
  ralph run --mode planner -p \"Plan the migration\"
  ralph run -b demo                    another agent; see `ralph doctor`
  git diff | ralph run - --once -- --effort=high
                                       prompt from stdin, an agent's own flag
  ralph run --detach && ralph attach   in the background
  ralph run --tui                      in the background, with the terminal UI
  ralph run --interactive              a conversation; Ctrl-D ends it
  ralph run --worktree=fix-login       on a branch of its own, in a worktree
  ralph run --dry-run                  print what would run

Without -p, -P and PROMPT.md, a pipe or file on stdin is the prompt.
In a terminal, keys work while the agent runs: m sends it a message, y and n
answer its requests. Ctrl-C interrupts it, Ctrl-Z suspends the run.

A flag wins over a RALPH_ variable, ralph.yml and the default, in this order.
`ralph help config` lists every setting.
Durations: 90s, 15m, 4h, 1h30m, or seconds. 0 turns a limit off.")]
pub struct RunArgs {
    /// Where the agent works [default: the top of the git repository]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Work in a git worktree of its own, on the branch ralph/NAME
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    pub worktree: Option<Option<String>>,

    /// Read the prompt from stdin
    #[arg(value_name = "-", group = "prompt_source", value_parser = parse_stdin_marker)]
    pub stdin: Option<StdinMarker>,

    /// Let the agent expand /commands and @files
    #[arg(long, help_heading = "Prompt")]
    pub slash: bool,

    #[command(flatten)]
    pub settings: SettingsLayer,

    /// Task name; budget and log files are kept per task
    #[arg(long, value_name = "ID", help_heading = "Loop")]
    pub task: Option<String>,

    /// Run one iteration and accept the agent's own result
    #[arg(long, help_heading = "Loop")]
    pub once: bool,

    /// Reset what the task has cost so far
    #[arg(long, help_heading = "Limits")]
    pub reset_budget: bool,

    /// Start a conversation; type messages, or use `ralph send`
    #[arg(short, long, help_heading = "Session")]
    pub interactive: bool,

    /// Do not save the session; it cannot be resumed
    #[arg(long, help_heading = "Session")]
    pub ephemeral: bool,

    /// Continue the last session of this mode
    #[arg(long = "continue", group = "session_source", help_heading = "Session")]
    pub continue_last: bool,

    /// Resume this session, or the last session of a run
    #[arg(
        long,
        value_name = "SESSION|RUN",
        group = "session_source",
        help_heading = "Session"
    )]
    pub resume: Option<String>,

    /// Fork the session instead of resuming it
    #[arg(long, requires = "session_source", help_heading = "Session")]
    pub fork: bool,

    /// Start a new session even if the mode keeps one
    #[arg(long, conflicts_with = "session_source", help_heading = "Session")]
    pub fresh: bool,

    /// Trust ralph.yml for this run only, without asking
    #[arg(long, conflicts_with = "no_trust", help_heading = "Trust")]
    pub trust: bool,

    /// Leave out the settings of ralph.yml that need trust
    #[arg(long, help_heading = "Trust")]
    pub no_trust: bool,

    /// Run in the background and print the run's id
    #[arg(long, conflicts_with = "dry_run", help_heading = "Output")]
    pub detach: bool,

    /// Run in the background and open the terminal UI
    #[arg(long, conflicts_with_all = ["detach", "dry_run", "quiet", "output"], help_heading = "Output")]
    pub tui: bool,

    /// Print settings, prompt and command line without running anything
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,

    #[command(flatten)]
    pub view: ViewArgs,

    /// Extra arguments passed to the agent's CLI
    #[arg(last = true, value_name = "EXTRA")]
    pub extra: Vec<String>,
}

/// Starts the run and carries it out. Gives the exit code.
pub async fn execute(
    args: &RunArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    let (opened, mut settings, mut resumed_from) = open(args, home, variables, cwd)?;
    let prompt = prompt::read_prompt(&mut settings)?;
    if settings.dry_run {
        if let Some(name) = &args.worktree {
            worktree::describe(home, &settings, name.as_deref()).await?;
        }
        return dry_run::execute(home, &settings, prompt.as_deref(), opened.left_out()).await;
    }
    note_lost(home, &settings)?;
    if let Some(name) = &args.worktree {
        // Mistakes are reported before anything is created. Which session is resumed is known only in the worktree.
        let mut checked = settings.clone();
        checked.session = SessionStart::Fresh;
        prepare::choose(&checked, Some(home)).await?;
        worktree::enter(home, &mut settings, name.as_deref()).await?;
        resumed_from = resume::resolve_run(&mut settings, home)?;
    }
    if settings.detach {
        return detach::execute(home, settings, prompt, resumed_from).await;
    }
    settings.asks_about_limits |= is_watched(&settings);
    if tui::opens(args.tui, &settings.view) {
        let view = settings.view;
        let run_id = detach::start(home, settings, prompt, resumed_from).await?;
        return tui::show_run(home, &view, &run_id).await;
    }
    let first_prompt = FirstPrompt {
        prompt,
        resumed_from,
        by: None,
    };
    let finished = foreground::run(home, &settings, first_prompt).await?;
    Ok(finished.exit_code)
}

/// Carries out a run in this terminal for another command.
pub(super) async fn carry_out(
    args: &RunArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<Finished> {
    let (_, mut settings, resumed_from) = open(args, home, variables, cwd)?;
    let prompt = prompt::read_prompt(&mut settings)?;
    note_lost(home, &settings)?;
    settings.asks_about_limits |= is_watched(&settings);
    let first_prompt = FirstPrompt {
        prompt,
        resumed_from,
        by: None,
    };
    foreground::run(home, &settings, first_prompt).await
}

/// The settings of the run and the run that it resumes, with all warnings about them.
fn open(
    args: &RunArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<(OpenedFile, Settings, Option<String>)> {
    let opened = trust::open_for_run(args, home, variables, cwd)?;
    let (mut settings, warnings) = opened.resolve(args, variables)?;
    let mut resumed_from = None;
    // A run in a worktree is resumed there, so the worktree is entered first.
    if args.worktree.is_none() || settings.dry_run {
        resumed_from = resume::resolve_run(&mut settings, home)?;
    }
    if settings.view.verbosity != Verbosity::Quiet {
        if let Some(notice) = opened.notice() {
            write_stderr(&format!("ralph: {notice}\n"));
        }
        let unknown = unknown_variables(std::env::vars_os().map(|(name, _)| name));
        for warning in warnings.iter().map(ToString::to_string).chain(unknown) {
            write_stderr(&format!("warning: {warning}\n"));
        }
    }
    Ok((opened, settings, resumed_from))
}

/// Records the end of runs whose runner died, and reports them.
fn note_lost(home: &Home, settings: &Settings) -> anyhow::Result<()> {
    home.prepare()?;
    let reconciled = reconcile(home, jiff::Timestamp::now())?;
    if settings.view.verbosity != Verbosity::Quiet {
        for lost in &reconciled.lost {
            write_stderr(&format!("ralph: run {} was lost: {}\n", lost.id, lost.evidence));
        }
    }
    Ok(())
}

/// Whether a person at this terminal sees that a limit is reached and can raise it.
fn is_watched(settings: &Settings) -> bool {
    let is_quiet = settings.view.verbosity == Verbosity::Quiet;
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !is_quiet
}

/// Fails with the error of `ralph run` if a run with these settings cannot start.
pub(super) async fn check_start(settings: &Settings) -> anyhow::Result<()> {
    prepare::choose(settings, None).await.map(drop)
}
