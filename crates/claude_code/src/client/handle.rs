//! `Handle`: a run of one prompt in progress. `Completion`: how its process ended.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agent_client::{RunEnd, RunLost};
use agent_process::{Control, Exit, ExitReport};
use json_lines::LineError;

use crate::argv::Note;
use crate::error::{Error, RedactedText};
use crate::event::Event;

/// The CLI's events, in order and as they come. **Dropping the stream before its end stops the process** and
/// everything it started.
///
/// Lines that are not events are errors in their place; nothing but the end of the output ends the stream.
pub type Events = agent_client::Events<Result<Event, LineError>>;

/// A run in progress. Its parts can be moved apart; dropping the events, and so the handle, stops the process and
/// everything it started.
#[derive(Debug)]
pub struct Handle {
    /// The CLI's events. Read them to the end: `completion` waits for that.
    pub events: Events,
    /// How the process ends.
    pub completion: Completion,
    /// Signals and stopping.
    pub control: Control,
    /// Parts of the request that this version of the CLI cannot fully carry out.
    pub notes: Vec<Note>,
}

/// Resolves when the process and everything it started are gone **and** the last event was taken, or the events were
/// dropped. Dropping it changes nothing.
///
/// Any exit of the process is `Ok`, whatever its code; so is one that the caller asked for. A timeout and a process
/// that closed its output without exiting are errors.
#[derive(Debug)]
#[must_use = "a completion does nothing until it is awaited"]
pub struct Completion {
    pub(crate) run: agent_client::Completion<RunEnd>,
    pub(crate) timeout: Option<Duration>,
}

impl Future for Completion {
    type Output = Result<ExitReport, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let timeout = self.timeout;
        let end = Pin::new(&mut self.run).poll(context);
        end.map(|end| match end {
            Err(RunLost) => Err(Error::Lost),
            Ok(end) => exit_of(end, timeout),
        })
    }
}

fn exit_of(end: RunEnd, timeout: Option<Duration>) -> Result<ExitReport, Error> {
    match (end.exit.exit, timeout) {
        (Exit::TimedOut, Some(timeout)) if end.is_overdue => Err(Error::TimedOut {
            timeout,
            stderr_tail: stderr_tail(&end.exit),
        }),
        (Exit::TimedOut, _) => Err(Error::Lingered {
            stderr_tail: stderr_tail(&end.exit),
        }),
        _ => Ok(end.exit),
    }
}

/// The end of stderr as text.
pub(crate) fn stderr_tail(report: &ExitReport) -> RedactedText {
    String::from_utf8_lossy(&report.stderr_tail).into_owned().into()
}
