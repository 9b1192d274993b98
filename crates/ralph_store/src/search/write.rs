//! The transactions of the text index's writer.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use super::filters::{self, Filter};
use super::gather::{Batch, Calls, Mark, Pending};
use super::removal;
use crate::summary::RunSummary;

/// How many records a span of time has at least, but for the last one.
const SPAN_ROWS: i64 = 4_096;

/// Where the index stands with these runs. A run that has another journal than before, or one that was cut and continued
/// (`stands`: whether the run's journal has the record of this number before this place), is marked as removed and begins
/// again.
pub(super) fn pending(
    connection: &mut Connection,
    runs: &[(&RunSummary, u64)],
    stands: impl Fn(&str, u64, u64) -> bool,
) -> rusqlite::Result<Vec<Pending>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut all = Vec::new();
    for (run, up_to) in runs {
        let mut known = find_run(&transaction, &run.id)?;
        if let Some((number, epoch, offset, seq, ..)) = &known
            && (*epoch != run.epoch || !stands(&run.id, *offset, *seq))
        {
            removal::mark(&transaction, *number)?;
            known = None;
        }
        let at = run.started_at.as_millisecond();
        let (number, _, offset, seq, at, calls) = match known {
            Some(known) => known,
            None => {
                transaction
                    .prepare_cached(
                        "INSERT INTO run(name, epoch, offset, seq, at, calls) VALUES(?, ?, 0, 0, ?, '[]')",
                    )?
                    .execute((&run.id, &run.epoch, at))?;
                (
                    transaction.last_insert_rowid(),
                    String::new(),
                    0,
                    0,
                    at,
                    Calls::default(),
                )
            }
        };
        if offset < *up_to {
            all.push(Pending {
                run: number,
                name: run.id.clone(),
                place: offset,
                up_to: *up_to,
                seq,
                at,
                calls,
                filters: run_filters(number, &run.workspace, &run.backend),
            });
        }
    }
    transaction.commit()?;
    Ok(all)
}

/// Writes what was gathered, and how far that is. Says how many records.
pub(super) fn write_batch(connection: &mut Connection, batch: &Batch) -> rusqlite::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut valid = BTreeSet::new();
    for mark in &batch.marks {
        if advance(&transaction, mark)? {
            valid.insert(mark.run);
        }
    }
    let first: i64 =
        transaction.query_row("SELECT value FROM meta WHERE key = 'next'", [], |row| row.get(0))?;
    let mut next = first;
    let mut times = None;
    {
        let mut places = transaction.prepare_cached(
            "INSERT INTO record(id, run, offset, length, kind, at) VALUES(?, ?, ?, ?, ?, ?)",
        )?;
        let mut words = transaction.prepare_cached("INSERT INTO words(rowid, text) VALUES(?, ?)")?;
        for row in batch.rows.iter().filter(|row| valid.contains(&row.run)) {
            let at = row.second;
            places.execute((next, row.run, row.place as i64, row.length, row.kind, at))?;
            words.execute((next, &batch.words[row.words.clone()]))?;
            next += 1;
            times = Some(times.map_or((at, at), |(min, max): (i64, i64)| (min.min(at), max.max(at))));
        }
    }
    if let Some((min, max)) = times {
        transaction.execute("UPDATE meta SET value = ? WHERE key = 'next'", [next])?;
        extend_spans(&transaction, first, next - 1, (min, max))?;
    }
    transaction.commit()?;
    Ok((next - first).unsigned_abs())
}

/// Marks runs as removed, by their names. Their records are still to be deleted.
pub(super) fn remove(connection: &mut Connection, names: &[String]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for name in names {
        if let Some((number, ..)) = find_run(&transaction, name)? {
            removal::mark(&transaction, number)?;
        }
    }
    transaction.commit()
}

/// Forgets everything.
pub(super) fn clear(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "INSERT INTO words(words) VALUES('delete-all'); DELETE FROM record; DELETE FROM run; DELETE FROM span;",
    )?;
    transaction.commit()
}

/// Puts pieces of the index together, as much as is done in a moment. Says whether there may be more to do.
pub(super) fn merge(connection: &Connection, pages: i64) -> rusqlite::Result<bool> {
    let before = connection.total_changes();
    connection.execute("INSERT INTO words(words, rank) VALUES('merge', ?)", [pages])?;
    // The command itself counts as one change.
    Ok(connection.total_changes() - before >= 2)
}

type Known = (i64, String, u64, u64, i64, Calls);

fn find_run(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<Option<Known>> {
    transaction
        .prepare_cached("SELECT id, epoch, offset, seq, at, calls FROM run WHERE name = ?")?
        .query_row([name], |row| {
            let calls: String = row.get(5)?;
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get::<_, i64>(2)?.unsigned_abs(),
                row.get::<_, i64>(3)?.unsigned_abs(),
                row.get(4)?,
                serde_json::from_str(&calls).unwrap_or_default(),
            ))
        })
        .optional()
}

/// Moves a run's mark, if it is where the batch begins: so nothing is written twice, nor for a run that is gone.
fn advance(transaction: &Transaction<'_>, mark: &Mark) -> rusqlite::Result<bool> {
    let calls = serde_json::to_string(&mark.calls).unwrap_or_default();
    let changed = transaction
        .prepare_cached(
            "UPDATE run SET offset = ?, seq = ?, at = ?, calls = ? WHERE id = ? AND name = ? AND offset = ?",
        )?
        .execute((
            mark.place as i64,
            mark.seq as i64,
            mark.at,
            calls,
            mark.run,
            &mark.name,
            mark.from as i64,
        ))?;
    Ok(changed == 1)
}

/// The words for what narrows a search to a run and its like.
pub(crate) fn run_filters(number: i64, workspace: &str, backend: &str) -> String {
    let mut out = String::new();
    for filter in [
        Filter::Run(number),
        Filter::Workspace(workspace),
        Filter::Backend(backend),
    ] {
        if !out.is_empty() {
            let _ = out.write_char(' ');
        }
        filters::write(filter, &mut out);
    }
    out
}

fn extend_spans(
    transaction: &Transaction<'_>,
    first: i64,
    last: i64,
    (min, max): (i64, i64),
) -> rusqlite::Result<()> {
    let extended = transaction.execute(
        "UPDATE span SET last = ?1, min_at = min(min_at, ?2), max_at = max(max_at, ?3)
         WHERE first = (SELECT max(first) FROM span) AND last - first < ?4",
        (last, min, max, SPAN_ROWS),
    )?;
    if extended == 0 {
        transaction.execute("INSERT INTO span VALUES(?, ?, ?, ?)", (first, last, min, max))?;
    }
    Ok(())
}
