//! `Admission`: limits connections, and keeps strangers from using up the places of those who have a token.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Decides which connections are kept. A connection is a stranger's until one of its requests has shown a token or a
/// session. When there are too many strangers, the one that came first is closed, never the new one: on loopback the
/// owner comes from the same address as everybody else and cannot be told apart before the first request.
#[derive(Debug)]
pub(super) struct Admission {
    places: Arc<Semaphore>,
    count: u32,
    max_strangers: usize,
    strangers: Arc<Mutex<VecDeque<Arc<Connection>>>>,
}

#[derive(Debug, Default)]
struct Connection {
    is_known: AtomicBool,
    evicted: Notify,
}

/// The place of a connection. Every request carries it; whatever continues after its answer, such as a WebSocket, keeps
/// it, so that it still counts and the end of the server waits for it.
#[derive(Debug, Clone)]
pub(super) struct ConnectionPermit {
    inner: Arc<PermitInner>,
}

#[derive(Debug)]
struct PermitInner {
    connection: Arc<Connection>,
    strangers: Arc<Mutex<VecDeque<Arc<Connection>>>>,
    _permit: OwnedSemaphorePermit,
}

impl Admission {
    pub(super) fn new(max_connections: usize, max_strangers: usize) -> Self {
        let count = u32::try_from(max_connections).unwrap_or(u32::MAX);
        Self {
            places: Arc::new(Semaphore::new(count as usize)),
            count,
            max_strangers: max_strangers.max(1),
            strangers: Arc::default(),
        }
    }

    /// A place for a new connection; none if all are taken by connections that have shown a token.
    pub(super) fn admit(&self) -> Option<ConnectionPermit> {
        let mut strangers = lock(&self.strangers);
        while strangers.len() >= self.max_strangers
            && let Some(oldest) = strangers.pop_front()
        {
            oldest.evicted.notify_one();
        }
        let permit = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let connection = Arc::new(Connection::default());
        strangers.push_back(Arc::clone(&connection));
        Some(ConnectionPermit {
            inner: Arc::new(PermitInner {
                connection,
                strangers: Arc::clone(&self.strangers),
                _permit: permit,
            }),
        })
    }

    /// Resolves when every place is free again.
    pub(super) async fn all_left(&self) {
        let _ = self.places.acquire_many(self.count).await;
    }
}

impl ConnectionPermit {
    /// A request of this connection has shown a token or a session.
    pub(super) fn set_known(&self) {
        if !self.inner.connection.is_known.swap(true, Ordering::Relaxed) {
            self.inner.leave();
        }
    }

    /// Resolves when the connection has to make room for another one.
    pub(super) async fn evicted(&self) {
        self.inner.connection.evicted.notified().await;
    }
}

impl PermitInner {
    fn leave(&self) {
        let own = &self.connection;
        lock(&self.strangers).retain(|stranger| !Arc::ptr_eq(stranger, own));
    }
}

impl Drop for PermitInner {
    fn drop(&mut self) {
        self.leave();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Admission;
    use futures_util::FutureExt as _;

    #[test]
    fn the_oldest_stranger_makes_room_and_those_who_are_known_do_not() {
        let admission = Admission::new(8, 2);
        let known = admission.admit().unwrap();
        known.set_known();
        let first = admission.admit().unwrap();
        let second = admission.admit().unwrap();
        assert!(first.evicted().now_or_never().is_none());
        let third = admission.admit().unwrap();
        assert!(first.evicted().now_or_never().is_some());
        for stays in [&known, &second, &third] {
            assert!(stays.evicted().now_or_never().is_none());
        }
        // One that left makes room by itself.
        drop(second);
        let _fourth = admission.admit().unwrap();
        assert!(third.evicted().now_or_never().is_none());
    }

    #[test]
    fn places_are_limited_for_those_who_are_known() {
        let admission = Admission::new(2, 8);
        let both: Vec<_> = (0..2).map(|_| admission.admit().unwrap()).collect();
        for permit in &both {
            permit.set_known();
        }
        assert!(admission.admit().is_none());
        drop(both);
        assert!(admission.admit().is_some());
    }
}
