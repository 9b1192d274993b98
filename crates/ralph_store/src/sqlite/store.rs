//! `SqliteStore`: the engine that keeps its index in a file.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::corruption_flag::CorruptionFlag;
use super::delete;
use super::explain::explain;
use super::file::{replace, with_suffix};
use super::open::{
    Note, Opened, home_of_file, keep_what_cannot_be_rebuilt, open_file_of_index, take_directory,
};
use super::readers::Readers;
use super::texts::lag;
use super::writer::Writer;
use super::{read, usage};
use crate::columns::nanoseconds;
use crate::error::StoreError;
use crate::home_claim::{Claimed, HomeClaim};
use crate::query::{
    ApprovalPage, ApprovalQuery, CostQuery, CostRow, Page, RunCounts, RunQuery, SearchPage, SearchQuery,
};
use crate::rows::{Batch, IndexedRun, Ingested, MessageRow, Progress};
use crate::search::{SearchOptions, TextIndex};
use crate::store::{COMPACTED_AT_A_TIME, Health, RESPONSE_LIFETIME, SavedResponse, Store};
use crate::summary::RunSummary;
use crate::text_lag::{TextLag, total_of};

/// From this size on the write-ahead log is emptied, even while others read.
const MAX_WAL_BYTES: u64 = 32 << 20;
/// How many search at the same time. More would only wait for the same cores, and keep them from everybody else.
const MAX_SEARCHES: usize = 4;

/// Where the index and the journals are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// Where the index is, alone: `ralph.db`, `search.db`, `server.lock`.
    pub data_directory: PathBuf,
    /// Where the runs are.
    pub runs_directory: PathBuf,
    /// The state directory of these runs; `None` opens the index of any.
    pub home: Option<HomeClaim>,
}

/// An index in a file.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) writer: Writer,
    pub(super) readers: Readers,
    pub(super) texts: Arc<TextIndex>,
    searches: Arc<Semaphore>,
    /// Whether the text index has nothing to put together.
    pub(super) is_tidy: AtomicBool,
    pub(super) lag: TextLag,
    /// What the last write failed with.
    problem: Mutex<Option<String>>,
    corruption: CorruptionFlag,
    lock: Mutex<Option<File>>,
}

impl SqliteStore {
    /// Opens the index of a data directory, or makes one. A damaged file is moved aside. Whatever is missing in it
    /// afterwards, [`catch_up`](crate::catch_up) brings.
    ///
    /// # Errors
    /// When another server has it, it belongs to another state directory, a newer version wrote it, or there cannot be one.
    pub async fn open(options: SqliteOptions) -> Result<Opened, StoreError> {
        Self::open_with(options, MAX_WAL_BYTES).await
    }

    /// Makes a new index of a data directory. The old one is moved aside, whatever is wrong with it: it may be damaged,
    /// or a newer version's. What was [saved](Store::put_response) and what runs cost is copied if it can be read.
    ///
    /// # Errors
    /// When another server has it, it belongs to another state directory, or there cannot be one.
    pub async fn open_anew(options: SqliteOptions) -> Result<Opened, StoreError> {
        Self::opening(move || Self::open_blocking(options, MAX_WAL_BYTES, true)).await
    }

    pub(super) async fn open_with(options: SqliteOptions, max_wal_bytes: u64) -> Result<Opened, StoreError> {
        Self::opening(move || Self::open_blocking(options, max_wal_bytes, false)).await
    }

    async fn opening(
        open: impl FnOnce() -> Result<Opened, StoreError> + Send + 'static,
    ) -> Result<Opened, StoreError> {
        tokio::task::spawn_blocking(open)
            .await
            .map_err(|error| StoreError::Database(error.to_string()))?
    }

