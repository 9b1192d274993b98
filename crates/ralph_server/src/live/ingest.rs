//! `Ingest`: takes what the journals have into the index.
//!
//! It reads the journals itself, behind those who watch: an index that is slow, full or away delays nobody, and what it
//! missed is still there when it is back.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ralph_run::Home;
use ralph_store::{Batch, RunFold, Store, StoreError, resume_point};
use tokio::sync::Notify;

use super::tail::{Read, Tail};

/// How long changes wait for more, so that they share a transaction.
const GROUP: Duration = Duration::from_millis(100);
/// How long it waits after a failure, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How often the text index is brought up to date.
const TEXTS: Duration = Duration::from_millis(500);
/// A transaction has about this many records at most.
const MAX_RECORDS: usize = 20_000;
/// What is read of a run in one go.
const MAX_BYTES: usize = 8 << 20;

/// Which runs have something new for the index.
#[derive(Debug, Default)]
pub(super) struct Ingest {
    changed: Mutex<BTreeSet<String>>,
    notify: Notify,
    problem: Mutex<Option<String>>,
}

/// A run on its way into the index.
struct Reading {
    fold: RunFold,
    tail: Tail,
}

impl Ingest {
    /// A run has something new.
    pub(super) fn set(&self, run: &str) {
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

    /// Works for ever.
    pub(super) async fn work(&self, home: &Home, store: &Arc<dyn Store>) {
        let mut readings: HashMap<String, Reading> = HashMap::new();
        let mut pause = FIRST_PAUSE;
        loop {
            self.notify.notified().await;
            tokio::time::sleep(GROUP).await;
            let mut runs = self.take();
            while !runs.is_empty() {
                let result = self.ingest(home, store, &mut readings, &mut runs).await;
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
        readings: &mut HashMap<String, Reading>,
        runs: &mut BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let (mut batches, mut count): (Vec<Batch>, usize) = (Vec::new(), 0);
        let mut done = Vec::new();
        for run in runs.iter() {
            if count >= MAX_RECORDS {
                break;
            }
            let reading = match readings.remove(run) {
                Some(reading) => reading,
                None => match open(home, store, run).await? {
                    Some(reading) => reading,
                    None => {
                        done.push(run.clone());
                        continue;
                    }
                },
            };
            let most = MAX_RECORDS - count;
            let Ok((batch, reading, is_done)) =
                tokio::task::spawn_blocking(move || read(reading, most)).await
            else {
                // It is read again from the index's place when it has more, and by the comparison with the disk.
                done.push(run.clone());
                continue;
            };
            if let Some(batch) = batch {
                count += batch.records.len();
                batches.push(batch);
            }
            let has_ended = reading
                .fold
                .summary()
                .is_some_and(|summary| summary.activity.has_ended());
            if is_done && reading.tail.was_replaced() {
                // What is there now may have been told of already: it is read in the next round.
                continue;
            }
            if is_done {
                done.push(run.clone());
            }
            if !(is_done && has_ended) {
                readings.insert(run.clone(), reading);
            }
        }
        if !batches.is_empty() {
            // A run whose journal is another one now, or of which the index lost something: it is read again.
            for run in store.ingest(batches).await?.disconnected {
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

/// Brings the text index up to date, for ever.
pub(super) async fn index_texts(store: &Arc<dyn Store>) {
    let mut failures = 0_u32;
    loop {
        tokio::time::sleep(TEXTS * 2_u32.saturating_pow(failures.min(5))).await;
        match store.index_texts().await {
            Ok(_) => failures = 0,
            Err(error) => {
                if failures == 0 {
                    tracing::warn!(%error, "the text index cannot be brought up to date; it is tried again");
                }
                failures += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};
    use std::sync::Arc;

    use ralph_run::{Home, RunDirectory};
    use ralph_store::{SqliteOptions, SqliteStore, Store, catch_up};

    use tempfile::TempDir;

    use super::Ingest;

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
            .ingest(&home, &store, &mut readings, &mut runs)
            .await
            .unwrap();
        let first = store.run(run.id()).await.unwrap().unwrap();
        std::fs::remove_dir_all(run.path()).unwrap();
        home.create_run_as(run.id()).unwrap();
        write_first(&run, "2026-01-02T00:00:00Z");
        runs.insert(run.id().to_owned());
        while !runs.is_empty() {
            ingest
                .ingest(&home, &store, &mut readings, &mut runs)
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
            .ingest(&home, &store, &mut HashMap::new(), &mut runs)
            .await
            .unwrap();
        assert!(runs.is_empty());
        assert!(store.run(sound.id()).await.unwrap().is_some());
    }
}
