//! `Board`: the summaries of all active runs, for the feed `runs` and for handlers.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use axum::extract::ws::Utf8Bytes;
use ralph_store::RunSummary;
use serde::Serialize;
use serde_json::{Map, Value};

use super::labels::Labels;
use super::run_patch::run_patch;
use super::wake_set::{ClientWaker, Subscribers};

/// How many changes are kept for those who keep up: two seconds of them. Others are given everything anew.
const MAX_CHANGES: usize = 8;
/// How many deleted runs are kept for clients that are confined to workspaces.
const MAX_REMOVALS: usize = 1024;
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
    /// The titles of these runs without labels: what is shown again when a person's title is removed.
    own_titles: HashMap<String, String>,
    changed: BTreeSet<String>,
    /// What was told of each run last, and in which tick.
    told: HashMap<String, (u64, Arc<RunSummary>)>,
    ticks: u64,
    version: u64,
    changes: VecDeque<Change>,
    /// Deleted runs that are told of with the next tick.
    removed: Vec<RemovedRun>,
    /// Deleted runs that were told of, and in which version.
    removals: VecDeque<(u64, RemovedRun)>,
    subscribers: Subscribers,
}

/// How a client takes changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsForm {
    /// Each run that has changed, whole: for clients of version 1 of the protocol.
    Whole,
    /// The fields that have changed.
    Patches,
}

/// A run that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedRun {
    /// The run.
    pub run: String,
    /// Where it was; empty if nobody knows.
    pub workspace: String,
}

/// What the board tells, for clients that are shown a part of it.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The runs as they were told last.
    pub(super) runs: Vec<Arc<RunSummary>>,
    /// The runs that were deleted since the version that was named.
    pub(super) removed: Vec<RemovedRun>,
    pub(super) version: u64,
}

/// What one tick told.
#[derive(Debug)]
struct Change {
    version: u64,
    runs: Vec<Arc<RunSummary>>,
    has_removed: bool,
    patches: Utf8Bytes,
    /// Encoded when the first client wants it.
    whole: OnceLock<Utf8Bytes>,
}

impl Change {
    fn text(&self, form: RunsForm) -> Utf8Bytes {
        match form {
            RunsForm::Patches => self.patches.clone(),
            RunsForm::Whole => {
                let encode =
                    || encode_runs(self.version, false, self.runs.iter().map(AsRef::as_ref).collect());
                self.whole.get_or_init(encode).clone()
            }
        }
    }
}

#[derive(Serialize)]
struct RunsMessage<'a> {
    r#type: &'static str,
    version: u64,
    /// Whether these are all; otherwise they are the ones that have changed.
    is_all: bool,
    runs: Vec<&'a RunSummary>,
}

