//! `Lifetime` and `SessionGuard`: how long a token or a session is valid, and how open connections notice its end.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::timeout;

use super::clock::Clock;

/// The clock may be set while a connection waits, so it is looked at again after this long.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// How long something is valid. Dropping it ends every connection that was opened with it.
#[derive(Debug)]
pub(super) struct Lifetime {
    pub(super) expires_at: Option<Timestamp>,
    ended: watch::Sender<()>,
}

impl Lifetime {
    pub(super) fn until(expires_at: Option<Timestamp>) -> Self {
        Self {
            expires_at,
            ended: watch::Sender::new(()),
        }
    }

    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expires_at| now < expires_at)
    }

    pub(super) fn guard(&self, clock: Clock) -> SessionGuard {
        SessionGuard {
            expires_at: self.expires_at,
            ended: self.ended.subscribe(),
            clock,
        }
    }
}

/// Held by everything that was let in by a token or a session: says when that has expired or was revoked.
#[derive(Debug, Clone)]
pub struct SessionGuard {
    expires_at: Option<Timestamp>,
    ended: watch::Receiver<()>,
    clock: Clock,
}

impl SessionGuard {
    pub(crate) fn is_over(&self) -> bool {
        let is_expired = self.expires_at.is_some_and(|at| at <= self.clock.now());
        is_expired || self.ended.has_changed().is_err()
    }

    /// Resolves when the token or the session has ended. Cancelling the wait loses nothing.
    pub(crate) async fn over(&mut self) {
        while !self.is_over() {
            let left = self.expires_at.map_or(CLOCK_CHECK_INTERVAL, |at| {
                let left = self.clock.now().duration_until(at).unsigned_abs();
                left.min(CLOCK_CHECK_INTERVAL)
            });
            let _ = timeout(left, self.ended.changed()).await;
        }
    }
}
