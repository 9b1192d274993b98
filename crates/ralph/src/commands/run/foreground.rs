//! `ralph run` in this terminal: the run, and a console beside it.

use std::io::IsTerminal as _;
use std::time::Duration;

use ralph_run::machine::Signal;
use ralph_run::{DriveError, Home, RecordStream, RunEnded, RunFile, RunSpec, Views};
use tokio::sync::mpsc;

use super::prepare::{self, FirstPrompt, Prepared};
use super::signals::{self, CtrlZ};
use super::worktree;
use crate::commands::watch;
use crate::console::{
    Console, ConsoleThread, Mode, Options, Stdout, is_stderr_shared, terminal_width, write_stderr,
};
use crate::keyboard::{KeyboardSetup, Messages};
use crate::settings::{Output, Settings, Verbosity, View};
use ralph_run::git::start_commit;
use terminal_input::{TerminalControl, TerminalInput};

/// How long the end of a run waits for a reader that has stopped reading, where it does not wait without limit.
const STALL_TIMEOUT: Duration = Duration::from_secs(2);

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Finished {
    pub(in crate::commands) run_id: String,
    pub(in crate::commands) exit_code: u8,
}

/// Carries out the run.
pub(super) async fn run(
    home: &Home,
    settings: &Settings,
    first_prompt: FirstPrompt,
) -> anyhow::Result<Finished> {
    let selected = prepare::choose(settings, Some(home)).await?;
    let directory = prepare::new_directory(home)?;
    let run_id = directory.id().to_owned();
    let place = directory.path().display().to_string();
    let created = directory.path().to_owned();
    let prepared = match prepare::prepare(home, directory, settings, first_prompt, selected) {
        Ok(prepared) => prepared,
        Err(error) => {
            // Nothing has happened in it.
            let _ = std::fs::remove_dir_all(created);
            return Err(error);
        }
    };
    let Prepared {
        mut spec,
        run_file,
        locks,
        warnings,
        notify,
    } = prepared;
    spec.started.start_commit = start_commit(&settings.workspace).await;
    spec.closer = worktree::closer(home, settings, spec.directory.short_id()).await;
    if settings.view.verbosity != Verbosity::Quiet {
        for warning in &warnings {
            write_stderr(&format!("warning: {warning}\n"));
        }
    }
    let mut signals = signals::listen(signals::in_terminal())?;
    let mut options = console_options(&settings.view);
    options.files = Some(place);
    options.asks_git = true;
    let mut views = Views::default();
    // Dropped on every way out, which restores the terminal.
    let mut terminal = None;
    let notifier = prepare::start_notifier(&notify, &spec, &mut views)?;
    let mut console = match options.mode {
        Mode::Quiet => None,
        mode => {
            let (sender, stream) = RecordStream::live(&spec.directory.journal());
            let sender = match mode {
                Mode::Json => sender.without_deltas(),
                Mode::Default | Mode::Verbose | Mode::Quiet => sender,
            };
            views.sinks.push(Box::new(sender));
            let messages = match spec.plan.takes_messages {
                true => Messages::Taken,
                false => Messages::Refused,
            };
            let keyboard = KeyboardSetup::open(&spec.directory, &options, messages, "ctrl-c stop");
            let (input, setup) = keyboard.unzip();
            options.has_keyboard = input.is_some();
            let mut console = ConsoleThread::start(Console::on_stdio(options), stream, setup)?;
            if let Some(input) = &input {
                signals::guard_terminal(input.control(), console.handle(), CtrlZ::StopsTheRun)?;
            }
            terminal = input;
            views.output_closed = console.take_closed();
            Some(console)
        }
    };
    let mut is_signalled = false;
    let ended = drive(
        spec,
        run_file,
        views,
        &mut signals,
        &mut is_signalled,
        (console.as_ref(), terminal.as_ref().map(TerminalInput::control)),
    )
    .await;
    drop(locks);
    if let Err(DriveError::ControlSocket(_)) = &ended {
        // Nothing has happened in it.
        let _ = std::fs::remove_dir_all(created);
    }
    let ended = ended?;
    let interrupted = match &mut console {
        Some(console) => finish(console, &mut signals, is_signalled).await,
        None => None,
    };
    drop(terminal);
    if let (Some(notifier), None) = (notifier, interrupted) {
        let is_quiet = settings.view.verbosity == Verbosity::Quiet;
        let on_delay = || {
            if !is_quiet {
                write_stderr("ralph: sending the last notification; press Ctrl-C to exit without it\n");
            }
        };
        notifier.finish(&mut signals, on_delay).await;
    }
    Ok(Finished {
        run_id,
        exit_code: interrupted.unwrap_or(ended.exit_code),
    })
}

