//! `bench tui_idle`: what the terminal UI does while nothing happens.

use std::time::{Duration, Instant};

use serde_json::json;

use super::journal::Journal;
use super::terminal::Terminal;
use super::verdict::{at_most, head};
use crate::arguments::Arguments;
use crate::run::Stage;

const TITLE: &str = "wait";
const SETTLE_TIME: Duration = Duration::from_secs(3);

/// `bench tui_idle`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["seconds"])?;
    let time = Duration::from_secs(arguments.number("seconds", 10)? as u64);
    let stage = Stage::new("tui-idle", "")?;
    let runs = stage.path("state/ralph/runs");
    head(&format!(
        "The terminal UI while nothing happens, {} s each",
        time.as_secs()
    ));
    let mut ended = Journal::create(&runs, 1, TITLE)?;
    for _ in 0..50 {
        ended.step()?;
    }
    ended.agent("text_block", &json!({"item": "last", "text": "the end of it"}))?;
    let ended = ended.end(TITLE)?;
    let (bytes, share) = measure(&stage, &ended, "the end of it", time)?;
    at_most("a run that has ended: to the terminal", bytes, 0.0, "B");
    at_most("a run that has ended: processor", share, 0.2, "% of a core");
    let mut waiting = Journal::create(&runs, 2, TITLE)?;
    waiting.step()?;
    let request =
        json!({"request": "r", "tool": "Bash", "kind": "execute", "input": {"command": "make install"}});
    waiting.agent("permission_requested", &request)?;
    waiting.flush()?;
    waiting.save(&json!({"state": "waiting", "for": "permission"}), TITLE)?;
    let (bytes, share) = measure(&stage, &waiting.id, "make install", time)?;
    at_most(
        "a run that waits for permission: to the terminal",
        bytes / time.as_secs_f64(),
        100.0,
        "B/s",
    );
    at_most(
        "a run that waits for permission: processor",
        share,
        0.2,
        "% of a core",
    );
    Ok(())
}

/// Bytes to the terminal, and percent of a core.
fn measure(stage: &Stage, id: &str, text: &str, time: Duration) -> Result<(f64, f64), String> {
    let terminal = Terminal::start(&stage.ralph(&["attach", id, "--tui"]), (120, 40))?;
    terminal.wait_for(text)?;
    std::thread::sleep(SETTLE_TIME);
    let (bytes, busy, start) = (terminal.bytes(), terminal.busy()?, Instant::now());
    std::thread::sleep(time);
    let share = 100.0 * terminal.busy()?.saturating_sub(busy).as_secs_f64() / start.elapsed().as_secs_f64();
    Ok(((terminal.bytes() - bytes) as f64, share))
}
