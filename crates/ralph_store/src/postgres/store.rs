//! `PostgresStore`: the engine that keeps its index in a PostgreSQL database.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::{Connection as _, PgConnection};
use tokio::runtime::Handle;

use super::address::{Address, Purpose};
use super::candidates::Scope;
use super::connect::{Waiting, open, wait_for_writer};
use super::explain::{explain, within};
use super::readers::Readers;
use super::text::StoredLines;
use super::writer::{Done, Task, Writer};
use super::{read, text, usage};
use crate::columns::{bounded, nanoseconds, run_place};
use crate::error::StoreError;
use crate::home_claim::HomeClaim;
use crate::query::{
    ApprovalPage, ApprovalQuery, CostQuery, CostRow, Page, RunCounts, RunQuery, SearchMode, SearchPage,
    SearchQuery,
};
use crate::rows::{Batch, IndexedRun, Ingested, MessageRow, Progress};
use crate::search::{Gatherer, find, scan};
use crate::store::{COMPACTED_AT_A_TIME, Health, SavedResponse, Store};
use crate::summary::RunSummary;
use crate::text_lag::{TextLag, total_of};

/// The database's own limit is shorter: this is for one that says nothing any more.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// After this time a page of ranked hits ends, and the next page continues.
const SEARCH_TIMEOUT: Duration = Duration::from_millis(100);
/// How long one batch of words may take to be written.
const TEXT_TIMEOUT: Duration = Duration::from_secs(120);

/// Which database, and for which runs.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`. It may have a password: it is never shown.
    pub url: String,
    /// The state directory whose runs the index has; `None` opens the index of any.
    pub home: Option<HomeClaim>,
    /// How long a database that is not there yet is waited for.
    pub patience: Duration,
}

impl PostgresOptions {
    /// With patience for a database that begins at the same time as we do.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            home: None,
            patience: Duration::from_secs(10),
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresOptions")
            .field("url", &"postgres://…")
            .field("home", &self.home)
            .field("patience", &self.patience)
            .finish()
    }
}

/// An index in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    address: Address,
    writer: Writer,
    readers: Readers,
    /// Writes words, in long transactions that block no other write.
    text_writer: tokio::sync::Mutex<Option<PgConnection>>,
    lag: TextLag,
    /// What the last write failed with, and whether that was because the database was away.
    problem: Mutex<Option<(String, bool)>>,
}

/// Asks something on a connection that reads, and gives the connection back.
macro_rules! ask {
    ($store:expr, $question:path $(, $argument:expr)*) => {{
        let mut reader = $store.readers.take().await?;
        let answer = within(ANSWER_TIMEOUT, $question(&mut reader.connection $(, $argument)*)).await;
        $store.readers.give_back(reader, answer)
    }};
}

impl PostgresStore {
    /// Opens the index of a database, or makes one in a schema called `ralph`. Whatever is missing in it afterwards,
    /// [`catch_up`](crate::catch_up) brings. While the database cannot be reached yet, `on_wait` is called before each new attempt.
    ///
    /// # Errors
    /// When another server has it, it belongs to another state directory, a newer version wrote it, the address is wrong, or the database is not there.
    pub async fn connect(
        options: PostgresOptions,
        on_wait: impl FnMut(&Waiting) + Send,
    ) -> Result<Self, StoreError> {
        let address = Address::parse(&options.url)?;
        let mut connection =
            wait_for_writer(&address, options.home.as_ref(), options.patience, on_wait).await?;
        let lag = text::lag(&mut connection).await.map_err(explain)?;
        Ok(Self {
            writer: Writer::start(address.clone(), options.home, connection),
            readers: Readers::new(address.clone()),
            address,
            text_writer: tokio::sync::Mutex::new(None),
            lag: TextLag::new(lag),
            problem: Mutex::default(),
        })
    }

