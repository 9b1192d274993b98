//! What the agent says beside its events.

use agent_process::{Framed, LineFramer, StderrOutput};
use bytes::Buf;

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
    /// After a gap nothing counts before the next line starts.
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

    /// The next line; `None` for one that is left out or not complete yet, or at the end. Cancelling the wait loses
    /// nothing.
    pub(super) async fn next(&mut self) -> Option<Notice> {
        if let Some(framed) = self.framer.next_line() {
            return self.notice(framed);
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
        framed.and_then(|framed| self.notice(framed))
    }

    /// What was begun before a gap is not a line any more.
    fn gap(&mut self) -> Option<Notice> {
        self.framer = LineFramer::new(MAX_LINE_BYTES);
        self.is_in_gap = true;
        self.counted(suppressed("some lines on stderr are only in the log"))
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
        self.counted(Notice::stderr(cut_message(text)))
    }

    fn counted(&mut self, notice: Notice) -> Option<Notice> {
        self.count = self.count.saturating_add(1);
        match self.count.cmp(&MOST_NOTICES) {
            std::cmp::Ordering::Less => Some(notice),
            std::cmp::Ordering::Equal => Some(suppressed("further lines on stderr are only in the log")),
            std::cmp::Ordering::Greater => None,
        }
    }
}

fn suppressed(message: &str) -> Notice {
    Notice {
        severity: Severity::Warning,
        code: "stderr_suppressed".to_owned(),
        message: message.to_owned(),
        data: None,
    }
}
