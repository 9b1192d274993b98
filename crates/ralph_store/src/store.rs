//! What every engine can do.

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

/// How long an answer is [remembered](Store::remember). An older one is as good as none.
pub const REMEMBERED_FOR: std::time::Duration = std::time::Duration::from_secs(24 * 3600);

/// An index of runs.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Takes in what is new, all of it or nothing.
    ///
    /// The same again changes nothing: a batch that ends where the run is known or before is left out, one that
    /// overlaps adds what is new (a record is known by run and seq, and the first one counts; usage is known by run
    /// and seq, approvals and messages by run and seq too, and the last one counts). A batch that begins behind what
    /// is known is left out and its run is named in the answer. A batch of another epoch than is known replaces the
    /// run if it begins at 0, and is named in the answer if it does not. A batch of a newer fold that begins at 0 replaces the
    /// run, too. Several batches of one run are taken in
    /// order. Summary, offset and state of a run are those of its last batch.
    async fn ingest(&self, batches: Vec<Batch>) -> Result<Ingested, StoreError>;

    /// Whether batches must have the lines of their records ([`RunFold::keeping_lines`](crate::RunFold::keeping_lines)).
    fn keeps_lines(&self) -> bool {
        false
    }

    /// How far a run has been taken in, with what [`RunFold::resume`](crate::RunFold::resume) needs.
    async fn progress(&self, run: &str) -> Result<Option<Progress>, StoreError>;

    /// How much of each journal has been taken in, in no order.
    async fn indexed_runs(&self) -> Result<Vec<IndexedRun>, StoreError>;

    /// Figures about all runs. Cheap: reads indexes of the database only.
    async fn counts(&self) -> Result<RunCounts, StoreError>;

    /// A page of runs, newest first: by their start, then by their name. A run that begins while pages are turned
    /// moves none of the others. A limit of 0 is [`MAX_LIMIT`], and so is a higher one, here and below.
    async fn runs(&self, query: &RunQuery) -> Result<Page<RunSummary>, StoreError>;

    /// One run.
    async fn run(&self, run: &str) -> Result<Option<RunSummary>, StoreError>;

    /// The runs of a conversation, newest first, at most [`MAX_LIMIT`].
    async fn runs_of_session(&self, session: &str) -> Result<Vec<RunSummary>, StoreError>;

    /// A page of what agents asked, oldest first: by when it was asked, then by run and seq. `after` is such a place,
    /// exclusive.
    async fn approvals(&self, query: &ApprovalQuery) -> Result<ApprovalPage, StoreError>;

    /// The messages to an agent, by seq, at most the last [`MAX_LIMIT`].
    async fn messages(&self, run: &str) -> Result<Vec<MessageRow>, StoreError>;

    /// What was spent, the keys in order, from `after` on (exclusive); `since` and `until` are about when a message was
    /// used, and `until` is exclusive. A message of no known model counts under the key `unknown`. The cost is of those
    /// messages whose cost is known. Removed runs count: of them it is known what they used each day, at the time of
    /// the day's last message. A sum that is too large for the database is the largest number it has.
    async fn costs(&self, query: &CostQuery) -> Result<Vec<CostRow>, StoreError>;

    /// What contains some words.
    async fn search(&self, query: &SearchQuery) -> Result<SearchPage, StoreError>;

    /// Takes the text of everything that was taken in into the text index, as far as it is now. Says how many records.
    /// It compares all runs.
    async fn index_texts(&self) -> Result<u64, StoreError>;

    /// Takes the text of these runs into the text index, as far as they have been taken in, and looks at no others.
    /// Without any, it may tidy up.
    async fn index_texts_of(&self, runs: &[String]) -> Result<u64, StoreError>;

    /// Removes runs; unknown ones are not an error. What they cost stays, and is replaced if the run is taken in again.
    async fn remove(&self, runs: &[String]) -> Result<(), StoreError>;

    /// Removes all runs, as [`Self::remove`]. What was [remembered](Self::remember) stays: nothing could rebuild it.
    async fn clear(&self) -> Result<(), StoreError>;

    /// Remembers what a request was answered, under the client's key. Gives what was remembered first, if that was
    /// another one.
    async fn remember(&self, key: &str, answer: &Remembered) -> Result<Option<Remembered>, StoreError>;

    /// Forgets what was [remembered](Self::remember) under a key; an unknown one is no error.
    async fn forget(&self, key: &str) -> Result<(), StoreError>;

    /// What a request was answered before.
    async fn recall(&self, key: &str) -> Result<Option<Remembered>, StoreError>;

    /// How it is.
    async fn health(&self) -> Health;

    /// Ends in good order. Nothing can be asked afterwards.
    async fn close(&self) -> Result<(), StoreError>;
}

/// What a request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// A digest of the request: another request under the same key is refused.
    pub digest: String,
    /// The status of the answer.
    pub status: u16,
    /// The answer.
    pub body: String,
    /// When.
    pub at: Timestamp,
}

/// How an index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// `sqlite` or `postgres`.
    pub engine: &'static str,
    /// What is wrong; none if nothing is.
    pub problem: Option<String>,
    /// How many records the text index lacks.
    pub text_lag: u64,
}
