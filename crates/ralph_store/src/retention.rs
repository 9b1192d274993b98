//! `expired_runs`: which runs the retention rules delete.

use std::time::Duration;

use jiff::Timestamp;

/// How much is kept of runs that have ended. Each rule is for itself: a run goes if any of them says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionRules {
    /// Those that ended within so many days.
    pub keep_days: Option<u32>,
    /// So many, the newest.
    pub keep_runs: Option<usize>,
    /// The newest, as long as all runs together are no larger, in bytes. Runs that have not ended count, and stay.
    pub max_bytes: Option<u64>,
}

/// A run, as far as the rules look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetentionCandidate {
    /// Its name.
    pub run: String,
    /// When it ended; none if it has not.
    pub ended_at: Option<Timestamp>,
    /// What its directory takes on the disk.
    pub bytes: u64,
}

/// The runs that go by these rules, oldest first. What has not ended stays, however old or large it is.
#[must_use]
pub fn expired_runs(rules: &RetentionRules, runs: &[RetentionCandidate], now: Timestamp) -> Vec<String> {
    let live = runs.iter().filter(|run| run.ended_at.is_none());
    let mut bytes = live.fold(0_u64, |sum, run| sum.saturating_add(run.bytes));
    let mut ended: Vec<(Timestamp, &RetentionCandidate)> =
        runs.iter().filter_map(|run| Some((run.ended_at?, run))).collect();
    // Newest first; the names of runs begin with their time.
    ended
        .sort_unstable_by(|(one_at, one), (other_at, other)| (other_at, &other.run).cmp(&(one_at, &one.run)));
    let day = Duration::from_secs(24 * 3600);
    let since = rules
        .keep_days
        .and_then(|days| now.checked_sub(day.saturating_mul(days)).ok());
    let mut expired: Vec<String> = Vec::new();
    let mut is_full = false;
    for (index, (ended_at, run)) in ended.into_iter().enumerate() {
        let is_old = since.is_some_and(|since| ended_at < since);
        let is_surplus = rules.keep_runs.is_some_and(|keep| index >= keep);
        // From the first one that does not fit on, so that no older run outlives a newer one.
        bytes = bytes.saturating_add(run.bytes);
        is_full |= rules.max_bytes.is_some_and(|most| bytes > most);
        if is_old || is_surplus || is_full {
            expired.push(run.run.clone());
        }
    }
    expired.reverse();
    expired
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{RetentionCandidate, RetentionRules, expired_runs};

    const DAY: i64 = 24 * 3600;

    fn run(name: &str, ended_days_ago: Option<i64>, bytes: u64) -> RetentionCandidate {
        RetentionCandidate {
            run: name.to_owned(),
            ended_at: ended_days_ago.map(|days| Timestamp::from_second((100 - days) * DAY).unwrap()),
            bytes,
        }
    }

    fn expired(rules: RetentionRules) -> Vec<String> {
        let runs = [
            run("c", Some(3), 30),
            run("a", Some(10), 10),
            run("live", None, 40),
            run("b", Some(5), 20),
            run("d", Some(0), 40),
        ];
        expired_runs(&rules, &runs, Timestamp::from_second(100 * DAY).unwrap())
    }

    #[test]
    fn without_rules_everything_stays() {
        assert!(expired(RetentionRules::default()).is_empty());
    }

    #[test]
    fn what_ended_long_ago_goes_oldest_first() {
        let rules = |days| RetentionRules {
            keep_days: Some(days),
            ..RetentionRules::default()
        };
        assert_eq!(expired(rules(4)), ["a", "b"]);
        assert_eq!(expired(rules(5)), ["a"], "to the second");
        assert!(expired(rules(u32::MAX)).is_empty());
    }

    #[test]
    fn the_newest_are_kept_and_live_ones_do_not_count() {
        let rules = |keep| RetentionRules {
            keep_runs: Some(keep),
            ..RetentionRules::default()
        };
        assert_eq!(expired(rules(2)), ["a", "b"]);
        assert_eq!(expired(rules(0)), ["a", "b", "c", "d"]);
    }

    #[test]
    fn what_does_not_fit_goes_and_no_older_run_outlives_a_newer_one() {
        let rules = |bytes| RetentionRules {
            max_bytes: Some(bytes),
            ..RetentionRules::default()
        };
        assert_eq!(expired(rules(100)), ["a", "b", "c"]);
        assert_eq!(expired(rules(110)), ["a", "b"]);
        assert_eq!(expired(rules(1)), ["a", "b", "c", "d"], "but never a live one");
    }
}
