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
    /// `indexed` is the last record that the index has.
    Following {
        pause: Duration,
        indexed: u64,
    },
    Ended {
        is_indexed: bool,
        head: u64,
    },
    Failed {
        until: Instant,
        pause: Duration,
    },
}

impl FollowStates {
    /// Whether a run could be followed now, before the disk is asked about it.
    pub(super) fn may_begin(&self, run: &str, now: Instant) -> bool {
        match self.lock().get(run) {
            None => true,
            Some(State::Failed { until, .. }) => *until <= now,
            Some(_) => false,
        }
    }

    /// Takes a run to be followed. Says whether it is: not if somebody follows it, it has ended, or it is left alone.
    pub(super) fn begin(&self, run: &str, now: Instant) -> bool {
        let mut runs = self.lock();
        let pause = match runs.get(run) {
            None => FIRST_PAUSE,
            Some(State::Failed { until, pause }) if *until <= now => *pause,
            Some(_) => return false,
        };
        let state = State::Following { pause, indexed: 0 };
        runs.insert(run.to_owned(), state);
        true
    }

    /// It has ended with this record.
    pub(super) fn end(&self, run: &str, head: u64) {
        let mut runs = self.lock();
        let is_indexed = matches!(runs.get(run), Some(State::Following { indexed, .. }) if *indexed >= head);
        runs.insert(run.to_owned(), State::Ended { is_indexed, head });
    }

    /// The index has the records of a run up to this one.
    pub(super) fn set_indexed(&self, run: &str, seq: u64) {
        match self.lock().get_mut(run) {
            Some(State::Following { indexed, .. }) => *indexed = (*indexed).max(seq),
            Some(State::Ended { is_indexed, head }) => *is_indexed |= seq >= *head,
            Some(State::Failed { .. }) | None => {}
        }
    }

    /// It could not be followed: it is tried again after a while, each time a longer one.
    pub(super) fn fail(&self, run: &str, now: Instant) {
        let mut runs = self.lock();
        if let Some(State::Following { pause, .. }) = runs.get(run).copied() {
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

    /// Whether it is followed now.
    pub(super) fn is_following(&self, run: &str) -> bool {
        matches!(self.lock().get(run), Some(State::Following { .. }))
    }

    /// Those that have ended, and whether the index has all of them.
    pub(super) fn ended(&self) -> Vec<(String, bool)> {
        let runs = self.lock();
        let ended = runs.iter().filter_map(|(run, state)| match state {
            State::Ended { is_indexed, .. } => Some((run.clone(), *is_indexed)),
            State::Following { .. } | State::Failed { .. } => None,
        });
        ended.collect()
    }

    /// Those that could not be followed, and are left alone for now.
    pub(super) fn failed(&self) -> Vec<String> {
        let runs = self.lock();
        let is_failed = |state: &State| matches!(state, State::Failed { .. });
        let failed = runs.iter().filter(|(_, state)| is_failed(state));
        failed.map(|(run, _)| run.clone()).collect()
    }

    /// Forgets a run that could not be followed. Says whether it did: by now somebody may follow it again.
    pub(super) fn give_up(&self, run: &str) -> bool {
        let mut runs = self.lock();
        let is_failed = matches!(runs.get(run), Some(State::Failed { .. }));
        if is_failed {
            runs.remove(run);
        }
        is_failed
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
        assert_eq!(followed.ended(), [("a".to_owned(), false)]);
        followed.set_indexed("a", 6);
        assert_eq!(followed.ended(), [("a".to_owned(), false)]);
        followed.set_indexed("a", 7);
        assert_eq!(followed.ended(), [("a".to_owned(), true)]);
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
