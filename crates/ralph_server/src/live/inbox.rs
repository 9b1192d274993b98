//! `Inbox`: every request that waits for a person, for the feed `inbox`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use ralph_store::{ApprovalKind, ApprovalRow, ApprovalState};
use serde::Serialize;
use serde_json::value::RawValue;

use super::wake_set::{ClientWaker, Subscribers};

/// How many are told. More than that cannot be looked through anyway; the API has all.
const MAX_TOLD: usize = 200;
/// How much of what they are about is told.
const MAX_BYTES: usize = 512 << 10;

/// The requests that wait for an answer, of all runs, the oldest first.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By when they were asked, so that the oldest comes first.
    waiting: BTreeMap<(i128, String, String), ApprovalRow>,
    version: u64,
    is_changed: bool,
    subscribers: Subscribers,
}

#[derive(Serialize)]
struct Told<'a> {
    r#type: &'static str,
    version: u64,
    count: usize,
    approvals: Vec<Waiting<'a>>,
}

#[derive(Serialize)]
struct Waiting<'a> {
    run: &'a str,
    request: &'a str,
    kind: ApprovalKind,
    seq: u64,
    asked_at: jiff::Timestamp,
    /// None if there is too much of it: the API has it.
    data: Option<&'a RawValue>,
}

impl Inbox {
    /// A request is like this now.
    pub fn update(&self, row: &ApprovalRow) {
        let mut state = self.lock();
        let key = (row.asked_at.as_nanosecond(), row.run.clone(), row.request.clone());
        let is_changed = if row.state == ApprovalState::Pending {
            state.waiting.insert(key, row.clone()).is_none()
        } else {
            state.waiting.remove(&key).is_some()
        };
        state.is_changed |= is_changed;
    }

    /// Nothing of this run waits any more.
    pub fn forget(&self, run: &str) {
        let mut state = self.lock();
        let before = state.waiting.len();
        state.waiting.retain(|(_, of, _), _| of != run);
        state.is_changed |= state.waiting.len() < before;
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells what waits, if that has changed.
    pub fn tick(&self) {
        let mut state = self.lock();
        if !std::mem::take(&mut state.is_changed) {
            return;
        }
        state.version += 1;
        state.subscribers.wake();
    }

    /// All that waits, and the version now; nothing to tell if `version` is that.
    #[must_use]
    pub fn since(&self, version: Option<u64>) -> (Option<Utf8Bytes>, u64) {
        let state = self.lock();
        if version == Some(state.version) {
            return (None, state.version);
        }
        let mut left = MAX_BYTES;
        let approvals = state.waiting.values().take(MAX_TOLD).map(|row| Waiting {
            run: &row.run,
            request: &row.request,
            kind: row.kind,
            seq: row.seq,
            asked_at: row.asked_at,
            data: {
                let data = row.data.get().len() <= left;
                data.then(|| {
                    left -= row.data.get().len();
                    &*row.data
                })
            },
        });
        let told = Told {
            r#type: "inbox",
            version: state.version,
            count: state.waiting.len(),
            approvals: approvals.collect(),
        };
        let text = serde_json::to_string(&told).unwrap_or_default();
        (Some(text.into()), state.version)
    }

    /// Tells `waker`, under this number, when there is something new.
    pub fn watch(&self, waker: &Arc<ClientWaker>, number: usize) {
        self.lock().subscribers.add(waker, number);
    }

    /// Not any more.
    pub fn unwatch(&self, waker: &Arc<ClientWaker>) {
        self.lock().subscribers.remove(waker);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
