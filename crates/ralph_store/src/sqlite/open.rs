//! `open_file_of_index`: opens `ralph.db`; checks it after an unclean stop, replaces it if it is damaged, upgrades it.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use super::delete;
use super::explain::explain;
use super::file::move_aside;
use super::migrate::migrate;
use super::read::{self, Head};
use super::schema::MIGRATIONS;
use super::store::SqliteStore;
use super::usage::{Kept, keep_costs};
use crate::error::StoreError;
use crate::home_claim::{Claimed, HomeClaim};
use crate::private::{make_directory, open_file};

/// Older ones can damage a database in the write-ahead mode.
const OLDEST_SQLITE: i32 = 3_051_003;
/// We are the only writer: this is for another program that has the file open.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An index that was opened, and what its user should know.
#[derive(Debug)]
pub struct Opened {
    /// The index.
    pub store: SqliteStore,
    /// What was found or done.
    pub notes: Vec<Note>,
}

/// What was found or done when an index was opened. Shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The last server was not shut down cleanly; the file was checked and is intact.
    UncleanStop,
    /// The file was damaged. A new one takes its place, and [`catch_up`](crate::catch_up) fills it.
    MovedAside {
        /// Where the damaged one is now.
        to: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The text index was damaged, and is rebuilt.
    TextMovedAside {
        /// Where the damaged one is now.
        to: PathBuf,
    },
    /// A new index takes the place of the old one, as was asked.
    Replaced {
        /// Where the old one is now, until the next time.
        to: PathBuf,
    },
    /// The file was of an older version.
    Migrated {
        /// Its version.
        from: i64,
        /// Ours.
        to: i64,
        /// A copy as it was before.
        backup: PathBuf,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UncleanStop => formatter
                .write_str("the server was not shut down cleanly; the index was checked and is intact"),
            Self::MovedAside { to, problem } => write!(
                formatter,
                "the index was damaged ({problem}) and is rebuilt from the journals; the old file is `{}`",
                to.display()
            ),
            Self::TextMovedAside { to } => write!(
                formatter,
                "the text index was damaged and is rebuilt from the journals; the old file is `{}`",
                to.display()
            ),
            Self::Replaced { to } => write!(
                formatter,
                "the old index is `{}` until the next `ralph reindex`; it can be deleted",
                to.display()
            ),
            Self::Migrated { from, to, backup } => write!(
                formatter,
                "the index was upgraded from version {from} to {to}; a copy of the old one is `{}`",
                backup.display()
            ),
        }
    }
}

/// Opens the file for its one writer, and says how far it is with each run. The lock on the directory is the caller's.
pub(super) fn open_file_of_index(
    path: &Path,
    home: Option<&HomeClaim>,
    notes: &mut Vec<Note>,
) -> Result<(Connection, Vec<Head>), StoreError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        let message = format!("SQLite {} is too old, 3.51.3 is needed", rusqlite::version());
        return Err(StoreError::Unavailable(message));
    }
    match try_open(path, home, notes) {
        Err(StoreError::Damaged(problem)) => {
            let to = move_aside(path)?;
            tracing::warn!(problem, "the index is damaged and is rebuilt");
            let opened = try_open(path, home, notes)?;
            keep_what_cannot_be_rebuilt(&opened.0, &to);
            notes.push(Note::MovedAside { to, problem });
            Ok(opened)
        }
        other => other,
    }
}

fn try_open(
    path: &Path,
    home: Option<&HomeClaim>,
    notes: &mut Vec<Note>,
) -> Result<(Connection, Vec<Head>), StoreError> {
    // Made by us, so that it has our mode; SQLite gives its other files the same one.
    let made = open_file(path);
    made.map_err(|error| StoreError::Unavailable(format!("`{}`: {error}", path.display())))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(explain)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(explain)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = NORMAL;
             PRAGMA foreign_keys = ON;
             PRAGMA wal_autocheckpoint = 4000;
             PRAGMA journal_size_limit = 16777216;
             PRAGMA cache_size = -4096;
             PRAGMA temp_store = MEMORY;",
        )
        .map_err(explain)?;
    check(&connection, notes)?;
    if let Some(migrated) = migrate(&mut connection, path, MIGRATIONS)? {
        notes.push(Note::Migrated {
            from: migrated.from,
            to: migrated.to,
            backup: migrated.backup,
        });
    }
    if let Some(home) = home {
        claim(&mut connection, home)?;
    }
    connection
        .execute("UPDATE meta SET value = 1 WHERE key = 'is_open'", [])
        .map_err(explain)?;
    // Read here, so that damage in it costs a rebuild and not the start.
    let heads = read::heads(&connection)?;
    Ok((connection, heads))
}

