//! A run in progress.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agent_process::ExitReport;
use claude_code::MicroUsd;
use futures_core::Stream;
use tokio::sync::{mpsc, oneshot};

use super::control::RunControl;
use crate::error::Error;
use crate::event::{Body, Event, Finished};

/// A run in progress. Its parts can be moved apart.
///
/// Dropping it, or any part, does not stop the agent: the run goes on by itself and its output is drained. Only
/// [`RunControl::cancel`] stops it.
#[derive(Debug)]
pub struct RunHandle {
    /// What happens. Read it to its last event, or drop it: `completion` waits for that.
    pub events: Events,
    /// How the run ended.
    pub completion: Completion,
    /// Speaks to the agent, and stops it. Cheap to clone.
    pub control: RunControl,
}

/// What happens, in order and as it happens. The last event is [`Finished`](crate::Body::Finished), exactly once.
///
/// At most [`bounds::CHANNEL_EVENTS`](crate::bounds::CHANNEL_EVENTS) events wait here; then no more is read from the
/// agent. Nothing is left out.
#[derive(Debug)]
pub struct Events {
    pub(super) events: mpsc::Receiver<Event>,
    /// Opens the completion gate.
    pub(super) gate: Option<oneshot::Sender<()>>,
}

impl Events {
    /// The next event; `None` at the end. Cancelling the wait loses nothing.
    pub async fn next(&mut self) -> Option<Event> {
        std::future::poll_fn(|context| self.poll_event(context)).await
    }

    /// An event that is there already, without waiting.
    pub fn try_next(&mut self) -> Option<Event> {
        match self.events.try_recv() {
            Ok(event) => {
                self.look_for_the_end(Some(&event));
                Some(event)
            }
            Err(mpsc::error::TryRecvError::Empty) => None,
            Err(mpsc::error::TryRecvError::Disconnected) => {
                self.look_for_the_end(None);
                None
            }
        }
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        let event = ready!(self.events.poll_recv(context));
        self.look_for_the_end(event.as_ref());
        Poll::Ready(event)
    }

    /// Who has the last event has seen the end, and may stop there.
    fn look_for_the_end(&mut self, event: Option<&Event>) {
        if event.is_none_or(|event| matches!(event.body, Body::Finished(_))) {
            self.gate = None;
        }
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().poll_event(context)
    }
}

/// Resolves once: when the process and everything it started are gone **and** the last of [`Events`] was taken, or they
/// were dropped. Dropping it changes nothing.
#[derive(Debug)]
#[must_use = "a completion does nothing until it is awaited"]
pub struct Completion {
    pub(super) outcome: oneshot::Receiver<Completed>,
    /// Ends, with an error, when the gate opens.
    pub(super) gate: Option<oneshot::Receiver<()>>,
}

impl Future for Completion {
    type Output = Result<Completed, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(gate) = &mut self.gate {
            let _opened = ready!(Pin::new(gate).poll(context));
            self.gate = None;
        }
        Pin::new(&mut self.outcome)
            .poll(context)
            .map(|completed| completed.map_err(|_| Error::Lost))
    }
}

/// How a run ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completed {
    /// The same as in the last event.
    pub finished: Finished,
    /// The answer: the last text of the last turn, or all that a command without turns wrote, up to
    /// [`bounds::FINAL_TEXT_BYTES`](crate::bounds::FINAL_TEXT_BYTES).
    pub final_text: Option<String>,
    /// Whether the agent's own end had no text, so that `final_text` is the last that was streamed.
    pub is_degraded: bool,
    /// The session, which can be resumed where the backend can.
    pub session_id: Option<String>,
    /// What the session has cost so far, as the agent counts it. Give it as
    /// [`CostBasis::Resumed`](crate::CostBasis) when the session is resumed.
    pub session_total: Option<MicroUsd>,
    /// All that is known about the process's end.
    pub exit: ExitReport,
}

impl Completed {
    /// Whether the agent did what it was asked to, by its own account.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.finished.outcome.is_success()
    }
}
