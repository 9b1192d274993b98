//! `watch()`: shows a run of another process until it ends or the user leaves. For `attach`, `logs -f` and `replay`.

use std::future::Future;
use std::io;
use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use ralph_run::machine::Signal;
use ralph_run::{EndReason, RecordStream, RunDirectory};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::run::{console_options, listen};
use super::run_client;
use crate::console::{BackgroundWriter, Console, ConsoleEnd, ConsoleThread, Options};
use crate::settings::View;

/// How long a reader that reads nothing is waited for when the user leaves.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(300);

/// How often it is checked whether the runner is still there: a dead one writes nothing any more.
const LIVENESS_INTERVAL: Duration = Duration::from_secs(1);

/// The user's wish to leave: Ctrl-C or SIGTERM.
pub(super) struct Leave(UnboundedReceiver<Signal>);

impl Leave {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        let kinds = [
            (SignalKind::interrupt(), Signal::Interrupt),
            (SignalKind::terminate(), Signal::Terminate),
        ];
        listen(kinds).map(Self)
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
        // Views leave it to the system, which stops them.
        Signal::Suspend => 0,
    }
}

/// How a run is shown whose files are in `run`.
pub(super) fn options(view: &View, run: Option<&RunDirectory>) -> Options {
    let mut options = console_options(view);
    options.files = run.map(|run| run.path().display().to_string());
    options
}

/// How watching a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// With the run, which has this exit code.
    Ended(u8),
    /// The user left a run that continues; with this exit code.
    Left(u8),
    /// Nothing reads the output any more.
    Closed,
}

/// Shows a run from record `from_seq` on, until it ends, `leave` resolves or nothing reads the output any more. The run
/// does not notice.
///
/// # Errors
/// When the run has no journal, or its runner died.
pub async fn watch(
    run: &RunDirectory,
    from_seq: u64,
    console: Console,
    leave: impl Future<Output = u8>,
) -> anyhow::Result<Watch> {
    let (guard, stream) = RecordStream::follow(&run.journal(), from_seq)
        .with_context(|| format!("run {} has no journal yet", run.id()))?;
    let mut guard = Some(guard);
    let mut console = ConsoleThread::start(console, stream)?;
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
                if run_client::load(run).is_ok_and(|file| file.is_ended() || run_client::is_lost(&file)) {
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

/// Takes the status line away, but does not wait for a reader that reads nothing.
pub(super) async fn stop(mut console: ConsoleThread) {
    console.stop();
    let _ = timeout(LEAVE_TIMEOUT, console.finished()).await;
}

/// Says that a run continues without this process.
pub(super) fn note_left(run: &RunDirectory) {
    let mut stderr = BackgroundWriter::on_stderr();
    stderr.send(&format!(
        "detached from run {} (still running); stop it with `ralph stop {0}`\n",
        run.short_id()
    ));
    stderr.finish(LEAVE_TIMEOUT);
}

/// The journal is over without a last record.
fn ended_without_record(run: &RunDirectory) -> anyhow::Result<u8> {
    let file = run_client::load(run)?;
    if file.is_ended() {
        return Ok(file.exit_code.unwrap_or(EndReason::Lost.exit_code()));
    }
    match run_client::describe_absence(&file, file.runner.liveness(), Timestamp::now()) {
        Some(why) => anyhow::bail!(why),
        None => anyhow::bail!("the journal of run {} cannot be read to its end", run.id()),
    }
}
