//! The index in a PostgreSQL database, in a schema of its own: for those who have outgrown a file.
//!
//! One connection writes, and holds the lock that says that the database is this server's; it puts what waits into one
//! commit. A few others read. When the database goes away every question fails at once, and works again when it is
//! back: nothing is lost, because the journals are the truth.

mod address;
mod candidates;
mod connect;
mod decode;
mod delete;
mod escape;
mod explain;
mod ingest;
mod migrate;
mod read;
mod readers;
mod rows;
mod schema;
mod store;
mod text;
mod usage;
mod vector;
mod writer;

pub use connect::Waiting;
pub use store::{PostgresOptions, PostgresStore};
