//! The two tasks of a session: one reads, one writes, and neither waits for the other.

use std::sync::Arc;

use agent_process::StdinWriter;
use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};

use super::connection::PendingRequests;
use crate::client::{EventSink, Reader};

/// Reads until the output ends or the consumer is gone. Dropping the reader then stops the process.
pub(super) async fn read_events(mut reader: Reader, mut sink: EventSink, pending: Arc<PendingRequests>) {
    loop {
        let item = tokio::select! {
            biased;
            () = sink.closed() => break,
            item = reader.next() => item,
        };
        let Some(item) = item else { break };
        if let Ok(event) = &item {
            pending.notice(event);
        }
        if !sink.push(item).await {
            break;
        }
    }
    pending.end();
}

/// What the writer is told.
pub(super) enum Order {
    /// Write a line and say that it was written.
    Write(Bytes, oneshot::Sender<()>),
    /// End of file, after all lines before.
    Close,
}

/// Writes lines in order until it is told to close, nobody can send any more, or the process no longer reads. Then
/// the process sees the end of its stdin.
pub(super) async fn write_lines(mut stdin: StdinWriter, mut orders: mpsc::Receiver<Order>) {
    while let Some(order) = orders.recv().await {
        let Order::Write(line, written) = order else { break };
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            // The sender learns it by the missing confirmation.
            break;
        }
        // A sender that gave up in the meantime needs no confirmation.
        let _ = written.send(());
    }
}