/// Checks that the index belongs to this state directory. One without an id becomes its own.
fn claim(connection: &mut Connection, home: &HomeClaim) -> Result<(), StoreError> {
    let found = home_of(connection).map_err(explain)?;
    let claimed = home.check(found.as_deref())?;
    if claimed == Claimed::Ours {
        return Ok(());
    }
    let change = |connection: &mut Connection| {
        let transaction = connection.transaction()?;
        if claimed == Claimed::TakeOver {
            delete::empty(&transaction)?;
        }
        transaction.execute("DELETE FROM home", [])?;
        transaction.execute("INSERT INTO home VALUES(?1)", [&home.id])?;
        transaction.commit()
    };
    change(connection).map_err(explain)
}

fn home_of(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection
        .query_row("SELECT id FROM home", [], |row| row.get(0))
        .optional()
}

/// The id of the state directory that a file belongs to; `None` if it has none, or cannot be read.
pub(super) fn home_of_file(path: &Path) -> Option<String> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    home_of(&connection).ok()?
}

/// Checks the whole file if it was not closed. A new one has no flag yet.
fn check(connection: &Connection, notes: &mut Vec<Note>) -> Result<(), StoreError> {
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(explain)?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if version > known {
        return Err(StoreError::Newer {
            found: version,
            known,
        });
    }
    if version == 0 {
        // Ours get their version together with their tables.
        let is_empty: bool = connection
            .query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
            .map_err(explain)?;
        return if is_empty {
            Ok(())
        } else {
            Err(StoreError::Damaged("it has tables and no version".to_owned()))
        };
    }
    let was_open: Option<bool> = connection
        .query_row("SELECT value FROM meta WHERE key = 'is_open'", [], |row| {
            row.get(0)
        })
        .optional()
        .map_err(|error| match explain(error) {
            // A file of our version without our tables is no file of ours.
            StoreError::Database(problem) => StoreError::Damaged(problem),
            other => other,
        })?;
    if was_open == Some(false) {
        return Ok(());
    }
    let found: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(explain)?;
    if found != "ok" {
        return Err(StoreError::Damaged(found));
    }
    notes.push(Note::UncleanStop);
    Ok(())
}

/// Copies what no journal has from a file that was moved aside: answers to requests, and what removed runs cost. Runs that
/// are still there replace their costs when they are taken in again. The file may be damaged or of another version: what
/// cannot be read is lost.
pub(super) fn keep_what_cannot_be_rebuilt(connection: &Connection, old: &Path) {
    if let Err(error) = connection.execute("ATTACH ?1 AS old", [old.to_string_lossy()]) {
        tracing::warn!(%error, "the old index cannot be opened: saved responses and the costs of removed runs are lost");
        return;
    }
    let answers = connection.execute_batch(
        "INSERT OR IGNORE INTO remembered(key, digest, status, body, at)
         SELECT key, digest, status, body, at FROM old.remembered",
    );
    let removed = has_kept_costs(connection).and_then(|is_there| match is_there {
        true => connection.execute_batch("INSERT INTO usage_day SELECT * FROM old.usage_day"),
        false => Ok(()),
    });
    let runs = keep_costs(connection, Kept::All { database: "old" });
    for (what, kept) in [
        ("saved responses", answers),
        ("costs of removed runs", removed),
        ("costs of runs", runs),
    ] {
        if let Err(error) = kept {
            tracing::warn!(%error, "{what} could not be copied from the old index");
        }
    }
    // A cached statement would keep the file attached.
    connection.flush_prepared_statement_cache();
    if let Err(error) = connection.execute("DETACH old", []) {
        tracing::warn!(%error, "the old index could not be closed");
    }
}

/// Whether the old file has the costs of removed runs. Older versions had none.
fn has_kept_costs(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT count(*) > 0 FROM old.sqlite_schema WHERE name = 'usage_day'",
        [],
        |row| row.get(0),
    )
}

/// Makes the data directory and takes it.
pub(super) fn take_directory(directory: &Path) -> Result<File, StoreError> {
    make_directory(directory)
        .map_err(|error| StoreError::Unavailable(format!("`{}`: {error}", directory.display())))?;
    super::lock::lock(directory)
}
