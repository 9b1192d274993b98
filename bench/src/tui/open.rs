//! `bench tui_open`: a long run, opened, read, resized, and beside a long text that grows.

use std::time::{Duration, Instant};

use super::journal::Journal;
use super::terminal::Terminal;
use super::verdict::{at_most, head, note};
use crate::arguments::Arguments;
use crate::process::{milliseconds, percentile};
use crate::run::Stage;

const TITLE: &str = "make it faster";
const LAST: &str = "the very last words of this run";
const GROWN: &str = "row of the text that grows, number";
const PATIENCE: Duration = Duration::from_millis(500);
/// Keys that change what is seen, as a reader uses them: up, page up, half a page up, down.
const KEYS: [&str; 8] = ["k", "k", "\u{1b}[5~", "k", "\u{15}", "k", "j", "\u{1b}[5~"];

/// `bench tui_open`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["records", "keys", "rounds"])?;
    let records = arguments.number("records", 100_000)? as u64;
    let keys = arguments.number("keys", 500)?;
    let rounds = arguments.number("rounds", 5)?;
    let stage = Stage::new("tui-open", "")?;
    let runs = stage.path("state/ralph/runs");
    let mut journal = Journal::create(&runs, 1, TITLE)?;
    while journal.seq < records - 2 {
        journal.step()?;
    }
    journal.agent("text_block", &serde_json::json!({"item": "last", "text": LAST}))?;
    let megabytes = journal.bytes as f64 / 1e6;
    let id = journal.end(TITLE)?;
    head(&format!(
        "A run of {records} records in {megabytes:.0} MB, in the terminal UI"
    ));
    let mut opened = Vec::new();
    for _ in 0..rounds.saturating_sub(1) {
        let terminal = open(&stage, &id)?;
        opened.push(milliseconds(terminal.wait_for(LAST)?));
    }
    let mut terminal = open(&stage, &id)?;
    opened.push(milliseconds(terminal.wait_for(LAST)?));
    at_most(
        "open until its last words are seen, median",
        percentile(&mut opened, 50),
        300.0,
        "ms",
    );
    note("open, slowest", percentile(&mut opened, 100), "ms");
    let loaded = load(&terminal)?;
    note("whole run read after", milliseconds(loaded), "ms");
    at_most("RSS, whole run read", terminal.memory("VmRSS:")?, 150.0, "MB");
    note("peak RSS", terminal.memory("VmHWM:")?, "MB");
    press(&mut terminal, keys)?;
    resize(&mut terminal)?;
    drop(terminal);
    beside_a_text_that_grows(&stage, records, keys)
}

fn open(stage: &Stage, id: &str) -> Result<Terminal, String> {
    Terminal::start(&stage.ralph(&["attach", id, "--tui"]), (120, 40))
}

/// Waits until the thread that reads the journal has ended or rests.
fn load(terminal: &Terminal) -> Result<Duration, String> {
    let start = Instant::now();
    let mut quiet_since = start;
    let mut before = terminal.cpu_time()?;
    while quiet_since.elapsed() < Duration::from_millis(500) {
        std::thread::sleep(Duration::from_millis(10));
        let now = terminal.cpu_time()?;
        if now != before {
            (before, quiet_since) = (now, Instant::now());
        }
    }
    Ok(quiet_since - start)
}

/// Presses keys of a reader: the time until each is seen, and the processor time that it takes.
fn press(terminal: &mut Terminal, keys: usize) -> Result<(), String> {
    let (mut times, mut costs, mut silent) = (Vec::new(), Vec::new(), 0);
    for key in KEYS.iter().cycle().take(keys) {
        let before = terminal.busy()?;
        match terminal.press(key, PATIENCE)? {
            Some(time) => times.push(milliseconds(time)),
            None => silent += 1,
        }
        terminal.settle()?;
        costs.push(milliseconds(terminal.busy()?.saturating_sub(before)));
    }
    report(&mut times, &mut costs);
    note("keys that changed nothing", f64::from(silent), "");
    Ok(())
}

