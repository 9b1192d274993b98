//! An index of runs and their records.
//!
//! The journals in the runs' directories are the truth: an index can be deleted and is rebuilt from them. It has what
//! lists, costs, requests and search need. Pages of records are read from the journal
//! ([`JournalReader::page`](ralph_run::JournalReader::page)).
#![warn(missing_docs)]

mod address;
mod catch_up;
mod columns;
mod decoded;
mod error;
mod fold;
mod home_claim;
mod postgres;
mod priority;
mod private;
mod query;
mod resume;
mod retention;
mod rows;
mod search;
mod sqlite;
mod store;
mod summary;
mod text_lag;

pub use address::DatabaseAddress;
pub use catch_up::{CatchUpProgress, CaughtUp, catch_up, catch_up_runs, reindex};
pub use error::StoreError;
pub use fold::{FoldState, Folded, RunFold};
pub use home_claim::{HomeClaim, OtherHome};
pub use postgres::{PostgresOptions, PostgresStore, Waiting};
pub use query::{
    ApprovalPage, ApprovalQuery, CostGroup, CostQuery, CostRow, Cursor, Hit, Page, RunCounts, RunQuery,
    SearchMode, SearchPage, SearchQuery,
};
pub use resume::resume_point;
pub use retention::{RetentionCandidate, RetentionRules, expired_runs};
pub use rows::{
    ApprovalKind, ApprovalRow, ApprovalState, Batch, IndexedRun, Ingested, MAX_KEPT_LINE_BYTES, MessageRow,
    MessageState, Progress, RecordRow, SignedTokens, UsageRow,
};
pub use search::{Indexed, SearchOptions, TextIndex};
pub use sqlite::{Note, Opened, SqliteOptions, SqliteStore};
pub use store::{Health, MAX_LIMIT, RESPONSE_LIFETIME, SavedResponse, Store};
pub use summary::{RunSummary, RunTotals};
