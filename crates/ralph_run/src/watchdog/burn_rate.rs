//! `BurnRate`: finds a run that spends much faster than it did before. A part of `Watchdog`.

use std::collections::VecDeque;

use agent_api::MicroUsd;
use jiff::Timestamp;

use super::finding::Finding;
use super::rules::{BurnRule, WatchAction};
use crate::budget::friendly_duration;
use crate::record::{Evidence, Totals, WarningKind};

/// The window in which the current rate is measured has this many buckets, each of a minute by default.
const WINDOW_BUCKETS: usize = 5;
/// Fewer buckets with costs say nothing about what is normal.
const MIN_BUCKETS: usize = 10;
/// What is older is forgotten.
const MAX_BUCKETS: usize = 24 * 60;
const MILLISECONDS_PER_MINUTE: u64 = 60_000;

/// Costs by time. A cost is spread evenly over the time that it was spent in.
#[derive(Debug, Default)]
pub(super) struct BurnRate {
    /// The number of the first bucket, since 1970.
    first: i64,
    /// In micro-dollars, oldest first.
    buckets: VecDeque<u64>,
    /// The total so far, when it was reported, and whether a part of it is an estimate.
    last: Option<(MicroUsd, Timestamp, bool)>,
    turn_started_at: Option<Timestamp>,
    is_reported: bool,
}

impl BurnRate {
    pub(super) fn on_turn_started(&mut self, at: Timestamp) {
        self.turn_started_at = Some(at);
    }

    pub(super) fn observe(
        &mut self,
        seq: u64,
        at: Timestamp,
        totals: Totals,
        rule: BurnRule,
    ) -> Option<Finding> {
        let total = totals.cost?;
        let (before, since, was_estimate) =
            self.last
                .replace((total, at, totals.is_estimate))
                .unwrap_or((MicroUsd::ZERO, at, false));
        let spent = total.saturating_sub(before).as_micro_usd();
        // The agent's own figure replaces estimates of the whole turn.
        let is_settled = was_estimate && !totals.is_estimate;
        let since = match self.turn_started_at.filter(|_| is_settled) {
            Some(started) => started.min(since),
            None => since,
        };
        self.spread(spent, since, at, bucket_ms(rule));
        self.judge(seq, rule)
    }

    fn spread(&mut self, spent: u64, since: Timestamp, at: Timestamp, bucket_ms: i64) {
        let bucket = |at: Timestamp| at.as_millisecond().div_euclid(bucket_ms);
        let (from, to) = (bucket(since), bucket(at));
        if self.buckets.is_empty() {
            self.first = from;
        }
        // A clock that was set back.
        let from = from.clamp(self.first, to.max(self.first));
        let Ok(end) = usize::try_from(to.max(from) - self.first) else {
            return;
        };
        if end > 10 * MAX_BUCKETS {
            *self = Self::default();
            return;
        }
        self.buckets.resize(self.buckets.len().max(end + 1), 0);
        let start = usize::try_from(from - self.first).unwrap_or(end);
        let count = u64::try_from(end + 1 - start).unwrap_or(1);
        for bucket in self.buckets.range_mut(start..=end) {
            *bucket = bucket.saturating_add(spent / count);
        }
        while self.buckets.len() > MAX_BUCKETS {
            self.buckets.pop_front();
            self.first += 1;
        }
    }

    fn judge(&mut self, seq: u64, rule: BurnRule) -> Option<Finding> {
        let split = self.buckets.len().saturating_sub(WINDOW_BUCKETS);
        let now: u64 = self.buckets.range(split..).sum();
        // Pauses are not what is normal.
        let mut earlier: Vec<u64> = self
            .buckets
            .range(..split)
            .copied()
            .filter(|cost| *cost > 0)
            .collect();
        if earlier.len() < MIN_BUCKETS {
            return None;
        }
        let middle = earlier.len() / 2;
        let median = *earlier.select_nth_unstable(middle).1;
        let rate = now / u64::try_from(WINDOW_BUCKETS).unwrap_or(1);
        let per_minute = |in_bucket: u64| {
            let bucket_ms = u64::try_from(bucket_ms(rule)).unwrap_or(1);
            dollars(in_bucket.saturating_mul(MILLISECONDS_PER_MINUTE) / bucket_ms)
        };
        let is_high =
            rate > median.saturating_mul(u64::from(rule.factor)) && now >= rule.at_least.as_micro_usd();
        if !is_high {
            self.is_reported = false;
            return None;
        }
        if rule.action == WatchAction::Off || std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        let message = format!(
            "the run spends {} per minute, more than {} times its median of {}",
            per_minute(rate),
            rule.factor,
            per_minute(median)
        );
        let finding = Finding::new(WarningKind::BurnRate, rule.action, message);
        Some(finding.with([Evidence {
            seq,
            text: format!("{} within {}", dollars(now), friendly_duration(rule.window)),
        }]))
    }
}

fn bucket_ms(rule: BurnRule) -> i64 {
    let buckets = u128::try_from(WINDOW_BUCKETS).unwrap_or(1);
    i64::try_from(rule.window.as_millis() / buckets)
        .unwrap_or(i64::MAX)
        .max(1)
}

fn dollars(micro_usd: u64) -> String {
    format!("${:.2}", MicroUsd::new(micro_usd).as_usd())
}
