//! Pages of a long journal: found in the journal itself by bisection, and by rows that say where each record stands, as
//! the index once had them.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use ralph_run::{JournalReader, PageQuery, RecordHead};
use rusqlite::{Connection, params};

use super::journals::{Written, write_one};
use crate::process::explain;

const LIMIT: usize = 200;
const MAX_BYTES: usize = 1 << 20;

/// Measures `rounds` pages of each kind.
pub fn measure(folder: &Path, lines: u64, rounds: usize) -> Result<(), String> {
    let Written { bytes, lines, .. } = write_one(folder, lines)?;
    let journal = folder.join("journal.ndjson");
    let connection = Connection::open(folder.join("rows.db")).map_err(explain)?;
    index(&connection, &journal)?;
    println!(
        "\n## Pages of {LIMIT} records of a journal of {} MB, {lines} lines, {rounds} rounds\n",
        bytes / 1_000_000
    );
    println!("| pages | p50 ms | p99 ms |\n|---|---:|---:|");
    let by_bisection = |query: &PageQuery| {
        let reader = JournalReader::open(&journal).map_err(explain)?;
        Ok(reader.page(query).map_err(explain)?.records.len())
    };
    let by_rows = |query: &PageQuery| page_by_rows(&connection, &journal, query);
    let anywhere = |seq| PageQuery {
        after: Some(seq),
        ..query()
    };
    let before = |seq| PageQuery {
        before: Some(seq),
        ..query()
    };
    time(
        "from anywhere, bisection",
        lines,
        rounds,
        &anywhere,
        &by_bisection,
    )?;
    time("from anywhere, rows", lines, rounds, &anywhere, &by_rows)?;
    time(
        "before anywhere, bisection",
        lines,
        rounds,
        &before,
        &by_bisection,
    )?;
    time("before anywhere, rows", lines, rounds, &before, &by_rows)
}

fn query() -> PageQuery {
    PageQuery {
        after: None,
        before: None,
        kinds: Vec::new(),
        filter: None,
        limit: LIMIT,
        max_bytes: MAX_BYTES,
    }
}

fn time(
    name: &str,
    lines: u64,
    rounds: usize,
    query: &dyn Fn(u64) -> PageQuery,
    page: &dyn Fn(&PageQuery) -> Result<usize, String>,
) -> Result<(), String> {
    let mut milliseconds = Vec::new();
    for round in 0..rounds as u64 {
        // Far from each other, and not at the very end, so that each page is full.
        let seq = 1_000 + round.wrapping_mul(7_919_773) % (lines - 2_000);
        let query = query(seq);
        let start = Instant::now();
        let records = page(&query)?;
        milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
        if records == 0 {
            return Err(format!("{name}: the page at {seq} is empty"));
        }
    }
    milliseconds.sort_by(f64::total_cmp);
    let at = |share: f64| milliseconds[((rounds as f64 * share) as usize).min(rounds - 1)];
    println!("| {name} | {:.2} | {:.2} |", at(0.5), at(0.99));
    Ok(())
}

fn index(connection: &Connection, journal: &Path) -> Result<(), String> {
    connection
        .execute_batch("CREATE TABLE record(seq INTEGER PRIMARY KEY, offset INTEGER, length INTEGER); BEGIN;")
        .map_err(explain)?;
    let mut insert = connection
        .prepare("INSERT INTO record VALUES(?1, ?2, ?3)")
        .map_err(explain)?;
    let bytes = std::fs::read(journal).map_err(explain)?;
    let mut offset = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let head =
            RecordHead::parse(line.strip_suffix(b"\n").unwrap_or(line)).ok_or("a line is not a record")?;
        if !head.is_delta() {
            insert
                .execute(params![head.seq as i64, offset as i64, line.len() as i64 - 1])
                .map_err(explain)?;
        }
        offset += line.len();
    }
    connection.execute_batch("COMMIT").map_err(explain)
}

/// What lies between two records is read, too: it is little.
fn page_by_rows(connection: &Connection, journal: &Path, query: &PageQuery) -> Result<usize, String> {
    let sql = match query.is_backward() {
        true => "SELECT seq, offset, length FROM record WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2",
        false => "SELECT seq, offset, length FROM record WHERE seq > ?1 ORDER BY seq LIMIT ?2",
    };
    let seq = query.after.or(query.before).unwrap_or(0);
    let mut statement = connection.prepare_cached(sql).map_err(explain)?;
    let rows = statement
        .query_map(params![seq as i64, LIMIT as i64], |row| {
            Ok((row.get(1)?, row.get(2)?))
        })
        .map_err(explain)?;
    let mut places: Vec<(i64, i64)> = rows.collect::<Result<_, _>>().map_err(explain)?;
    places.sort_unstable();
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        return Ok(0);
    };
    let mut bytes = vec![0; usize::try_from(last.0 + last.1 - first.0).map_err(explain)?];
    File::open(journal)
        .and_then(|file| file.read_exact_at(&mut bytes, first.0.unsigned_abs()))
        .map_err(explain)?;
    let lines = places.iter().map(|(offset, length)| {
        let start = (offset - first.0) as usize;
        bytes[start..start + *length as usize].to_vec()
    });
    Ok(lines.collect::<Vec<_>>().len())
}
