//! `bench tui_bytes`: what a streamed answer costs a slow connection.

use std::time::{Duration, Instant};

use super::journal::Journal;
use super::terminal::Terminal;
use super::verdict::{at_most, head, note};
use crate::arguments::Arguments;
use crate::run::Stage;

const TITLE: &str = "answer at length";
const LAST: &str = "and this is the end";
/// As models say it.
const WORDS: [&str; 12] = [
    "The ",
    "function ",
    "reads ",
    "a line ",
    "and returns ",
    "`None` ",
    "at the end ",
    "of the file, ",
    "so the **loop** ",
    "must not ",
    "wait for it. ",
    "Then ",
];

/// `bench tui_bytes`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["kib", "rate"])?;
    let size = arguments.number("kib", 64)? << 10;
    let rate = arguments.number("rate", 400)? as u32;
    let stage = Stage::new("tui-bytes", "")?;
    let mut journal = Journal::create(&stage.path("state/ralph/runs"), 1, TITLE)?;
    journal.delta("answer", "text", "Here it begins. ")?;
    journal.flush()?;
    let terminal = Terminal::start(&stage.ralph(&["attach", &journal.id, "--tui"]), (80, 24))?;
    terminal.wait_for("Here it begins.")?;
    terminal.settle()?;
    let (before, start) = (terminal.bytes(), Instant::now());
    let (mut said, mut pieces) = (0, 0_u32);
    for (number, words) in WORDS.chunks(2).cycle().enumerate() {
        if said >= size {
            break;
        }
        let mut piece = words.concat();
        if number % 40 == 39 {
            piece.push_str("\n\n");
        }
        said += piece.len();
        journal.delta("answer", "text", &piece)?;
        journal.flush()?;
        pieces += 1;
        let next = start + Duration::from_secs(1) * pieces / rate;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    journal.delta("answer", "text", LAST)?;
    journal.flush()?;
    terminal.wait_for(LAST)?;
    let written = (terminal.bytes() - before) as f64;
    head(&format!(
        "A streamed answer of {} KiB at 80×24, {rate} pieces/s",
        said >> 10
    ));
    at_most(
        "bytes to the terminal, of the text",
        written / said as f64,
        3.0,
        "×",
    );
    note("bytes", written / 1000.0, "kB");
    note("took", start.elapsed().as_secs_f64(), "s");
    Ok(())
}
