//! How far the index is behind while many agents write.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ralph_store::{RunSummary, TextIndex};

use super::journals::{Corpus, Journal};
use crate::process::explain;

pub const RATE: usize = 6_000;
const RUNS: usize = 300;
const TICKS_PER_SECOND: usize = 20;
/// How long the index waits between two rounds.
const PAUSE: Duration = Duration::from_millis(250);

/// Numbers that no other run has.
const FIRST_RUN: usize = 900_000;

pub fn measure(index: &TextIndex, corpus: &Corpus, directory: &Path, time: Duration) -> Result<(), String> {
    let journals: Vec<_> = (0..RUNS)
        .map(|number| Journal::create(directory, FIRST_RUN + number))
        .collect::<Result<_, _>>()?;
    let runs: Vec<RunSummary> = journals.iter().map(|journal| journal.summary.clone()).collect();
    // How far the journals are, and since when.
    let head = Mutex::new((Instant::now(), vec![0_u64; RUNS]));
    let is_over = AtomicBool::new(false);
    let (mut longest, mut rounds, mut texts) = (Duration::ZERO, 0, 0);
    let mut busy = Duration::ZERO;
    let start = Instant::now();
    let mut last = start;
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(journals, corpus, time, &head, &is_over));
        loop {
            let is_last = is_over.load(Ordering::Acquire);
            let (at, offsets) = head.lock().map_err(|_| "the writer failed")?.clone();
            let pending: Vec<_> = runs.iter().zip(offsets).collect();
            let begin = Instant::now();
            texts += index.index_runs(&pending).map_err(explain)?;
            busy += begin.elapsed();
            // The oldest of it was written just after the last round began.
            longest = longest.max(last.elapsed());
            last = at;
            rounds += 1;
            if is_last {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        writer.join().map_err(|_| "the writer failed".to_owned())?
    })?;
    if texts != written.1 {
        return Err(format!("{texts} texts were indexed of {}", written.1));
    }
    println!("| records | {} | |", written.0);
    println!("| rounds | {rounds} | |");
    println!("| longest lag, s | {:.2} | ≤ 2 |", longest.as_secs_f64());
    println!(
        "| share of a core | {:.2} | |",
        busy.as_secs_f64() / start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Writes at the rate, and says how many records, and how many with words.
fn write(
    mut journals: Vec<Journal>,
    corpus: &Corpus,
    time: Duration,
    head: &Mutex<(Instant, Vec<u64>)>,
    is_over: &AtomicBool,
) -> Result<(u64, u64), String> {
    let start = Instant::now();
    let (mut records, mut next) = (0, 0);
    let mut tick = 0;
    while start.elapsed() < time {
        for _ in 0..RATE / TICKS_PER_SECOND {
            journals[next % RUNS].record(corpus)?;
            next += 1;
            records += 1;
        }
        for journal in &mut journals {
            journal.flush()?;
        }
        if let Ok(mut head) = head.lock() {
            *head = (
                Instant::now(),
                journals.iter().map(|journal| journal.offset).collect(),
            );
        }
        tick += 1;
        let due = Duration::from_secs_f64(f64::from(tick) / TICKS_PER_SECOND as f64);
        std::thread::sleep(due.saturating_sub(start.elapsed()));
    }
    is_over.store(true, Ordering::Release);
    Ok((records, journals.iter().map(|journal| journal.texts).sum()))
}
