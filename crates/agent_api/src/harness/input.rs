//! The agent's input.

use std::sync::Arc;

use agent_process::StdinWriter;
use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use super::control::State;
use std::sync::atomic::Ordering;

/// Writes lines in a task of its own, so that an agent that does not read never keeps us from reading what it writes.
#[derive(Debug)]
pub(super) struct InputWriter {
    lines: Option<mpsc::UnboundedSender<Bytes>>,
}

impl InputWriter {
    /// No input at all.
    pub(super) fn closed() -> Self {
        Self { lines: None }
    }

    pub(super) fn new(stdin: StdinWriter, state: Arc<State>) -> Self {
        let (lines, received) = mpsc::unbounded_channel();
        tokio::spawn(write(stdin, received, state));
        Self { lines: Some(lines) }
    }

    pub(super) fn is_open(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| !lines.is_closed())
    }

    /// Says whether the agent can still get it.
    pub(super) fn write(&self, line: Bytes) -> bool {
        self.lines.as_ref().is_some_and(|lines| lines.send(line).is_ok())
    }

    /// Ends the input after what was written.
    pub(super) fn close(&mut self) {
        self.lines = None;
    }
}

async fn write(mut stdin: StdinWriter, mut lines: mpsc::UnboundedReceiver<Bytes>, state: Arc<State>) {
    while let Some(line) = lines.recv().await {
        let is_written = stdin.write_all(&line).await.is_ok() && stdin.flush().await.is_ok();
        // The first lines were not counted.
        let _ = state
            .waiting
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |waiting| {
                waiting.checked_sub(1)
            });
        if !is_written {
            break;
        }
    }
}
