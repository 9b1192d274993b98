//! `UsageLimit`: the agent's rate and usage limits. Instead of failing, the run waits until they reset.

use std::time::Duration;

use agent_api::{Body, ErrorClass, ErrorInfo, Outcome, RateLimitStatus};
use jiff::Timestamp;

use super::effect::{Effect, Timer};
use super::input::{AttemptReport, Moment};
use super::limits::after;
use super::supervisor::{Phase, Supervisor};
use crate::budget::friendly_duration;
use crate::reason::{EndReason, LimitKind};
use crate::record::{CooldownCause, CooldownStarted, RunBody};

/// How long to wait if the agent does not say when the limit resets: twice as long each time, up to the maximum.
const FIRST_WAIT: Duration = Duration::from_secs(30);
const MAX_BLIND_WAIT: Duration = Duration::from_secs(15 * 60);

#[derive(Debug, Default)]
pub(super) struct UsageLimit {
    /// The agent's process has reported that requests are rejected, and maybe until when.
    rejected: Option<Option<Timestamp>>,
    /// Waits in a row, and when the first of them began.
    waits: u32,
    since: Option<Timestamp>,
}

/// A limit that a process failed because of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitReset {
    /// When it resets, or the agent may be started again, if known.
    at: Option<Timestamp>,
    is_overload: bool,
}

impl UsageLimit {
    /// A new process starts.
    pub(super) fn forget_rejection(&mut self) {
        self.rejected = None;
    }

    pub(super) fn observe(&mut self, body: &Body) {
        if let Body::RateLimit(limit) = body {
            match limit.status {
                RateLimitStatus::Rejected => self.rejected = Some(limit.resets_at.and_then(moment)),
                RateLimitStatus::Allowed | RateLimitStatus::Warning => self.rejected = None,
                RateLimitStatus::Unknown => {}
            }
        }
    }

    /// Whether a process failed because of a limit, and if so, which.
    pub(super) fn reset_of(&self, report: &AttemptReport, now: Timestamp) -> Option<LimitReset> {
        // Some agents exit without a result when their requests are rejected.
        let has_failed = matches!(
            report.outcome,
            Outcome::Failed | Outcome::NoResult | Outcome::Crashed | Outcome::Lost
        );
        if !has_failed {
            return None;
        }
        let error = report.error.as_ref();
        let told = error.and_then(|error| told_reset(error, now));
        let reset = told.or(self.rejected.flatten());
        let is_limit = match error.map(|error| error.class) {
            Some(ErrorClass::RateLimit | ErrorClass::Overloaded) => true,
            // Without a reset it is used up for good.
            Some(ErrorClass::Quota) => reset.is_some(),
            Some(ErrorClass::Vendor | ErrorClass::Unknown) | None => self.rejected.is_some(),
            Some(_) => false,
        };
        is_limit.then_some(LimitReset {
            at: reset,
            is_overload: error.is_some_and(|error| error.class == ErrorClass::Overloaded),
        })
    }

    /// The agent has done something else than to run into a limit.
    pub(super) fn clear(&mut self) {
        self.waits = 0;
        self.since = None;
    }
}

fn told_reset(error: &ErrorInfo, now: Timestamp) -> Option<Timestamp> {
    let resets_at = error.resets_at.and_then(moment);
    let retry_at = || after(now, Duration::from_secs(error.retry_after_seconds?.into()));
    resets_at.or_else(retry_at)
}

/// `None` for what cannot be a time in seconds since 1970.
fn moment(seconds: u64) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
}

/// Spreads retries: between 80% and 120% of a delay.
pub(super) fn with_jitter(delay: Duration, now: Moment) -> Duration {
    delay.mul_f64(0.8 + 0.4 * f64::from(now.random) / 256.0)
}

impl Supervisor {
    /// Waits until the limit resets, or ends the run if that takes too long.
    pub(super) fn wait_for_reset(&mut self, reset: LimitReset) {
        let now = self.now.at;
        let since = *self.usage_limit.since.get_or_insert(now);
        let latest = self.plan.max_wait.and_then(|limit| after(since, limit));
        let reset_at = reset.at.filter(|reset| *reset > now);
        let until = match reset_at {
            Some(reset) => {
                if latest.is_some_and(|latest| reset > latest) {
                    return self.end_at_usage_limit(Some(reset));
                }
                reset
            }
            None => {
                let doubled = FIRST_WAIT.saturating_mul(1 << self.usage_limit.waits.min(16));
                let wait = with_jitter(doubled.min(MAX_BLIND_WAIT), self.now).min(MAX_BLIND_WAIT);
                let until = after(now, wait).unwrap_or(Timestamp::MAX);
                let until = latest.map_or(until, |latest| until.min(latest));
                if until <= now {
                    return self.end_at_usage_limit(None);
                }
                until
            }
        };
        self.usage_limit.waits = self.usage_limit.waits.saturating_add(1);
        self.disarm(Timer::Iteration);
        self.park();
        self.cool(CooldownStarted {
            until,
            cause: CooldownCause::UsageLimit,
            is_retry: reset.is_overload || reset_at.is_none(),
        });
    }

    fn end_at_usage_limit(&mut self, reset: Option<Timestamp>) {
        let max_wait = friendly_duration(self.plan.max_wait.unwrap_or_default());
        let message = match reset {
            Some(reset) => format!(
                "the agent's usage limit resets at {}, which is more than `max_wait` ({max_wait}) away: raise \
                 `max_wait`, or start the run again then",
                reset.strftime("%Y-%m-%d %H:%M UTC")
            ),
            None => format!(
                "the agent's usage limit did not reset within `max_wait` ({max_wait}): raise `max_wait`, or start the \
                 run again later"
            ),
        };
        self.end(EndReason::Limit(LimitKind::Usage), Some(message));
    }

    /// Pauses until then.
    pub(super) fn cool(&mut self, cooldown: CooldownStarted) {
        let CooldownStarted { until, cause, .. } = cooldown;
        self.phase = Phase::Cooling(cause);
        self.record(RunBody::CooldownStarted(cooldown));
        self.push(Effect::ArmAt(Timer::Cooldown, until));
        if cause == CooldownCause::UsageLimit {
            self.push(Effect::SaveSoon);
        }
    }
}
