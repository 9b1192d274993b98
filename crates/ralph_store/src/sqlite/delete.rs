//! Deletes runs, or everything.

use rusqlite::{Connection, OptionalExtension as _};

use super::schema::{key, last_key};
use super::usage::{Kept, keep_costs};

/// Tables whose rows are known by a key of run and seq.
const KEYED: [&str; 3] = ["usage", "approval", "message"];

/// Deletes the rows of a run, but for the one of the run itself.
pub(super) fn empty_run(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    let first = key(number, 0).unwrap_or(i64::MAX);
    for table in KEYED {
        let sql = format!("DELETE FROM {table} WHERE key BETWEEN ?1 AND ?2");
        connection
            .prepare_cached(&sql)?
            .execute((first, last_key(number)))?;
    }
    connection
        .prepare_cached("DELETE FROM session WHERE run = ?1")?
        .execute([number])?;
    Ok(())
}

/// Removes runs but for what they cost.
pub(super) fn remove(connection: &Connection, runs: &[String]) -> rusqlite::Result<()> {
    for run in runs {
        let number = connection
            .prepare_cached("SELECT number FROM run WHERE id = ?1")?
            .query_row([run], |row| row.get(0))
            .optional()?;
        if let Some(number) = number {
            keep_costs(connection, Kept::Run(number))?;
            empty_run(connection, number)?;
            connection
                .prepare_cached("DELETE FROM run WHERE number = ?1")?
                .execute([number])?;
        }
    }
    Ok(())
}

/// Deletes everything.
pub(super) fn empty(connection: &Connection) -> rusqlite::Result<()> {
    clear(connection)?;
    connection.execute("DELETE FROM usage_day", [])?;
    connection.execute("DELETE FROM remembered", [])?;
    Ok(())
}

/// Removes all runs but for what they cost.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    keep_costs(connection, Kept::All { database: "main" })?;
    for table in KEYED.into_iter().chain(["session", "run"]) {
        // Without a condition SQLite drops all pages at once.
        connection.execute(&format!("DELETE FROM {table}"), [])?;
    }
    Ok(())
}
