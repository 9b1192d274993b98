//! `migrate`: upgrades a file of an older version. Forward only.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use super::explain::explain;
use crate::error::StoreError;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Migrated {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) backup: PathBuf,
}

/// Brings a database to the last version, all of it or nothing: a process that dies on the way leaves the old one. A
/// database that has something in it is copied before. None if there was nothing to do, or the database is new.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    steps: &[&str],
) -> Result<Option<Migrated>, StoreError> {
    let from: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(explain)?;
    let to = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    if from > to {
        return Err(StoreError::Newer {
            found: from,
            known: to,
        });
    }
    if from == to {
        return Ok(None);
    }
    let migrated = if from > 0 {
        let backup = back_up(connection, path, from)?;
        Some(Migrated { from, to, backup })
    } else {
        None
    };
    let done = usize::try_from(from).unwrap_or_default();
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(explain)?;
    for step in steps.iter().skip(done) {
        transaction.execute_batch(step).map_err(explain)?;
    }
    transaction
        .pragma_update(None, "user_version", to)
        .and_then(|()| transaction.commit())
        .map_err(explain)?;
    if migrated.is_some() {
        // Gives back the room of tables that were dropped. Without it the file works as well.
        if let Err(error) = connection.execute_batch("VACUUM") {
            tracing::warn!(%error, "the space of old tables in the index could not be freed");
        }
    }
    Ok(migrated)
}

/// A copy of the file beside it, which replaces an older copy of the same version.
fn back_up(connection: &Connection, path: &Path, version: i64) -> Result<PathBuf, StoreError> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".v{version}.backup"));
    let backup = PathBuf::from(name);
    let fail = |error: std::io::Error| StoreError::Unavailable(format!("`{}`: {error}", backup.display()));
    match std::fs::remove_file(&backup) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fail(error)),
        Ok(()) | Err(_) => {}
    }
    // Empty, so that it has our mode.
    drop(crate::private::open_file(&backup).map_err(fail)?);
    connection
        .execute("VACUUM INTO ?1", [backup.to_string_lossy()])
        .map_err(explain)?;
    Ok(backup)
}
