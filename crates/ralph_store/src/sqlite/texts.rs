//! The text index as `SqliteStore` keeps it: which runs have new text, and the thread that reads it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::read::{self, Head};
use super::store::SqliteStore;
use crate::error::StoreError;
use crate::priority;
use crate::search::{Indexed, TextIndex};
use crate::summary::RunSummary;

/// How many runs' summaries are in memory at a time when texts are indexed.
const RUNS_AT_A_TIME: usize = 1_000;
/// How long pieces of the text index are put together when there is nothing else to do.
const MERGE_TIME_LIMIT: Duration = Duration::from_millis(50);

impl SqliteStore {
    /// Compares all runs with the text index and indexes what it lacks.
    pub(super) async fn index_all_texts(&self) -> Result<u64, StoreError> {
        // In this order: what is indexed was taken in before.
        let indexed = self.with_texts(TextIndex::indexed).await?;
        let heads = self.readers.read(read::heads).await?;
        self.forget_removed(&heads, &indexed).await?;
        let known = known(&indexed);
        let behind = heads
            .iter()
            .filter(|head| indexed_of(&known, head).is_none_or(|(offset, _)| offset != head.offset));
        let behind: Vec<String> = behind.map(|head| head.run.clone()).collect();
        let count = self.index_runs(&behind).await?;
        let heads = self.readers.read(read::heads).await?;
        let lag = self.with_texts(move |texts| lag(&heads, texts)).await?;
        self.lag.set(lag);
        Ok(count)
    }

    /// Indexes what is new in these runs.
    pub(super) async fn index_some_texts(&self, runs: &[String]) -> Result<u64, StoreError> {
        let lacking = self.lag.of(runs);
        let count = self.index_runs(runs).await?;
        self.lag.settle(lacking);
        Ok(count)
    }

    async fn index_runs(&self, runs: &[String]) -> Result<u64, StoreError> {
        if runs.is_empty() {
            self.tidy().await?;
        } else {
            self.is_tidy.store(false, Ordering::Relaxed);
        }
        let mut count = 0;
        for some in runs.chunks(RUNS_AT_A_TIME) {
            let some = some.to_vec();
            let found = self
                .readers
                .read(move |connection| read::indexed_summaries(connection, &some));
            let found = found.await?;
            count += self
                .on_text_thread(move |texts| {
                    let runs: Vec<(&RunSummary, u64)> =
                        found.iter().map(|(summary, offset)| (summary, *offset)).collect();
                    texts.index_runs(&runs)
                })
                .await?;
        }
        Ok(count)
    }

    /// Forgets the words of runs that were removed when the process ended before it had removed their words. Those whose
    /// journals are there are on their way into the index.
    async fn forget_removed(&self, heads: &[Head], indexed: &[Indexed]) -> Result<(), StoreError> {
        let taken_in: HashSet<&str> = heads.iter().map(|head| head.run.as_str()).collect();
        let missing = indexed.iter().map(|indexed| &indexed.run);
        let missing: Vec<String> = missing
            .filter(|run| !taken_in.contains(run.as_str()))
            .cloned()
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        self.with_texts(move |texts| texts.remove_gone(&missing)).await
    }

    /// Puts pieces of the text index together for a moment, until none are left.
    async fn tidy(&self) -> Result<(), StoreError> {
        if self.is_tidy.load(Ordering::Relaxed) {
            return Ok(());
        }
        let is_more = self
            .on_text_thread(|texts| texts.maintain(MERGE_TIME_LIMIT))
            .await?;
        self.is_tidy.store(!is_more, Ordering::Relaxed);
        Ok(())
    }

    pub(super) async fn with_texts<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TextIndex) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let texts = self.texts.clone();
        let done = tokio::task::spawn_blocking(move || work(&texts));
        done.await
            .map_err(|error| StoreError::Database(error.to_string()))?
    }

    /// Runs on a thread of lower priority: no request waits for the text index, and it must not take time from the threads
    /// that serve clients.
    async fn on_text_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TextIndex) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let texts = self.texts.clone();
        let (reply, done) = oneshot::channel();
        thread::Builder::new()
            .name("ralph-texts".to_owned())
            .spawn(move || {
                priority::lower(priority::TEXT_INDEX);
                // The caller may have stopped waiting. The work is done anyway.
                let _ = reply.send(work(&texts));
            })
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        done.await
            .map_err(|_| StoreError::Database("indexing text has failed".to_owned()))?
    }
}

/// How far a journal's words are indexed: its epoch, the offset and the last record.
type Known<'a> = HashMap<&'a str, (&'a str, u64, u64)>;

fn known(indexed: &[Indexed]) -> Known<'_> {
    let known = indexed
        .iter()
        .map(|run| (run.run.as_str(), (run.epoch.as_str(), run.offset, run.seq)));
    known.collect()
}

/// The offset and the last record that the text index has of this journal: another one of the same name is none.
fn indexed_of(known: &Known<'_>, head: &Head) -> Option<(u64, u64)> {
    let (epoch, offset, seq) = known.get(head.run.as_str())?;
    (*epoch == head.epoch).then_some((*offset, *seq))
}

/// How many records the text index lacks, at most: pieces of text count, too, because they are not counted separately.
pub(super) fn lag(heads: &[Head], texts: &TextIndex) -> Result<u64, StoreError> {
    let indexed = texts.indexed()?;
    let known = known(&indexed);
    let missing = heads.iter().map(|head| match indexed_of(&known, head) {
        Some((offset, _)) if offset >= head.offset => 0,
        Some((_, seq)) => head.seq.saturating_sub(seq),
        None => head.seq,
    });
    Ok(missing.sum())
}