fn report(times: &mut [f64], costs: &mut [f64]) {
    note("key to bytes, p50", percentile(times, 50), "ms");
    at_most("key to bytes, p99", percentile(times, 99), 8.0, "ms");
    note(
        "processor time of a key and its frame, p50",
        percentile(costs, 50),
        "ms",
    );
    at_most(
        "processor time of a key and its frame, p99",
        percentile(costs, 99),
        2.0,
        "ms",
    );
}

fn resize(terminal: &mut Terminal) -> Result<(), String> {
    let mut times = Vec::new();
    for round in 0..40 {
        let (columns, rows) = if round % 2 == 0 {
            (80, 24)
        } else {
            (120 + round, 40)
        };
        let time = terminal
            .resize(columns, rows)?
            .ok_or("nothing was drawn after a resize")?;
        times.push(milliseconds(time));
        terminal.settle()?;
        std::thread::sleep(Duration::from_millis(20));
    }
    note("resize to bytes, p50", percentile(&mut times, 50), "ms");
    at_most(
        "resize to bytes, slowest of 40",
        percentile(&mut times, 100),
        16.0,
        "ms",
    );
    terminal.resize(120, 40)?;
    Ok(())
}

/// The run goes on; its last text has 10,000 rows and grows with every key.
fn beside_a_text_that_grows(stage: &Stage, records: u64, keys: usize) -> Result<(), String> {
    let mut journal = Journal::create(&stage.path("state/ralph/runs"), 2, TITLE)?;
    while journal.seq < records - 10_000 {
        journal.step()?;
    }
    let mut row = 0;
    let mut grow = |journal: &mut Journal| {
        row += 1;
        journal.delta(
            "grows",
            "text",
            &format!("{GROWN} {row:06}, with *some* `words` in it\n\n"),
        )
    };
    for _ in 0..10_000 {
        grow(&mut journal)?;
    }
    journal.flush()?;
    head("The same, beside one text of 10,000 rows that grows");
    let mut terminal = open(stage, &journal.id)?;
    at_most(
        "open until its last words are seen",
        milliseconds(terminal.wait_for(&format!("{GROWN} 010000"))?),
        300.0,
        "ms",
    );
    load(&terminal)?;
    at_most("RSS", terminal.memory("VmRSS:")?, 150.0, "MB");
    let (mut times, mut costs) = (Vec::new(), Vec::new());
    for number in 1..=300 {
        let before = terminal.busy()?;
        let start = Instant::now();
        grow(&mut journal)?;
        journal.flush()?;
        let text = format!("{GROWN} {:06}", 10_000 + number);
        while !terminal.screen().contains(&text) {
            if start.elapsed() > Duration::from_secs(5) {
                return Err(format!("`{text}` is not shown:\n{}", terminal.screen()));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        times.push(milliseconds(start.elapsed()));
        terminal.settle()?;
        costs.push(milliseconds(terminal.busy()?.saturating_sub(before)));
    }
    note("a piece on disk to drawn, p50", percentile(&mut times, 50), "ms");
    at_most(
        "a piece on disk to drawn, p99",
        percentile(&mut times, 99),
        50.0,
        "ms",
    );
    note(
        "processor time of a piece and its frame, p50",
        percentile(&mut costs, 50),
        "ms",
    );
    at_most(
        "processor time of a piece and its frame, p99",
        percentile(&mut costs, 99),
        2.0,
        "ms",
    );
    let (mut times, mut costs) = (Vec::new(), Vec::new());
    for key in KEYS.iter().cycle().take(keys) {
        let before = terminal.busy()?;
        // Drawn with the key, or in a frame of its own.
        grow(&mut journal)?;
        journal.flush()?;
        if let Some(time) = terminal.press(key, PATIENCE)? {
            times.push(milliseconds(time));
        }
        terminal.settle()?;
        costs.push(milliseconds(terminal.busy()?.saturating_sub(before)));
    }
    note("key to bytes, p50", percentile(&mut times, 50), "ms");
    at_most("key to bytes, p99", percentile(&mut times, 99), 8.0, "ms");
    at_most(
        "processor time of a key, a piece and their frames, p99",
        percentile(&mut costs, 99),
        2.0,
        "ms",
    );
    resize(&mut terminal)
}
