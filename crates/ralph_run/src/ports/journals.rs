//! `Journals`: the runs and their records, wherever they are kept.

use std::fmt;
use std::io;

use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;

use super::follow::JournalSink;
use crate::journal::{JournalMatch, JournalPage, PageQuery};

/// A place in a journal, between two records. Only who gave it can tell what it means: in a local file it is an offset.
/// Places of one journal are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(u64);

impl Place {
    /// Before the first record.
    pub const START: Self = Self(0);

    /// About how many bytes lie between an earlier place and this one.
    #[must_use]
    pub fn bytes_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// From how it was stored.
impl From<u64> for Place {
    fn from(stored: u64) -> Self {
        Self(stored)
    }
}

/// To be stored.
impl From<Place> for u64 {
    fn from(place: Place) -> Self {
        place.0
    }
}

/// How far a journal has been written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalHead {
    /// Which journal it is.
    pub epoch: String,
    /// Its last record.
    pub seq: u64,
    /// Behind its last complete line.
    pub end: Place,
}

/// A run that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunPresence {
    /// Whether a runner has begun it.
    pub is_started: bool,
    /// Whether it has a journal.
    pub has_journal: bool,
    /// Whether it may not have ended.
    pub is_active: bool,
}

/// Whether lines are wanted as they are written, or with the text that they leave out because earlier ones have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalText {
    AsWritten,
    Restored,
}

/// Lines that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalChunk {
    /// The lines.
    pub items: Vec<ReadItem>,
    /// Behind the last one.
    pub end: Place,
    /// Whether there are no more lines now.
    pub is_end: bool,
}

/// A line that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadItem {
    /// A complete line.
    Line {
        /// Where it begins.
        start: Place,
        /// Behind its end.
        end: Place,
        /// The line without its newline.
        line: Bytes,
    },
    /// A line over the limit, which was skipped.
    Overlong {
        /// Its length with the newline.
        bytes: u64,
    },
}

/// All runs and their records. A missing run or journal is [`io::ErrorKind::NotFound`], unless the answer has `None` for
/// it.
#[async_trait]
pub trait Journals: fmt::Debug + Send + Sync + 'static {
    /// A run by its id; none if there is none.
    async fn presence(&self, run: &str) -> Option<RunPresence>;

    /// The runs that may not have ended.
    async fn active(&self) -> io::Result<Vec<String>>;

    /// An id that no run has.
    async fn new_run_id(&self, at: Timestamp) -> String;

    /// How far a journal has been written; none if it has no record yet.
    async fn head(&self, run: &str) -> io::Result<Option<JournalHead>>;

    /// Records by number and kind.
    async fn page(&self, run: &str, query: PageQuery) -> io::Result<JournalPage>;

    /// Where the first record after `seq` begins; the end if there is none.
    async fn find_after(&self, run: &str, seq: u64) -> io::Result<Place>;

    /// Lines from a place on and before `to`: about `max_bytes`, but at least one line.
    async fn read(
        &self,
        run: &str,
        from: Place,
        to: Option<Place>,
        max_bytes: u64,
        text: JournalText,
    ) -> io::Result<JournalChunk>;

    /// Passes on the lines of a run from a place on as they are written, until the sink has enough.
    fn follow(&self, run: &str, from: Place, sink: Box<dyn JournalSink>);

    /// Compares a journal with what is known of it by a reader that stopped at `place`, after record `seq`.
    async fn compare(&self, run: &str, epoch: &str, seq: u64, place: Place) -> io::Result<JournalMatch>;
}