    /// Keeps what went wrong with a write until one works.
    pub(super) async fn write(&self, task: Task) -> Result<Done, StoreError> {
        let result = self.writer.perform(task).await;
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = result.as_ref().err().map(|error| {
            let is_away = matches!(error, StoreError::Unavailable(_));
            (error.to_string(), is_away)
        });
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

    /// An answer about one run; none if this version cannot read its rows.
    async fn unless_incompatible<T>(
        &self,
        run: &str,
        answer: Result<Option<T>, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if matches!(answer, Err(StoreError::Incompatible(_))) {
            self.reindex_incompatible(&[run.to_owned()]).await;
            return Ok(None);
        }
        answer
    }

    async fn refresh_lag(&self) -> Result<(), StoreError> {
        let lag = ask!(self, text::lag)?;
        self.lag.set(lag);
        Ok(())
    }

    /// A connection that writes words: the last one, if it is still there.
    async fn text_connection(&self, last: Option<PgConnection>) -> Result<PgConnection, StoreError> {
        if let Some(mut last) = last
            && within(ANSWER_TIMEOUT, last.ping()).await.is_ok()
        {
            return Ok(last);
        }
        open(&self.address, Purpose::Write).await.map_err(explain)
    }

    async fn index(&self, asked: Option<&[String]>) -> Result<u64, StoreError> {
        let mut last = self.text_writer.lock().await;
        let mut connection = self.text_connection(last.take()).await?;
        let count = self.index_with(&mut connection, asked).await?;
        // One that failed, or was given up on the way, is not used again.
        *last = Some(connection);
        Ok(count)
    }

    /// Indexes the words of all runs that have new ones, or of those that are asked for, a thousand at a time.
    async fn index_with(
        &self,
        connection: &mut PgConnection,
        asked: Option<&[String]>,
    ) -> Result<u64, StoreError> {
        let (mut count, mut after) = (0, String::new());
        loop {
            let runs = within(ANSWER_TIMEOUT, text::behind(connection, &after, asked)).await;
            let runs = runs.map_err(explain)?;
            let Some(last) = runs.last() else {
                return Ok(count);
            };
            after.clone_from(&last.name);
            let pending = within(TEXT_TIMEOUT, text::pending(connection, &runs)).await;
            let pending = pending.map_err(explain)?;
            let lines = StoredLines::new(Handle::current(), self.readers.take().await?);
            let mut gatherer = Gatherer::new(lines, pending);
            loop {
                let gathered = tokio::task::spawn_blocking(move || {
                    let batch = gatherer.next_batch();
                    (gatherer, batch)
                });
                let (back, batch) = gathered
                    .await
                    .map_err(|error| StoreError::Database(error.to_string()))?;
                gatherer = back;
                let Some(batch) = batch else {
                    let StoredLines { reader, .. } = gatherer.into_source();
                    self.readers.give_back(reader, Ok(()))?;
                    break;
                };
                let written = within(TEXT_TIMEOUT, text::write_batch(connection, &batch)).await;
                count += written.map_err(explain)?;
            }
        }
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn ingest(&self, batches: Vec<Batch>) -> Result<Ingested, StoreError> {
        let new = TextLag::count(&batches);
        let ingested = self.write(Task::Ingest(batches)).await?.ingested;
        self.lag.add(new);
        Ok(ingested)
    }

    fn keeps_lines(&self) -> bool {
        true
    }

    async fn progress(&self, run: &str) -> Result<Option<Progress>, StoreError> {
        let progress = ask!(self, read::progress, run);
        self.unless_incompatible(run, progress).await
    }

    async fn indexed_runs(&self) -> Result<Vec<IndexedRun>, StoreError> {
        ask!(self, read::indexed_runs)
    }

    async fn counts(&self) -> Result<RunCounts, StoreError> {
        ask!(self, read::counts)
    }

    async fn runs(&self, query: &RunQuery) -> Result<Page<RunSummary>, StoreError> {
        let place = match &query.cursor {
            Some(mark) => Some(run_place(mark).ok_or(StoreError::BadCursor)?),
            None => None,
        };
        let (page, incompatible) = ask!(self, read::runs, query, place)?;
        self.reindex_incompatible(&incompatible).await;
        Ok(page)
    }

    async fn run(&self, run: &str) -> Result<Option<RunSummary>, StoreError> {
        let summary = ask!(self, read::run, run);
        self.unless_incompatible(run, summary).await
    }

    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        ask!(self, read::workspaces)
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<ApprovalPage, StoreError> {
        let (approvals, incompatible) = ask!(self, read::approvals, query)?;
        self.reindex_incompatible(&incompatible).await;
        Ok(approvals)
    }

    async fn messages(&self, run: &str) -> Result<Vec<MessageRow>, StoreError> {
        let (messages, incompatible) = ask!(self, read::messages, run)?;
        self.reindex_incompatible(&incompatible).await;
        Ok(messages)
    }

    async fn costs(&self, query: &CostQuery) -> Result<Vec<CostRow>, StoreError> {
        ask!(self, usage::costs, query)
    }

    async fn search(&self, query: &SearchQuery) -> Result<SearchPage, StoreError> {
        let reader = self.readers.take().await?;
        let runtime = Handle::current();
        let within = query.within.clone();
        let query = SearchQuery {
            limit: bounded(query.limit),
            ..query.clone()
        };
        let searched = tokio::task::spawn_blocking(move || {
            let reader = RefCell::new(reader);
            let scope = || Scope::of(&runtime, &reader, &query);
            let page = match query.mode {
                SearchMode::Words => find(&query, SEARCH_TIMEOUT, scope),
                SearchMode::Substring => scan(&query, scope),
            };
            (reader.into_inner(), page)
        });
        let (reader, page) = searched
            .await
            .map_err(|error| StoreError::Database(error.to_string()))?;
        // After any other failure the connection may be of no use.
        if matches!(
            &page,
            Ok(_) | Err(StoreError::BadCursor | StoreError::BadSearch(_))
        ) {
            self.readers.give_back(reader, Ok(()))?;
        }
        let mut page = page?;
        page.lag = match within {
            None => self.lag.total(),
            Some(within) => {
                let (lacking, is_known) = self.lag.by_run();
                page.is_complete &= is_known;
                let runs: Vec<String> = lacking.keys().cloned().collect();
                total_of(&lacking, &ask!(self, read::runs_within, &runs, &within)?)
            }
        };
        Ok(page)
    }

    async fn index_texts(&self) -> Result<u64, StoreError> {
        let count = self.index(None).await?;
        self.refresh_lag().await?;
        Ok(count)
    }

    async fn index_texts_of(&self, runs: &[String]) -> Result<u64, StoreError> {
        if runs.is_empty() {
            return Ok(0);
        }
        let lacking = self.lag.of(runs);
        let count = self.index(Some(runs)).await?;
        self.lag.settle(lacking);
        Ok(count)
    }

    async fn compact_usage(&self, ended_before: Timestamp) -> Result<usize, StoreError> {
        let ended_before = nanoseconds(ended_before);
        let runs = ask!(self, usage::compactable, ended_before)?;
        for some in runs.chunks(COMPACTED_AT_A_TIME) {
            let runs = some.to_vec();
            self.write(Task::CompactUsage { runs, ended_before }).await?;
        }
        Ok(runs.len())
    }

    async fn remove(&self, runs: &[String]) -> Result<(), StoreError> {
        self.write(Task::Remove(runs.to_vec())).await?;
        self.refresh_lag().await
    }

    async fn clear(&self) -> Result<(), StoreError> {
        // Wait for a job that writes words: the tables cannot be emptied while it runs.
        let texts = self.text_writer.lock().await;
        self.write(Task::Clear).await?;
        drop(texts);
        self.lag.set(0);
        Ok(())
    }

    async fn put_response(
        &self,
        key: &str,
        answer: &SavedResponse,
    ) -> Result<Option<SavedResponse>, StoreError> {
        let task = Task::PutResponse(key.to_owned(), answer.clone());
        Ok(self.write(task).await?.first)
    }

    async fn response(&self, key: &str) -> Result<Option<SavedResponse>, StoreError> {
        ask!(self, read::response, key)
    }

    async fn health(&self) -> Health {
        let asked = self.readers.take().await;
        let asked = asked.and_then(|reader| self.readers.give_back(reader, Ok(())));
        let kept = self
            .problem
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let problem = match (asked, kept) {
            (Err(error), _) => Some(error.to_string()),
            // It is back.
            (Ok(()), Some((_, true)) | None) => None,
            (Ok(()), Some((problem, false))) => Some(problem),
        };
        Health {
            engine: "postgres",
            problem,
            text_lag: self.lag.total(),
        }
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.readers.close().await;
        if let Some(connection) = self.text_writer.lock().await.take() {
            // It is over either way.
            let _ = within(ANSWER_TIMEOUT, connection.close()).await;
        }
        self.writer.close().await
    }
}
