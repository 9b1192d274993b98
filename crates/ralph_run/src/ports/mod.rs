//! What the server and the index use instead of paths, so that runs can be on other machines later.
//!
//! [`Journals`] has the runs and their records, [`LocalJournals`] reads them from this machine's disk. Speaking to a
//! runner is `ralph_server::Runners`.

mod journals;
mod local;

pub use journals::{JournalHead, Journals, Place, RunPresence};
pub use local::LocalJournals;
