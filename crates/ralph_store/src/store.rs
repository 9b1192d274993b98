//! What every engine can do.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::StoreError;
use crate::query::{ApprovalQuery, CostQuery, CostRow, Page, RecordQuery, RunQuery, SearchPage, SearchQuery};
use crate::rows::{ApprovalRow, Batch, MessageRow, Progress, RecordRow};
use crate::summary::RunSummary;

/// An index of runs.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Takes in what is new, all of it or nothing. The same again changes nothing: records are known by run and seq,
    /// and a batch that ends before what is known of its run is left out.
    async fn ingest(&self, batches: Vec<Batch>) -> Result<(), StoreError>;

    /// How far a run has been taken in.
    async fn progress(&self, run: &str) -> Result<Option<Progress>, StoreError>;

    /// How much of each journal has been taken in, of runs that have ended and that have not.
    async fn offsets(&self) -> Result<Vec<(String, u64, bool)>, StoreError>;

    /// A page of runs, newest first.
    async fn runs(&self, query: &RunQuery) -> Result<Page<RunSummary>, StoreError>;

    /// One run.
    async fn run(&self, run: &str) -> Result<Option<RunSummary>, StoreError>;

    /// The runs of a conversation, newest first.
    async fn runs_of_session(&self, session: &str) -> Result<Vec<RunSummary>, StoreError>;

    /// Where records stand in their journal.
    async fn records(&self, run: &str, query: &RecordQuery) -> Result<Vec<RecordRow>, StoreError>;

    /// What agents asked.
    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<ApprovalRow>, StoreError>;

    /// The messages to an agent, in order.
    async fn messages(&self, run: &str) -> Result<Vec<MessageRow>, StoreError>;

    /// What was spent.
    async fn costs(&self, query: &CostQuery) -> Result<Vec<CostRow>, StoreError>;

    /// What contains some words.
    async fn search(&self, query: &SearchQuery) -> Result<SearchPage, StoreError>;

    /// Takes the text of everything that was taken in into the text index, as far as it is now. Says how many records.
    async fn index_texts(&self) -> Result<u64, StoreError>;

    /// Forgets runs.
    async fn remove(&self, runs: &[String]) -> Result<(), StoreError>;

    /// Forgets everything.
    async fn clear(&self) -> Result<(), StoreError>;

    /// Remembers what a request was answered, under the client's key. Gives what was remembered first, if that was
    /// another one.
    async fn remember(&self, key: &str, answer: &Remembered) -> Result<Option<Remembered>, StoreError>;

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
