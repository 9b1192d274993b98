//! `StoreError`: why an index could not do something.

use std::path::PathBuf;

/// What can go wrong with an index. None of it costs a run anything: the journals are the truth.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another server has it.
    #[error("the index in `{}` is in use by another server{}", directory.display(), holder(*pid))]
    InUse {
        /// Where it is.
        directory: PathBuf,
        /// The other server's process, where it says.
        pid: Option<u32>,
    },
    /// Written by a newer version.
    #[error(
        "the index is of version {found}, this program knows up to {known}: use a newer ralph, or `ralph reindex`"
    )]
    Newer {
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// Our schema in a PostgreSQL database was made by a newer version. Unlike a file it is not replaced by a new one: others may
    /// use it.
    #[error(
        "our schema in the database is of version {found}, this program knows up to {known}: use a newer ralph or \
         another database (everything but answers to requests can be rebuilt there by `ralph reindex`)"
    )]
    NewerSchema {
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// It holds the runs of another state directory.
    #[error(
        "the index belongs to another state directory (id `{found}`) and was left as it is: use another database or \
         `--data DIR`, or run `ralph reindex --take-over` to delete what it holds and index the runs of this one"
    )]
    OtherHome {
        /// The id of the other one.
        found: String,
    },
    /// The address of the database means nothing to us.
    #[error("unknown database address: it must be a path, `sqlite:PATH` or `postgres://…`")]
    UnknownAddress,
    /// The address of the database is one of ours and wrong. Never quotes it.
    #[error("the address of the database: {0}")]
    BadAddress(&'static str),
    /// The file is damaged.
    #[error("the index is damaged: {0}")]
    Damaged(String),
    /// It is not there right now.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The disk is full.
    #[error("no room for the index: {0}")]
    Full(String),
    /// Something in it means nothing to this version.
    #[error("{0} in the index cannot be read: use `ralph reindex`")]
    Incompatible(&'static str),
    /// A page mark that we did not give.
    #[error("this page mark is not one of ours")]
    BadCursor,
    /// A search text that cannot be searched for.
    #[error("cannot search for this: {0}")]
    BadSearch(String),
    /// A file of a run cannot be read.
    #[error("cannot read `{}`", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It was closed, or its writer is gone.
    #[error("the index is closed")]
    Closed,
    /// Something in the database that should not be.
    #[error("the database: {0}")]
    Database(String),
}

impl StoreError {
    /// Whether a run's file is not there any more: the run was removed.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Journal { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}
