//! `Ingest`: takes what the journals have into the index.
//!
//! It reads the journals itself, behind those who watch: an index that is slow, full or away delays nobody, and what it
//! missed is still there when it is back.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ralph_run::Home;
use ralph_store::{Batch, RunFold, Store, StoreError, resume_point};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::follow_states::FollowStates;
use super::tail::{Read, Tail};

/// How long changes wait for more, so that they share a transaction. Nobody waits for them: lists show live runs as they
/// are, and records that the index lacks are read from the journal.
const GROUP: Duration = Duration::from_secs(1);
/// How long the start or the end of a run waits.
const URGENT_GROUP: Duration = Duration::from_millis(50);
/// How long it waits after a failure, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How often the text index is brought up to date.
const TEXTS: Duration = Duration::from_secs(1);
/// How often it is compared with all runs.
const COMPARE_TEXTS: Duration = Duration::from_secs(60);
/// A transaction has about this many records at most.
const MAX_RECORDS: usize = 20_000;
/// How many runs are read for one transaction.
const MAX_RUNS: usize = 1_000;
/// What is read of a run in one go.
const MAX_BYTES: usize = 8 << 20;

/// Which runs have something new for the index.
#[derive(Debug, Default)]
pub(super) struct Ingest {
    changed: Mutex<BTreeSet<String>>,
    notify: Notify,
    /// Something was set that people wait for.
    urgent: Notify,
    /// Runs that have records which the text index lacks.
    texts: Mutex<BTreeSet<String>>,
    /// Whether the text index is to be compared with all runs.
    has_unknown_texts: AtomicBool,
    problem: Mutex<Option<String>>,
}

/// A run on its way into the index.
struct Reading {
    fold: RunFold,
    tail: Tail,
}

impl Ingest {
    /// A run has something new, which is urgent if people wait for it.
    pub(super) fn set(&self, run: &str, is_urgent: bool) {
        if is_urgent {
            self.urgent.notify_one();
        }
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        if !changed.contains(run) {
            changed.insert(run.to_owned());
            self.notify.notify_one();
        }
    }

