//! `OutputLines`: the agent's stdout as lines.

use std::io;

use agent_process::Output;
use json_lines::{Framed, LineFramer};

/// The result of a read.
pub(super) enum ReadOutcome {
    Line(Framed),
    /// Bytes without a line end yet: a sign of life.
    PartialLine,
    Failed(io::Error),
    End,
}

pub(super) struct OutputLines {
    output: Option<Output>,
    framer: LineFramer,
}

impl OutputLines {
    pub(super) fn new(output: Output, max_line_bytes: usize) -> Self {
        Self {
            output: Some(output),
            framer: LineFramer::new(max_line_bytes),
        }
    }

    /// The next line that was read already.
    pub(super) fn next_buffered(&mut self) -> Option<Framed> {
        self.framer.next_line()
    }

    /// Cancelling the wait loses nothing.
    pub(super) async fn next(&mut self) -> ReadOutcome {
        if let Some(line) = self.framer.next_line() {
            return ReadOutcome::Line(line);
        }
        let Some(output) = &mut self.output else {
            return self.framer.finish().map_or(ReadOutcome::End, ReadOutcome::Line);
        };
        match output.next_chunk().await {
            Some(Ok(chunk)) => {
                self.framer.push(chunk);
                self.framer
                    .next_line()
                    .map_or(ReadOutcome::PartialLine, ReadOutcome::Line)
            }
            Some(Err(error)) => ReadOutcome::Failed(error),
            None => {
                self.output = None;
                self.framer.finish().map_or(ReadOutcome::End, ReadOutcome::Line)
            }
        }
    }
}
