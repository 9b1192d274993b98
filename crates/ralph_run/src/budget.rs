//! `Budget`: the limits of a run, compared with its usage. The machine asks it before every spawn and after every event.

use agent_api::MicroUsd;

use crate::reason::LimitKind;
use crate::record::{Warned, WarningKind};
use crate::usage_account::UsageAccount;

/// A warning is given from this part of a limit on.
const WARN_PERCENT: u128 = 80;

/// How much a run may spend. `None` and 0 mean no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// Includes what earlier runs of the same task have cost.
    pub cost: Option<MicroUsd>,
    /// Tokens of this run, cached ones included.
    pub tokens: Option<u64>,
}

/// Limits and usage of a run. Whether a limit is exhausted is a comparison; only the warnings are remembered.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    limits: BudgetLimits,
    /// What earlier runs of the same task have cost.
    spent_before: MicroUsd,
    account: UsageAccount,
    warned: Vec<LimitKind>,
    has_warned_unpriced: bool,
}

/// One limit and how much of it is used.
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

    /// What the task has cost, earlier runs included.
    pub fn spent(&self) -> MicroUsd {
        self.spent_before + self.account.totals().cost.unwrap_or_default()
    }

    /// The first limit of which nothing is left.
    pub fn exhausted(&self) -> Option<LimitKind> {
        self.levels()
            .find(|level| level.used >= level.limit)
            .map(|level| level.kind)
    }

    /// The figures of an exhausted limit and what to do, for people.
    pub fn describe(&self, kind: LimitKind) -> Option<String> {
        let figures = self.levels().find(|level| level.kind == kind)?.figures();
        let advice = match kind {
            LimitKind::Cost if self.spent_before > MicroUsd::ZERO => {
                format!(
                    ", {} of it in earlier runs of this task; raise `--max-cost` or use `--reset-budget`",
                    self.spent_before
                )
            }
            LimitKind::Cost => "; raise `--max-cost` to continue".to_owned(),
            _ => "; raise `--max-tokens` to continue".to_owned(),
        };
        Some(format!("used {figures}{advice}"))
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
            let (kind, name) = match level.kind {
                LimitKind::Cost => (WarningKind::CostNearLimit, "cost"),
                _ => (WarningKind::TokensNearLimit, "token"),
            };
            let message = format!("80% of the {name} limit is used: {}", level.figures());
            warnings.push(Warned {
                kind: kind.into(),
                message,
            });
        }
        if self.has_cost_limit() && self.account.is_unpriced() && !self.has_warned_unpriced {
            self.has_warned_unpriced = true;
            let model = match self.account.model() {
                Some(model) => format!("the model `{model}`"),
                None => "the agent's model".to_owned(),
            };
            warnings.push(Warned {
                kind: WarningKind::Degraded.into(),
                message: format!(
                    "the price of {model} is not known, so the cost limit has no effect: use `--max-tokens` or \
                     `--max-runtime`"
                ),
            });
        }
        warnings
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
        [cost, tokens].into_iter().filter_map(|(kind, used, limit)| {
            let limit = limit.filter(|limit| *limit > 0)?;
            Some(Level { kind, used, limit })
        })
    }
}

impl Level {
    fn is_near(&self) -> bool {
        self.used < self.limit && u128::from(self.used) * 100 >= u128::from(self.limit) * WARN_PERCENT
    }

    fn figures(&self) -> String {
        let Self { kind, used, limit } = self;
        match kind {
            LimitKind::Cost => format!("{} of {}", MicroUsd::new(*used), MicroUsd::new(*limit)),
            _ => format!("{used} of {limit} tokens"),
        }
    }
}