/// Drives the run, and confirms the first Ctrl-C: an agent may take seconds to end its turn.
async fn drive(
    spec: RunSpec,
    run_file: RunFile,
    views: Views,
    signals: &mut mpsc::UnboundedReceiver<Signal>,
    is_signalled: &mut bool,
    (console, terminal): (Option<&ConsoleThread>, Option<TerminalControl>),
) -> Result<RunEnded, DriveError> {
    let (to_run, mut for_run) = mpsc::unbounded_channel();
    let driving = ralph_run::drive(spec, run_file, views, &mut for_run);
    tokio::pin!(driving);
    let mut has_confirmed = false;
    loop {
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => {
                if let Some(console) = console
                    && signal == Signal::Interrupt
                    && console.handle().interrupt().await
                {
                    continue;
                }
                *is_signalled |= signal != Signal::Suspend;
                if let Some(console) = console
                    && signal == Signal::Interrupt
                    && !std::mem::replace(&mut has_confirmed, true)
                {
                    console.notice("interrupting; press Ctrl-C again to stop at once");
                }
                if let (Signal::Suspend, Some(console), Some(terminal)) = (signal, console, &terminal) {
                    signals::suspend_view(terminal, &console.handle()).await;
                }
                // A run that is over needs no signal.
                let _ = to_run.send(signal);
            }
            ended = &mut driving => return ended,
        }
    }
}

/// The run is over; its output may not be. A pipe or a file gets all of it, however long its reader takes, until a
/// signal ends the process; its exit code is returned then. A terminal may be on hold and forgotten, and a process that
/// was asked to end must end: they are given up when nothing more is read.
async fn finish(
    console: &mut ConsoleThread,
    signals: &mut mpsc::UnboundedReceiver<Signal>,
    is_signalled: bool,
) -> Option<u8> {
    let is_given_up = is_signalled || std::io::stdout().is_terminal();
    loop {
        let shown = console.shown();
        tokio::select! {
            biased;
            _ = console.finished() => return None,
            Some(signal) = signals.recv() => match signal {
                // There is no run to suspend.
                Signal::Suspend => {}
                Signal::Interrupt | Signal::Terminate | Signal::HangUp => return Some(watch::exit_code(signal)),
            },
            () = tokio::time::sleep(STALL_TIMEOUT), if is_given_up => {
                if console.shown() == shown {
                    return None;
                }
            }
        }
    }
}

/// How the console looks in this terminal.
pub(in crate::commands) fn console_options(view: &View) -> Options {
    let mode = match (view.output, view.verbosity) {
        (Output::Json, _) => Mode::Json,
        (Output::Text, Verbosity::Quiet) => Mode::Quiet,
        (Output::Text, Verbosity::Normal) => Mode::Default,
        (Output::Text, Verbosity::Verbose) => Mode::Verbose,
    };
    let stdout = if std::io::stdout().is_terminal() {
        Stdout::Terminal {
            width: terminal_width(),
        }
    } else {
        Stdout::Other
    };
    let variable = |name: &str| std::env::var(name).ok();
    let mut options = Options::resolve(mode, view.color, stdout, variable);
    options.is_stderr_shared = is_stderr_shared();
    options
}
