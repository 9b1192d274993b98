//! `TimerQueue`: the deadlines that the machine has armed. The driver's loop sleeps until the earliest one.

use std::time::Duration;

use agent_process::clock;
use tokio::time::Instant;

use crate::machine::Timer;

/// Armed timers. At most one per `Timer`, so a linear scan is fine.
#[derive(Debug, Default)]
pub(super) struct TimerQueue {
    armed: Vec<(Timer, Instant)>,
}

impl TimerQueue {
    pub(super) fn arm(&mut self, timer: Timer, after: Duration) {
        self.disarm(&timer);
        if let Some(at) = clock::now().checked_add(after) {
            self.armed.push((timer, at));
        }
    }

    pub(super) fn disarm(&mut self, timer: &Timer) {
        self.armed.retain(|(armed, _)| armed != timer);
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.armed.iter().map(|(_, at)| *at).min()
    }

    pub(super) fn pop_expired(&mut self, now: Instant) -> Option<Timer> {
        let expired = self.armed.iter().position(|(_, at)| *at <= now)?;
        Some(self.armed.swap_remove(expired).0)
    }
}
