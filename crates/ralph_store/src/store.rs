//! `Store`: the index of runs, whichever engine keeps it.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::StoreError;
use crate::query::{
    ApprovalPage, ApprovalQuery, CostQuery, CostRow, Page, RunCounts, RunQuery, SearchPage, SearchQuery,
};
use crate::rows::{Batch, IndexedRun, Ingested, MessageRow, Progress};
use crate::summary::RunSummary;

/// How many rows any page has at most.
pub const MAX_LIMIT: usize = 10_000;

/// How many runs' usage is replaced by sums in one transaction.
pub(crate) const COMPACTED_AT_A_TIME: usize = 16;

/// How long a response is kept. An older one is not replayed.
pub const RESPONSE_LIFETIME: std::time::Duration = std::time::Duration::from_secs(24 * 3600);

/// An index of runs.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Writes batches, all of them or none.
    ///
    /// Writing the same again changes nothing. A batch that ends where the index is with its run, or before, is skipped.
    /// One that overlaps adds what is new: of the same record the first one counts, of the same usage row, request and
    /// message the last one. A batch that begins behind the end of what is known is skipped and its run is returned. A
    /// batch that begins at 0 and has another epoch or fold version replaces the run; one with another epoch that does
    /// not begin at 0 is skipped and its run is returned. Batches of one run are written in order.
    async fn ingest(&self, batches: Vec<Batch>) -> Result<Ingested, StoreError>;

    /// Whether batches must have the lines of their records ([`RunFold::keeping_lines`](crate::RunFold::keeping_lines)).
    fn keeps_lines(&self) -> bool {
        false
    }

    /// Where to continue with a run: what [`RunFold::resume`](crate::RunFold::resume) needs.
    async fn progress(&self, run: &str) -> Result<Option<Progress>, StoreError>;

    /// How much of each journal has been indexed, in no order.
    async fn indexed_runs(&self) -> Result<Vec<IndexedRun>, StoreError>;

    /// Figures about all runs. Cheap: reads indexes of the database only.
    async fn counts(&self) -> Result<RunCounts, StoreError>;

    /// A page of runs, newest first: by their start, then by their name. A run that begins while pages are turned
    /// moves none of the others. A limit of 0 is [`MAX_LIMIT`], and so is a higher one, here and below.
    async fn runs(&self, query: &RunQuery) -> Result<Page<RunSummary>, StoreError>;

    /// One run.
    async fn run(&self, run: &str) -> Result<Option<RunSummary>, StoreError>;

    /// The workspaces of all runs, those of removed runs that still have costs included, in order.
    async fn workspaces(&self) -> Result<Vec<String>, StoreError>;

    /// A page of what agents asked, oldest first: by when it was asked, then by run and seq. `after` is such a place,
    /// exclusive.
    async fn approvals(&self, query: &ApprovalQuery) -> Result<ApprovalPage, StoreError>;

    /// The messages to an agent, by seq, at most the last [`MAX_LIMIT`].
    async fn messages(&self, run: &str) -> Result<Vec<MessageRow>, StoreError>;

    /// What was spent, the keys in order, from `after` on (exclusive); `since` and `until` are about when a message was
    /// used, and `until` is exclusive. A message of no known model counts under the key `unknown`. The cost is of those
    /// messages whose cost is known. Removed and [compacted](Self::compact_usage) runs count: of them it is known what
    /// they used each day (UTC), at the time of the day's last message. A sum that is too large for the database is the largest number it has.
    async fn costs(&self, query: &CostQuery) -> Result<Vec<CostRow>, StoreError>;

    /// A page of the records with these words.
    async fn search(&self, query: &SearchQuery) -> Result<SearchPage, StoreError>;

    /// Indexes the text of all records that the text index lacks. Compares all runs. Returns how many records.
    async fn index_texts(&self) -> Result<u64, StoreError>;

    /// As [`Self::index_texts`], for these runs only. Without any, it may compact the text index.
    async fn index_texts_of(&self, runs: &[String]) -> Result<u64, StoreError>;

    /// Replaces the usage of each message by sums, for runs that ended before this time. Returns how many runs. There is
    /// one sum for each day and model, as of [removed](Self::remove) runs: so adding up costs stays fast however long runs
    /// are kept. A run whose journal grows after that is read again from its start.
    async fn compact_usage(&self, ended_before: Timestamp) -> Result<usize, StoreError>;

    /// Removes runs; unknown ones are not an error. What they cost stays until the run is indexed again.
    async fn remove(&self, runs: &[String]) -> Result<(), StoreError>;

    /// Removes all runs, as [`Self::remove`]. What was [saved](Self::put_response) stays: nothing could rebuild it.
    async fn clear(&self) -> Result<(), StoreError>;

    /// Saves the response to a request under the client's idempotency key. Returns the first one that was saved, if that
    /// was another.
    async fn put_response(
        &self,
        key: &str,
        response: &SavedResponse,
    ) -> Result<Option<SavedResponse>, StoreError>;

    /// The response that was saved under a key.
    async fn response(&self, key: &str) -> Result<Option<SavedResponse>, StoreError>;

    /// Whether the index works.
    async fn health(&self) -> Health;

    /// Closes the index. Every later call fails.
    async fn close(&self) -> Result<(), StoreError>;
}

/// A response that is repeated when the same request comes again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedResponse {
    /// A digest of the request: another request under the same key is refused.
    pub digest: String,
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
    /// When it was saved.
    pub at: Timestamp,
}

/// Whether an index works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// `sqlite` or `postgres`.
    pub engine: &'static str,
    /// What is wrong, if something is.
    pub problem: Option<String>,
    /// How many records the text index lacks.
    pub text_lag: u64,
}
