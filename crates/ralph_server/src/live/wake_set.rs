//! `ClientWaker`: wakes one client and tells it which of its subscriptions have news.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

/// Tells one client which of the things it watches have something new.
#[derive(Debug, Default)]
pub struct ClientWaker {
    changed: Mutex<BTreeSet<usize>>,
    notify: Notify,
}

impl ClientWaker {
    /// The thing of this number has something new.
    pub fn set(&self, number: usize) {
        if self.lock().insert(number) {
            self.notify.notify_one();
        }
    }

    /// Waits for something new. Cancelling the wait loses nothing.
    pub async fn wait(&self) -> BTreeSet<usize> {
        loop {
            let changed = std::mem::take(&mut *self.lock());
            if !changed.is_empty() {
                return changed;
            }
            self.notify.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who watches something, and under which number each knows it.
#[derive(Debug, Default)]
pub(super) struct Subscribers(Vec<(Weak<ClientWaker>, usize)>);

impl Subscribers {
    pub(super) fn add(&mut self, waker: &Arc<ClientWaker>, number: usize) {
        self.0.retain(|(watcher, _)| watcher.strong_count() > 0);
        self.0.push((Arc::downgrade(waker), number));
    }

    /// Forgets what a client watches under this number.
    pub(super) fn remove(&mut self, waker: &Arc<ClientWaker>, number: usize) {
        let waker = Arc::downgrade(waker);
        self.0
            .retain(|(watcher, known)| *known != number || !watcher.ptr_eq(&waker));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|(watcher, _)| watcher.strong_count() == 0)
    }

    pub(super) fn wake(&self) {
        for (watcher, number) in &self.0 {
            if let Some(waker) = watcher.upgrade() {
                waker.set(*number);
            }
        }
    }
}
