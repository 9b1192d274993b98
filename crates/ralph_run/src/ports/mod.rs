//! What the server and the index use instead of paths, so that runs can be on other machines later.
//!
//! [`Journals`] has the runs and their records, [`LocalJournals`] reads them from this machine's disk. Speaking to a
//! runner is `ralph_server::Runners`.

mod change_watch;
mod follow;
mod follower_threads;
mod journals;
mod local;

pub use follow::{FollowEnd, FollowStep, JournalSink};
pub use journals::{JournalChunk, JournalHead, JournalText, Journals, Place, ReadItem, RunPresence};
pub use local::LocalJournals;
