//! `bench tui_home`: the home screen with many runs, some of them at work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::journal::Journal;
use super::terminal::Terminal;
use super::verdict::{at_most, head, note};
use crate::arguments::Arguments;
use crate::process::{milliseconds, percentile};
use crate::run::Stage;

const WAITING: &str = "this one needs a person";
const PATIENCE: Duration = Duration::from_millis(500);
/// Each run at work writes this often, and says in `run.json` what it does every tenth time.
const WRITE_INTERVAL: Duration = Duration::from_millis(200);

/// `bench tui_home`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["runs", "live", "keys", "seconds"])?;
    let (runs, live) = (arguments.number("runs", 1_000)?, arguments.number("live", 50)?);
    let (keys, seconds) = (arguments.number("keys", 500)?, arguments.number("seconds", 10)?);
    let stage = Stage::new("tui-home", "")?;
    let folder = stage.path("state/ralph/runs");
    for number in live..runs {
        let title = format!("the task of run {number}");
        let mut journal = Journal::create(&folder, number, &title)?;
        journal.step()?;
        journal.end(&title)?;
    }
    let mut journals = Vec::new();
    for number in 0..live {
        journals.push(Journal::create(&folder, number, &format!("live task {number}"))?);
    }
    if let Some(journal) = journals.first_mut() {
        let request =
            json!({"request": "r", "tool": "Bash", "kind": "execute", "input": {"command": "make"}});
        journal.agent("permission_requested", &request)?;
        journal.flush()?;
        journal.save(&json!({"state": "waiting", "for": "permission"}), WAITING)?;
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&is_over);
    let writer = std::thread::spawn(move || write(journals, &ends));
    let measured = measure(&stage, runs, live, keys, seconds);
    is_over.store(true, Ordering::Relaxed);
    writer.join().map_err(|_| "the writer of journals failed")??;
    measured
}

fn write(mut journals: Vec<Journal>, is_over: &AtomicBool) -> Result<(), String> {
    let mut round = 0;
    while !is_over.load(Ordering::Relaxed) {
        let start = Instant::now();
        round += 1;
        for (number, journal) in journals.iter_mut().enumerate().skip(1) {
            journal.step()?;
            journal.flush()?;
            if (round + number) % 10 == 0 {
                let state = ["thinking", "responding"][round / 10 % 2];
                journal.save(&json!({"state": state}), &format!("live task {number}"))?;
            }
        }
        std::thread::sleep(WRITE_INTERVAL.saturating_sub(start.elapsed()));
    }
    Ok(())
}

fn measure(stage: &Stage, runs: usize, live: usize, keys: usize, seconds: usize) -> Result<(), String> {
    head(&format!("The home screen with {runs} runs, {live} of them live"));
    let mut opened = Vec::new();
    for _ in 0..4 {
        opened.push(milliseconds(open(stage)?.wait_for(WAITING)?));
    }
    let mut terminal = open(stage)?;
    opened.push(milliseconds(terminal.wait_for(WAITING)?));
    at_most(
        "open until the first run is seen, median",
        percentile(&mut opened, 50),
        200.0,
        "ms",
    );
    note("open, slowest", percentile(&mut opened, 100), "ms");
    std::thread::sleep(Duration::from_secs(3));
    let (cpu, bytes, start) = (terminal.cpu_time()?, terminal.bytes(), Instant::now());
    std::thread::sleep(Duration::from_secs(seconds as u64));
    let took = start.elapsed().as_secs_f64();
    let busy = terminal.cpu_time()?.saturating_sub(cpu).as_secs_f64();
    at_most(
        "processor while nothing is pressed",
        100.0 * busy / took,
        5.0,
        "% of a core",
    );
    note("to the terminal", (terminal.bytes() - bytes) as f64 / took, "B/s");
    let (mut times, mut costs) = (Vec::new(), Vec::new());
    // The cursor moves with each of them, and stays near the top.
    for key in ["j", "j", "k", "\u{1b}[6~", "j", "\u{1b}[5~"]
        .iter()
        .cycle()
        .take(keys)
    {
        let before = terminal.busy()?;
        if let Some(time) = terminal.press(key, PATIENCE)? {
            times.push(milliseconds(time));
        }
        terminal.settle()?;
        costs.push(milliseconds(terminal.busy()?.saturating_sub(before)));
    }
    note("keys that changed something", times.len() as f64, "");
    note("key to bytes, p50", percentile(&mut times, 50), "ms");
    at_most("key to bytes, p99", percentile(&mut times, 99), 8.0, "ms");
    note(
        "processor time of a key and its frame, p50",
        percentile(&mut costs, 50),
        "ms",
    );
    note(
        "processor time of a key and its frame, p99",
        percentile(&mut costs, 99),
        "ms",
    );
    note("RSS", terminal.memory("VmRSS:")?, "MB");
    Ok(())
}

/// Wide, so that activity and a preview are shown too.
fn open(stage: &Stage) -> Result<Terminal, String> {
    Terminal::start(&stage.ralph(&[]), (200, 60))
}
