//! Queries and their results.

use agent_api::{MicroUsd, Tokens};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rows::ApprovalRow;

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next page begins; none on the last.
    pub next: Option<Cursor>,
}

/// Where a page begins. Opaque to clients: they give back what they were given.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

/// Which runs, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// Only those in one of these workspaces, which are all that whoever asks may see; `None` for all.
    pub within: Option<Vec<String>>,
    /// Only those in this workspace.
    pub workspace: Option<String>,
    /// Only those of this backend.
    pub backend: Option<String>,
    /// Only those that have ended, or have not.
    pub has_ended: Option<bool>,
    /// Only those that wait for a person.
    pub is_waiting: Option<bool>,
    /// Only those that had this conversation.
    pub session: Option<String>,
    /// Only those that began then or later.
    pub since: Option<Timestamp>,
    /// Only those that began before.
    pub until: Option<Timestamp>,
    /// Where the page begins.
    pub cursor: Option<Cursor>,
    /// How many at most.
    pub limit: usize,
}

/// Which questions, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalQuery {
    /// Only those in one of these workspaces, which are all that whoever asks may see; `None` for all.
    pub within: Option<Vec<String>>,
    /// Only those of this run.
    pub run: Option<String>,
    /// Only those that wait for an answer.
    pub is_pending: bool,
    /// Only those behind this one: when it was asked, its run and its record.
    pub after: Option<(Timestamp, String, u64)>,
    /// How many at most.
    pub limit: usize,
}

/// A page of what agents asked.
#[derive(Debug, Clone, Default)]
pub struct ApprovalPage {
    /// What is on it. One that this version cannot read is left out, so there may be fewer than asked for although there
    /// are more.
    pub items: Vec<ApprovalRow>,
    /// Where the next page begins, as [`ApprovalQuery::after`]; none on the last.
    pub next: Option<(Timestamp, String, u64)>,
}

/// Which costs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostQuery {
    /// Only those in one of these workspaces, which are all that whoever asks may see; `None` for all.
    pub within: Option<Vec<String>>,
    /// From then on.
    pub since: Option<Timestamp>,
    /// Before that.
    pub until: Option<Timestamp>,
    /// Only this workspace.
    pub workspace: Option<String>,
    /// By what they are added up.
    pub group: CostGroup,
    /// Only keys behind this one.
    pub after: Option<String>,
    /// How many at most.
    pub limit: usize,
}

/// By what costs are added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostGroup {
    /// Each day, in UTC.
    #[default]
    Day,
    /// Each model.
    Model,
    /// Each workspace.
    Workspace,
    /// Each backend.
    Backend,
    /// Each run.
    Run,
}

/// What something cost in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostRow {
    /// The day, model, workspace, backend or run.
    pub key: String,
    /// Messages of the model.
    pub messages: u64,
    /// What they used.
    pub tokens: Tokens,
    /// What they cost.
    pub cost: MicroUsd,
    /// Whether some of it is an estimate.
    pub is_estimate: bool,
}

/// Figures about all runs, counted by the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// How many runs have ended, by the word for the reason, such as `completed` or `limit_cost`.
    pub ended: Vec<(String, u64)>,
    /// Messages that wait for the end of a turn.
    pub queued_messages: u64,
    /// Requests that wait for a person.
    pub pending_requests: u64,
}

/// What to look for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// Only those in one of these workspaces, which are all that whoever asks may see; `None` for all.
    pub within: Option<Vec<String>>,
    /// Words, and "phrases in quotes"; all must be there.
    pub text: String,
    /// How words are meant.
    pub mode: SearchMode,
    /// Only this run.
    pub run: Option<String>,
    /// Only this workspace.
    pub workspace: Option<String>,
    /// Only this backend.
    pub backend: Option<String>,
    /// Only these kinds of records.
    pub kinds: Vec<String>,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// From then on.
    pub since: Option<Timestamp>,
    /// Before that.
    pub until: Option<Timestamp>,
    /// Where the page begins.
    pub cursor: Option<Cursor>,
    /// How many at most.
    pub limit: usize,
}

/// How a search text is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// Words, by the index.
    #[default]
    Words,
    /// Exactly these characters, anywhere: newest first, within a time limit.
    Substring,
}

/// A page of what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage {
    /// What was found, best first.
    pub hits: Vec<Hit>,
    /// Where the next page begins.
    pub next: Option<Cursor>,
    /// Whether everything was looked at; else time was up, or there are more hits than are ranked.
    pub is_complete: bool,
    /// How many records the index lacks yet, of the workspaces that are searched.
    pub lag: u64,
}

/// A record that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The run.
    pub run: String,
    /// The number of the record.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The kind of its event, such as `text_block`.
    pub kind: String,
    /// Some words around the first place, as plain text.
    pub snippet: String,
    /// Where the words that were looked for are in the snippet, in characters: start and end.
    pub marks: Vec<(u32, u32)>,
}