    fn open_blocking(
        options: SqliteOptions,
        max_wal_bytes: u64,
        is_anew: bool,
    ) -> Result<Opened, StoreError> {
        let SqliteOptions {
            data_directory,
            runs_directory,
            home,
        } = options;
        let lock = take_directory(&data_directory)?;
        let path = data_directory.join("ralph.db");
        let mut notes = Vec::new();
        let texts = SearchOptions {
            path: data_directory.join("search.db"),
            runs_directory,
        };
        let mut replaced = None;
        let mut is_other = false;
        if is_anew {
            if let Some(home) = &home {
                is_other = home.check(home_of_file(&path).as_deref())? == Claimed::TakeOver;
            }
            replaced = replace(&path)?;
            let texts = TextIndex::replace(&texts)?;
            let replaced = [replaced.clone(), texts].into_iter().flatten();
            notes.extend(replaced.map(|to| Note::Replaced { to }));
        }
        let (connection, heads) = open_file_of_index(&path, home.as_ref(), &mut notes)?;
        if let Some(old) = replaced.filter(|_| !is_other) {
            keep_what_cannot_be_rebuilt(&connection, &old);
        }
        let texts = TextIndex::open(texts)?;
        if let Some(to) = texts.moved_to() {
            notes.push(Note::TextMovedAside { to });
        }
        let lag = lag(&heads, &texts)?;
        let corruption = CorruptionFlag::default();
        let wal = with_suffix(&path, "-wal");
        let store = Self {
            writer: Writer::start(connection, wal, max_wal_bytes, corruption.clone())?,
            readers: Readers::new(path, corruption.clone()),
            corruption,
            texts: Arc::new(texts),
            searches: Arc::new(Semaphore::new(MAX_SEARCHES)),
            is_tidy: AtomicBool::new(false),
            lag: TextLag::new(lag),
            problem: Mutex::default(),
            lock: Mutex::new(Some(lock)),
        };
        Ok(Opened { store, notes })
    }

