//! The index in a file of its own: nothing to set up.
//!
//! One thread writes, and puts what waits into one commit; a few connections read, each for a moment only, so that the
//! write-ahead log stays small.

mod corruption_flag;
mod decode;
mod delete;
pub(crate) mod explain;
pub(crate) mod file;
mod ingest;
mod lock;
mod migrate;
mod open;
mod read;
mod readers;
mod schema;
mod store;
#[cfg(test)]
mod tests;
mod texts;
mod usage;
mod writer;

pub use open::{Note, Opened};
pub use store::{SqliteOptions, SqliteStore};
