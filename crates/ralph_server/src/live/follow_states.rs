//! `FollowStates`: which runs are followed, have just ended, or are left alone after a failure. Used by the hub.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a journal that cannot be read is left alone, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Which runs are followed, and which were until a moment ago: one that has ended is kept until nobody would take it
/// for one that goes on.
#[derive(Debug, Default)]
pub(super) struct FollowStates {
    runs: Mutex<HashMap<String, State>>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Following { pause: Duration },
    Ended { head: u64 },
    Failed { until: Instant, pause: Duration },
}

impl FollowStates {
    /// Takes a run to be followed. Says whether it is: not if somebody follows it, it has ended, or it is left alone.
    pub(super) fn begin(&self, run: &str, now: Instant) -> bool {
        let mut runs = self.lock();
        let pause = match runs.get(run) {
            None => FIRST_PAUSE,
            Some(State::Failed { until, pause }) if *until <= now => *pause,
            Some(_) => return false,
        };
        runs.insert(run.to_owned(), State::Following { pause });
        true
    }

    /// It has ended with this record.
    pub(super) fn end(&self, run: &str, head: u64) {
        self.lock().insert(run.to_owned(), State::Ended { head });
    }

    /// It could not be followed: it is tried again after a while, each time a longer one.
    pub(super) fn fail(&self, run: &str, now: Instant) {
        let mut runs = self.lock();
        if let Some(State::Following { pause }) = runs.get(run).copied() {
            let state = State::Failed {
                until: now + pause,
                pause: (pause * 2).min(LONGEST_PAUSE),
            };
            runs.insert(run.to_owned(), state);
        }
    }

    /// Whether it is followed, or was until a moment ago.
    pub(super) fn has(&self, run: &str) -> bool {
        self.lock().contains_key(run)
    }

    /// Those that have ended, and with which record.
    pub(super) fn ended(&self) -> Vec<(String, u64)> {
        let runs = self.lock();
        let ended = runs.iter().filter_map(|(run, state)| match state {
            State::Ended { head } => Some((run.clone(), *head)),
            State::Following { .. } | State::Failed { .. } => None,
        });
        ended.collect()
    }

    /// Nobody takes it for one that goes on any more.
    pub(super) fn forget(&self, run: &str) {
        self.lock().remove(run);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, State>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::{FIRST_PAUSE, FollowStates};

    #[test]
    fn a_run_is_followed_once_and_not_again_after_its_end() {
        let (followed, now) = (FollowStates::default(), Instant::now());
        assert!(followed.begin("a", now));
        assert!(!followed.begin("a", now));
        followed.end("a", 7);
        assert!(!followed.begin("a", now + FIRST_PAUSE * 1000));
        assert_eq!(followed.ended(), [("a".to_owned(), 7)]);
        followed.forget("a");
        assert!(!followed.has("a"));
    }

    #[test]
    fn one_that_cannot_be_followed_is_tried_again_less_and_less_often() {
        let (followed, now) = (FollowStates::default(), Instant::now());
        assert!(followed.begin("a", now));
        followed.fail("a", now);
        assert!(!followed.begin("a", now));
        let later = now + FIRST_PAUSE;
        assert!(followed.begin("a", later));
        followed.fail("a", later);
        assert!(!followed.begin("a", later + FIRST_PAUSE));
        assert!(followed.begin("a", later + FIRST_PAUSE * 2));
    }
}
