//! `bench tui_flood`: a run that writes thousands of records in a second.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::journal::Journal;
use super::terminal::Terminal;
use super::verdict::{at_least, at_most, head, note};
use crate::arguments::Arguments;
use crate::process::{milliseconds, percentile};
use crate::run::Stage;

const TITLE: &str = "write a lot";
const BATCH_INTERVAL: Duration = Duration::from_millis(5);
/// Then another text begins, after a tool call.
const BATCHES_OF_TEXT: u64 = 100;
const LAST: &str = "mark999999x";

/// What was written and is not seen yet, and what was seen.
#[derive(Default)]
struct Marks {
    waiting: VecDeque<(u64, Instant)>,
    delays: Vec<f64>,
    frames: u64,
    newest: u64,
}

/// `bench tui_flood`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["rate", "seconds"])?;
    let rate = arguments.number("rate", 5_000)? as u64;
    let time = Duration::from_secs(arguments.number("seconds", 10)? as u64);
    let stage = Stage::new("tui-flood", "")?;
    let mut journal = Journal::create(&stage.path("state/ralph/runs"), 1, TITLE)?;
    journal.delta("t0", "text", "mark000000x\n\n")?;
    journal.flush()?;
    let terminal = Terminal::start(&stage.ralph(&["attach", &journal.id, "--tui"]), (120, 40))?;
    terminal.wait_for("mark000000x")?;
    terminal.settle()?;
    let marks = Arc::new(Mutex::new(Marks::default()));
    let shared = Arc::clone(&marks);
    terminal.watch(move |screen, now| {
        let newest = newest_mark(&screen.contents());
        let mut marks = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = &mut *marks;
        if newest > marks.newest {
            marks.newest = newest;
            marks.frames += 1;
        }
        while let Some((_, written_at)) = marks.waiting.pop_front_if(|(mark, _)| *mark <= newest) {
            marks
                .delays
                .push(milliseconds(now.saturating_duration_since(written_at)));
        }
    });
    let (cpu, bytes, start) = (terminal.cpu_time()?, terminal.bytes(), Instant::now());
    let batch = rate / (1000 / BATCH_INTERVAL.as_millis() as u64);
    let mut written = 0;
    let mut number = 0;
    while start.elapsed() < time {
        number += 1;
        let item = format!("t{}", number / BATCHES_OF_TEXT);
        if number % BATCHES_OF_TEXT == 0 {
            let call = serde_json::json!({"item": format!("c{number}"), "name": "Bash", "kind": "execute", "subject": "make", "state": "running", "input": {"command": "make"}});
            journal.agent("tool_started", &call)?;
            let done =
                serde_json::json!({"item": format!("c{number}"), "status": "completed", "output": "ok"});
            journal.agent("tool_finished", &done)?;
        }
        for _ in 1..batch {
            let text = journal.text(40).replace('\n', " ");
            journal.delta(&item, "text", &text)?;
        }
        journal.delta(&item, "text", &format!(" mark{number:06}x\n\n"))?;
        journal.flush()?;
        marks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .waiting
            .push_back((number, Instant::now()));
        written += batch;
        let next = start + BATCH_INTERVAL * number as u32;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    let took = start.elapsed().as_secs_f64();
    let busy = (terminal.cpu_time()?.saturating_sub(cpu)).as_secs_f64();
    let sent = terminal.bytes() - bytes;
    journal.delta("last", "text", LAST)?;
    journal.flush()?;
    let end = Instant::now();
    terminal.wait_for(LAST)?;
    let (frames, mut delays, lost) = {
        let marks = marks.lock().unwrap_or_else(PoisonError::into_inner);
        (marks.frames, marks.delays.clone(), marks.waiting.len())
    };
    head(&format!(
        "A flood of {:.0} records/s for {took:.0} s",
        written as f64 / took
    ));
    at_least("frames with something new", frames as f64 / took, 30.0, "/s");
    at_most("processor", 100.0 * busy / took, 60.0, "% of a core");
    note("record on disk to drawn, p50", percentile(&mut delays, 50), "ms");
    at_most(
        "record on disk to drawn, p99",
        percentile(&mut delays, 99),
        50.0,
        "ms",
    );
    at_most("marks not shown in the end", lost as f64, 0.0, "");
    note(
        "the last record was drawn after",
        milliseconds(end.elapsed()),
        "ms",
    );
    note("to the terminal", sent as f64 / took / 1000.0, "kB/s");
    Ok(())
}

fn newest_mark(screen: &str) -> u64 {
    let marks = screen.match_indices("mark").filter_map(|(place, mark)| {
        let digits = screen.get(place + mark.len()..place + mark.len() + 6)?;
        digits.parse().ok()
    });
    marks.max().unwrap_or(0)
}
