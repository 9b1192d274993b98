//! `TokenConnections`: limits the connections of one token, so that it cannot hold all that there are.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;

/// The connections of each token, oldest first, by the token's digest.
#[derive(Debug, Clone)]
pub(super) struct TokenConnections {
    max_of_one: usize,
    of_each: Arc<Mutex<HashMap<String, VecDeque<Arc<Notify>>>>>,
}

/// A connection, and the token that was first shown on it. Every request carries it, and a WebSocket keeps it.
#[derive(Debug, Clone)]
pub(super) struct TokenConnection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    connections: TokenConnections,
    token: OnceLock<String>,
    evicted: Arc<Notify>,
}

impl TokenConnections {
    pub(super) fn new(max_of_one: usize) -> Self {
        Self {
            max_of_one: max_of_one.max(1),
            of_each: Arc::default(),
        }
    }

    pub(super) fn connection(&self) -> TokenConnection {
        TokenConnection {
            inner: Arc::new(Inner {
                connections: self.clone(),
                token: OnceLock::new(),
                evicted: Arc::default(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Arc<Notify>>>> {
        self.of_each.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenConnection {
    /// A request has shown this token. If the token has too many connections, its oldest is closed.
    pub(super) fn belongs_to(&self, token: &str) {
        if self.inner.token.set(token.to_owned()).is_err() {
            return;
        }
        let mut of_each = self.inner.connections.lock();
        let own = of_each.entry(token.to_owned()).or_default();
        own.push_back(Arc::clone(&self.inner.evicted));
        if own.len() > self.inner.connections.max_of_one
            && let Some(oldest) = own.pop_front()
        {
            oldest.notify_one();
        }
    }

    /// Resolves when the connection has to make room for another one of its token.
    pub(super) async fn evicted(&self) {
        self.inner.evicted.notified().await;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let Some(token) = self.token.get() else {
            return;
        };
        let mut of_each = self.connections.lock();
        if let Some(own) = of_each.get_mut(token) {
            own.retain(|connection| !Arc::ptr_eq(connection, &self.evicted));
            if own.is_empty() {
                of_each.remove(token);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TokenConnections;
    use futures_util::FutureExt as _;

    #[test]
    fn the_oldest_connection_of_a_token_makes_room_and_none_of_another() {
        let connections = TokenConnections::new(2);
        let opened = |token: &str| {
            let connection = connections.connection();
            connection.belongs_to(token);
            connection
        };
        let other = opened("other");
        let own: Vec<_> = (0..3).map(|_| opened("one")).collect();
        let is_evicted = |connection: &super::TokenConnection| connection.evicted().now_or_never().is_some();
        assert_eq!(
            own.iter().map(is_evicted).collect::<Vec<_>>(),
            [true, false, false]
        );
        assert!(!is_evicted(&other));
        drop((own, other));
        assert!(connections.lock().is_empty());
    }
}
