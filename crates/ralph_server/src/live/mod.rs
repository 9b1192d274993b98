//! What happens now: journals are followed, and everybody who watches a run is given the same frames.
//!
//! Nothing is pushed into a client's queue. Each client has a position in each run it watches and takes what is behind
//! it when it can: from a short ring of encoded frames, or, if it has fallen behind that, from the journal itself. So a
//! client that stalls costs nothing, and no client can miss or see twice what another one sees.

mod board;
mod feed;
mod follow;
mod followed;
mod frame;
mod gather;
mod hub;
mod inbox;
mod ingest;
mod read_back;
mod signal;
mod tail;
mod tools;

pub use board::Board;
pub use feed::{Next, Position, RunFeed};
pub use frame::Frame;
pub(crate) use hub::restarted;
pub use hub::{FeedError, Live, NoSuchRun};
pub use inbox::Inbox;
pub(crate) use read_back::read_back;
pub use signal::Signal;
