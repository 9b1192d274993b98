//! The two tasks of a session: one reads, one writes, and neither waits for the other.

use std::sync::Arc;
use std::time::Duration;

use agent_process::StdinWriter;
use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot, watch};

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

/// A line to write.
pub(super) struct Order {
    pub(super) line: Bytes,
    /// Is told that the line was written. Once nobody waits for that any more, an order not yet begun is void.
    pub(super) written: oneshot::Sender<()>,
}

/// Writes lines in order until it is told to close, nobody can send any more, or the process no longer reads. Then
/// the process sees the end of its stdin, and `closing` is dropped.
///
/// Told to close, it takes no further orders and writes those it has, for `deadline` at most: a process that does not
/// read must not keep its input open.
pub(super) async fn write_lines(
    mut stdin: StdinWriter,
    mut orders: mpsc::Receiver<Order>,
    closing: watch::Receiver<bool>,
    deadline: Duration,
) {
    tokio::select! {
        biased;
        () = write_orders(&mut stdin, &mut orders, closing.clone()) => {}
        () = overdue(closing.clone(), deadline) => {}
    }
    // Whoever waits for the close learns of it after the fact.
    drop(stdin);
    drop(orders);
    drop(closing);
}

async fn write_orders(
    stdin: &mut StdinWriter,
    orders: &mut mpsc::Receiver<Order>,
    mut closing: watch::Receiver<bool>,
) {
    let mut is_closing = false;
    loop {
        let order = tokio::select! {
            biased;
            _ = closing.wait_for(|is_closing| *is_closing), if !is_closing => {
                orders.close();
                is_closing = true;
                continue;
            }
            order = orders.recv() => order,
        };
        let Some(Order { line, written }) = order else {
            break;
        };
        if written.is_closed() {
            continue;
        }
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            // The sender learns it by the missing confirmation.
            break;
        }
        // A sender that gave up in the meantime needs no confirmation.
        let _ = written.send(());
    }
}

/// Resolves some time after the order to close.
async fn overdue(mut closing: watch::Receiver<bool>, deadline: Duration) {
    if closing.wait_for(|is_closing| *is_closing).await.is_err() {
        // Nobody is left who could give the order, or wait for it.
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(deadline).await;
}
