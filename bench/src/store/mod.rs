//! The server's index: how fast journals are taken in, and what rebuilding all of it takes.

mod journals;
mod pages;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use ralph_store::{
    Batch, PostgresOptions, PostgresStore, RunFold, SqliteOptions, SqliteStore, Store, catch_up, reindex,
};
use test_support::postgres::PostgresServer;

use self::journals::{Written, write};
use crate::arguments::Arguments;
use crate::process::explain;

/// Owed: records a second.
const OWED_RATE: f64 = 80_000.0;
/// Owed for 1 GB.
const OWED_SECONDS: f64 = 60.0;
const OWED_MEGABYTES: f64 = 200.0;

/// `bench store`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["lines", "megabytes", "rounds"])?;
    let megabytes = arguments.number("megabytes", 1000)? as u64;
    let rounds = arguments.number("rounds", 5)?;
    let folder = Folder::new()?;
    let lines = arguments.number("lines", 1_000_000)? as u64;
    // All are measured, whatever comes of the first.
    let ingested = ingest(&folder, rounds);
    let rebuilt = rebuild(&folder, megabytes);
    pages::measure(&folder.0.join("long"), lines, rounds * 100)?;
    rebuilt?;
    ingested
}

fn ingest(folder: &Folder, rounds: usize) -> Result<(), String> {
    let runs = folder.0.join("some");
    let written = write(&runs, 120_000_000)?;
    let batches = fold(&runs)?;
    let records: u64 = batches.iter().map(|batch| batch.records.len() as u64).sum();
    println!(
        "\n## Taking journals in: {} lines, {records} records, {} MB, best of {rounds}\n",
        written.lines,
        written.bytes / 1_000_000
    );
    let (mut folding, mut ours) = (f64::MAX, f64::MAX);
    for round in 0..rounds {
        let began = Instant::now();
        drop(fold(&runs)?);
        folding = folding.min(began.elapsed().as_secs_f64());
        ours = ours.min(take_in(&folder.0.join(format!("data-{round}")), &runs, records)?);
    }
    let rate = |seconds: f64| records as f64 / seconds;
    println!("| what | seconds | records/s | owed |\n|---|---:|---:|---:|");
    println!(
        "| read and fold, one thread ({:.0} lines/s) | {folding:.2} | {:.0} | – |",
        written.lines as f64 / folding,
        rate(folding)
    );
    println!(
        "| journals into the index | {ours:.2} | {:.0} | {OWED_RATE:.0} |",
        rate(ours)
    );
    let postgres = in_postgres(&runs, records, rounds.min(3))?;
    println!(
        "| … in PostgreSQL, a server of its own | {postgres:.2} | {:.0} | – |",
        rate(postgres)
    );
    println!(
        "\nReading and folding in that time: {:.2}; SQLite's time in PostgreSQL's: {:.2}",
        folding / ours,
        ours / postgres
    );
    if rate(ours) < OWED_RATE {
        return Err("taking journals in is slower than owed".to_owned());
    }
    Ok(())
}

/// All rows of some runs.
fn fold(runs: &Path) -> Result<Vec<Batch>, String> {
    let mut batches = Vec::new();
    for entry in std::fs::read_dir(runs).map_err(explain)? {
        let bytes = std::fs::read(entry.map_err(explain)?.path().join("journal.ndjson")).map_err(explain)?;
        let mut fold = RunFold::new();
        let mut rest = bytes.as_slice();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            fold.push(&rest[..end]);
            rest = &rest[end + 1..];
        }
        batches.extend(fold.take());
    }
    Ok(batches)
}

fn take_in(data: &Path, runs: &Path, records: u64) -> Result<f64, String> {
    let (data_directory, runs_directory) = (data.to_owned(), runs.to_owned());
    runtime()?.block_on(async move {
        let options = SqliteOptions {
            data_directory,
            runs_directory: runs_directory.clone(),
            home: None,
        };
        let store = SqliteStore::open(options).await.map_err(explain)?.store;
        time(&store, &runs_directory, records).await
    })
}

