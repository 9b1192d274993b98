//! `collect`: walks the candidate records of a search, newest first, until the page is full or the time is up.

use std::time::{Duration, Instant};

use super::expression::Expression;
use crate::error::StoreError;

/// The size of the first slice of record numbers, newest first. The time limit is checked between slices, because a
/// search for a phrase that does not occur may visit the whole index. Fast slices make the next one larger, slow ones
/// make it smaller, so that the last slice does not overrun the limit by much.
const SLICE: i64 = 8_192;
const SMALLEST_SLICE: i64 = 1_024;
const FAST: Duration = Duration::from_millis(1);
const SLOW: Duration = Duration::from_millis(3);

/// A record that may be a hit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) id: i64,
    pub(crate) run: i64,
    /// Where the engine finds its line: the offset in the journal, or the record number.
    pub(crate) place: u64,
    /// How long its line is, without the newline.
    pub(crate) length: u32,
    pub(crate) kind: u8,
    /// In seconds.
    pub(crate) at: i64,
}

/// The records of one index that a search may look at.
pub(crate) trait Candidates {
    /// The lowest and the highest number in question.
    fn bounds(&self) -> (i64, i64);

    /// Adds the newest records between two numbers, newest first; with words only those that have them. One that has
    /// not is no harm: each is compared with the words when it is read.
    fn collect(
        &self,
        words: Option<&Expression>,
        between: (i64, i64),
        most: usize,
        out: &mut Vec<Candidate>,
    ) -> Result<(), StoreError>;

    /// Passes on the lines of some records, in any order and with all of their text: the index of the record, the run,
    /// and the line. Records that are not there any more are left out.
    fn read_lines(
        &self,
        records: &[Candidate],
        each: &mut dyn FnMut(usize, &str, &[u8]),
    ) -> Result<(), StoreError>;
}

/// Which of the records are there, newest first.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) candidates: Vec<Candidate>,
    /// Down to which number they were looked for.
    pub(super) reached: i64,
}

/// Collects records with these words from `top` down: at most `most`, or until time is up.
pub(super) fn collect(
    source: &dyn Candidates,
    words: Option<&Expression>,
    (low, top): (i64, i64),
    most: usize,
    limit: TimeLimit,
) -> Result<Collected, StoreError> {
    let (lowest, highest) = source.bounds();
    let (low, mut high) = (low.max(lowest), top.min(highest));
    let mut slice = if limit.is_sliced { SLICE } else { i64::MAX };
    let mut collected = Collected {
        reached: low,
        ..Collected::default()
    };
    while high >= low && collected.candidates.len() < most {
        let start = Instant::now();
        let bottom = low.max(high.saturating_sub(slice - 1));
        let room = most - collected.candidates.len();
        source.collect(words, (bottom, high), room, &mut collected.candidates)?;
        collected.reached = bottom;
        high = bottom - 1;
        if limit.is_over() {
            break;
        }
        let took = start.elapsed();
        if took < FAST {
            slice = slice.saturating_mul(2);
        } else if took > SLOW && limit.is_sliced {
            slice = (slice / 2).max(SMALLEST_SLICE);
        }
    }
    if collected.candidates.len() >= most
        && let Some(last) = collected.candidates.last()
    {
        collected.reached = last.id;
    }
    Ok(collected)
}

/// How long a search may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimit {
    until: Instant,
    /// Whether the index is looked through in slices. Beginnings of words are put together for all of it, whatever
    /// the slice.
    is_sliced: bool,
}

impl TimeLimit {
    pub(super) fn new(time: Duration) -> Self {
        Self {
            until: Instant::now() + time,
            is_sliced: true,
        }
    }

    pub(super) fn in_one_piece(self) -> Self {
        Self {
            is_sliced: false,
            ..self
        }
    }

    pub(super) fn extended(self, time: Duration) -> Self {
        Self {
            until: Instant::now() + time,
            ..self
        }
    }

    pub(super) fn is_over(self) -> bool {
        Instant::now() >= self.until
    }
}
