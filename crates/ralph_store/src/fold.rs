//! From a journal's lines to what is kept of them.

use crate::rows::{Batch, Progress};
use crate::summary::RunSummary;

/// Reads a journal from somewhere on and keeps what an index needs. Pure: lines in, rows out.
#[derive(Debug)]
pub struct RunFold {
    summary: Option<RunSummary>,
    offset: u64,
}

/// What came of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folded {
    /// A record.
    Record {
        /// Its number.
        seq: u64,
    },
    /// A piece of text: it is not kept.
    Delta {
        /// Its number.
        seq: u64,
    },
    /// No record.
    Damaged,
}

impl RunFold {
    /// Begins at the start of a journal.
    #[must_use]
    pub fn new() -> Self {
        Self {
            summary: None,
            offset: 0,
        }
    }

    /// Goes on where an index stopped.
    #[must_use]
    pub fn resume(progress: Progress) -> Self {
        Self {
            summary: Some(progress.summary),
            offset: progress.offset,
        }
    }

    /// The run so far; none before record 1.
    #[must_use]
    pub fn summary(&self) -> Option<&RunSummary> {
        self.summary.as_ref()
    }

    /// How much of the journal has been read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes a line, without its newline.
    pub fn push(&mut self, line: &[u8]) -> Folded {
        self.offset += line.len() as u64 + 1;
        Folded::Damaged
    }

    /// What has come since the last time; none if nothing has.
    pub fn take(&mut self) -> Option<Batch> {
        None
    }
}

impl Default for RunFold {
    fn default() -> Self {
        Self::new()
    }
}
