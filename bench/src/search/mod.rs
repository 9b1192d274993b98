//! The text index: how fast it catches up, how large it gets, how long a search takes, how far it lags.

mod journals;
mod live;
mod postgres;
mod queries;

pub use postgres::run as in_postgres;

use std::path::Path;
use std::time::{Duration, Instant};

use ralph_store::{RunFold, RunSummary, SearchOptions, TextIndex};

use crate::arguments::Arguments;
use crate::process::{Folder, explain};
use journals::{Corpus, Written};

/// `bench search`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["records", "rounds", "seconds"])?;
    let records = arguments.number("records", 1_000_000)?;
    let rounds = arguments.number("rounds", 200)?;
    let seconds = arguments.number("seconds", 10)?;
    let folder = Folder::new("search")?;
    let runs = folder.path("runs");
    let corpus = Corpus::load()?;
    let written = journals::write(&corpus, &runs, records)?;
    println!(
        "\n## Text index: {records} records, {} of them with words",
        written.texts
    );
    println!("\n| what | measured | owed |\n|---|---:|---:|");
    println!("| journals, MB | {:.0} | |", written.journal_bytes as f64 / 1e6);
    println!("| text, MB | {:.0} | |", written.text_bytes as f64 / 1e6);
    let index = open(&folder.path("search.db"), &runs)?;
    catch_up(&index, &folder, &written, records)?;
    let search = |query: &_| index.search(query).map_err(explain);
    queries::measure(&search, &corpus, &written, rounds, 50.0)?;
    println!(
        "\n| live, {} records/s | measured | owed |\n|---|---:|---:|",
        live::RATE
    );
    live::measure(&index, &corpus, &runs, Duration::from_secs(seconds as u64))
}

fn open(path: &Path, runs: &Path) -> Result<TextIndex, String> {
    let options = SearchOptions {
        path: path.to_owned(),
        runs_directory: runs.to_owned(),
    };
    TextIndex::open(options).map_err(explain)
}

fn catch_up(index: &TextIndex, folder: &Folder, written: &Written, records: usize) -> Result<(), String> {
    let runs: Vec<_> = written.runs.iter().map(|(run, length)| (run, *length)).collect();
    let start = Instant::now();
    let count = index.index_runs(&runs).map_err(explain)?;
    let seconds = start.elapsed().as_secs_f64();
    if count != written.texts {
        return Err(format!("{count} texts were indexed of {}", written.texts));
    }
    let size = || -> Result<f64, String> {
        let bytes = std::fs::metadata(folder.path("search.db"))
            .map_err(explain)?
            .len();
        Ok(bytes as f64 / written.text_bytes as f64)
    };
    println!(
        "| catching up, records/s | {:.0} | ≥ 30000 |",
        records as f64 / seconds
    );
    println!("| catching up, texts/s | {:.0} | |", count as f64 / seconds);
    println!("| index of text | {:.3} | ≤ 0.4 |", size()?);
    println!("| peak RSS, MB | {:.0} | ≤ 200 |", peak_kib()? as f64 / 1e3);
    let start = Instant::now();
    let mut longest = Duration::ZERO;
    loop {
        let step = Instant::now();
        let more = index.maintain(Duration::from_millis(100)).map_err(explain)?;
        longest = longest.max(step.elapsed());
        if !more {
            break;
        }
    }
    println!(
        "| merging in idle time, s | {:.1} | |",
        start.elapsed().as_secs_f64()
    );
    println!(
        "| longest step of 100 ms, ms | {:.0} | |",
        longest.as_secs_f64() * 1e3
    );
    println!("| index of text, merged | {:.3} | ≤ 0.4 |", size()?);
    Ok(())
}

fn peak_kib() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(explain)?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|text| text.trim().trim_end_matches("kB").trim().parse().ok())
        .ok_or("no VmHWM".into())
}

/// What the index needs to know about a run, from its first record.
fn summary(first_line: &[u8]) -> Result<RunSummary, String> {
    let mut fold = RunFold::new();
    fold.push(first_line);
    fold.summary()
        .cloned()
        .ok_or_else(|| "the first record was not understood".to_owned())
}

/// The same numbers in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as usize
    }
}
