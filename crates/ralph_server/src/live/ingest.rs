//! `Ingest`: takes the rows of followed runs into the index.
//!
//! Followers put batches into a bounded mailbox and never wait for it. What does not fit, and what the index failed to
//! take, is dropped: the run is marked as behind and read again from its journal. So an index that is slow, full or away
//! delays nobody, and misses nothing when it is back.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ralph_run::ports::{JournalText, Journals, Place, ReadItem};
use ralph_store::{Batch, RunFold, Store, StoreError, resume_point};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::follow_states::FollowStates;

/// How long batches wait for more, so that they share a transaction. Nobody waits for them: lists show live runs as they
/// are, and records are read from the journal.
const GROUP_DELAY: Duration = Duration::from_secs(1);
/// How long the start or the end of a run waits.
const URGENT_GROUP_DELAY: Duration = Duration::from_millis(50);
/// How long it waits after a failure, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How often the text index is brought up to date.
const TEXT_INTERVAL: Duration = Duration::from_secs(1);
/// How often it is compared with all runs.
const COMPARE_TEXTS_INTERVAL: Duration = Duration::from_secs(60);
/// How much the mailbox holds.
const MAX_MAIL_RECORDS: usize = 20_000;
const MAX_MAIL_BYTES: usize = 32 << 20;
const MAX_MAIL_BATCHES: usize = 2_000;
/// How many runs that are behind are read for one transaction, how many records together, and how much of each at once.
const MAX_RUNS: usize = 1_000;
const MAX_RECORDS: usize = 20_000;
const MAX_READ_BYTES: u64 = 8 << 20;

/// What the index lacks.
#[derive(Debug, Default)]
pub(super) struct Ingest {
    mail: Mutex<Mail>,
    notify: Notify,
    /// Something was put into the mailbox that people wait for.
    urgent: Notify,
    /// Runs that have records which the text index lacks.
    texts: Mutex<BTreeSet<String>>,
    /// Whether the text index is to be compared with all runs.
    has_unknown_texts: AtomicBool,
    problem: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct Mail {
    /// In the order they came.
    batches: Vec<Batch>,
    records: usize,
    /// Of the lines of these records.
    bytes: usize,
    /// Runs of which something was dropped.
    behind: BTreeSet<String>,
}

/// What came of one transaction of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    NothingNew,
    TookIn,
    /// A run did not continue where the index is. It is read again, after a pause: it may not continue then either.
    Disconnected,
}

/// Runs that are behind and are being read, by their ids.
type Readings = HashMap<String, RunFold>;

impl Ingest {
    /// Takes what is new of a run, if there is room. Never waits.
    pub(super) fn offer(&self, batch: Batch, is_urgent: bool) {
        let mut mail = lock(&self.mail);
        if !mail.behind.contains(&batch.summary.id) {
            let records = mail.records + batch.records.len();
            let bytes = mail.bytes + batch.line_bytes();
            let fits = records <= MAX_MAIL_RECORDS && bytes <= MAX_MAIL_BYTES;
            if mail.batches.len() < MAX_MAIL_BATCHES && fits {
                mail.records = records;
                mail.bytes = bytes;
                mail.batches.push(batch);
            } else {
                mail.behind.insert(batch.summary.id);
            }
        }
        drop(mail);
        self.wake(is_urgent);
    }

    /// Something of a run may be missing: it is read again from where the index is.
    pub(super) fn mark_behind(&self, run: &str) {
        lock(&self.mail).behind.insert(run.to_owned());
        self.wake(true);
    }

    fn wake(&self, is_urgent: bool) {
        self.notify.notify_one();
        if is_urgent {
            self.urgent.notify_one();
        }
    }

    /// What is wrong, if something is.
    pub(super) fn problem(&self) -> Option<String> {
        lock(&self.problem).clone()
    }

    /// How many runs the index lacks something of.
    pub(super) fn waiting(&self) -> usize {
        let mail = lock(&self.mail);
        let with_mail = mail.batches.iter().map(|batch| &batch.summary.id);
        with_mail.chain(&mail.behind).collect::<BTreeSet<_>>().len()
    }