    /// Keeps what went wrong with a write until one works.
    fn note<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) =
            result.as_ref().err().map(ToString::to_string);
        result
    }

    /// Forgets runs with rows that this version cannot read: the next [`catch_up`](crate::catch_up) reads them again
    /// from their start.
    async fn reindex_incompatible(&self, runs: &[String]) {
        if runs.is_empty() {
            return;
        }
        tracing::warn!(
            ?runs,
            "runs in the index cannot be read, and are read again from their journals"
        );
        if let Err(error) = self.remove(runs).await {
            tracing::warn!(%error, "runs that cannot be read could not be forgotten");
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn ingest(&self, batches: Vec<Batch>) -> Result<Ingested, StoreError> {
        let new = TextLag::count(&batches);
        let ingested = self.note(self.writer.ingest(batches).await)?;
        self.lag.add(new);
        Ok(ingested)
    }

    async fn progress(&self, run: &str) -> Result<Option<Progress>, StoreError> {
        let asked = run.to_owned();
        let progress = self
            .readers
            .read(move |connection| read::progress(connection, &asked));
        match progress.await {
            Err(StoreError::Incompatible(_)) => {
                self.reindex_incompatible(&[run.to_owned()]).await;
                Ok(None)
            }
            progress => progress,
        }
    }

    async fn indexed_runs(&self) -> Result<Vec<IndexedRun>, StoreError> {
        self.readers.read(read::indexed_runs).await
    }

    async fn counts(&self) -> Result<RunCounts, StoreError> {
        self.readers.read(read::counts).await
    }

    async fn runs(&self, query: &RunQuery) -> Result<Page<RunSummary>, StoreError> {
        let query = query.clone();
        let read = self
            .readers
            .read(move |connection| read::runs(connection, &query));
        let (page, incompatible) = read.await?;
        self.reindex_incompatible(&incompatible).await;
        Ok(page)
    }

    async fn run(&self, run: &str) -> Result<Option<RunSummary>, StoreError> {
        let asked = run.to_owned();
        match self
            .readers
            .read(move |connection| read::run(connection, &asked))
            .await
        {
            Err(StoreError::Incompatible(_)) => {
                self.reindex_incompatible(&[run.to_owned()]).await;
                Ok(None)
            }
            summary => summary,
        }
    }

    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        self.readers.read(read::workspaces).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<ApprovalPage, StoreError> {
        let query = query.clone();
        let read = self
            .readers
            .read(move |connection| read::approvals(connection, &query));
        let (approvals, incompatible) = read.await?;
        self.reindex_incompatible(&incompatible).await;
        Ok(approvals)
    }

    async fn messages(&self, run: &str) -> Result<Vec<MessageRow>, StoreError> {
        let run = run.to_owned();
        let read = self
            .readers
            .read(move |connection| read::messages(connection, &run));
        let (messages, incompatible) = read.await?;
        self.reindex_incompatible(&incompatible).await;
        Ok(messages)
    }

    async fn costs(&self, query: &CostQuery) -> Result<Vec<CostRow>, StoreError> {
        let query = query.clone();
        self.readers
            .read(move |connection| usage::costs(connection, &query))
            .await
    }

    async fn search(&self, query: &SearchQuery) -> Result<SearchPage, StoreError> {
        let (query, within) = (query.clone(), query.within.clone());
        let permit = self.searches.clone().acquire_owned().await;
        let permit = permit.map_err(|_| StoreError::Closed)?;
        let searched = self.with_texts(move |texts| {
            // The caller may have stopped waiting. The search counts until it is done.
            let _permit = permit;
            texts.search(&query)
        });
        let mut page = searched.await?;
        page.lag = match within {
            None => self.lag.total(),
            Some(within) => {
                let (lacking, is_known) = self.lag.by_run();
                page.is_complete &= is_known;
                let runs: Vec<String> = lacking.keys().cloned().collect();
                let read = move |connection: &_| read::runs_within(connection, &runs, &within);
                total_of(&lacking, &self.readers.read(read).await?)
            }
        };
        Ok(page)
    }

    async fn index_texts(&self) -> Result<u64, StoreError> {
        self.index_all_texts().await
    }

    async fn index_texts_of(&self, runs: &[String]) -> Result<u64, StoreError> {
        self.index_some_texts(runs).await
    }

    async fn compact_usage(&self, ended_before: Timestamp) -> Result<usize, StoreError> {
        let before = nanoseconds(ended_before);
        let runs = self
            .readers
            .read(move |connection| usage::compactable(connection, before))
            .await?;
        for some in runs.chunks(COMPACTED_AT_A_TIME) {
            let some = some.to_vec();
            let compacted = self
                .writer
                .run(move |connection| usage::compact(connection, &some, before));
            self.note(compacted.await)?;
        }
        Ok(runs.len())
    }

    async fn remove(&self, runs: &[String]) -> Result<(), StoreError> {
        let (ours, theirs) = (runs.to_vec(), runs.to_vec());
        let removed = self
            .writer
            .run(move |connection| delete::remove(connection, &ours))
            .await;
        self.note(removed)?;
        self.lag.forget(runs);
        self.with_texts(move |texts| texts.remove(&theirs)).await
    }

    async fn clear(&self) -> Result<(), StoreError> {
        self.note(self.writer.run(delete::clear).await)?;
        self.lag.set(0);
        self.with_texts(TextIndex::clear).await
    }

    async fn put_response(
        &self,
        key: &str,
        answer: &SavedResponse,
    ) -> Result<Option<SavedResponse>, StoreError> {
        let (asked, new) = (key.to_owned(), answer.clone());
        let kept = self.writer.run_strictly(move |connection| {
            let long_ago = nanoseconds(new.at).saturating_sub_unsigned(
                u64::try_from(RESPONSE_LIFETIME.as_nanos()).unwrap_or(u64::MAX),
            );
            connection
                .prepare_cached("DELETE FROM remembered WHERE at < ?1")?
                .execute([long_ago])?;
            connection
                .prepare_cached("INSERT OR IGNORE INTO remembered(key, digest, status, body, at) VALUES(?1, ?2, ?3, ?4, ?5)")?
                .execute((&asked, &new.digest, new.status, &new.body, nanoseconds(new.at)))
        });
        if self.note(kept.await)? > 0 {
            return Ok(None);
        }
        let first = self.response(key).await?;
        Ok(first.filter(|first| first != answer))
    }

    async fn response(&self, key: &str) -> Result<Option<SavedResponse>, StoreError> {
        let key = key.to_owned();
        self.readers
            .read(move |connection| read::response(connection, &key))
            .await
    }

    async fn health(&self) -> Health {
        let asked = self
            .readers
            .read(|connection| connection.query_row("SELECT 1", [], |_| Ok(())).map_err(explain));
        let asked = asked.await.err().map(|error| error.to_string());
        let kept = self
            .problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        Health {
            engine: "sqlite",
            problem: kept.or(asked).or_else(|| self.corruption.problem()),
            text_lag: self.lag.total(),
        }
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.readers.close();
        self.searches.close();
        let closed = self.writer.close().await;
        let texts = self.with_texts(TextIndex::close).await;
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        closed.and(texts)
    }
}
