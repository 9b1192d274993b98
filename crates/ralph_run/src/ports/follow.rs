//! `JournalSink`: takes the lines of a journal as they are written, from [`Journals::follow`](super::Journals::follow).

use std::io;
use std::time::Instant;

use crate::journal::JournalItem;

/// What is done with the lines of a run. It is called on a thread that serves many runs, so it must not wait. Dropping it
/// is the last thing that happens, however following ends.
pub trait JournalSink: Send + 'static {
    /// The next line.
    fn on_item(&mut self, item: JournalItem<'_>);

    /// After the lines that were there, and at the time that the last answer asked for. `has_more` says that more
    /// lines follow at once.
    fn on_batch(&mut self, now: Instant, has_more: bool) -> FollowStep;

    /// The journal is another one now: its lines follow, from the first one on.
    fn on_replaced(&mut self);

    /// Following has ended by itself.
    fn on_end(&mut self, end: FollowEnd);
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowStep {
    /// Wait for more lines, or until this time.
    Wait(Option<Instant>),
    /// Nothing more is wanted.
    Stop,
}

/// Why following has ended.
#[derive(Debug)]
pub enum FollowEnd {
    /// The journal was removed.
    Gone,
    /// It cannot be read.
    Failed(io::Error),
}
