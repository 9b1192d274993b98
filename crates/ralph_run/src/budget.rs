//! `Budget`: the limits of a run, compared with its usage. The machine asks it before every spawn and after every event.

use std::time::Duration;

use agent_api::MicroUsd;
use jiff::SignedDuration;

use crate::reason::LimitKind;
use crate::record::{Warned, WarningKind};
use crate::usage_account::UsageAccount;

/// A warning is given from this part of a limit on.
const WARN_PERCENT: u128 = 80;

/// How much a run may use. `None` and 0 mean no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// Includes what earlier runs of the same task have cost.
    pub cost: Option<MicroUsd>,
    /// Tokens of this run, cached ones included.
    pub tokens: Option<u64>,
    /// Iterations of a loop.
    pub iterations: Option<u32>,
    /// The time of the run, without the time that it waits for a usage limit or for a higher limit.
    pub runtime: Option<Duration>,
}

/// Limits and usage of a run. Whether a limit is exhausted is a comparison; only the warnings are remembered.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    limits: BudgetLimits,
    /// What earlier runs of the same task have cost.
    spent_before: MicroUsd,
    account: UsageAccount,
    /// Iterations that have ended.
    iterations: u32,
    runtime: Duration,
    warned: Vec<LimitKind>,
    has_warned_unpriced: bool,
}

/// One limit and how much of it is used: micro-dollars, tokens, iterations or milliseconds.
struct Level {
    kind: LimitKind,
    used: u64,
    limit: u64,
}

impl Budget {
    pub fn new(limits: BudgetLimits, spent_before: MicroUsd) -> Self {
        Self {
            limits,
            spent_before,
            ..Self::default()
        }
    }

    pub fn account(&self) -> &UsageAccount {
        &self.account
    }

    pub fn account_mut(&mut self) -> &mut UsageAccount {
        &mut self.account
    }

    /// The limits as they are now: a top-up raises them.
    pub fn limits(&self) -> BudgetLimits {
        self.limits
    }

    /// What the task has cost, earlier runs included.
    pub fn spent(&self) -> MicroUsd {
        self.spent_before + self.account.totals().cost.unwrap_or_default()
    }

    pub(crate) fn end_iteration(&mut self) {
        self.iterations = self.iterations.saturating_add(1);
    }

    /// Whether the iteration that runs, or ran last, is the last one.
    pub(crate) fn is_last_iteration(&self, number: u32) -> bool {
        self.limits
            .iterations
            .is_some_and(|limit| limit > 0 && number >= limit)
    }

    /// How long the run has worked so far.
    pub fn set_runtime(&mut self, runtime: Duration) {
        self.runtime = runtime;
    }

    /// How long until the time limit warns or is exhausted; `None` without a limit, or when it is exhausted.
    pub(crate) fn time_to_runtime_level(&self) -> Option<Duration> {
        let limit = self.limits.runtime.filter(|limit| !limit.is_zero())?;
        let warning = limit / 100 * 80;
        let level = match self.warned.contains(&LimitKind::Runtime) || self.runtime >= warning {
            true => limit,
            false => warning,
        };
        level.checked_sub(self.runtime).filter(|left| !left.is_zero())
    }

    /// The first limit of which nothing is left.
    pub fn exhausted(&self) -> Option<LimitKind> {
        self.levels()
            .find(|level| level.used >= level.limit)
            .map(|level| level.kind)
    }

    /// The figures of an exhausted limit and what to do, for people.
    pub fn describe(&self, kind: LimitKind) -> Option<String> {
        let figures = self.figures(kind)?;
        let advice = match kind {
            LimitKind::Cost if self.spent_before > MicroUsd::ZERO => {
                format!(
                    ", {} of it in earlier runs of this task; raise `--max-cost` or use `--reset-budget`",
                    self.spent_before
                )
            }
            LimitKind::Cost => "; raise `--max-cost` to continue".to_owned(),
            LimitKind::Iterations => "; raise `--max-iterations` to continue".to_owned(),
            LimitKind::Runtime => "; raise `--max-runtime` to continue".to_owned(),
            LimitKind::Tokens => "; raise `--max-tokens` to continue".to_owned(),
            LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage => return None,
        };
        Some(format!("used {figures}{advice}"))
    }

    /// How much of a limit is used, for people: `$10.02 of $10.00`.
    pub fn figures(&self, kind: LimitKind) -> Option<String> {
        Some(self.levels().find(|level| level.kind == kind)?.figures())
    }

    /// A limit as it is now, as `limit_raised` records it: micro-dollars, tokens, iterations or seconds.
    pub(crate) fn limit_value(&self, kind: LimitKind) -> Option<u64> {
        let limit = self.levels().find(|level| level.kind == kind)?.limit;
        Some(match kind {
            LimitKind::Runtime => limit / 1_000,
            _ => limit,
        })
    }

    /// A limit as it is now, for people: `cost limit $10.00`.
    pub(crate) fn describe_limit(&self, kind: LimitKind) -> Option<String> {
        let level = self.levels().find(|level| level.kind == kind)?;
        Some(format!("{} limit {}", level.name(), level.limit_in_words()))
    }

