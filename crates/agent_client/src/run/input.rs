//! `InputWriter`: writes lines to the agent's stdin in a task of its own, so that an agent that does not read never
//! keeps the loop from reading.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_process::{StdinWriter, clock};
use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::link::CommandPermit;

/// How much may wait for an agent that asks and does not read the answers. Above that nothing more is read from it.
const MAX_WAITING_REPLY_BYTES: usize = 1024 * 1024;

/// Bytes for the agent's input.
#[derive(Debug)]
pub(super) struct InputLine {
    pub(super) bytes: Bytes,
    /// Resolved once the line is written.
    pub(super) written: Option<oneshot::Sender<()>>,
    /// Whether the line is left out if the receiver of `written` is gone by then.
    pub(super) is_revocable: bool,
    /// Whether it answers a request of the agent. How much of that may wait is limited.
    pub(super) is_reply: bool,
    pub(super) permit: Option<CommandPermit>,
}

/// Replies that wait behind the line that is being written.
#[derive(Debug, Default)]
struct Replies {
    bytes: AtomicUsize,
    written: Notify,
}

impl Replies {
    fn have_room(&self) -> bool {
        self.bytes.load(Ordering::Acquire) < MAX_WAITING_REPLY_BYTES
    }
}

#[derive(Debug)]
pub(super) struct InputWriter {
    lines: Option<mpsc::UnboundedSender<InputLine>>,
    /// Dropped when the input is closed.
    open: Option<oneshot::Sender<()>>,
    replies: Arc<Replies>,
}

impl InputWriter {
    /// A writer, and a receiver whose channel closes when the input does. After [`InputWriter::close`] the rest is
    /// written within `close_timeout`; then the input ends where it is.
    pub(super) fn new(
        stdin: Option<StdinWriter>,
        close_timeout: Option<Duration>,
    ) -> (Self, watch::Receiver<()>) {
        let (ended_sender, ended) = watch::channel(());
        let Some(stdin) = stdin else {
            let closed = Self {
                lines: None,
                open: None,
                replies: Arc::default(),
            };
            return (closed, ended);
        };
        let replies = Arc::<Replies>::default();
        let waiting = replies.clone();
        let (lines, received) = mpsc::unbounded_channel();
        let (open, closing) = oneshot::channel();
        tokio::spawn(async move {
            write_until_closed(stdin, received, closing, close_timeout, &waiting).await;
            // What was not written waits no longer.
            waiting.bytes.store(0, Ordering::Release);
            waiting.written.notify_one();
            drop(ended_sender);
        });
        let writer = Self {
            lines: Some(lines),
            open: Some(open),
            replies,
        };
        (writer, ended)
    }

    pub(super) fn is_open(&self) -> bool {
        self.lines.as_ref().is_some_and(|lines| !lines.is_closed())
    }

    /// Returns whether the agent can still get the line.
    pub(super) fn queue(&mut self, line: InputLine) -> bool {
        let reply_bytes = reply_bytes(&line);
        self.replies.bytes.fetch_add(reply_bytes, Ordering::AcqRel);
        let is_queued = self.lines.as_ref().is_some_and(|lines| lines.send(line).is_ok());
        if !is_queued {
            self.replies.bytes.fetch_sub(reply_bytes, Ordering::AcqRel);
        }
        is_queued
    }

    /// Whether more replies may be queued. If not, the agent must read some first.
    pub(super) fn has_reply_room(&self) -> bool {
        !self.is_open() || self.replies.have_room()
    }

    /// Waits until the next reply is being written.
    pub(super) async fn reply_read(&self) {
        self.replies.written.notified().await;
    }

    /// Ends the input after the lines that are queued.
    pub(super) fn close(&mut self) {
        self.lines = None;
        self.open = None;
    }
}

async fn write_until_closed(
    mut stdin: StdinWriter,
    mut lines: mpsc::UnboundedReceiver<InputLine>,
    closing: oneshot::Receiver<()>,
    close_timeout: Option<Duration>,
    replies: &Replies,
) {
    let overdue = async {
        let _closed = closing.await;
        match close_timeout {
            Some(timeout) => clock::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = write_lines(&mut stdin, &mut lines, replies) => {}
        () = overdue => {}
    }
    // Lines that were not written are dropped with their receipts.
}

async fn write_lines(
    stdin: &mut StdinWriter,
    lines: &mut mpsc::UnboundedReceiver<InputLine>,
    replies: &Replies,
) {
    while let Some(line) = lines.recv().await {
        let reply_bytes = reply_bytes(&line);
        let InputLine {
            bytes,
            written,
            is_revocable,
            permit,
            ..
        } = line;
        if reply_bytes > 0 {
            // The line that is being written no longer counts. However long it is, the agent may have to write before
            // it can read it.
            replies.bytes.fetch_sub(reply_bytes, Ordering::AcqRel);
            replies.written.notify_one();
        }
        if is_revocable && written.as_ref().is_some_and(oneshot::Sender::is_closed) {
            continue;
        }
        if stdin.write_all(&bytes).await.is_err() || stdin.flush().await.is_err() {
            break;
        }
        drop(permit);
        if let Some(written) = written {
            // A caller that gave up in the meantime needs no receipt.
            let _ = written.send(());
        }
    }
}

/// How much a line adds to the replies that wait.
fn reply_bytes(line: &InputLine) -> usize {
    if line.is_reply { line.bytes.len() } else { 0 }
}
