//! A run in progress.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agent_process::{Control, Exit, ExitReport, ExitWaiter};

use super::events::Events;
use super::launch::PromptFiles;
use crate::argv::Note;
use crate::error::{Captured, Error};

/// A run in progress. Its parts can be moved apart; dropping the events, and so the handle, stops the process and
/// everything it started.
#[derive(Debug)]
pub struct Handle {
    /// What the CLI says.
    pub events: Events,
    /// How the process ends.
    pub completion: Completion,
    /// Signals and stopping.
    pub control: Control,
    /// What was asked for and cannot be had in full.
    pub notes: Vec<Note>,
}

/// Resolves when the process and everything it started are gone. Dropping it changes nothing.
///
/// Any exit of the process itself is `Ok`, whatever its code; so is one that the caller asked for. Only a timeout is
/// an error. The process may wait for its events to be read before it exits.
#[derive(Debug)]
#[must_use = "a completion does nothing until it is awaited"]
pub struct Completion {
    exit: ExitWaiter,
    timeout: Option<Duration>,
    _files: PromptFiles,
}

impl Completion {
    pub(crate) fn new(exit: ExitWaiter, timeout: Option<Duration>, files: PromptFiles) -> Self {
        Self {
            exit,
            timeout,
            _files: files,
        }
    }

    /// How the process ended, also when its time was up.
    pub(crate) async fn into_report(self) -> ExitReport {
        self.exit.await
    }
}

impl Future for Completion {
    type Output = Result<ExitReport, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let timeout = self.timeout;
        Pin::new(&mut self.exit)
            .poll(context)
            .map(|report| match (report.exit, timeout) {
                (Exit::TimedOut, Some(timeout)) => Err(Error::TimedOut {
                    timeout,
                    stderr_tail: stderr_tail(&report),
                }),
                _ => Ok(report),
            })
    }
}

/// The end of stderr as text.
pub(crate) fn stderr_tail(report: &ExitReport) -> Captured {
    String::from_utf8_lossy(&report.stderr_tail).into_owned().into()
}
