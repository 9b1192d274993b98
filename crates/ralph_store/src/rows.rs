//! `Batch` and the rows in it: what an index is given.

use std::sync::Arc;

use agent_api::Tokens;
use jiff::Timestamp;
use ralph_run::control::SendMode;
use ralph_run::model::Message;
pub use ralph_run::model::MessageState;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::columns::integer;
use crate::fold::FoldState;
use crate::summary::RunSummary;

/// A record of a batch. Deltas are left out: the complete text follows in a record of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordRow {
    /// Counts from 1 in each run, with a gap for each delta.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The kind of its event, such as `text_block`.
    pub kind: String,
    /// Where its line begins in the journal.
    pub offset: u64,
    /// Its line with all of its text, for an index that [keeps lines](crate::Store::keeps_lines). A line over
    /// [`MAX_KEPT_LINE_BYTES`] is left out.
    pub line: Option<Box<str>>,
}

/// Longer lines are not kept in an index: the journal has them, and search does not find them. The bounds of events keep
/// lines far below this.
pub const MAX_KEPT_LINE_BYTES: usize = 512 << 10;

/// What one message of the model used. A later row of the same record replaces it.
///
/// Figures are signed: when an agent reports a lower total than before, the difference is subtracted from a row that was
/// written earlier, so that the rows of a run always add up to its totals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageRow {
    /// The record.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// Which model.
    #[serde(with = "model_name")]
    pub model: Option<Arc<str>>,
    /// What it used.
    pub tokens: SignedTokens,
    /// What it cost, in millionths of a dollar; `None` if unknown.
    pub cost_micro_usd: Option<i64>,
    /// Whether the cost is an estimate.
    pub is_estimate: bool,
}

/// `Option<Arc<str>>` as JSON, without the `rc` feature of serde.
mod model_name {
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(model: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
        model.as_deref().serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Arc::from))
    }
}

/// Token counts that may be negative. Counts beyond the range of a database's integers are capped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SignedTokens {
    /// As in [`Tokens`].
    pub input: i64,
    /// As in [`Tokens`].
    pub cache_read: i64,
    /// As in [`Tokens`].
    pub cache_write: i64,
    /// As in [`Tokens`].
    pub output: i64,
    /// As in [`Tokens`].
    pub reasoning: i64,
}

impl SignedTokens {
    pub(crate) const FIELDS: [fn(&mut Self) -> &mut i64; 5] = [
        |tokens| &mut tokens.input,
        |tokens| &mut tokens.cache_read,
        |tokens| &mut tokens.cache_write,
        |tokens| &mut tokens.output,
        |tokens| &mut tokens.reasoning,
    ];

    /// Applies `combine` to each pair of counts.
    #[must_use]
    pub(crate) fn zip(mut self, mut other: Self, combine: impl Fn(i64, i64) -> i64) -> Self {
        for field in Self::FIELDS {
            *field(&mut self) = combine(*field(&mut self), *field(&mut other));
        }
        self
    }

    pub(crate) fn total(mut self) -> i64 {
        Self::FIELDS
            .iter()
            .fold(0, |sum: i64, field| sum.saturating_add(*field(&mut self)))
    }
}

impl From<Tokens> for SignedTokens {
    fn from(tokens: Tokens) -> Self {
        Self {
            input: integer(tokens.input),
            cache_read: integer(tokens.cache_read),
            cache_write: integer(tokens.cache_write),
            output: integer(tokens.output),
            reasoning: integer(tokens.reasoning),
        }
    }
}

/// Something the agent asked, and what became of it.
#[derive(Debug, Clone)]
pub struct ApprovalRow {
    /// The run.
    pub run: String,
    /// What the answer must name.
    pub request: String,
    /// What kind of question.
    pub kind: ApprovalKind,
    /// The record that asked.
    pub seq: u64,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// What was asked: the data of the record.
    pub data: Box<RawValue>,
    /// What became of it.
    pub state: ApprovalState,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
}

/// What kind of question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    /// May this tool run?
    Permission,
    /// The agent asks a person.
    Question,
    /// Is this plan good?
    Plan,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// It waits for an answer.
    Pending,
    /// It was answered.
    Answered,
    /// The agent no longer waits for an answer.
    Withdrawn,
}

/// A message to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// The run.
    pub run: String,
    /// Names it.
    pub id: String,
    /// The command that brought it.
    pub command_id: String,
    /// The record.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// `steer` or `queue`.
    pub mode: String,
    /// The message, redacted.
    pub text: String,
    /// What became of it.
    pub state: MessageState,
}

impl MessageRow {
    pub(crate) fn new(run: &str, message: Message) -> Self {
        Self {
            run: run.to_owned(),
            id: message.id,
            command_id: message.command_id,
            seq: message.seq,
            at: message.at,
            mode: match message.mode {
                SendMode::Steer => "steer",
                SendMode::Queue => "queue",
            }
            .to_owned(),
            text: message.text,
            state: message.state,
        }
    }
}

/// The rows of some lines of one run, from a [`RunFold`](crate::RunFold).
#[derive(Debug, Clone)]
pub struct Batch {
    /// The run after it.
    pub summary: RunSummary,
    /// How much of the journal had been read before it.
    pub start: u64,
    /// How much of the journal has been read after it.
    pub offset: u64,
    /// What the fold needs to continue after it. Engines keep it as JSON.
    pub state: FoldState,
    /// Records, in order.
    pub records: Vec<RecordRow>,
    /// What messages used.
    pub usage: Vec<UsageRow>,
    /// Questions that are new or changed.
    pub approvals: Vec<ApprovalRow>,
    /// Messages that are new or changed.
    pub messages: Vec<MessageRow>,
}

impl Batch {
    /// How many bytes the lines of the records have.
    #[must_use]
    pub fn line_bytes(&self) -> usize {
        let lines = self.records.iter().flat_map(|record| &record.line);
        lines.map(|line| line.len()).sum()
    }

    /// The records that are new to an index that knows the journal up to `offset`.
    pub(crate) fn records_from(&self, offset: u64) -> impl Iterator<Item = &RecordRow> {
        self.records.iter().filter(move |record| record.offset >= offset)
    }
}

/// How far a run has been indexed.
#[derive(Debug, Clone)]
pub struct Progress {
    /// How much of the journal.
    pub offset: u64,
    /// The run then.
    pub summary: RunSummary,
    /// What the fold needs to continue.
    pub state: FoldState,
    /// Questions that were [pending](ApprovalState::Pending) then, in order.
    pub approvals: Vec<ApprovalRow>,
    /// What messages of the model used from [`FoldState::unsettled_from`] on, in order; none if that is none. What
    /// they cost is known at the end of the turn only.
    pub usage: Vec<UsageRow>,
}

/// How much an index has of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedRun {
    /// The run.
    pub run: String,
    /// How much of its journal has been indexed.
    pub offset: u64,
    /// When it ended; `None` if it has not.
    pub ended_at: Option<Timestamp>,
    /// Whether this version of the fold made its rows. Others are read again from the journal.
    pub is_current: bool,
}

/// The result of [`Store::ingest`](crate::Store::ingest).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Records that are new.
    pub records: u64,
    /// Runs with a gap between what is known and the batch. The batch was skipped: read the run again from where [`Store::progress`](crate::Store::progress) says.
    pub disconnected: Vec<String>,
}