#[derive(Serialize)]
struct RunsChangedMessage<'a> {
    r#type: &'static str,
    version: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    removed: &'a [&'a str],
    runs: Vec<Map<String, Value>>,
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
        let own_title = summary.title.clone();
        self.labels.apply(&mut summary);
        self.lock().set(summary, own_title);
    }

    /// The labels of a run have changed.
    pub fn relabel(&self, run: &str) {
        let mut state = self.lock();
        let (Some(summary), Some(own_title)) = (state.runs.get(run), state.own_titles.get(run)) else {
            return;
        };
        let own_title = own_title.clone();
        let mut summary = RunSummary {
            title: own_title.clone(),
            ..RunSummary::clone(summary)
        };
        self.labels.apply(&mut summary);
        state.set(summary, own_title);
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
        let removed = std::mem::take(&mut state.removed);
        if changed.is_empty() && removed.is_empty() {
            return;
        }
        state.version += 1;
        let (mut runs, mut patches) = (Vec::new(), Vec::new());
        for id in &changed {
            if let Some(run) = state.runs.get(id).cloned() {
                let tick = state.ticks;
                let before = state.told.insert(id.clone(), (tick, Arc::clone(&run)));
                patches.push(match before {
                    Some((_, before)) => run_patch(&before, &run),
                    None => whole_run(&run),
                });
                runs.push(run);
            }
        }
        let version = state.version;
        let names: Vec<&str> = removed.iter().map(|removed| removed.run.as_str()).collect();
        state.changes.push_back(Change {
            version,
            runs,
            has_removed: !removed.is_empty(),
            patches: encode_patches(version, &names, patches),
            whole: OnceLock::new(),
        });
        if state.changes.len() > MAX_CHANGES {
            state.changes.pop_front();
        }
        state
            .removals
            .extend(removed.into_iter().map(|removed| (version, removed)));
        let too_many = state.removals.len().saturating_sub(MAX_REMOVALS);
        state.removals.drain(..too_many);
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
        state.own_titles.remove(run);
        state.told.remove(run);
        true
    }

    /// A run was deleted. All are told with the next tick, also if it had ended long ago. `workspace` is where it was, if
    /// the board does not know.
    pub fn remove(&self, run: &str, workspace: Option<&str>) {
        let mut state = self.lock();
        state.changed.remove(run);
        state.own_titles.remove(run);
        state.told.remove(run);
        let known = state.runs.remove(run);
        let known = known.as_ref().map(|run| run.workspace.as_str());
        let removed = RemovedRun {
            run: run.to_owned(),
            workspace: known.or(workspace).unwrap_or_default().to_owned(),
        };
        state.removed.push(removed);
    }

    /// What has changed since a version, and the version now. Everything, if that was too long ago or never.
    #[must_use]
    pub fn since(&self, version: Option<u64>, form: RunsForm) -> (Vec<Utf8Bytes>, u64) {
        let state = self.lock();
        let behind = version
            .map(|version| usize::try_from(state.version.saturating_sub(version)).unwrap_or(usize::MAX));
        // Clients of version 1 learn of a deleted run from a list of all others.
        let is_told_whole = |behind: &usize| {
            form == RunsForm::Whole
                && (state.changes.iter().rev().take(*behind)).any(|change| change.has_removed)
        };
        match behind
            .filter(|behind| *behind <= state.changes.len())
            .filter(|behind| !is_told_whole(behind))
        {
            Some(behind) => {
                let first = state.changes.len() - behind;
                let texts = state.changes.range(first..).map(|change| change.text(form));
                (texts.collect(), state.version)
            }
            None => {
                let runs = state
                    .runs
                    .iter()
                    .map(|(id, run)| match (form, state.told.get(id)) {
                        // The next patch is made against what was told last.
                        (RunsForm::Patches, Some((_, told))) => told.as_ref(),
                        (RunsForm::Patches, None) | (RunsForm::Whole, _) => run.as_ref(),
                    });
                (
                    vec![encode_runs(state.version, true, runs.collect())],
                    state.version,
                )
            }
        }
    }

    /// The runs as they were told last, and those that were deleted since a version.
    pub(super) fn snapshot(&self, since: u64) -> Snapshot {
        let state = self.lock();
        let removed = state.removals.iter().filter(|(version, _)| *version > since);
        Snapshot {
            runs: state.told.values().map(|(_, run)| Arc::clone(run)).collect(),
            removed: removed.map(|(_, removed)| removed.clone()).collect(),
            version: state.version,
        }
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
    fn set(&mut self, summary: RunSummary, own_title: String) {
        let id = summary.id.clone();
        self.own_titles.insert(id.clone(), own_title);
        if self.runs.get(&id).is_none_or(|known| **known != summary) {
            self.runs.insert(id.clone(), Arc::new(summary));
            self.changed.insert(id);
        }
    }

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

pub(super) fn encode_runs(version: u64, is_all: bool, runs: Vec<&RunSummary>) -> Utf8Bytes {
    let message = RunsMessage {
        r#type: "runs",
        version,
        is_all,
        runs,
    };
    serde_json::to_string(&message).unwrap_or_default().into()
}

pub(super) fn encode_patches(version: u64, removed: &[&str], runs: Vec<Map<String, Value>>) -> Utf8Bytes {
    let message = RunsChangedMessage {
        r#type: "runs_changed",
        version,
        removed,
        runs,
    };
    serde_json::to_string(&message).unwrap_or_default().into()
}

/// All fields of a run that was not told of yet.
pub(super) fn whole_run(run: &RunSummary) -> Map<String, Value> {
    match serde_json::to_value(run) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use ralph_run::Home;
    use ralph_run::model::{RunState, WaitingFor};
    use ralph_store::RunFold;

    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::{Board, CALM_TICKS, RunsForm};
    use crate::live::labels::RunLabels;

    const STARTED: &str = r#"{"seq":1,"at":"2026-01-01T00:00:00Z","iteration":0,"attempt":0,"event":{"type":"run_started","data":{"format_version":1,"run_id":"r","ralph_version":"0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":0}}}"#;

    #[tokio::test]
    async fn a_run_whose_title_is_taken_back_has_its_own_again() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path(), None);
        let id = home.create_run(jiff::Timestamp::now()).unwrap().id().to_owned();
        let board = Board::default();
        board.labels().open(home);
        let mut fold = RunFold::new();
        fold.push(STARTED.as_bytes());
        let mut run = fold.summary().unwrap().clone();
        run.id.clone_from(&id);
        run.title = "From the prompt".to_owned();
        board.update(&run);
        for (title, shown) in [(Some("Mine"), "Mine"), (None, "From the prompt")] {
            let labels = RunLabels {
                title: title.map(str::to_owned),
                tags: Vec::new(),
            };
            board.labels().clone().set(&id, labels).await.unwrap();
            board.relabel(&id);
            assert_eq!(board.get(&id).unwrap().title, shown);
        }
    }

    fn told(board: &Board, version: &mut Option<u64>) -> usize {
        board.tick();
        let (texts, now) = board.since(*version, RunsForm::Whole);
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
        let mut version = Some(board.since(None, RunsForm::Whole).1);
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

    #[test]
    fn a_run_that_was_deleted_is_told_in_both_forms_also_if_it_had_ended_long_ago() {
        let mut fold = RunFold::new();
        fold.push(STARTED.as_bytes());
        let board = Board::default();
        board.update(fold.summary().unwrap());
        board.tick();
        let (_, version) = board.since(None, RunsForm::Patches);
        board.remove("r", None);
        board.remove("long ago", Some("/w"));
        board.tick();
        let told = |form| {
            let (texts, _) = board.since(Some(version), form);
            texts
                .iter()
                .map(|text| serde_json::from_str(text).unwrap())
                .collect::<Vec<Value>>()
        };
        let patches = serde_json::json!({"type": "runs_changed", "version": 2, "removed": ["r", "long ago"], "runs": []});
        assert_eq!(told(RunsForm::Patches), [patches]);
        let whole = serde_json::json!({"type": "runs", "version": 2, "is_all": true, "runs": []});
        assert_eq!(told(RunsForm::Whole), [whole]);
        board.tick();
        assert_eq!(board.since(Some(2), RunsForm::Patches), (vec![], 2));
    }

    /// A client that keeps what it is told.
    #[derive(Default)]
    struct Client {
        version: Option<u64>,
        runs: BTreeMap<String, Value>,
        bytes: usize,
    }

    impl Client {
        fn take(&mut self, board: &Board, form: RunsForm) {
            let (texts, now) = board.since(self.version, form);
            self.version = Some(now);
            for text in texts {
                self.bytes += text.len();
                let message: Value = serde_json::from_str(&text).unwrap();
                if message["is_all"] == true {
                    self.runs.clear();
                }
                for run in message["runs"].as_array().unwrap() {
                    let id = run["id"].as_str().unwrap().to_owned();
                    let known = self
                        .runs
                        .entry(id)
                        .or_insert_with(|| Value::Object(Default::default()));
                    known
                        .as_object_mut()
                        .unwrap()
                        .extend(run.as_object().unwrap().clone());
                }
            }
        }
    }

    #[test]
    fn changed_fields_come_to_the_same_as_whole_runs_in_a_third_of_the_bytes() {
        let mut fold = RunFold::new();
        fold.push(STARTED.as_bytes());
        let mut first = fold.summary().unwrap().clone();
        // About as much as a real run has.
        first.title =
            "Make the tests of the parser pass, and add one for each error that it reports".to_owned();
        first.workspace = "/w/projects/the-parser-of-it".to_owned();
        first.model = Some("a-model-with-a-long-name-1".to_owned());
        first.permission_mode = Some("accept_edits".to_owned());
        first.session_ids = vec!["00000000-0000-4000-8000-000000000001".to_owned()];
        first.totals.tokens.input = 1_234;
        first.totals.tokens.output = 56_789;
        first.activity = RunState::Thinking;
        let mut runs: Vec<_> = (0..50)
            .map(|number| {
                let mut run = first.clone();
                run.id = format!("20261118-220000-{number:06}");
                run
            })
            .collect();
        let board = Board::default();
        let (mut whole, mut patches) = (Client::default(), Client::default());
        let mut late = Client::default();
        for round in 0..40_u64 {
            for (number, run) in runs.iter_mut().enumerate() {
                run.head_seq += 20;
                run.updated_at += jiff::SignedDuration::from_millis(250);
                run.totals.duration_ms += 250;
                run.activity = match (round + number as u64) % 5 {
                    0 => RunState::tool("Bash", Some("cargo nextest run")),
                    1 => RunState::Responding,
                    _ => RunState::Thinking,
                };
                board.update(run);
            }
            // Some take a list of all while changes wait to be told.
            if round % 3 == 1 {
                late.version = None;
                late.take(&board, RunsForm::Patches);
            }
            board.tick();
            if round == 1 {
                // From here on both know all runs.
                (whole.bytes, patches.bytes) = (0, 0);
            }
            whole.take(&board, RunsForm::Whole);
            patches.take(&board, RunsForm::Patches);
            late.take(&board, RunsForm::Patches);
            assert_eq!(patches.runs, whole.runs);
            assert_eq!(late.runs, whole.runs);
        }
        let (whole, patches) = (whole.bytes, patches.bytes);
        assert!(patches * 3 < whole, "{patches} of {whole} bytes");
    }
}