    /// Runs were taken into the index by somebody else.
    pub(super) fn compare_texts(&self) {
        self.has_unknown_texts.store(true, Ordering::Relaxed);
    }

    /// Works for ever.
    pub(super) async fn work(&self, journals: &dyn Journals, store: &Arc<dyn Store>, states: &FollowStates) {
        let mut readings = Readings::new();
        let mut pause = FIRST_PAUSE;
        loop {
            self.notify.notified().await;
            if timeout(GROUP_DELAY, self.urgent.notified()).await.is_ok() {
                tokio::time::sleep(URGENT_GROUP_DELAY).await;
            }
            loop {
                match self.round(journals, store, states, &mut readings).await {
                    // What came during the transaction waits for the next one, or there would be one after the other.
                    Ok(Round::TookIn | Round::NothingNew) if !self.is_behind() => {
                        self.note(None);
                        pause = FIRST_PAUSE;
                        break;
                    }
                    Ok(Round::TookIn | Round::NothingNew) => pause = FIRST_PAUSE,
                    Ok(Round::Disconnected) => {
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                    Err(error) => {
                        self.note(Some(error));
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
            }
        }
    }

    /// Whether runs wait to be read from their journals.
    fn is_behind(&self) -> bool {
        !lock(&self.mail).behind.is_empty()
    }

    fn note(&self, error: Option<StoreError>) {
        let mut problem = lock(&self.problem);
        if let Some(error) = &error
            && problem.is_none()
        {
            tracing::warn!(%error, "the index cannot take in what is new; it is tried again");
        }
        *problem = error.map(|error| error.to_string());
    }

    /// Takes in what is there, in one transaction.
    async fn round(
        &self,
        journals: &dyn Journals,
        store: &Arc<dyn Store>,
        states: &FollowStates,
        readings: &mut Readings,
    ) -> Result<Round, StoreError> {
        let (mut batches, behind) = {
            let mut mail = lock(&self.mail);
            mail.records = 0;
            mail.bytes = 0;
            // Marks are taken away before the journals are read: what followers offer from now on overlaps with that.
            (
                std::mem::take(&mut mail.batches),
                std::mem::take(&mut mail.behind),
            )
        };
        if batches.is_empty() && behind.is_empty() {
            return Ok(Round::NothingNew);
        }
        // Until it is in the index, everything that was taken is behind.
        let mut lost = Lost {
            ingest: self,
            runs: batches.iter().map(|batch| batch.summary.id.clone()).collect(),
        };
        lost.runs.extend(behind.iter().cloned());
        let mut unfinished = Vec::new();
        let mut outcome = Round::TookIn;
        let mut left = MAX_RECORDS;
        let mut bytes = 0;
        for run in behind {
            if left == 0 || bytes >= MAX_MAIL_BYTES || readings.len() >= MAX_RUNS {
                unfinished.push(run);
                continue;
            }
            let fold = match readings.remove(&run) {
                Some(fold) => Some(fold),
                None => resume(journals, store, &run).await?,
            };
            let Some(mut fold) = fold else { continue };
            let is_done = read(journals, &run, &mut fold, left).await;
            if let Some(batch) = fold.take() {
                left = left.saturating_sub(batch.records.len());
                bytes += batch.line_bytes();
                batches.push(batch);
            }
            if !is_done {
                readings.insert(run.clone(), fold);
                unfinished.push(run);
            }
        }
        let heads: Vec<(String, u64)> = batches
            .iter()
            .map(|batch| (batch.summary.id.clone(), batch.summary.head_seq))
            .collect();
        if !batches.is_empty() {
            let ingested = store.ingest(batches).await.inspect_err(|_| readings.clear())?;
            let disconnected: BTreeSet<String> = ingested.disconnected.into_iter().collect();
            let mut texts = lock(&self.texts);
            for (run, head) in heads.into_iter().filter(|(run, _)| !disconnected.contains(run)) {
                states.set_indexed(&run, head);
                texts.insert(run);
            }
            drop(texts);
            // The journal is another one now, or the index lost something: these are read again.
            for run in disconnected {
                readings.remove(&run);
                unfinished.push(run);
                outcome = Round::Disconnected;
            }
        }
        lost.runs = unfinished.into_iter().collect();
        Ok(outcome)
    }

    /// Brings the text index up to date, for ever: with the runs that were taken in, and now and then with all.
    pub(super) async fn index_texts(&self, store: &Arc<dyn Store>) {
        let mut failures = 0_u32;
        let mut compared: Option<Instant> = None;
        loop {
            tokio::time::sleep(TEXT_INTERVAL * 2_u32.saturating_pow(failures.min(5))).await;
            let runs: Vec<String> = std::mem::take(&mut *lock(&self.texts)).into_iter().collect();
            let has_unknown = self.has_unknown_texts.swap(false, Ordering::Relaxed);
            let is_long_ago = compared.is_none_or(|compared| compared.elapsed() > COMPARE_TEXTS_INTERVAL);
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

/// Marks runs as behind when it is dropped, also if the work on them was cancelled.
struct Lost<'a> {
    ingest: &'a Ingest,
    runs: BTreeSet<String>,
}

impl Drop for Lost<'_> {
    fn drop(&mut self) {
        lock(&self.ingest.mail).behind.append(&mut self.runs);
    }
}

/// Where the index is with a run; none if the run cannot be read, which is no other run's problem.
async fn resume(
    journals: &dyn Journals,
    store: &Arc<dyn Store>,
    run: &str,
) -> Result<Option<RunFold>, StoreError> {
    match resume_point(store.as_ref(), journals, run).await {
        Ok(Some(progress)) => Ok(Some(RunFold::resume(progress).keeping_lines(store.keeps_lines()))),
        Ok(None) => Ok(Some(RunFold::named(run).keeping_lines(store.keeps_lines()))),
        Err(error @ StoreError::Journal { .. }) => {
            if !error.is_gone() {
                tracing::warn!(%error, run, "a journal cannot be read");
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reads a run to its end, or until there are `limit` rows. Returns whether there is nothing more to read now.
async fn read(journals: &dyn Journals, run: &str, fold: &mut RunFold, limit: usize) -> bool {
    let text = match fold.keeps_lines() {
        true => JournalText::Restored,
        false => JournalText::AsWritten,
    };
    loop {
        let from = Place::from(fold.offset());
        let chunk = match journals.read(run, from, None, MAX_READ_BYTES, text).await {
            Ok(chunk) => chunk,
            Err(error) => {
                tracing::warn!(%error, run, "a journal cannot be read");
                return true;
            }
        };
        for item in chunk.items {
            match item {
                ReadItem::Line { start, end, line } => {
                    fold.push_restored(&line, end.bytes_since(start));
                }
                ReadItem::Overlong { bytes } => fold.skip(bytes),
            }
        }
        if chunk.is_end {
            return true;
        }
        if fold.waiting() >= limit || fold.waiting_bytes() as u64 >= MAX_READ_BYTES {
            return false;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ralph_run::ports::LocalJournals;
    use ralph_run::{Home, RunDirectory};
    use ralph_store::{RunFold, SqliteOptions, SqliteStore, Store, catch_up};
    use tempfile::TempDir;

    use super::{Ingest, MAX_MAIL_RECORDS, Readings, Round};
    use crate::live::follow_states::FollowStates;

    struct Stage {
        home: Home,
        journals: LocalJournals,
        store: Arc<dyn Store>,
        ingest: Ingest,
        readings: Readings,
        _directory: TempDir,
    }

    impl Stage {
        async fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let home = Home::new(directory.path().join("state"), None);
            let options = SqliteOptions {
                data_directory: directory.path().join("data"),
                runs_directory: home.runs_directory(),
                home: None,
            };
            Self {
                journals: LocalJournals::new(home.clone()),
                home,
                store: Arc::new(SqliteStore::open(options).await.unwrap().store),
                ingest: Ingest::default(),
                readings: Readings::new(),
                _directory: directory,
            }
        }

        /// Takes in everything there is.
        async fn take_in(&mut self) {
            let states = FollowStates::default();
            let Self {
                journals,
                store,
                ingest,
                readings,
                ..
            } = self;
            while ingest.round(journals, store, &states, readings).await.unwrap() != Round::NothingNew {}
        }

        fn begin(&self, at: &str) -> RunDirectory {
            let run = self.home.create_run(at.parse().unwrap()).unwrap();
            std::fs::write(run.journal(), first_line(&run, at)).unwrap();
            run
        }
    }

    fn first_line(run: &RunDirectory, at: &str) -> String {
        format!(
            r#"{{"seq":1,"at":"{at}","iteration":0,"attempt":0,"event":{{"type":"run_started","data":{{"format_version":1,"run_id":"{}","ralph_version":"0.1.0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":1}}}}}}"#,
            run.id()
        ) + "\n"
    }

    #[tokio::test]
    async fn a_journal_that_was_made_again_replaces_the_old_one() {
        let mut stage = Stage::new().await;
        let run = stage.begin("2026-01-01T00:00:00Z");
        stage.ingest.mark_behind(run.id());
        stage.take_in().await;
        let first = stage.store.run(run.id()).await.unwrap().unwrap();
        std::fs::remove_dir_all(run.path()).unwrap();
        stage.home.create_run_as(run.id()).unwrap();
        std::fs::write(run.journal(), first_line(&run, "2026-01-02T00:00:00Z")).unwrap();
        stage.ingest.mark_behind(run.id());
        stage.take_in().await;
        let second = stage.store.run(run.id()).await.unwrap().unwrap();
        assert_ne!(second.epoch, first.epoch);
    }

    #[tokio::test]
    async fn a_journal_that_cannot_be_read_keeps_no_other_run_out_of_the_index() {
        let mut stage = Stage::new().await;
        let broken = stage.begin("2026-01-01T00:00:00Z");
        catch_up(stage.store.as_ref(), &stage.home.runs_directory(), |_| {})
            .await
            .unwrap();
        std::fs::remove_file(broken.journal()).unwrap();
        std::fs::create_dir(broken.journal()).unwrap();
        let sound = stage.begin("2026-01-02T00:00:00Z");
        stage.ingest.mark_behind(broken.id());
        stage.ingest.mark_behind(sound.id());
        stage.take_in().await;
        assert_eq!(stage.ingest.waiting(), 0);
        assert!(stage.store.run(sound.id()).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn what_a_full_mailbox_drops_is_read_from_the_journal() {
        let mut stage = Stage::new().await;
        let run = stage.begin("2026-01-01T00:00:00Z");
        let last = MAX_MAIL_RECORDS as u64 + 2_100;
        let mut text = first_line(&run, "2026-01-01T00:00:00Z");
        for seq in 2..=last {
            text.push_str(&format!(
                r#"{{"seq":{seq},"at":"2026-01-01T00:00:01Z","iteration":1,"attempt":1,"event":{{"type":"warned","data":{{"kind":"degraded","message":"m"}}}}}}"#
            ));
            text.push('\n');
        }
        std::fs::write(run.journal(), &text).unwrap();
        let mut fold = RunFold::named(run.id());
        for line in text.lines() {
            fold.push(line.as_bytes());
            if fold.waiting() == 500 {
                stage.ingest.offer(fold.take().unwrap(), false);
            }
        }
        stage.ingest.offer(fold.take().unwrap(), false);
        assert_eq!(stage.ingest.waiting(), 1);
        stage.take_in().await;
        assert_eq!(stage.ingest.waiting(), 0);
        let known = stage.store.run(run.id()).await.unwrap().unwrap();
        assert_eq!(known.head_seq, last);
    }
}
