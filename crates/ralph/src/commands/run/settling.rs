//! What a run that goes on for hours does not need any more.

use std::time::{Duration, Instant};

/// When what the start needed is not needed any more: when the agent is started, so that the start does not count while
/// a lot passes through; then when the agent's own start is over.
const AFTER: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_millis(1200),
];
/// Then now and then, for what a moment of work has brought back.
const AGAIN: Duration = Duration::from_secs(60);

/// Keeps a run small that waits most of the time.
#[derive(Debug)]
pub(super) struct Settling {
    started: Instant,
    done: u32,
}

impl Default for Settling {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            done: 0,
        }
    }
}

impl Settling {
    /// Called now and then.
    pub(super) fn tick(&mut self) {
        if self.is_due(self.started.elapsed()) {
            agent_process::release_code_pages();
        }
    }

    fn is_due(&mut self, elapsed: Duration) -> bool {
        let owed = AFTER.iter().filter(|after| elapsed >= **after).count() as u32
            + u32::try_from(elapsed.as_secs() / AGAIN.as_secs()).unwrap_or(u32::MAX - 3);
        let is_due = owed > self.done;
        self.done = owed;
        is_due
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{AFTER, AGAIN, Settling};

    #[test]
    fn memory_is_given_back_soon_after_the_start_and_then_once_in_a_while() {
        let mut settling = Settling::default();
        let most = 3 * AGAIN.as_millis() as u64;
        let due: Vec<Duration> = (0..most)
            .step_by(50)
            .map(Duration::from_millis)
            .filter(|elapsed| settling.is_due(*elapsed))
            .collect();
        assert_eq!(due, [AFTER.as_slice(), &[AGAIN, 2 * AGAIN]].concat());
    }

    #[test]
    fn moments_that_were_missed_count_once() {
        let mut settling = Settling::default();
        assert!(settling.is_due(Duration::from_secs(1)));
        assert!(!settling.is_due(Duration::from_secs(1)));
        assert!(settling.is_due(Duration::from_secs(2)));
    }
}
