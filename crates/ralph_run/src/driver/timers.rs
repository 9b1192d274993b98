//! What was to be said after a while.

use std::time::Duration;

use tokio::time::Instant;

use crate::machine::Timer;

/// Timers that run. There are never many.
#[derive(Debug, Default)]
pub(super) struct Timers {
    armed: Vec<(Timer, Instant)>,
}

impl Timers {
    pub(super) fn arm(&mut self, timer: Timer, after: Duration) {
        self.disarm(&timer);
        if let Some(at) = Instant::now().checked_add(after) {
            self.armed.push((timer, at));
        }
    }

    pub(super) fn disarm(&mut self, timer: &Timer) {
        self.armed.retain(|(armed, _)| armed != timer);
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.armed.iter().map(|(_, at)| *at).min()
    }

    /// One that is due.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Timer> {
        let due = self.armed.iter().position(|(_, at)| *at <= now)?;
        Some(self.armed.swap_remove(due).0)
    }
}