/// The same journals into a PostgreSQL that has nothing else to do; the best of some rounds, each in a database of its
/// own. Words are not indexed, as with SQLite.
fn in_postgres(runs: &Path, records: u64, rounds: usize) -> Result<f64, String> {
    let server = PostgresServer::start().map_err(explain)?;
    runtime()?.block_on(async {
        let mut best = f64::MAX;
        for _ in 0..rounds {
            let url = server.create_database().map_err(explain)?;
            let options = PostgresOptions::new(url);
            let store = PostgresStore::connect(options, |_| {}).await.map_err(explain)?;
            best = best.min(time(&store, runs, records).await?);
        }
        Ok(best)
    })
}

async fn time(store: &dyn Store, runs: &Path, records: u64) -> Result<f64, String> {
    let began = Instant::now();
    let caught_up = catch_up(store, runs, |_| {}).await.map_err(explain)?;
    let seconds = began.elapsed().as_secs_f64();
    store.close().await.map_err(explain)?;
    if caught_up.records != records {
        return Err(format!(
            "{} of {records} records were taken in",
            caught_up.records
        ));
    }
    Ok(seconds)
}

fn rebuild(folder: &Folder, megabytes: u64) -> Result<(), String> {
    let runs = folder.0.join("many");
    let Written {
        runs: count,
        lines,
        bytes,
    } = write(&runs, megabytes * 1_000_000)?;
    println!(
        "\n## Rebuilding the index of {} MB of journals: {count} runs, {lines} lines\n",
        bytes / 1_000_000
    );
    // In a process of its own, for its memory.
    let program = std::env::current_exe().map_err(explain)?;
    let data = folder.0.join("rebuilt");
    let output = Command::new(program)
        .arg("__store_rebuild")
        .arg(&runs)
        .arg(&data)
        .output()
        .map_err(explain)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let figures: Vec<f64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let &[seconds, peak, records] = figures.as_slice() else {
        return Err(format!(
            "rebuilding failed: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    };
    let size = std::fs::metadata(data.join("ralph.db")).map_err(explain)?.len() as f64 / 1e6;
    let owed = OWED_SECONDS * bytes as f64 / 1e9;
    println!(
        "| seconds | owed | records/s | peak RSS MB | owed | index MB |\n|---:|---:|---:|---:|---:|---:|"
    );
    println!(
        "| {seconds:.1} | {owed:.0} | {:.0} | {peak:.0} | {OWED_MEGABYTES:.0} | {size:.0} |",
        records / seconds
    );
    if seconds > owed || peak > OWED_MEGABYTES {
        return Err("rebuilding takes more than owed".to_owned());
    }
    Ok(())
}

/// `bench __store_rebuild RUNS DATA`: prints seconds, peak RSS in MB and records.
pub fn rebuild_child(mut given: impl Iterator<Item = String>) -> Result<(), String> {
    let (Some(runs), Some(data)) = (given.next(), given.next()) else {
        return Err("two folders are needed".to_owned());
    };
    let (runs_directory, data_directory) = (PathBuf::from(runs), PathBuf::from(data));
    runtime()?.block_on(async move {
        let options = SqliteOptions {
            data_directory,
            runs_directory: runs_directory.clone(),
            home: None,
        };
        let store = SqliteStore::open(options).await.map_err(explain)?.store;
        let began = Instant::now();
        let caught_up = reindex(&store, &runs_directory, |_| {}).await.map_err(explain)?;
        let seconds = began.elapsed().as_secs_f64();
        store.close().await.map_err(explain)?;
        let status = std::fs::read_to_string("/proc/self/status").map_err(explain)?;
        let peak = status.lines().find_map(|line| {
            line.strip_prefix("VmHWM:")?
                .trim()
                .strip_suffix(" kB")?
                .parse::<f64>()
                .ok()
        });
        println!(
            "{seconds} {} {}",
            peak.unwrap_or(f64::MAX) * 1024.0 / 1e6,
            caught_up.records
        );
        Ok(())
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(explain)
}

/// Gone when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("ralph-bench-{}-store", std::process::id()));
        std::fs::create_dir_all(&path).map_err(explain)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
