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

/// When it was asked, the run and the request.
type Key = (i128, String, String);

/// What a client was told of the inbox.
#[derive(Debug, Default)]
pub struct InboxReader {
    version: Option<u64>,
    /// What waits in the runs that it sees, if it does not see all.
    told: Vec<Key>,
}

/// The requests that wait for an answer, of all runs, the oldest first.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By when they were asked, so that the oldest comes first.
    waiting: BTreeMap<Key, ApprovalRow>,
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

    /// All that waits in the runs that the client sees, if it has not been told that yet.
    #[must_use]
    pub fn news(&self, reader: &mut InboxReader, sees: Option<&dyn Fn(&str) -> bool>) -> Option<Utf8Bytes> {
        let state = self.lock();
        let Some(sees) = sees else {
            let is_known = reader.version == Some(state.version);
            reader.version = Some(state.version);
            return (!is_known).then(|| state.encode(state.version, &|_| true));
        };
        let waiting = state.waiting.keys().filter(|(_, run, _)| sees(run));
        let waiting: Vec<Key> = waiting.cloned().collect();
        if reader.version.is_some() && waiting == reader.told {
            return None;
        }
        // Its own count of messages: the version would say how much happens elsewhere.
        let version = reader.version.map_or(1, |version| version + 1);
        reader.version = Some(version);
        reader.told = waiting;
        Some(state.encode(version, sees))
    }

    /// Tells `waker`, under this number, when there is something new.
    pub fn watch(&self, waker: &Arc<ClientWaker>, number: usize) {
        self.lock().subscribers.add(waker, number);
    }

    /// Not any more.
    pub fn unwatch(&self, waker: &Arc<ClientWaker>, number: usize) {
        self.lock().subscribers.remove(waker, number);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn encode(&self, version: u64, sees: &dyn Fn(&str) -> bool) -> Utf8Bytes {
        let mut left = MAX_BYTES;
        let rows: Vec<&ApprovalRow> = self.waiting.values().filter(|row| sees(&row.run)).collect();
        let approvals = rows.iter().take(MAX_TOLD).map(|row| Waiting {
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
            version,
            count: rows.len(),
            approvals: approvals.collect(),
        };
        serde_json::to_string(&told).unwrap_or_default().into()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use ralph_store::{ApprovalKind, ApprovalRow, ApprovalState};
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::{Inbox, InboxReader};

    fn asked(run: &str, state: ApprovalState) -> ApprovalRow {
        ApprovalRow {
            run: run.to_owned(),
            request: format!("request of {run}"),
            kind: ApprovalKind::Question,
            seq: 1,
            asked_at: Timestamp::UNIX_EPOCH,
            data: RawValue::from_string("{}".to_owned()).unwrap(),
            state,
            closed_at: None,
        }
    }

    #[test]
    fn a_client_that_sees_some_runs_is_told_of_their_requests_and_not_that_others_ask() {
        let (inbox, mut reader) = (Inbox::default(), InboxReader::default());
        let mut take = |inbox: &Inbox| {
            inbox.tick();
            let text = inbox.news(&mut reader, Some(&|run| run == "own"));
            text.map(|text| serde_json::from_str::<Value>(&text).unwrap())
        };
        inbox.update(&asked("other", ApprovalState::Pending));
        let first = take(&inbox).unwrap();
        assert_eq!((&first["version"], &first["count"]), (&1.into(), &0.into()));
        for state in [ApprovalState::Answered, ApprovalState::Pending] {
            inbox.update(&asked("other", state));
            assert_eq!(take(&inbox), None);
        }
        inbox.update(&asked("own", ApprovalState::Pending));
        let told = take(&inbox).unwrap();
        assert_eq!((&told["version"], &told["count"]), (&2.into(), &1.into()));
        assert_eq!(told["approvals"][0]["run"], "own");
        inbox.forget("own");
        assert_eq!(take(&inbox).unwrap()["count"], 0);
        assert_eq!(take(&inbox), None);
    }
}
