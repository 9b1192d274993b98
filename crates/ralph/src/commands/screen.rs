//! Showing a run that somebody else runs, or has run.

use std::io;
use std::time::Duration;

use agent_api::Event;
use ralph_run::machine::Signal;
use ralph_run::{EndReason, Home, Record, RunDirectory, Sink};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::UnboundedReceiver;

use super::attach::{self, Attach};
use super::reach;
use super::run::{console_options, listen};
use crate::cli::AttachArgs;
use crate::console::{Console, Gap, Hurry, Options, Port as _, stderr, stdout, terminal_width};
use crate::settings::View;

/// How long a reader that reads nothing is waited for when somebody wants to leave.
const LEAVE_PATIENCE: Duration = Duration::from_millis(100);

/// Whether somebody wants to leave: Ctrl-C or SIGTERM.
pub(super) struct Leave {
    hurry: Hurry,
    signals: UnboundedReceiver<Signal>,
}

impl Leave {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        let hurry = Hurry::default();
        let kinds = vec![
            (SignalKind::interrupt(), Signal::Interrupt),
            (SignalKind::terminate(), Signal::Terminate),
        ];
        let signals = listen(kinds, {
            let hurry = hurry.clone();
            move |_| hurry.set()
        })?;
        Ok(Self { hurry, signals })
    }

    /// Resolves when somebody wants to leave: what the process then exits with.
    pub(super) async fn asked(&mut self) -> u8 {
        match self.signals.recv().await {
            Some(signal) => exit_code(signal),
            // Nobody will tell: then nobody leaves this way.
            None => std::future::pending().await,
        }
    }

    /// What the process exits with if somebody wants to leave already.
    pub(super) fn is_asked(&mut self) -> Option<u8> {
        self.signals.try_recv().ok().map(exit_code)
    }
}

fn exit_code(signal: Signal) -> u8 {
    match signal {
        Signal::Interrupt => EndReason::Interrupted.exit_code(),
        Signal::Terminate => EndReason::Terminated.exit_code(),
        Signal::HangUp => EndReason::HungUp.exit_code(),
    }
}

/// A console whose reader is missed as soon as it leaves, also while there is nothing to show.
pub(super) struct Watched(pub(super) Console);

impl Sink for Watched {
    fn live(&mut self, event: &Event) {
        self.0.live(event);
    }

    fn record(&mut self, record: &Record) {
        self.0.record(record);
    }

    fn tick(&mut self) {
        self.0.tick();
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed() || agent_process::is_stdout_deserted()
    }
}

/// How a run is shown that has its files in `run`.
pub(super) fn options(view: &View, run: Option<&RunDirectory>) -> Options {
    let mut options = console_options(view);
    options.files = run.map(|run| run.path().display().to_string());
    options
}

/// A console that waits for its reader and never leaves anything out, until somebody wants to leave.
pub(super) fn patient(options: Options, leave: &Leave) -> Console {
    let out = stdout(Gap::Silent)
        .patient_until(leave.hurry.clone())
        .with_patience(LEAVE_PATIENCE);
    let err = stderr()
        .patient_until(leave.hurry.clone())
        .with_patience(LEAVE_PATIENCE);
    Console::new(options, out, err).with_width(terminal_width)
}

/// `ralph attach`: watches a run in this terminal until it is over or Ctrl-C is pressed.
///
/// # Errors
/// When there is no such run, or its runner died.
pub async fn attach(args: &AttachArgs, home: &Home, view: &View) -> anyhow::Result<u8> {
    let run = reach::find(home, &args.run)?;
    let mut leave = Leave::listen()?;
    let console = Console::on_stdio(options(view, Some(&run)), leave.hurry.clone());
    let attach = Attach {
        run: run.id().to_owned(),
        ..Attach::from(args)
    };
    Ok(match watch(attach, home, console, &mut leave).await? {
        Watch::Ended(code) | Watch::Left(code) => code,
    })
}

/// How watching a run ended.
pub(super) enum Watch {
    /// With the run, which has this exit code.
    Ended(u8),
    /// Somebody left, and the run goes on: what to exit with.
    Left(u8),
}

/// Shows a run until it is over, somebody wants to leave, or nobody reads any more.
pub(super) async fn watch(
    attach: Attach,
    home: &Home,
    console: Console,
    leave: &mut Leave,
) -> anyhow::Result<Watch> {
    let mut console = Watched(console);
    let mut notes = stderr().with_patience(LEAVE_PATIENCE);
    let mut asked = None;
    let left = async { asked = Some(leave.asked().await) };
    let code = attach::execute(attach, home, &mut console, left, &mut notes).await;
    console.0.finish();
    notes.finish();
    Ok(match (code?, asked) {
        // Nothing has failed.
        (_, Some(asked)) if asked == EndReason::Interrupted.exit_code() => Watch::Left(0),
        (_, Some(asked)) => Watch::Left(asked),
        _ if console.is_closed() => Watch::Left(EndReason::OutputClosed.exit_code()),
        (code, None) => Watch::Ended(code),
    })
}
