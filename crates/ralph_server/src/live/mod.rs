//! What happens now: journals are followed, and everybody who watches a run is given the same frames.
//!
//! Nothing is pushed into a client's queue. Each client has a position in each run it watches and takes what is behind
//! it when it can: from a short ring of encoded frames, or, if it has fallen behind that, from the journal itself. So a
//! client that stalls costs nothing, and no client can miss or see twice what another one sees.

mod backfill;
mod board;
mod confined_runs;
mod feed;
mod follow;
mod follow_states;
mod frame;
mod frame_builder;
mod hub;
mod inbox;
mod ingest;
mod labels;
mod run_patch;
mod tool_times;
mod wake_set;

pub(crate) use backfill::backfill;
pub use board::{Board, RemovedRun, RunsForm};
pub use confined_runs::ConfinedRuns;
pub use feed::{Next, Position, RunFeed};
pub use frame::Frame;
pub(crate) use hub::restarted;
pub use hub::{FeedError, Hub, NoSuchRun};
pub use inbox::{Inbox, InboxReader};
pub use labels::{Labels, RunLabels};
pub use wake_set::ClientWaker;
