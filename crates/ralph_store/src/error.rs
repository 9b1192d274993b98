//! `StoreError`: why an operation on an index failed.

use std::path::PathBuf;

/// Why an operation on an index failed. No run is affected: the journals are the truth.
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
        "the index has version {found}, but this ralph supports versions up to {known}: upgrade ralph, or rebuild the \
         index with `ralph reindex`"
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
        "the schema `ralph` in the database has version {found}, but this ralph supports versions up to {known}: \
         upgrade ralph, or use another database and fill it with `ralph reindex` (only saved responses and the costs of \
         removed runs are lost)"
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
    /// The address of the database has an unknown form.
    #[error("unknown database address: it must be a path, `sqlite:PATH` or `postgres://…`")]
    UnknownAddress,
    /// The address of the database is invalid. The message never quotes it.
    #[error("invalid database address: {0}")]
    BadAddress(&'static str),
    /// The file is damaged.
    #[error("the index is damaged: {0}")]
    Damaged(String),
    /// The database cannot be reached at the moment.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The disk is full.
    #[error("the disk is full, so the index cannot be written: {0}")]
    Full(String),
    /// A value in the index that this version cannot read.
    #[error("{0} in the index cannot be read: rebuild the index with `ralph reindex`")]
    Incompatible(&'static str),
    /// A page cursor that this server did not return for this query.
    #[error("invalid page cursor: use `next` of the page before, with the same filters")]
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
    /// The index was closed, or its writer has stopped.
    #[error("the index is closed")]
    Closed,
    /// Any other error of the database.
    #[error("the database failed: {0}")]
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
