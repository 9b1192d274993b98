//! `StderrLines`: the agent's stderr as lines, limited in number and length.

use agent_process::StderrOutput;
use bytes::Buf;
use json_lines::{Framed, LineFramer};

use super::protocol::StderrLine;

/// A program that floods stderr must not flood the events.
const MAX_LINES: u32 = 1_000;
/// Longer lines are only in the log.
const MAX_LINE_BYTES: usize = 64 * 1024;

pub(super) struct StderrLines {
    output: Option<StderrOutput>,
    framer: LineFramer,
    /// After a gap everything is skipped until the next line starts.
    is_in_gap: bool,
    count: u32,
}

impl StderrLines {
    pub(super) fn new(output: Option<StderrOutput>) -> Self {
        Self {
            output,
            framer: LineFramer::new(MAX_LINE_BYTES),
            is_in_gap: false,
            count: 0,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.output.is_none()
    }

    /// The next line; `None` if it is skipped or not complete yet, and at the end. Cancelling the wait loses nothing.
    pub(super) async fn next(&mut self) -> Option<StderrLine> {
        if let Some(framed) = self.framer.next_line() {
            return self.line(framed);
        }
        let framed = match self.output.as_mut()?.next_chunk().await {
            Some(chunk) if chunk.is_empty() => return self.gap(),
            Some(mut chunk) => {
                if self.is_in_gap {
                    let end = chunk.iter().position(|byte| *byte == b'\n')?;
                    chunk.advance(end + 1);
                    self.is_in_gap = false;
                }
                self.framer.push(chunk);
                self.framer.next_line()
            }
            None => {
                self.output = None;
                self.framer.finish()
            }
        };
        framed.and_then(|framed| self.line(framed))
    }

    /// A line that was begun before a gap is incomplete.
    fn gap(&mut self) -> Option<StderrLine> {
        self.framer = LineFramer::new(MAX_LINE_BYTES);
        self.is_in_gap = true;
        self.count(StderrLine::Gap)
    }

    fn line(&mut self, framed: Framed) -> Option<StderrLine> {
        let line = match framed {
            Framed::Line(line) => {
                StderrLine::Text(String::from_utf8_lossy(&line.bytes).trim_end().to_owned())
            }
            Framed::Overlong { length_bytes, .. } => StderrLine::Overlong { length_bytes },
        };
        if line == StderrLine::Text(String::new()) {
            return None;
        }
        self.count(line)
    }

    fn count(&mut self, line: StderrLine) -> Option<StderrLine> {
        self.count = self.count.saturating_add(1);
        match self.count.cmp(&MAX_LINES) {
            std::cmp::Ordering::Less => Some(line),
            std::cmp::Ordering::Equal => Some(StderrLine::LimitReached),
            std::cmp::Ordering::Greater => None,
        }
    }
}
