//! The file of the text index: creates it, opens it, and moves it aside if it is damaged.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::private::open_file;
pub(super) use crate::sqlite::explain::explain;
use crate::sqlite::file;
pub(super) use crate::sqlite::file::move_aside;

/// The version of what is in the file, which also defines which records have words. There are no migrations: another version is rebuilt from the journals.
pub(super) const VERSION: u32 = 2;

const TABLES: &str = "
    CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
    CREATE TABLE run(
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        epoch TEXT NOT NULL,
        offset INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        calls TEXT NOT NULL
    ) STRICT;
    CREATE TABLE record(
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        length INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE span(
        first INTEGER PRIMARY KEY,
        last INTEGER NOT NULL,
        min_at INTEGER NOT NULL,
        max_at INTEGER NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE words USING fts5(
        text, content='', contentless_delete=1, detail=full, tokenize='ascii'
    );
    INSERT INTO words(words, rank) VALUES('hashsize', 33554432);
    INSERT INTO words(words, rank) VALUES('automerge', 8);
    INSERT INTO words(words, rank) VALUES('crisismerge', 64);
    INSERT INTO words(words, rank) VALUES('usermerge', 2);
    INSERT INTO meta VALUES('next', 1);
    INSERT INTO meta VALUES('is_open', 0);
";

const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// What was found when the file was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opened {
    /// The file that is used.
    pub(super) path: PathBuf,
    /// Where a damaged file is now.
    pub(super) moved_to: Option<PathBuf>,
    /// Whether the last one who used it did not close it.
    pub(super) was_unclean: bool,
}

/// Opens the file for its one writer, and makes it if there is none that can be used.
pub(super) fn open_writer(asked: &Path) -> Result<(Connection, Opened), StoreError> {
    let path = usable_path(asked);
    let mut opened = Opened {
        path,
        moved_to: None,
        was_unclean: false,
    };
    match try_open(&opened.path) {
        Ok((connection, was_unclean)) => {
            opened.was_unclean = was_unclean;
            Ok((connection, opened))
        }
        Err(StoreError::Damaged(_)) => {
            opened.moved_to = Some(move_aside(&opened.path)?);
            let (connection, _) = try_open(&opened.path)?;
            Ok((connection, opened))
        }
        Err(error) => Err(error),
    }
}

/// A connection that only reads.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(explain)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(explain)?;
    connection
        .execute_batch("PRAGMA query_only = on; PRAGMA cache_size = -8192;")
        .map_err(explain)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// A read-only connection to a file that another process writes.
pub(super) fn open_beside(asked: &Path) -> Result<Connection, StoreError> {
    let connection = open_reader(&usable_path(asked))?;
    let version: u32 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(explain)?;
    if version == VERSION {
        Ok(connection)
    } else {
        Err(StoreError::Unavailable(
            "the text index is of another version".to_owned(),
        ))
    }
}

/// Moves the file that would be used out of the way of a new one. Returns `None` if there is none.
pub(super) fn replace(asked: &Path) -> Result<Option<PathBuf>, StoreError> {
    file::replace(&usable_path(asked))
}

/// The file that was asked for, or one beside it if that is of a newer version, which is never opened: the newer
/// program finds it as it was.
fn usable_path(asked: &Path) -> PathBuf {
    if version_in_header(asked).is_none_or(|version| version <= VERSION) {
        return asked.to_owned();
    }
    let stem = asked.file_stem().unwrap_or_default().to_string_lossy();
    asked.with_file_name(format!("{stem}-v{VERSION}.db"))
}

/// `PRAGMA user_version`, from the file's first bytes. It is written before the file goes into WAL mode.
fn version_in_header(path: &Path) -> Option<u32> {
    let mut header = [0; 64];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut header))
        .ok()?;
    let version = header.last_chunk::<4>()?;
    header
        .starts_with(b"SQLite format 3\0")
        .then(|| u32::from_be_bytes(*version))
}

fn try_open(path: &Path) -> Result<(Connection, bool), StoreError> {
    // An older version has nothing that the journals do not have.
    if version_in_header(path).is_some_and(|version| version < VERSION) {
        file::remove(path)?;
    }
    // Created by us with our mode: SQLite gives its other files the same one.
    open_file(path).map_err(|error| file::unavailable(path, &error))?;
    let connection = Connection::open(path).map_err(explain)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(explain)?;
    let version: u32 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(explain)?;
    if version == 0 {
        make_tables(&connection).map_err(explain)?;
    }
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216;
             PRAGMA wal_autocheckpoint = 2000; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;",
        )
        .map_err(explain)?;
    connection.set_prepared_statement_cache_capacity(32);
    let was_open: i64 = connection
        .query_row("SELECT value FROM meta WHERE key = 'is_open'", [], |row| {
            row.get(0)
        })
        .map_err(missing_is_damage)?;
    connection
        .execute("UPDATE meta SET value = 1 WHERE key = 'is_open'", [])
        .map_err(explain)?;
    Ok((connection, was_open != 0))
}

fn make_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA page_size = 8192; PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE;")?;
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.execute_batch("COMMIT")
}

/// A file of our version without our tables is no file of ours.
fn missing_is_damage(error: rusqlite::Error) -> StoreError {
    match explain(error) {
        StoreError::Database(problem) => StoreError::Damaged(problem),
        other => other,
    }
}
