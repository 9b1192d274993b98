//! Events on their way from the task that reads them to the consumer.

use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::event::Event;
use crate::line_error::LineError;

type Item = Result<Event, LineError>;

/// How much may wait for the consumer; then no more is read from the process.
const MOST_WAITING_BYTES: usize = 8 * 1024 * 1024;
/// What an event takes besides its line.
const OVERHEAD_BYTES: usize = 256;

/// The consumer's end.
#[derive(Debug)]
pub(crate) struct EventQueue {
    items: mpsc::UnboundedReceiver<(Item, Option<OwnedSemaphorePermit>)>,
}

impl EventQueue {
    pub(crate) fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Item>> {
        self.items
            .poll_recv(context)
            .map(|received| received.map(|(item, _permit)| item))
    }
}

/// The reader's end.
pub(crate) struct EventSink {
    items: mpsc::UnboundedSender<(Item, Option<OwnedSemaphorePermit>)>,
    room: Arc<Semaphore>,
    busy: watch::Receiver<usize>,
}

/// Counts callers that wait for the process to read or to answer. Meanwhile the reader goes on whatever the consumer
/// does: the consumer may be the very task that waits.
#[derive(Debug, Clone)]
pub(crate) struct Busy {
    count: Arc<watch::Sender<usize>>,
}

/// One of those callers.
#[derive(Debug)]
pub(crate) struct BusyGuard {
    count: Arc<watch::Sender<usize>>,
}

/// A queue that holds a limited number of bytes, except while somebody is busy.
pub(crate) fn event_queue() -> (EventSink, EventQueue, Busy) {
    let (sender, items) = mpsc::unbounded_channel();
    let (count, busy) = watch::channel(0);
    let sink = EventSink {
        items: sender,
        room: Arc::new(Semaphore::new(MOST_WAITING_BYTES)),
        busy,
    };
    (
        sink,
        EventQueue { items },
        Busy {
            count: Arc::new(count),
        },
    )
}

impl EventSink {
    /// Hands over an event once there is room for it. `false` when the consumer is gone.
    pub(crate) async fn push(&mut self, item: Item) -> bool {
        let line_bytes = item.as_ref().map_or(0, |event| event.raw().len());
        // An event larger than the whole queue passes when the queue is empty.
        let bytes = (line_bytes + OVERHEAD_BYTES).min(MOST_WAITING_BYTES);
        let wanted = u32::try_from(bytes).unwrap_or(u32::MAX);
        let busy = async {
            if self.busy.wait_for(|count| *count > 0).await.is_err() {
                // Nobody is left who could be busy.
                std::future::pending::<()>().await;
            }
        };
        let permit = tokio::select! {
            biased;
            permit = self.room.clone().acquire_many_owned(wanted) => permit.ok(),
            () = busy => None,
            () = self.items.closed() => return false,
        };
        self.items.send((item, permit)).is_ok()
    }

    /// Resolves when the consumer is gone.
    pub(crate) async fn closed(&self) {
        self.items.closed().await;
    }
}

impl Busy {
    /// Counts from here until the guard is dropped.
    pub(crate) fn enter(&self) -> BusyGuard {
        self.count.send_modify(|count| *count += 1);
        BusyGuard {
            count: self.count.clone(),
        }
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
    }
}
