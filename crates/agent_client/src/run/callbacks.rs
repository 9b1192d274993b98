//! `Callback`: the caller's own code that answers a request of the agent, run beside the loop.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use agent_process::clock;
use tokio::task::{AbortHandle, JoinSet};

/// The caller's own code that answers a request of the agent. It runs as a task of its own, so the agent's output is
/// read on meanwhile.
pub struct Callback<C> {
    /// Names the request. A callback under the same key replaces the one before.
    pub key: String,
    /// Resolves to the command that answers the request.
    pub answer: Pin<Box<dyn Future<Output = C> + Send>>,
    /// How long it may take.
    pub timeout: Duration,
    /// The command if it takes longer or panics.
    pub fallback: C,
}

impl<C> fmt::Debug for Callback<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Callback")
            .field("key", &self.key)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What a protocol asks its loop to do about callbacks.
#[derive(Debug)]
pub enum CallbackOrder<C> {
    /// Run one.
    Start(Callback<C>),
    /// The agent no longer waits for this one: its future is dropped.
    Withdraw(String),
}

/// The callbacks that run. Dropping it drops their futures.
#[derive(Debug)]
pub(super) struct Callbacks<C> {
    tasks: JoinSet<Option<C>>,
    running: HashMap<tokio::task::Id, Running<C>>,
}

#[derive(Debug)]
struct Running<C> {
    key: String,
    fallback: C,
    task: AbortHandle,
}

impl<C: Send + 'static> Callbacks<C> {
    pub(super) fn new() -> Self {
        Self {
            tasks: JoinSet::new(),
            running: HashMap::new(),
        }
    }

    pub(super) fn carry_out(&mut self, order: CallbackOrder<C>) {
        match order {
            CallbackOrder::Withdraw(key) => self.withdraw(&key),
            CallbackOrder::Start(callback) => {
                self.withdraw(&callback.key);
                let task = self
                    .tasks
                    .spawn(clock::timeout(callback.timeout, callback.answer));
                self.running.insert(
                    task.id(),
                    Running {
                        key: callback.key,
                        fallback: callback.fallback,
                        task,
                    },
                );
            }
        }
    }

    fn withdraw(&mut self, key: &str) {
        self.running.retain(|_, running| {
            let stays = running.key != key;
            if !stays {
                running.task.abort();
            }
            stays
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The command of the next callback that is done. Waits for ever if there is none.
    pub(super) async fn next(&mut self) -> C {
        loop {
            let Some(ended) = self.tasks.join_next_with_id().await else {
                return std::future::pending().await;
            };
            let (id, answer) = match ended {
                Ok((id, answer)) => (id, answer),
                Err(error) => (error.id(), None),
            };
            // One that was withdrawn is no longer listed.
            if let Some(running) = self.running.remove(&id) {
                return answer.unwrap_or(running.fallback);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::{Callback, CallbackOrder, Callbacks};

    fn start(
        key: &str,
        answer: impl Future<Output = &'static str> + Send + 'static,
    ) -> CallbackOrder<&'static str> {
        CallbackOrder::Start(Callback {
            key: key.to_owned(),
            answer: Box::pin(answer),
            timeout: Duration::from_millis(20),
            fallback: "fallback",
        })
    }

    #[tokio::test]
    async fn an_answer_comes_back_and_a_late_or_broken_one_is_replaced() {
        let mut callbacks = Callbacks::new();
        callbacks.carry_out(start("a", async { "answer" }));
        assert_eq!(callbacks.next().await, "answer");
        callbacks.carry_out(start("b", pending()));
        assert_eq!(callbacks.next().await, "fallback");
        callbacks.carry_out(start("c", async { unreachable!("on purpose") }));
        assert_eq!(callbacks.next().await, "fallback");
        assert!(callbacks.is_empty());
    }

    #[tokio::test]
    async fn a_withdrawn_future_is_dropped_and_answers_nothing() {
        let mut callbacks = Callbacks::new();
        let (held, dropped) = oneshot::channel::<()>();
        callbacks.carry_out(start("a", async move {
            let _held = held;
            pending().await
        }));
        callbacks.carry_out(CallbackOrder::Withdraw("a".to_owned()));
        assert!(callbacks.is_empty());
        callbacks.carry_out(start("b", async { "b" }));
        assert_eq!(callbacks.next().await, "b");
        assert!(dropped.await.is_err());
    }
}
