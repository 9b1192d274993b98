//! `Board`: the summaries of all active runs, for the feed `runs` and for handlers.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use ralph_store::RunSummary;
use serde::Serialize;

use super::labels::Labels;
use super::wake_set::{ClientWaker, Subscribers};

/// How many changes are kept for those who keep up: two seconds of them. Others are given everything anew.
const MAX_CHANGES: usize = 8;
/// How many ticks pass before a run that just works is told of again: hundreds of them would be most of the traffic.
const CALM_TICKS: u64 = 4;

/// What all runs are doing. Changes are collected and told a few times a second, encoded once for everybody.
#[derive(Debug, Default)]
pub struct Board {
    state: Mutex<State>,
    labels: Arc<Labels>,
}

#[derive(Debug, Default)]
struct State {
    runs: BTreeMap<String, Arc<RunSummary>>,
    changed: BTreeSet<String>,
    /// What was told of each run last, and in which tick.
    told: HashMap<String, (u64, Arc<RunSummary>)>,
    ticks: u64,
    version: u64,
    changes: VecDeque<Utf8Bytes>,
    subscribers: Subscribers,
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
    /// The titles and tags that people gave to runs.
    #[must_use]
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// A run is like this now.
    pub fn update(&self, summary: &RunSummary) {
        let mut summary = summary.clone();
        self.labels.apply(&mut summary);
        let mut state = self.lock();
        if state
            .runs
            .get(&summary.id)
            .is_some_and(|known| **known == summary)
        {
            return;
        }
        let id = summary.id.clone();
        state.runs.insert(id.clone(), Arc::new(summary));
        state.changed.insert(id);
    }

    /// The labels of a run have changed.
    pub fn relabel(&self, run: &str) {
        if let Some(summary) = self.get(run) {
            self.update(&summary);
        }
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
        state.ticks += 1;
        let (changed, later) = std::mem::take(&mut state.changed)
            .into_iter()
            .partition::<BTreeSet<_>, _>(|id| state.is_due(id));
        state.changed = later;
        if changed.is_empty() {
            return;
        }
        state.version += 1;
        for id in &changed {
            if let Some(run) = state.runs.get(id).cloned() {
                let now = state.ticks;
                state.told.insert(id.clone(), (now, run));
            }
        }
        let runs = changed
            .iter()
            .filter_map(|id| state.runs.get(id))
            .map(AsRef::as_ref);
        let text = encode(state.version, false, runs.collect());
        state.changes.push_back(text);
        if state.changes.len() > MAX_CHANGES {
            state.changes.pop_front();
        }
        state.subscribers.wake();
    }

    /// A run that has ended is found in the index now. Says whether it was forgotten: one whose end was not told yet is
    /// told first, and has to be forgotten later.
    #[must_use]
    pub fn forget(&self, run: &str) -> bool {
        let mut state = self.lock();
        if state.changed.contains(run) {
            return false;
        }
        state.runs.remove(run);
        state.told.remove(run);
        true
    }

    /// There is no such run any more: those who were told of it are told anew which there are.
    pub fn remove(&self, run: &str) {
        let mut state = self.lock();
        state.changed.remove(run);
        state.told.remove(run);
        if state.runs.remove(run).is_some() {
            state.version += 1;
            state.changes.clear();
            state.subscribers.wake();
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

impl State {
    /// Whether a run that has changed is told of now.
    fn is_due(&self, id: &str) -> bool {
        match (self.told.get(id), self.runs.get(id)) {
            (Some((tick, before)), Some(now)) => self.ticks - tick >= CALM_TICKS || is_urgent(before, now),
            _ => true,
        }
    }
}

/// Whether a change is one that people wait for. That it goes on with its work is none.
fn is_urgent(before: &RunSummary, now: &RunSummary) -> bool {
    let is_work = before.activity.is_working() && now.activity.is_working();
    (!is_work && before.activity != now.activity)
        || before.pending != now.pending
        || before.iteration != now.iteration
        || before.attempt != now.attempt
        || before.errors != now.errors
        || before.title != now.title
        || before.tags != now.tags
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

#[cfg(test)]
mod tests {
    use ralph_run::model::{RunState, WaitingFor};
    use ralph_store::RunFold;

    use super::{Board, CALM_TICKS};

    const STARTED: &str = r#"{"seq":1,"at":"2026-01-01T00:00:00Z","iteration":0,"attempt":0,"event":{"type":"run_started","data":{"format_version":1,"run_id":"r","ralph_version":"0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":0}}}"#;

    fn told(board: &Board, version: &mut Option<u64>) -> usize {
        board.tick();
        let (texts, now) = board.since(*version);
        *version = Some(now);
        texts.len()
    }

    #[test]
    fn a_run_is_forgotten_only_after_its_end_was_told() {
        let mut fold = RunFold::new();
        fold.push(STARTED.as_bytes());
        let board = Board::default();
        board.update(fold.summary().unwrap());
        assert!(!board.forget("r"));
        assert!(board.get("r").is_some());
        board.tick();
        assert!(board.forget("r"));
        assert!(board.get("r").is_none());
    }

    #[test]
    fn a_run_that_just_works_is_told_of_once_a_second_and_one_that_waits_at_once() {
        let mut fold = RunFold::new();
        fold.push(STARTED.as_bytes());
        let mut run = fold.summary().unwrap().clone();
        let board = Board::default();
        run.activity = RunState::Thinking;
        board.update(&run);
        board.tick();
        let mut version = Some(board.since(None).1);
        let mut count = 0;
        for number in 0..3 * CALM_TICKS {
            run.head_seq += 1;
            run.activity = match number % 2 {
                0 => RunState::Responding,
                _ => RunState::Thinking,
            };
            board.update(&run);
            count += told(&board, &mut version);
        }
        assert_eq!(count, 3);
        run.activity = RunState::Waiting {
            what: WaitingFor::Permission,
        };
        board.update(&run);
        assert_eq!(told(&board, &mut version), 1);
        run.head_seq += 1;
        board.update(&run);
        assert_eq!(told(&board, &mut version), 0);
        // What was put off is told without another change.
        assert_eq!(
            (0..CALM_TICKS).map(|_| told(&board, &mut version)).sum::<usize>(),
            1
        );
    }
}
