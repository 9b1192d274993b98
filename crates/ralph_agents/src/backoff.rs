//! `retry_delay`: how long an agent waits after failed starts. A pure function, so that a plan can be repeated.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ralph_run::fnv1a;

/// After this many failures in a row an agent is not started again until a person asks for it.
pub const MAX_FAILURES: u32 = 5;

/// Before the second, third, fourth and fifth attempt. With jitter at most 5 minutes.
const DELAYS: [Duration; MAX_FAILURES as usize - 1] = [
    Duration::from_secs(1),
    Duration::from_secs(6),
    Duration::from_secs(40),
    Duration::from_secs(250),
];

/// The delay after this many failures in a row. Agents that failed at the same moment are spread over 20% of it, by
/// their ids and the number of failures.
pub fn retry_delay(agent_id: &str, failures: u32) -> Duration {
    let Some(index) = usize::try_from(failures)
        .ok()
        .and_then(|count| count.checked_sub(1))
    else {
        return Duration::ZERO;
    };
    let base = DELAYS.get(index).or(DELAYS.last()).copied().unwrap_or_default();
    base.mul_f64(1.0 + 0.2 * fraction(agent_id, failures))
}

/// A number from 0 to 1 that depends only on its arguments.
pub(crate) fn fraction(agent_id: &str, salt: u32) -> f64 {
    let hash = fnv1a(format!("{agent_id}/{salt}").as_bytes());
    // The high bits of this hash hardly depend on the last bytes.
    let mixed = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    f64::from(u32::try_from(mixed >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

/// When a wait that began at `since` is over; `None` if that is now. A clock that was set back does not extend it.
pub(crate) fn wait_until(since: Timestamp, delay: Duration, now: Timestamp) -> Option<Timestamp> {
    let until = after(since, delay);
    (now >= since && now < until).then_some(until)
}

pub(crate) fn after(at: Timestamp, delay: Duration) -> Timestamp {
    let delay = SignedDuration::try_from(delay).unwrap_or(SignedDuration::MAX);
    at.checked_add(delay).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::{SignedDuration, Timestamp};

    use super::{MAX_FAILURES, fraction, retry_delay, wait_until};

    #[test]
    fn delays_grow_from_one_second_to_at_most_five_minutes() {
        let mut last = Duration::ZERO;
        for failures in 1..=MAX_FAILURES {
            let delays: Vec<Duration> = (0..1_000)
                .map(|agent| retry_delay(&format!("agent-{agent}"), failures))
                .collect();
            let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
            assert!(*least >= Duration::from_secs(1) && *most <= Duration::from_secs(300));
            assert!(*least > last || failures == MAX_FAILURES, "{failures}");
            assert!(
                most.as_secs_f64() > least.as_secs_f64() * 1.15,
                "jitter spreads them"
            );
            last = *most;
        }
        assert_eq!(retry_delay("a", 0), Duration::ZERO);
        assert_eq!(retry_delay("a", 3), retry_delay("a", 3));
    }

    #[test]
    fn jitter_is_spread_evenly() {
        let low = (0..10_000)
            .filter(|agent| fraction(&format!("{agent}"), 1) < 0.25)
            .count();
        assert!((2_200..2_800).contains(&low), "{low}");
    }

    #[test]
    fn a_clock_that_was_set_back_ends_a_wait() {
        let since: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
        let minute = Duration::from_secs(60);
        let at = |seconds| since + SignedDuration::from_secs(seconds);
        assert_eq!(wait_until(since, minute, at(0)), Some(at(60)));
        assert_eq!(wait_until(since, minute, at(60)), None);
        assert_eq!(wait_until(since, minute, at(-86_400)), None);
    }
}
