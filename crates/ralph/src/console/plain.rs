//! Text of our own: messages, lists, summaries.

use std::io::Write as _;

/// Writes to stdout. Nobody minds if nobody reads it.
pub fn write_stdout(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Writes to stderr. Nobody minds if nobody reads it.
pub fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// How many columns the terminal has, if there is one and it says.
#[must_use]
pub fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
