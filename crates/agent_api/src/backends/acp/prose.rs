//! `Prose`: lines that are not JSON, from a program that has not answered `initialize` yet. It may not speak the
//! protocol at all, and what it wrote says why.

use std::time::Duration;

use json_lines::Framed;

/// How many lines are quoted, and how much of each.
const QUOTED_LINES: usize = 3;
const QUOTED_BYTES: usize = 200;

/// What a program wrote instead of messages.
#[derive(Debug, Default)]
pub(super) struct Prose {
    lines: Vec<String>,
    /// Whether the last line was such a line.
    is_last: bool,
}

impl Prose {
    /// A line without a message.
    pub(super) fn note(&mut self, line: Option<String>) {
        let Some(line) = line else { return };
        self.is_last = true;
        if self.lines.len() < QUOTED_LINES {
            self.lines.push(line);
        }
    }

    /// A message came: it speaks the protocol.
    pub(super) fn note_message(&mut self) {
        self.is_last = false;
    }

    /// How long after its start the program may take to answer. One that only writes text is not waited for as long as
    /// a silent one.
    pub(super) fn limit(&self, limit: Duration) -> Duration {
        if self.is_last { limit / 3 * 2 } else { limit }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// What it wrote, for an error; empty if it wrote nothing.
    pub(super) fn quote(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = self.lines.iter().map(|line| format!("`{line}`")).collect();
        format!("; it wrote text instead of JSON: {}", lines.join(", "))
    }
}

/// The line as it is quoted; `None` if it is blank.
pub(super) fn quotable(line: &Framed) -> Option<String> {
    let Framed::Line(line) = line else { return None };
    let text = String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(2 * QUOTED_BYTES)]).into_owned();
    let mut text = text.trim().replace(char::is_control, " ");
    text.truncate(text.floor_char_boundary(QUOTED_BYTES));
    (!text.is_empty()).then_some(text)
}
