//! `BurnRate`: finds a run that spends much faster than it did before. A part of `Watchdog`.

use std::collections::VecDeque;

use agent_api::MicroUsd;
use jiff::Timestamp;

use super::finding::Finding;
use super::rules::{BurnRule, WatchAction};
use crate::record::{Evidence, Totals, WarningKind};

/// What is spent now is the cost of this many minutes.
const WINDOW_MINUTES: usize = 5;
/// Fewer minutes with costs say nothing about what is normal.
const MIN_MINUTES: usize = 10;
/// What is older is forgotten.
const MAX_MINUTES: usize = 24 * 60;
const SECONDS_PER_MINUTE: i64 = 60;

/// Costs by minute. A cost is spread evenly over the time that it was spent in.
#[derive(Debug, Default)]
pub(super) struct BurnRate {
    /// The minute of the first entry, since 1970.
    first: i64,
    /// In micro-dollars, oldest first.
    minutes: VecDeque<u64>,
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
        self.spread(spent, since, at);
        self.judge(seq, rule)
    }

    fn spread(&mut self, spent: u64, since: Timestamp, at: Timestamp) {
        let minute = |at: Timestamp| at.as_second().div_euclid(SECONDS_PER_MINUTE);
        let (from, to) = (minute(since), minute(at));
        if self.minutes.is_empty() {
            self.first = from;
        }
        // A clock that was set back.
        let from = from.clamp(self.first, to.max(self.first));
        let Ok(end) = usize::try_from(to.max(from) - self.first) else {
            return;
        };
        if end > 10 * MAX_MINUTES {
            *self = Self::default();
            return;
        }
        self.minutes.resize(self.minutes.len().max(end + 1), 0);
        let start = usize::try_from(from - self.first).unwrap_or(end);
        let count = u64::try_from(end + 1 - start).unwrap_or(1);
        for minute in self.minutes.range_mut(start..=end) {
            *minute = minute.saturating_add(spent / count);
        }
        while self.minutes.len() > MAX_MINUTES {
            self.minutes.pop_front();
            self.first += 1;
        }
    }

    fn judge(&mut self, seq: u64, rule: BurnRule) -> Option<Finding> {
        let split = self.minutes.len().saturating_sub(WINDOW_MINUTES);
        let now: u64 = self.minutes.range(split..).sum();
        // Pauses are not what is normal.
        let mut earlier: Vec<u64> = self
            .minutes
            .range(..split)
            .copied()
            .filter(|cost| *cost > 0)
            .collect();
        if earlier.len() < MIN_MINUTES {
            return None;
        }
        let middle = earlier.len() / 2;
        let median = *earlier.select_nth_unstable(middle).1;
        let rate = now / u64::try_from(WINDOW_MINUTES).unwrap_or(1);
        let is_high =
            rate > median.saturating_mul(u64::from(rule.factor)) && now >= rule.at_least.as_micro_usd();
        if !is_high {
            self.is_reported = false;
            return None;
        }
        if rule.action == WatchAction::Off || std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        let dollars = |micro_usd: u64| format!("${:.2}", MicroUsd::new(micro_usd).as_usd());
        let message = format!(
            "the run spends {} per minute, more than {} times its median of {}",
            dollars(rate),
            rule.factor,
            dollars(median)
        );
        let finding = Finding::new(WarningKind::BurnRate, rule.action, message);
        Some(finding.with([Evidence {
            seq,
            text: format!("{} in the last {WINDOW_MINUTES} minutes", dollars(now)),
        }]))
    }
}
