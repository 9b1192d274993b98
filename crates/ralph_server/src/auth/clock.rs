//! `Clock`: the time that decides whether a token or a session has expired.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

/// Wall time, but never earlier than the start of the server plus the time since then: setting the system's clock back
/// does not extend a session. One that is set ahead expires sessions only until it is set right again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    opened_at: Timestamp,
    opened: Instant,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            opened_at: Timestamp::now(),
            opened: Instant::now(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.at(
            Timestamp::now(),
            self.opened.elapsed().try_into().unwrap_or_default(),
        )
    }

    fn at(&self, wall: Timestamp, elapsed: SignedDuration) -> Timestamp {
        let steady = self.opened_at.saturating_add(elapsed).unwrap_or(wall);
        wall.max(steady)
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use jiff::{SignedDuration, Timestamp};
    use std::time::Instant;

    #[test]
    fn a_clock_that_is_set_back_prolongs_nothing_and_one_that_is_ahead_expires_things_for_a_while() {
        let hour = SignedDuration::from_hours(1);
        let opened_at = Timestamp::UNIX_EPOCH + hour * 100;
        let clock = Clock {
            opened_at,
            opened: Instant::now(),
        };
        assert_eq!(clock.at(opened_at - hour * 50, hour), opened_at + hour);
        assert_eq!(clock.at(opened_at + hour * 50, hour), opened_at + hour * 50);
        assert_eq!(clock.at(opened_at + hour, hour), opened_at + hour);
    }
}
