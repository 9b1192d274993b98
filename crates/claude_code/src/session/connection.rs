//! What the parts of a session share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::event::{ControlResponse, Event, Kind};

/// Control requests that wait for their response.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    waiting: Mutex<Waiting>,
    next_number: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    by_id: HashMap<String, oneshot::Sender<ControlResponse>>,
    /// No response will come any more.
    is_over: bool,
}

impl PendingRequests {
    /// A new request's id and what its response will arrive at; `None` once the process says no more.
    pub(super) fn begin(&self) -> Option<(String, oneshot::Receiver<ControlResponse>)> {
        let request_id = format!("host-{}", self.next_number.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.lock();
        if waiting.is_over {
            return None;
        }
        waiting.by_id.insert(request_id.clone(), sender);
        Some((request_id, receiver))
    }

    /// Nobody waits for this one any more.
    pub(super) fn forget(&self, request_id: &str) {
        self.lock().by_id.remove(request_id);
    }

    /// Hands a response to whoever waits for it. The event goes on to the consumer all the same.
    pub(super) fn notice(&self, event: &Event) {
        let Kind::ControlResponse(response) = event.kind() else {
            return;
        };
        let Some(request_id) = response.request_id() else {
            return;
        };
        if let Some(waiter) = self.lock().by_id.remove(request_id) {
            // A waiter that gave up in the meantime needs no answer.
            let _ = waiter.send((**response).clone());
        }
    }

    /// The process says no more: all waiters learn that at once.
    pub(super) fn end(&self) {
        let mut waiting = self.lock();
        waiting.is_over = true;
        waiting.by_id.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while it is held.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
