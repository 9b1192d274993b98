//! What SQLite itself takes for a row of each record, as the index once had them: prepared statements, large
//! transactions, nothing else.

use std::path::Path;
use std::time::Instant;

use ralph_store::Batch;
use rusqlite::{Connection, params};

/// Rows in a transaction.
const ROWS: usize = 16_384;

/// Inserts all rows and says how many seconds that took.
pub fn insert(path: &Path, batches: &[Batch]) -> Result<f64, String> {
    try_insert(path, batches).map_err(|error| error.to_string())
}

fn try_insert(path: &Path, batches: &[Batch]) -> rusqlite::Result<f64> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE record(run INTEGER, seq INTEGER, at INTEGER, kind TEXT, offset INTEGER,
             PRIMARY KEY(run, seq)) WITHOUT ROWID;
         CREATE TABLE usage(run INTEGER, seq INTEGER, at INTEGER, model TEXT, input INTEGER, output INTEGER,
             cost INTEGER, PRIMARY KEY(run, seq)) WITHOUT ROWID;",
    )?;
    let mut record = connection.prepare("INSERT INTO record VALUES(?1, ?2, ?3, ?4, ?5)")?;
    let mut usage = connection.prepare("INSERT INTO usage VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    let began = Instant::now();
    for (run, batch) in batches.iter().enumerate() {
        let run = run as i64;
        for rows in batch.records.chunks(ROWS) {
            connection.execute_batch("BEGIN")?;
            for row in rows {
                record.execute(params![
                    run,
                    row.seq as i64,
                    row.at.as_nanosecond() as i64,
                    row.kind,
                    row.offset as i64
                ])?;
            }
            connection.execute_batch("COMMIT")?;
        }
        connection.execute_batch("BEGIN")?;
        for row in &batch.usage {
            usage.execute(params![
                run,
                row.seq as i64,
                row.at.as_nanosecond() as i64,
                row.model,
                row.tokens.input,
                row.tokens.output,
                row.cost_micro_usd
            ])?;
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok(began.elapsed().as_secs_f64())
}
