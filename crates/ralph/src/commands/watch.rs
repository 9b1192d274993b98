//! `watch()`: shows a run of another process until it ends or the user leaves. For `attach`, `logs -f` and `replay`.

use std::future::Future;
use std::io;
use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use ralph_run::control::describe_absence;
use ralph_run::machine::Signal;
use ralph_run::{EndReason, RecordStream, RunDirectory};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::run::{CtrlZ, console_options, ending, guard_terminal, listen};
use super::run_client;
use crate::console::{BackgroundWriter, Console, ConsoleEnd, ConsoleThread, Options};
use crate::keyboard::KeyboardSetup;
use crate::settings::View;
use terminal_input::TerminalInput;

/// How long a reader that has stopped reading is waited for when the user leaves.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(300);

/// How often it is checked whether the runner is alive: a dead one writes no end.
const LIVENESS_INTERVAL: Duration = Duration::from_secs(1);

/// Ctrl-C, SIGTERM, or a terminal that is closed.
pub(super) struct Leave(UnboundedReceiver<Signal>);

impl Leave {
    pub(super) fn listen() -> io::Result<Self> {
        listen(ending()).map(Self)
    }

    /// Resolves to the exit code when the user wants to leave.
    pub(super) async fn asked(&mut self) -> u8 {
        match self.0.recv().await {
            Some(signal) => exit_code(signal),
            None => std::future::pending().await,
        }
    }
}

/// The exit code of a process that a signal ends.
pub(super) fn exit_code(signal: Signal) -> u8 {
    match signal {
        Signal::Interrupt => EndReason::Interrupted.exit_code(),
        Signal::Terminate => EndReason::Terminated.exit_code(),
        Signal::HangUp => EndReason::HungUp.exit_code(),
        // The system suspends views.
        Signal::Suspend => 0,
    }
}

/// The console options for the run in this directory.
pub(super) fn options(view: &View, run: Option<&RunDirectory>) -> Options {
    let mut options = console_options(view);
    options.files = run.map(|run| run.path().display().to_string());
    options
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// The run ended, with this exit code.
    Ended(u8),
    /// The user left; the run continues. With this exit code.
    Left(u8),
    /// The output was closed.
    Closed,
}

impl Watch {
    /// The exit code of the command, if `ended` is that of a run that has ended. Ctrl-C detaches and is not a failure.
    pub(super) fn exit_code(self, run: &RunDirectory, ended: impl FnOnce(u8) -> u8) -> u8 {
        match self {
            Self::Ended(code) => ended(code),
            Self::Left(code) => {
                note_left(run);
                if code == EndReason::Interrupted.exit_code() {
                    0
                } else {
                    code
                }
            }
            Self::Closed => EndReason::OutputClosed.exit_code(),
        }
    }
}

/// Shows a run from record `from_seq` on, until it ends, `leave` resolves or the output is closed. Does not affect the
/// run.
pub async fn watch(
    run: &RunDirectory,
    from_seq: u64,
    console: Console,
    keyboard: Option<(TerminalInput, KeyboardSetup)>,
    leave: impl Future<Output = u8>,
) -> anyhow::Result<Watch> {
    let (guard, stream) = RecordStream::follow(&run.journal(), from_seq)
        .with_context(|| format!("run {} has no journal yet", run.id()))?;
    let mut guard = Some(guard);
    // Dropped on every way out, which restores the terminal.
    let (terminal, setup) = keyboard.unzip();
    let mut console = ConsoleThread::start(console, stream, setup)?;
    if let Some(terminal) = &terminal {
        guard_terminal(terminal.control(), console.handle(), CtrlZ::StopsThisProcess)?;
    }
    let mut liveness = interval(LIVENESS_INTERVAL);
    liveness.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(leave);
    let end = loop {
        tokio::select! {
            biased;
            code = &mut leave => {
                stop(console).await;
                return Ok(Watch::Left(code));
            }
            end = console.finished() => break end,
            _ = liveness.tick(), if guard.is_some() => {
                if run_client::load(run).is_ok_and(|file| file.is_ended() || file.is_lost()) {
                    guard = None;
                }
            }
        }
    };
    match end {
        ConsoleEnd { is_closed: true, .. } => Ok(Watch::Closed),
        ConsoleEnd {
            exit_code: Some(code),
            ..
        } => Ok(Watch::Ended(code)),
        ConsoleEnd { exit_code: None, .. } => ended_without_record(run).map(Watch::Ended),
    }
}

/// Erases the status line, but does not wait for a reader that has stopped reading.
pub(super) async fn stop(mut console: ConsoleThread) {
    console.stop();
    let _ = timeout(LEAVE_TIMEOUT, console.finished()).await;
}

fn note_left(run: &RunDirectory) {
    let mut stderr = BackgroundWriter::on_stderr();
    stderr.send(&format!(
        "detached from run {} (still running); stop it with `ralph stop {0}`\n",
        run.short_id()
    ));
    stderr.finish(LEAVE_TIMEOUT);
}

/// The journal has no last record.
fn ended_without_record(run: &RunDirectory) -> anyhow::Result<u8> {
    let file = run_client::load(run)?;
    if file.is_ended() {
        return Ok(file.exit_code.unwrap_or(EndReason::Lost.exit_code()));
    }
    match describe_absence(&file, file.runner.liveness(), Timestamp::now()) {
        Some(why) => anyhow::bail!(why),
        None => anyhow::bail!("the journal of run {} cannot be read to its end", run.id()),
    }
}
