//! The agent's output in lines.

use std::io;

use agent_process::{Framed, LineFramer, Output};

/// What came of a read.
pub(super) enum Read {
    /// A line.
    Line(Framed),
    /// Something, but no whole line yet: a sign of life.
    Part,
    /// No more can be read.
    Failed(io::Error),
    /// The end.
    End,
}

/// The agent's output in lines. Unlike [`agent_process::Lines`] it tells of unfinished ones.
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

    /// A line that was read already.
    pub(super) fn next_read(&mut self) -> Option<Framed> {
        self.framer.next_line()
    }

    /// Cancelling the wait loses nothing.
    pub(super) async fn next(&mut self) -> Read {
        if let Some(line) = self.framer.next_line() {
            return Read::Line(line);
        }
        let Some(output) = &mut self.output else {
            return self.framer.finish().map_or(Read::End, Read::Line);
        };
        match output.next_chunk().await {
            Some(Ok(chunk)) => {
                self.framer.push(chunk);
                self.framer.next_line().map_or(Read::Part, Read::Line)
            }
            Some(Err(error)) => Read::Failed(error),
            None => {
                self.output = None;
                self.framer.finish().map_or(Read::End, Read::Line)
            }
        }
    }
}