    /// Warnings that are due: each limit gets one when 80% of it is used, and a cost limit one if it cannot hold because
    /// the cost is unknown.
    pub fn take_warnings(&mut self) -> Vec<Warned> {
        let due: Vec<Level> = self
            .levels()
            .filter(|level| level.is_near() && !self.warned.contains(&level.kind))
            .collect();
        let mut warnings = Vec::new();
        for level in due {
            self.warned.push(level.kind);
            let kind = match level.kind {
                LimitKind::Cost => WarningKind::CostNearLimit,
                LimitKind::Iterations => WarningKind::IterationsNearLimit,
                LimitKind::Runtime => WarningKind::RuntimeNearLimit,
                LimitKind::Tokens | LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage => {
                    WarningKind::TokensNearLimit
                }
            };
            let message = format!("80% of the {} limit is used: {}", level.name(), level.figures());
            warnings.push(Warned::new(kind, message));
        }
        if self.has_cost_limit() && self.account.is_unpriced() && !self.has_warned_unpriced {
            self.has_warned_unpriced = true;
            let model = match self.account.model() {
                Some(model) => format!("the model `{model}`"),
                None => "the agent's model".to_owned(),
            };
            warnings.push(Warned::new(WarningKind::Degraded, format!(
                    "the price of {model} is not known, so the cost limit has no effect: use `--max-tokens` or \
                     `--max-runtime`"
                )));
        }
        warnings
    }

    /// The warning, given once, that the agent has finished its work and reported nothing that a cost limit could hold.
    pub(crate) fn take_unreported_warning(&mut self) -> Option<Warned> {
        let totals = self.account.totals();
        let is_reported = totals.cost.is_some() || totals.tokens.total() > 0;
        if is_reported || !self.has_cost_limit() || std::mem::replace(&mut self.has_warned_unpriced, true) {
            return None;
        }
        let message = "the agent reports neither costs nor tokens, so the cost limit has no effect: use \
                       `--max-runtime` or `--max-iterations`";
        Some(Warned::new(WarningKind::Degraded, message))
    }

    /// Raises a limit that the run has. Returns the new one, as `limit_raised` records it.
    pub(crate) fn raise(&mut self, kind: LimitKind, amount: u64) -> Option<u64> {
        let limits = &mut self.limits;
        let raised = match kind {
            LimitKind::Cost => {
                let limit = limits.cost.as_mut().filter(|limit| **limit > MicroUsd::ZERO)?;
                *limit += MicroUsd::new(amount);
                limit.as_micro_usd()
            }
            LimitKind::Tokens => {
                let limit = limits.tokens.as_mut().filter(|limit| **limit > 0)?;
                *limit = limit.saturating_add(amount);
                *limit
            }
            LimitKind::Iterations => {
                let limit = limits.iterations.as_mut().filter(|limit| **limit > 0)?;
                *limit = limit.saturating_add(u32::try_from(amount).unwrap_or(u32::MAX));
                u64::from(*limit)
            }
            LimitKind::Runtime => {
                let limit = limits.runtime.as_mut().filter(|limit| !limit.is_zero())?;
                *limit = limit.saturating_add(Duration::from_secs(amount));
                limit.as_secs()
            }
            LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage => return None,
        };
        // 80% of the new limit are another figure.
        self.warned.retain(|warned| *warned != kind);
        Some(raised)
    }

    fn has_cost_limit(&self) -> bool {
        self.limits.cost.is_some_and(|limit| limit > MicroUsd::ZERO)
    }

    fn levels(&self) -> impl Iterator<Item = Level> + use<> {
        let cost = (
            LimitKind::Cost,
            self.spent().as_micro_usd(),
            self.limits.cost.map(MicroUsd::as_micro_usd),
        );
        let tokens = (
            LimitKind::Tokens,
            self.account.totals().tokens.total(),
            self.limits.tokens,
        );
        let iterations = (
            LimitKind::Iterations,
            u64::from(self.iterations),
            self.limits.iterations.map(u64::from),
        );
        let runtime = (
            LimitKind::Runtime,
            milliseconds(self.runtime),
            self.limits.runtime.map(milliseconds),
        );
        [cost, tokens, iterations, runtime]
            .into_iter()
            .filter_map(|(kind, used, limit)| {
                let limit = limit.filter(|limit| *limit > 0)?;
                Some(Level { kind, used, limit })
            })
    }
}

impl Level {
    fn is_near(&self) -> bool {
        self.used < self.limit && u128::from(self.used) * 100 >= u128::from(self.limit) * WARN_PERCENT
    }

    fn name(&self) -> &'static str {
        match self.kind {
            LimitKind::Cost => "cost",
            LimitKind::Iterations => "iteration",
            LimitKind::Runtime => "time",
            LimitKind::Tokens | LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage => "token",
        }
    }

    fn figures(&self) -> String {
        let limit = self.limit_in_words();
        match self.kind {
            LimitKind::Cost => format!("{} of {limit}", MicroUsd::new(self.used)),
            LimitKind::Iterations => format!("{} of {limit} iterations", self.used),
            LimitKind::Runtime => {
                let used = friendly_duration(Duration::from_millis(self.used));
                format!("{used} of {limit}")
            }
            LimitKind::Tokens | LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage => {
                format!("{} of {limit} tokens", self.used)
            }
        }
    }

    fn limit_in_words(&self) -> String {
        match self.kind {
            LimitKind::Cost => MicroUsd::new(self.limit).to_string(),
            LimitKind::Runtime => friendly_duration(Duration::from_millis(self.limit)),
            LimitKind::Iterations
            | LimitKind::Tokens
            | LimitKind::IterationTimeout
            | LimitKind::Turns
            | LimitKind::Usage => self.limit.to_string(),
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// `90s` as `1m 30s`; in whole seconds, from a second on.
pub(crate) fn friendly_duration(duration: Duration) -> String {
    let duration = match duration.as_secs() {
        0 => duration,
        seconds => Duration::from_secs(seconds),
    };
    match SignedDuration::try_from(duration) {
        Ok(duration) => format!("{duration:#}"),
        Err(_) => "forever".to_owned(),
    }
}
