//! Forgetting.

use rusqlite::{Connection, OptionalExtension as _};

use super::schema::{key, last_key};

/// Tables whose rows are known by a key of run and seq.
const KEYED: [&str; 4] = ["record", "usage", "approval", "message"];

/// Forgets what is known of a run but its number.
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

pub(super) fn remove(connection: &Connection, runs: &[String]) -> rusqlite::Result<()> {
    for run in runs {
        let number = connection
            .prepare_cached("DELETE FROM run WHERE id = ?1 RETURNING number")?
            .query_row([run], |row| row.get(0))
            .optional()?;
        if let Some(number) = number {
            empty_run(connection, number)?;
        }
    }
    Ok(())
}

pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    for table in KEYED.into_iter().chain(["session", "run"]) {
        // Without a condition SQLite drops all pages at once.
        connection.execute(&format!("DELETE FROM {table}"), [])?;
    }
    Ok(())
}
