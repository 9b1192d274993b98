//! The agent's input.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_process::StdinWriter;
use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use super::control::State;

/// Writes lines in a task of its own, so that an agent that does not read never keeps us from reading what it writes.
#[derive(Debug)]
pub(super) struct InputWriter {
    lines: Option<mpsc::UnboundedSender<Line>>,
    /// How many lines there were so far.
    queued: u64,
    written: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Line {
    bytes: Bytes,
    /// Whether it is one of the commands that wait.
    is_command: bool,
}

impl InputWriter {
    /// No input at all.
    pub(super) fn closed() -> Self {
        Self {
            lines: None,
            queued: 0,
            written: Arc::default(),
        }
    }

    pub(super) fn new(stdin: StdinWriter, state: Arc<State>) -> Self {
        let (lines, received) = mpsc::unbounded_channel();
        let written = Arc::default();
        tokio::spawn(write(stdin, received, state, Arc::clone(&written)));
        Self {
            lines: Some(lines),
            queued: 0,
            written,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| !lines.is_closed())
    }

    /// A line that is no command. Says whether the agent can still get it.
    pub(super) fn write(&mut self, bytes: Bytes) -> bool {
        let is_command = false;
        self.queue(Line { bytes, is_command }).is_some()
    }

    /// A command: gives the line's number, from 0, if the agent can still get it.
    pub(super) fn write_command(&mut self, bytes: Bytes) -> Option<u64> {
        let is_command = true;
        self.queue(Line { bytes, is_command })
    }

    /// How many lines the agent could have read.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Ends the input after what was written.
    pub(super) fn close(&mut self) {
        self.lines = None;
    }

    fn queue(&mut self, line: Line) -> Option<u64> {
        self.lines.as_ref()?.send(line).ok()?;
        let number = self.queued;
        self.queued += 1;
        Some(number)
    }
}

async fn write(
    mut stdin: StdinWriter,
    mut lines: mpsc::UnboundedReceiver<Line>,
    state: Arc<State>,
    written: Arc<AtomicU64>,
) {
    while let Some(line) = lines.recv().await {
        let is_written = stdin.write_all(&line.bytes).await.is_ok() && stdin.flush().await.is_ok();
        state.leave(usize::from(line.is_command));
        if !is_written {
            break;
        }
        written.fetch_add(1, Ordering::AcqRel);
    }
    // Nobody will read the rest; the end of the run says so.
    lines.close();
    while let Ok(line) = lines.try_recv() {
        state.leave(usize::from(line.is_command));
    }
}