    /// What is wrong, if something is.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// How many runs wait.
    pub(super) fn waiting(&self) -> usize {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs were taken into the index by somebody else.
    pub(super) fn compare_texts(&self) {
        self.has_unknown_texts.store(true, Ordering::Relaxed);
    }

    /// Works for ever.
    pub(super) async fn work(&self, home: &Home, store: &Arc<dyn Store>, states: &FollowStates) {
        let mut readings: HashMap<String, Reading> = HashMap::new();
        let mut pause = FIRST_PAUSE;
        loop {
            self.notify.notified().await;
            if timeout(GROUP, self.urgent.notified()).await.is_ok() {
                tokio::time::sleep(URGENT_GROUP).await;
            }
            let mut runs = self.take();
            while !runs.is_empty() {
                let result = self.ingest(home, store, states, &mut readings, &mut runs).await;
                if self.note(result.err()) {
                    pause = FIRST_PAUSE;
                    continue;
                }
                // What was read is not in the index: it is read again.
                readings.clear();
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// Remembers what is wrong. Says whether nothing is.
    fn note(&self, error: Option<StoreError>) -> bool {
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &error
            && problem.is_none()
        {
            tracing::warn!(%error, "the index cannot take in what is new; it is tried again");
        }
        *problem = error.map(|error| error.to_string());
        problem.is_none()
    }

    /// Takes in what these runs have. Those that are done are removed from the list.
    async fn ingest(
        &self,
        home: &Home,
        store: &Arc<dyn Store>,
        states: &FollowStates,
        readings: &mut HashMap<String, Reading>,
        runs: &mut BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let mut opened = Vec::new();
        let mut done = Vec::new();
        for run in runs.iter().take(MAX_RUNS) {
            match readings.remove(run) {
                Some(reading) => opened.push((run.clone(), reading)),
                None => match open(home, store, run).await? {
                    Some(reading) => opened.push((run.clone(), reading)),
                    None => done.push(run.clone()),
                },
            }
        }
        let names: Vec<String> = opened.iter().map(|(run, _)| run.clone()).collect();
        let mut batches = Vec::new();
        match tokio::task::spawn_blocking(move || read_all(opened)).await {
            Ok(all) => {
                for one in all {
                    batches.extend(one.batch);
                    if one.is_done {
                        done.push(one.run.clone());
                    }
                    if let Some(reading) = one.reading {
                        readings.insert(one.run, reading);
                    }
                }
            }
            Err(error) => {
                // They are read again from the index's place when they have more, and by the comparison with the disk.
                tracing::error!(%error, "reading journals for the index has failed");
                done.extend(names);
            }
        }
        if !batches.is_empty() {
            let heads: Vec<(String, u64)> = batches
                .iter()
                .map(|batch| (batch.summary.id.clone(), batch.summary.head_seq))
                .collect();
            let disconnected = store.ingest(batches).await?.disconnected;
            let mut texts = lock(&self.texts);
            for (run, head) in heads.into_iter().filter(|(run, _)| !disconnected.contains(run)) {
                states.set_indexed(&run, head);
                texts.insert(run);
            }
            drop(texts);
            // A run whose journal is another one now, or of which the index lost something: it is read again.
            for run in disconnected {
                readings.remove(&run);
                done.retain(|finished| *finished != run);
            }
        }
        for run in done {
            runs.remove(&run);
        }
        Ok(())
    }
}

async fn open(home: &Home, store: &Arc<dyn Store>, run: &str) -> Result<Option<Reading>, StoreError> {
    let Some(directory) = home.run(run) else {
        return Ok(None);
    };
    let path = directory.journal();
    let fold = match resume_point(store.as_ref(), run, &path).await {
        Ok(Some(progress)) => RunFold::resume(progress),
        Ok(None) => RunFold::named(run),
        // One run's misfortune is no other run's.
        Err(error @ StoreError::Journal { .. }) => {
            tracing::warn!(%error, "a journal cannot be read");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    match Tail::open(&path, fold.offset()) {
        Ok(tail) => Ok(Some(Reading { fold, tail })),
        Err(error) => {
            tracing::warn!(%error, run, "a journal cannot be read");
            Ok(None)
        }
    }
}

fn read(mut reading: Reading, most: usize) -> (Option<Batch>, Reading, bool) {
    let (mut count, mut bytes) = (0, 0);
    loop {
        let Reading { fold, tail } = &mut reading;
        let more = tail.read(|read| {
            count += 1;
            match read {
                Read::Line(line, _) => {
                    bytes += line.len();
                    fold.push(line);
                }
                Read::Skipped(bytes) => fold.skip(bytes),
            }
        });
        match more {
            Ok(true) if count < most && bytes < MAX_BYTES => {}
            Ok(is_more) => return (reading.fold.take(), reading, !is_more),
            Err(error) => {
                tracing::warn!(%error, "a journal cannot be read");
                return (reading.fold.take(), reading, true);
            }
        }
    }
}

/// What was read of a run.
struct ReadRun {
    run: String,
    batch: Option<Batch>,
    /// To go on with; none if it has ended or its journal is another one now.
    reading: Option<Reading>,
    /// Whether there is nothing more now.
    is_done: bool,
}

/// Reads what these runs have, in one go.
fn read_all(runs: Vec<(String, Reading)>) -> Vec<ReadRun> {
    let mut left = MAX_RECORDS;
    let read_one = |(run, reading): (String, Reading)| {
        if left == 0 {
            return ReadRun {
                run,
                batch: None,
                reading: Some(reading),
                is_done: false,
            };
        }
        let (batch, reading, is_done) = read(reading, left);
        left = left.saturating_sub(batch.as_ref().map_or(0, |batch| batch.records.len()));
        // What is there now may have been told of already: it is read in the next round.
        let was_replaced = is_done && reading.tail.was_replaced();
        let summary = reading.fold.summary();
        let has_ended = is_done && summary.is_some_and(|summary| summary.activity.has_ended());
        ReadRun {
            run,
            batch,
            reading: (!was_replaced && !has_ended).then_some(reading),
            is_done: is_done && !was_replaced,
        }
    };
    runs.into_iter().map(read_one).collect()
}

impl Ingest {
    /// Brings the text index up to date, for ever: with the runs that were taken in, and now and then with all.
    pub(super) async fn index_texts(&self, store: &Arc<dyn Store>) {
        let mut failures = 0_u32;
        let mut compared: Option<Instant> = None;
        loop {
            tokio::time::sleep(TEXTS * 2_u32.saturating_pow(failures.min(5))).await;
            let runs: Vec<String> = std::mem::take(&mut *lock(&self.texts)).into_iter().collect();
            let has_unknown = self.has_unknown_texts.swap(false, Ordering::Relaxed);
            let is_long_ago = compared.is_none_or(|compared| compared.elapsed() > COMPARE_TEXTS);
            let indexed = if has_unknown || is_long_ago {
                store.index_texts().await
            } else {
                store.index_texts_of(&runs).await
            };
            match indexed {
                Ok(_) => {
                    failures = 0;
                    if has_unknown || is_long_ago {
                        compared = Some(Instant::now());
                    }
                }
                Err(error) => {
                    if failures == 0 {
                        tracing::warn!(%error, "the text index cannot be brought up to date; it is tried again");
                    }
                    failures += 1;
                    self.compare_texts();
                }
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};
    use std::sync::Arc;

    use ralph_run::{Home, RunDirectory};
    use ralph_store::{SqliteOptions, SqliteStore, Store, catch_up};

    use tempfile::TempDir;

    use super::Ingest;
    use crate::live::follow_states::FollowStates;

    fn begin(home: &Home, at: &str) -> RunDirectory {
        let run = home.create_run(at.parse().unwrap()).unwrap();
        write_first(&run, at);
        run
    }

    fn write_first(run: &RunDirectory, at: &str) {
        let line = format!(
            r#"{{"seq":1,"at":"{at}","iteration":0,"attempt":0,"event":{{"type":"run_started","data":{{"format_version":1,"run_id":"{}","ralph_version":"0.1.0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":1}}}}}}"#,
            run.id()
        );
        std::fs::write(run.journal(), line + "\n").unwrap();
    }

    async fn open_store(directory: &TempDir, home: &Home) -> Arc<dyn Store> {
        let options = SqliteOptions {
            data_directory: directory.path().join("data"),
            runs_directory: home.runs_directory(),
            home: None,
        };
        Arc::new(SqliteStore::open(options).await.unwrap().store)
    }

    #[tokio::test]
    async fn a_journal_that_was_made_anew_is_read_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let store = open_store(&directory, &home).await;
        let (ingest, mut readings) = (Ingest::default(), HashMap::new());
        let run = begin(&home, "2026-01-01T00:00:00Z");
        let mut runs = BTreeSet::from([run.id().to_owned()]);
        ingest
            .ingest(&home, &store, &FollowStates::default(), &mut readings, &mut runs)
            .await
            .unwrap();
        let first = store.run(run.id()).await.unwrap().unwrap();
        std::fs::remove_dir_all(run.path()).unwrap();
        home.create_run_as(run.id()).unwrap();
        write_first(&run, "2026-01-02T00:00:00Z");
        runs.insert(run.id().to_owned());
        while !runs.is_empty() {
            ingest
                .ingest(&home, &store, &FollowStates::default(), &mut readings, &mut runs)
                .await
                .unwrap();
        }
        let second = store.run(run.id()).await.unwrap().unwrap();
        assert_ne!(second.epoch, first.epoch);
    }

    #[tokio::test]
    async fn a_journal_that_cannot_be_read_keeps_no_other_run_out_of_the_index() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let broken = begin(&home, "2026-01-01T00:00:00Z");
        let store = open_store(&directory, &home).await;
        catch_up(store.as_ref(), &home.runs_directory(), |_| {})
            .await
            .unwrap();
        std::fs::remove_file(broken.journal()).unwrap();
        std::fs::create_dir(broken.journal()).unwrap();
        let sound = begin(&home, "2026-01-02T00:00:00Z");
        let mut runs = BTreeSet::from([broken.id().to_owned(), sound.id().to_owned()]);
        let ingest = Ingest::default();
        ingest
            .ingest(
                &home,
                &store,
                &FollowStates::default(),
                &mut HashMap::new(),
                &mut runs,
            )
            .await
            .unwrap();
        assert!(runs.is_empty());
        assert!(store.run(sound.id()).await.unwrap().is_some());
    }
}
