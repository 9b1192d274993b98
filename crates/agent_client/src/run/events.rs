//! `Events`: the bounded stream of a run's items, and the sender at its other end.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// What happens, in order and as it happens.
///
/// The stream is bounded: while it is full, no more is read from the agent. Nothing is left out. **Dropping it before
/// its end stops the agent** and everything it started; see [`Events::detach`].
#[derive(Debug)]
pub struct Events<T> {
    items: mpsc::UnboundedReceiver<Queued<T>>,
    room: Arc<Semaphore>,
    is_detached: Arc<AtomicBool>,
    /// Dropped, and so the completion gate opened, when the last item was taken after the stream's end.
    gate: Option<oneshot::Sender<()>>,
}

#[derive(Debug)]
struct Queued<T> {
    item: T,
    weight: u32,
}

/// The loop's end of the stream.
#[derive(Debug)]
pub(super) struct EventSender<T> {
    items: mpsc::UnboundedSender<Queued<T>>,
    room: Arc<Semaphore>,
    capacity: u32,
    is_detached: Arc<AtomicBool>,
}

/// Whether an item can be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Room {
    Reserved,
    Full,
    ConsumerGone,
}

/// A stream that holds items of this weight, and what opens the completion gate.
pub(super) fn event_stream<T>(capacity: u32) -> (EventSender<T>, Events<T>, oneshot::Receiver<()>) {
    let (sender, items) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(capacity as usize));
    let is_detached = Arc::new(AtomicBool::new(false));
    let (gate, opened) = oneshot::channel();
    let sender = EventSender {
        items: sender,
        room: room.clone(),
        capacity,
        is_detached: is_detached.clone(),
    };
    let events = Events {
        items,
        room,
        is_detached,
        gate: Some(gate),
    };
    (sender, events, opened)
}

impl<T> Events<T> {
    /// The next item; `None` at the end. Cancelling the wait loses nothing.
    pub async fn next(&mut self) -> Option<T> {
        std::future::poll_fn(|context| self.poll_item(context)).await
    }

    /// The next item if it is there already.
    pub fn try_next(&mut self) -> Option<T> {
        match self.items.try_recv() {
            Ok(queued) => Some(self.take(queued)),
            Err(mpsc::error::TryRecvError::Empty) => None,
            Err(mpsc::error::TryRecvError::Disconnected) => {
                self.gate = None;
                None
            }
        }
    }

    /// Lets the run continue without a consumer: its output is read and thrown away.
    pub fn detach(self) {
        self.is_detached.store(true, Ordering::Release);
    }

    fn poll_item(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let queued = ready!(self.items.poll_recv(context));
        if queued.is_none() {
            self.gate = None;
        }
        Poll::Ready(queued.map(|queued| self.take(queued)))
    }

    fn take(&mut self, queued: Queued<T>) -> T {
        self.room.add_permits(queued.weight as usize);
        // If the sender is dropped after this look, it sees that everything was taken.
        if self.items.is_closed() && self.items.is_empty() {
            self.gate = None;
        }
        queued.item
    }
}

impl<T> Stream for Events<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.get_mut().poll_item(context)
    }
}

impl<T> EventSender<T> {
    /// Takes room for an item of this weight. An item that is heavier than the whole queue passes when it is empty.
    pub(super) fn try_reserve(&self, weight: u32) -> Room {
        if self.items.is_closed() {
            return Room::ConsumerGone;
        }
        match self.room.try_acquire_many(weight.min(self.capacity)) {
            Ok(permit) => {
                permit.forget();
                Room::Reserved
            }
            Err(_) => Room::Full,
        }
    }

    /// Waits until there is room for an item of this weight, or the consumer is gone. Takes nothing.
    pub(super) async fn room(&self, weight: u32) {
        tokio::select! {
            _ = self.room.acquire_many(weight.min(self.capacity)) => {}
            () = self.items.closed() => {}
        }
    }

    /// Sends an item for which room was reserved.
    pub(super) fn send(&self, item: T, weight: u32) {
        let weight = weight.min(self.capacity);
        // Without a consumer the item is not needed.
        let _ = self.items.send(Queued { item, weight });
    }

    /// Resolves when the consumer is gone.
    pub(super) async fn closed(&self) {
        self.items.closed().await;
    }

    /// Ends the stream. Returns whether the consumer has taken everything.
    pub(super) fn close(self) -> bool {
        let Self {
            items,
            room,
            capacity,
            ..
        } = self;
        drop(items);
        room.available_permits() == capacity as usize
    }

    /// Whether the consumer left the run to itself.
    pub(super) fn is_detached(&self) -> bool {
        self.is_detached.load(Ordering::Acquire)
    }
}
