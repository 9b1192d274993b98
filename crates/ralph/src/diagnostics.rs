//! Log output of the libraries on stderr: warnings by default, more with `RALPH_LOG`.

use std::io::{self, IsTerminal as _, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::console::{BackgroundWriter, write_stderr};
use run_view::one_line;

/// A filter such as `debug` or `warn,ralph_run=debug`.
pub const VARIABLE: &str = "RALPH_LOG";

/// Longer than any message of ours; some quote what an agent wrote.
const COLUMNS: usize = 2_000;

/// How long the process waits at its end for a reader of stderr.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// Started by the first line.
static WRITER: Mutex<Option<BackgroundWriter>> = Mutex::new(None);

/// Lines that wait while the terminal UI has the screen.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);
/// More lines than this are not kept.
const MAX_HELD_LINES: usize = 100;

/// Keeps lines back until [`release`]: nothing else may write to the screen of the terminal UI.
pub fn hold() {
    HELD.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_default();
}

/// Writes lines again, those that were kept back first.
pub fn release() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    for line in held.into_iter().flatten() {
        send(&line);
    }
}

fn send(line: &str) {
    let mut writer = WRITER.lock().unwrap_or_else(PoisonError::into_inner);
    writer.get_or_insert_with(BackgroundWriter::on_stderr).send(line);
}

/// Whether lines begin with the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    Shown,
    Hidden,
}

/// Writes warnings, or the events that `filter` selects, to stderr from now on. Once per process.
pub fn install(filter: Option<&str>, times: Times) {
    let targets = match filter.map(str::parse::<Targets>) {
        Some(Ok(targets)) => targets,
        None => Targets::new().with_default(LevelFilter::WARN),
        Some(Err(error)) => {
            let message = format!("ignoring invalid `{VARIABLE}`: {error}");
            write_stderr(&format!("ralph: {}\n", one_line(&message, COLUMNS)));
            Targets::new().with_default(LevelFilter::WARN)
        }
    };
    let lines = fmt::layer().with_ansi(false).with_writer(Lines::default);
    let registry = tracing_subscriber::registry().with(targets);
    // Fails only if it was called before.
    let _ = match times {
        Times::Shown => registry.with(lines).try_init(),
        Times::Hidden => registry.with(lines.without_time()).try_init(),
    };
}

/// Writes pending lines, within a deadline.
pub fn finish() {
    if let Some(writer) = &mut *WRITER.lock().unwrap_or_else(PoisonError::into_inner) {
        writer.finish(FINISH_TIMEOUT);
    }
}

/// Whole lines, sanitised.
#[derive(Debug, Default)]
struct Lines;

impl Write for Lines {
    /// Called once for each event.
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let erase = if io::stderr().is_terminal() {
            // There may be a status line; it is drawn again.
            "\r\u{1b}[K"
        } else {
            ""
        };
        let line = format!("{erase}{}\n", render(&String::from_utf8_lossy(text)));
        if let Some(held) = &mut *HELD.lock().unwrap_or_else(PoisonError::into_inner) {
            if held.len() < MAX_HELD_LINES {
                held.push(line);
            }
            return Ok(text.len());
        }
        send(&line);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn render(text: &str) -> String {
    format!("ralph: {}", one_line(text.trim(), COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn an_event_is_one_line_that_no_terminal_obeys() {
        assert_eq!(
            render(" WARN ralph_run: bad error=a\nb\u{1b}[2Jc\n"),
            "ralph: WARN ralph_run: bad error=a bc"
        );
    }
}
