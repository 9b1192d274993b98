//! `TimerQueue`: the deadlines that the machine has armed. The driver's loop sleeps until the earliest one.

use std::time::Duration;

use agent_process::clock;
use jiff::Timestamp;
use tokio::time::Instant;

use crate::machine::Timer;

/// How often timers that wait for a moment of the wall clock look at it: while the computer is suspended, other clocks
/// stand still.
const WALL_CLOCK_INTERVAL: Duration = Duration::from_secs(30);

/// Armed timers. At most one per `Timer`, so a linear scan is fine.
#[derive(Debug, Default)]
pub(super) struct TimerQueue {
    armed: Vec<ArmedTimer>,
    /// When the wall clock was looked at last.
    checked_at: Option<Instant>,
}

#[derive(Debug)]
struct ArmedTimer {
    timer: Timer,
    at: Instant,
    /// It expires at this moment, too, whichever comes first.
    wall: Option<Timestamp>,
}

impl TimerQueue {
    pub(super) fn arm(&mut self, timer: Timer, after: Duration) {
        self.push(timer, after, None);
    }

    /// Arms a timer for a moment of the wall clock, and for the time until then, in case that clock is set back.
    pub(super) fn arm_at(&mut self, timer: Timer, at: Timestamp) {
        let left = Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default();
        self.check_wall_clock();
        self.push(timer, left, Some(at));
    }

    fn push(&mut self, timer: Timer, after: Duration, wall: Option<Timestamp>) {
        self.disarm(&timer);
        if let Some(at) = clock::now().checked_add(after) {
            self.armed.push(ArmedTimer { timer, at, wall });
        }
    }

    pub(super) fn disarm(&mut self, timer: &Timer) {
        self.armed.retain(|armed| armed.timer != *timer);
    }

    /// Notes that the wall clock is looked at now.
    pub(super) fn check_wall_clock(&mut self) {
        self.checked_at = Some(clock::now());
    }

    /// When to call [`TimerQueue::pop_expired`] next.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let check = self
            .armed
            .iter()
            .any(|armed| armed.wall.is_some())
            .then(|| self.checked_at.unwrap_or_else(clock::now) + WALL_CLOCK_INTERVAL);
        self.armed.iter().map(|armed| armed.at).chain(check).min()
    }

    pub(super) fn pop_expired(&mut self, now: Instant, wall_now: Timestamp) -> Option<Timer> {
        let is_expired =
            |armed: &ArmedTimer| armed.at <= now || armed.wall.is_some_and(|wall| wall <= wall_now);
        let expired = self.armed.iter().position(is_expired)?;
        Some(self.armed.swap_remove(expired).timer)
    }
}

/// Random numbers that spread retries. The same seed gives the same numbers.
#[derive(Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        // 0 would stay 0.
        Self(seed | 1)
    }

    /// Xorshift: no secrets depend on it.
    pub(super) fn next(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.to_be_bytes()[0]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use agent_process::clock;
    use jiff::{SignedDuration, Timestamp};

    use super::{Jitter, TimerQueue, WALL_CLOCK_INTERVAL};
    use crate::machine::Timer;

    const HOUR: Duration = Duration::from_secs(3600);

    fn in_an_hour() -> Timestamp {
        Timestamp::now() + SignedDuration::from_hours(1)
    }

    #[tokio::test(start_paused = true)]
    async fn a_moment_is_checked_often_enough_to_wake_up_after_a_suspended_night() {
        let mut timers = TimerQueue::default();
        let reset = in_an_hour();
        timers.arm_at(Timer::Cooldown, reset);
        let deadline = timers.next_deadline().unwrap();
        assert!(deadline <= clock::now() + WALL_CLOCK_INTERVAL);
        // The computer slept: no time has passed by the clock of the timers, and the moment is over.
        assert_eq!(
            timers.pop_expired(clock::now(), reset - SignedDuration::from_secs(1)),
            None
        );
        let later = reset + SignedDuration::from_hours(7);
        assert_eq!(timers.pop_expired(clock::now(), later), Some(Timer::Cooldown));
        assert_eq!(timers.next_deadline(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_moment_comes_although_the_wall_clock_is_set_back() {
        let mut timers = TimerQueue::default();
        let reset = in_an_hour();
        timers.arm_at(Timer::Cooldown, reset);
        let yesterday = reset - SignedDuration::from_hours(24);
        assert_eq!(timers.pop_expired(clock::now() + HOUR / 2, yesterday), None);
        assert_eq!(
            timers.pop_expired(clock::now() + HOUR, yesterday),
            Some(Timer::Cooldown)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_moment_wakes_the_loop_rarely() {
        let mut timers = TimerQueue::default();
        timers.arm_at(Timer::Cooldown, in_an_hour());
        let mut wakes = 0;
        let end = clock::now() + HOUR / 2;
        while clock::now() < end {
            clock::sleep_until(timers.next_deadline().unwrap()).await;
            timers.check_wall_clock();
            wakes += 1;
        }
        assert_eq!(wakes, 60);
    }

    #[test]
    fn jitter_has_a_seed_and_many_values() {
        let values = |seed| {
            let mut jitter = Jitter::new(seed);
            std::iter::repeat_with(|| jitter.next())
                .take(100)
                .collect::<Vec<u8>>()
        };
        assert_eq!(values(7), values(7));
        assert_ne!(values(7), values(8));
        let mut distinct = values(0);
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 50, "{distinct:?}");
    }
}
