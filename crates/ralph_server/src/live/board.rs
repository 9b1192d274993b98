//! All runs that go on, at a glance.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use ralph_store::RunSummary;
use serde::Serialize;

use super::signal::{Signal, Watchers};

/// How many changes are kept for those who keep up: two seconds of them. Others are given everything anew.
const MOST_CHANGES: usize = 8;

/// What all runs are doing. Changes are collected and told a few times a second, encoded once for everybody.
#[derive(Debug, Default)]
pub struct Board {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    runs: BTreeMap<String, Arc<RunSummary>>,
    changed: BTreeSet<String>,
    version: u64,
    changes: VecDeque<Utf8Bytes>,
    watchers: Watchers,
}

#[derive(Serialize)]
struct Told<'a> {
    r#type: &'static str,
    version: u64,
    /// Whether these are all; otherwise they are the ones that have changed.
    is_all: bool,
    runs: Vec<&'a RunSummary>,
}

impl Board {
    /// A run is like this now.
    pub fn update(&self, summary: &RunSummary) {
        let mut state = self.lock();
        if state
            .runs
            .get(&summary.id)
            .is_some_and(|known| **known == *summary)
        {
            return;
        }
        state.runs.insert(summary.id.clone(), Arc::new(summary.clone()));
        state.changed.insert(summary.id.clone());
    }

    /// The run of this name, if it goes on or has just ended.
    #[must_use]
    pub fn get(&self, run: &str) -> Option<Arc<RunSummary>> {
        self.lock().runs.get(run).cloned()
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<RunSummary>> {
        self.lock().runs.values().cloned().collect()
    }

    /// Tells what has changed.
    pub fn tick(&self) {
        let mut state = self.lock();
        let changed = std::mem::take(&mut state.changed);
        if changed.is_empty() {
            return;
        }
        state.version += 1;
        let runs = changed
            .iter()
            .filter_map(|id| state.runs.get(id))
            .map(AsRef::as_ref);
        let text = encode(state.version, false, runs.collect());
        state.changes.push_back(text);
        if state.changes.len() > MOST_CHANGES {
            state.changes.pop_front();
        }
        state.watchers.wake();
    }

    /// A run that has ended is found in the index now.
    pub fn forget(&self, run: &str) {
        let mut state = self.lock();
        // One whose end was not told yet is told first.
        if !state.changed.contains(run) {
            state.runs.remove(run);
        }
    }

    /// What has changed since a version, and the version now. Everything, if that was too long ago or never.
    #[must_use]
    pub fn since(&self, version: Option<u64>) -> (Vec<Utf8Bytes>, u64) {
        let state = self.lock();
        let behind = version
            .map(|version| usize::try_from(state.version.saturating_sub(version)).unwrap_or(usize::MAX));
        match behind.filter(|behind| *behind <= state.changes.len()) {
            Some(behind) => {
                let first = state.changes.len() - behind;
                (state.changes.range(first..).cloned().collect(), state.version)
            }
            None => {
                let runs = state.runs.values().map(AsRef::as_ref).collect();
                (vec![encode(state.version, true, runs)], state.version)
            }
        }
    }

    /// Tells `signal`, under this number, when there is something new.
    pub fn watch(&self, signal: &Arc<Signal>, number: usize) {
        self.lock().watchers.add(signal, number);
    }

    /// Not any more.
    pub fn unwatch(&self, signal: &Arc<Signal>) {
        self.lock().watchers.remove(signal);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn encode(version: u64, is_all: bool, runs: Vec<&RunSummary>) -> Utf8Bytes {
    let told = Told {
        r#type: "runs",
        version,
        is_all,
        runs,
    };
    serde_json::to_string(&told).unwrap_or_default().into()
}
