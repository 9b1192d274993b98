//! `Completion`: resolves when a run is over and its events were read.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::sync::oneshot;

/// Resolves once: when the process and everything it started are gone **and** the last of the events was taken, or
/// they were dropped. Dropping it changes nothing.
///
/// Polled again after that, it stays pending.
#[derive(Debug)]
#[must_use = "a completion does nothing until it is awaited"]
pub struct Completion<C> {
    outcome: Outcome<C>,
    /// Ends, with an error, when the gate opens.
    gate: Option<oneshot::Receiver<()>>,
}

#[derive(Debug)]
enum Outcome<C> {
    Waiting(oneshot::Receiver<Concluded<C>>),
    /// The run is over; some events were not taken yet.
    Held(C),
    Delivered,
}

/// The end of a run, as its loop reports it.
#[derive(Debug)]
pub(super) struct Concluded<C> {
    pub(super) conclusion: C,
    /// Whether the consumer had taken every event by then.
    pub(super) is_drained: bool,
}

impl<C> Completion<C> {
    pub(super) fn new(outcome: oneshot::Receiver<Concluded<C>>, gate: oneshot::Receiver<()>) -> Self {
        Self {
            outcome: Outcome::Waiting(outcome),
            gate: Some(gate),
        }
    }
}

/// The run was lost: its runtime was shut down, or its protocol panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run was lost: its runtime was shut down")]
pub struct RunLost;

impl<C> Unpin for Completion<C> {}

impl<C> Future for Completion<C> {
    type Output = Result<C, RunLost>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Outcome::Waiting(outcome) = &mut self.outcome {
            match ready!(Pin::new(outcome).poll(context)) {
                Ok(concluded) => {
                    if concluded.is_drained {
                        self.gate = None;
                    }
                    self.outcome = Outcome::Held(concluded.conclusion);
                }
                Err(_) => {
                    self.outcome = Outcome::Delivered;
                    return Poll::Ready(Err(RunLost));
                }
            }
        }
        if let Some(gate) = &mut self.gate {
            let _opened = ready!(Pin::new(gate).poll(context));
            self.gate = None;
        }
        match std::mem::replace(&mut self.outcome, Outcome::Delivered) {
            Outcome::Held(conclusion) => Poll::Ready(Ok(conclusion)),
            Outcome::Waiting(_) | Outcome::Delivered => Poll::Pending,
        }
    }
}
