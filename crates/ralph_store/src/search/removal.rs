//! Removes runs from the text index in short transactions, so that neither searches nor other writes wait for a long run.
//!
//! A removed run first gets a name that no run can have. From then on searches skip it, nothing is added to it, and
//! another run can have its old name. Its records are deleted in steps, and its row last: until then its number, which is
//! part of the words, belongs to no other run. What is left after a crash is deleted by the next job that indexes words or
//! tidies up.

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use super::filters::{self, Filter};

/// How many records are deleted in one transaction.
const RECORDS_AT_A_TIME: i64 = 2_000;

/// The runs that are in the index, as a condition on their row. The directory of a run never begins with a dot.
pub(super) const IS_HERE: &str = "name NOT GLOB '.removed-*'";

/// Marks a run as removed.
pub(super) fn mark(transaction: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE run SET name = '.removed-' || id WHERE id = ?")?
        .execute([number])?;
    Ok(())
}

/// The number of a run that is marked as removed.
pub(super) fn marked(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT id FROM run WHERE name GLOB '.removed-*' LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()
}

/// The next records of a run to delete, after the record `last`.
pub(super) fn records(connection: &Connection, number: i64, last: i64) -> rusqlite::Result<Vec<i64>> {
    let mut filter = String::new();
    filters::write(Filter::Run(number), &mut filter);
    connection
        .prepare_cached("SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?")?
        .query_map((format!("\"{filter}\""), last, RECORDS_AT_A_TIME), |row| {
            row.get(0)
        })?
        .collect()
}

/// Deletes these records of a run that is marked as removed, or the run itself if there are none. Returns whether the
/// run was there: another thread may have been faster, and the number may belong to another run by now.
pub(super) fn delete(connection: &mut Connection, number: i64, records: &[i64]) -> rusqlite::Result<bool> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let is_marked: bool = transaction
        .prepare_cached("SELECT count(*) > 0 FROM run WHERE id = ?1 AND name = '.removed-' || ?1")?
        .query_row([number], |row| row.get(0))?;
    if !is_marked {
        return Ok(false);
    }
    for id in records {
        let deleted = transaction
            .prepare_cached("DELETE FROM record WHERE id = ?")?
            .execute([id])?;
        if deleted > 0 {
            transaction
                .prepare_cached("DELETE FROM words WHERE rowid = ?")?
                .execute([id])?;
        }
    }
    if records.is_empty() {
        transaction
            .prepare_cached("DELETE FROM run WHERE id = ?")?
            .execute([number])?;
    }
    transaction.commit()?;
    Ok(true)
}
