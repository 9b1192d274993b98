//! What the agent says beside its events.

use agent_process::{Framed, LineFramer, StderrOutput};

use crate::bounds::{MESSAGE_BYTES, cut_message};
use crate::event::{Notice, Severity};

/// A program that floods stderr does not flood the events.
const MOST_NOTICES: u32 = 1_000;
/// Longer lines are only counted; the log has them.
const MAX_LINE_BYTES: usize = 16 * MESSAGE_BYTES;

/// The agent's stderr as notices.
pub(super) struct StderrLines {
    output: Option<StderrOutput>,
    framer: LineFramer,
    count: u32,
}

impl StderrLines {
    pub(super) fn new(output: Option<StderrOutput>) -> Self {
        Self {
            output,
            framer: LineFramer::new(MAX_LINE_BYTES),
            count: 0,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.output.is_none()
    }

    /// The next line; `None` for one that is left out or not complete yet, or at the end. Cancelling the wait loses
    /// nothing.
    pub(super) async fn next(&mut self) -> Option<Notice> {
        if let Some(framed) = self.framer.next_line() {
            return self.notice(framed);
        }
        let framed = match self.output.as_mut()?.next_chunk().await {
            Some(chunk) => {
                self.framer.push(chunk);
                self.framer.next_line()
            }
            None => {
                self.output = None;
                self.framer.finish()
            }
        };
        framed.and_then(|framed| self.notice(framed))
    }

    fn notice(&mut self, framed: Framed) -> Option<Notice> {
        let text = match framed {
            Framed::Line(line) => String::from_utf8_lossy(&line.bytes).trim_end().to_owned(),
            Framed::Overlong { length_bytes, .. } => {
                format!("a line of {length_bytes} bytes; the log has it")
            }
        };
        if text.is_empty() {
            return None;
        }
        self.count += 1;
        match self.count.cmp(&MOST_NOTICES) {
            std::cmp::Ordering::Less => Some(Notice::stderr(cut_message(text))),
            std::cmp::Ordering::Equal => Some(Notice {
                severity: Severity::Warning,
                code: "stderr_suppressed".to_owned(),
                message: "further lines on stderr are only in the log".to_owned(),
                data: None,
            }),
            std::cmp::Ordering::Greater => None,
        }
    }
}
