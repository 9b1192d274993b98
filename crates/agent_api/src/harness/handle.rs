//! `RunHandle`: a run in progress. `Completed`: how it ended.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use agent_client::{MicroUsd, RunLost};
use agent_process::ExitReport;

use super::control::RunControl;
use crate::error::Error;
use crate::event::{Event, Finished};

/// A run in progress. Its parts can be moved apart.
///
/// Dropping the events before their end, and so dropping the handle, **stops the agent** and everything it started.
/// Use [`RunHandle::wait`], [`RunHandle::collect`] or [`RunHandle::detach`] to run it without reading events yourself.
#[derive(Debug)]
pub struct RunHandle {
    /// What happens. Read it to its last event: `completion` waits for that.
    pub events: Events,
    /// How the run ended.
    pub completion: Completion,
    /// Sends commands to the agent, and stops it. Cheap to clone.
    pub control: RunControl,
}

/// What happens, in order and as it happens. The last event is [`Finished`](crate::Body::Finished), exactly once.
///
/// At most [`bounds::CHANNEL_EVENTS`](crate::bounds::CHANNEL_EVENTS) events wait here; then no more is read from the
/// agent. Nothing is left out. Dropping the stream before its end stops the agent.
pub type Events = agent_client::Events<Event>;

impl RunHandle {
    /// Waits for the end of the run and ignores its events.
    ///
    /// Gives up this handle's control: unless you keep a clone, the run ends when everything is done, and a request
    /// that no one can answer closes the agent's input.
    ///
    /// # Errors
    /// If the runtime is shut down before the run ends.
    pub async fn wait(self) -> Result<Completed, Error> {
        let Self {
            mut events,
            completion,
            control,
        } = self;
        drop(control);
        while events.next().await.is_some() {}
        completion.await
    }

    /// Waits for the end of the run and returns all its events. Like [`RunHandle::wait`] otherwise.
    ///
    /// # Errors
    /// If the runtime is shut down before the run ends.
    pub async fn collect(self) -> Result<(Vec<Event>, Completed), Error> {
        let Self {
            mut events,
            completion,
            control,
        } = self;
        drop(control);
        let mut all = Vec::new();
        while let Some(event) = events.next().await {
            all.push(event);
        }
        Ok((all, completion.await?))
    }

    /// Lets the run continue without a consumer. Its output is read and its events are dropped.
    #[must_use = "without a control, the run ends when everything is done"]
    pub fn detach(self) -> DetachedRun {
        self.events.detach();
        DetachedRun {
            completion: self.completion,
            control: self.control,
        }
    }
}

/// A run that continues without a consumer of its events. Dropping it does not stop the agent.
#[derive(Debug)]
pub struct DetachedRun {
    /// How the run ended.
    pub completion: Completion,
    /// Sends commands to the agent, and stops it.
    pub control: RunControl,
}

/// Resolves once: when the process and everything it started are gone **and** the last of [`Events`] was taken, or they
/// were dropped. Dropping it changes nothing. Polled again after that, it stays pending.
#[derive(Debug)]
#[must_use = "a completion does nothing until it is awaited"]
pub struct Completion(pub(super) agent_client::Completion<Completed>);

impl Future for Completion {
    type Output = Result<Completed, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let completed = Pin::new(&mut self.0).poll(context);
        completed.map(|completed| completed.map_err(|RunLost| Error::Lost))
    }
}

/// How a run ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completed {
    /// The same as in the last event.
    pub finished: Finished,
    /// The answer: the last text of the last turn, or all output of a command without turns, up to
    /// [`bounds::FINAL_TEXT_BYTES`](crate::bounds::FINAL_TEXT_BYTES).
    pub final_text: Option<String>,
    /// Whether the end of the turn had no text, so that `final_text` is the last text that was streamed.
    pub is_degraded: bool,
    /// The session, which can be resumed if the backend supports it.
    pub session_id: Option<String>,
    /// The session's total cost as the agent reports it. Pass it as [`CostBasis::Resumed`](crate::CostBasis) when you
    /// resume the session.
    pub session_total: Option<MicroUsd>,
    /// Everything that is known about the end of the process.
    pub exit: ExitReport,
}

impl Completed {
    /// Whether the agent did what it was asked to, by its own account.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.finished.outcome.is_success()
    }
}
