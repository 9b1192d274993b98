//! What a run has spent, by its journal. The same arithmetic as the runner's own ([`ralph_run::Budget`]), so that an
//! index and a run's file never disagree; but it can be put down and taken up again.

use std::borrow::Cow;

use agent_api::{CostSource, MicroUsd, RunUsage, Tokens};
use ralph_run::{Totals, estimate};
use serde::{Deserialize, Serialize};

/// The account of a run over all its attempts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Account {
    /// Ended attempts.
    closed: Totals,
    /// The model that was named last.
    model: Option<String>,
    /// What is accounted for: by the agent's own figure, or by ours at the end of a turn.
    settled: Amount,
    settled_tokens: Tokens,
    /// Our figure for what came after it.
    open: Amount,
    seen_tokens: Tokens,
    turns: u32,
    is_running: bool,
    /// What the usage rows of this attempt add up to, but for those of the open turn.
    pub(super) rows_tokens: Tokens,
    pub(super) rows_cost: MicroUsd,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Amount {
    pub(super) cost: Option<MicroUsd>,
    pub(super) is_estimate: bool,
}

/// What a report adds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) tokens: Tokens,
    pub(super) price: Amount,
}

impl Account {
    pub(super) fn start_attempt(&mut self, model: Option<&str>) {
        *self = Self {
            closed: self.closed,
            model: model.map(str::to_owned),
            is_running: true,
            ..Self::default()
        };
    }

    pub(super) fn set_model(&mut self, model: &str) {
        if self.model.as_deref() != Some(model) {
            self.model = Some(model.to_owned());
        }
    }

    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub(super) fn add_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    /// The agent reports what it has used so far. Gives what is new of it.
    pub(super) fn apply(&mut self, model: Option<&Cow<'_, str>>, usage: &RunUsage) -> Step {
        if let Some(model) = model {
            self.set_model(model);
        }
        let reported = usage.cost.map(|cost| Amount {
            cost: Some(cost.micro_usd),
            is_estimate: cost.source == CostSource::Estimated,
        });
        let tokens = usage.tokens.since(self.seen_tokens);
        let mut price = Amount::default();
        if usage.is_partial {
            if let Some(reported) = reported {
                self.settled = reported;
            }
            price = self.price(tokens);
            self.open = self.open.plus(price);
        } else {
            self.settled = reported.unwrap_or_else(|| {
                let new = usage.tokens.since(self.settled_tokens);
                self.settled.plus(self.price(new))
            });
            self.settled_tokens = usage.tokens;
            self.open = Amount::default();
        }
        self.seen_tokens = usage.tokens;
        Step { tokens, price }
    }

    /// A process has ended, with these totals.
    pub(super) fn end_attempt(&mut self, totals: Totals) {
        *self = Self {
            closed: self.closed + totals,
            ..Self::default()
        };
    }

    /// The process that has not ended, but for the time; none if there is none.
    pub(super) fn attempt(&self) -> Option<Totals> {
        let amount = self.settled.plus(self.open);
        self.is_running.then_some(Totals {
            tokens: self.seen_tokens,
            cost: amount.cost,
            is_estimate: amount.is_estimate,
            turns: self.turns,
            duration_ms: 0,
        })
    }

    /// Attempts that have ended.
    pub(super) fn closed(&self) -> Totals {
        self.closed
    }

    /// The run so far; the time is that of its processes.
    pub(super) fn run(&self) -> Totals {
        self.attempt()
            .map_or(self.closed, |attempt| self.closed + attempt)
    }

    fn price(&self, tokens: Tokens) -> Amount {
        if tokens.total() == 0 {
            return Amount::default();
        }
        Amount {
            cost: self.model.as_deref().and_then(|model| estimate(model, &tokens)),
            is_estimate: true,
        }
    }
}

impl Amount {
    /// What is unknown adds nothing, and does not hide what is known.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            cost: match (self.cost, other.cost) {
                (Some(one), Some(other)) => Some(one + other),
                (known, None) | (None, known) => known,
            },
            is_estimate: self.is_estimate || other.is_estimate,
        }
    }
}

#[cfg(test)]
mod tests {
    use agent_api::{Cost, CostSource, MicroUsd, RunUsage, Tokens, Usage, UsageScope};
    use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};
    use ralph_run::{Budget, BudgetLimits};

    use super::Account;

    #[derive(Debug, Clone)]
    enum Happening {
        Start,
        Model(&'static str),
        Used(Option<&'static str>, RunUsage),
        Turn,
        End(RunUsage),
    }

    fn usage() -> impl Strategy<Value = RunUsage> {
        let cost = prop::option::of((0..5_000_000_u64, any::<bool>()));
        ((0..90_000_u64, 0..9_000_u64), cost, any::<bool>()).prop_map(
            |((input, output), cost, is_partial)| RunUsage {
                tokens: Tokens {
                    input,
                    cache_read: input / 2,
                    output,
                    ..Tokens::default()
                },
                cost: cost.map(|(amount, is_reported)| Cost {
                    micro_usd: MicroUsd::new(amount),
                    source: if is_reported {
                        CostSource::Reported
                    } else {
                        CostSource::Estimated
                    },
                }),
                is_partial,
                may_include_earlier_runs: false,
            },
        )
    }

    fn happening() -> impl Strategy<Value = Happening> {
        let model = prop::sample::select(vec!["claude-opus-4-5", "claude-haiku-4-5", "nobody-knows"]);
        proptest::prop_oneof![
            Just(Happening::Start),
            model.clone().prop_map(Happening::Model),
            (prop::option::of(model), usage()).prop_map(|(model, usage)| Happening::Used(model, usage)),
            Just(Happening::Turn),
            usage().prop_map(Happening::End),
        ]
    }

    use proptest::prelude::Just;

    proptest! {
        #[test]
        fn the_index_counts_as_the_runner_does(happenings in prop::collection::vec(happening(), 0..40)) {
            let mut budget = Budget::new(BudgetLimits::default(), MicroUsd::ZERO);
            let mut account = Account::default();
            budget.start_attempt(None);
            account.start_attempt(None);
            for happening in happenings {
                match happening {
                    Happening::Start => {
                        // The runner never starts a process before the last one has ended.
                        account.end_attempt(budget.end_attempt(&RunUsage::default()));
                        budget.start_attempt(Some("claude-opus-4-5"));
                        account.start_attempt(Some("claude-opus-4-5"));
                    }
                    Happening::Model(model) => {
                        budget.set_model(model);
                        account.set_model(model);
                    }
                    Happening::Used(model, run) => {
                        budget.apply(&Usage {
                            scope: UsageScope::Step,
                            tokens: Tokens::default(),
                            cost: None,
                            model: model.map(str::to_owned),
                            context: None,
                            run,
                        });
                        account.apply(model.map(Into::into).as_ref(), &run);
                    }
                    Happening::Turn => {
                        budget.add_turns(1);
                        account.add_turn();
                    }
                    Happening::End(run) => {
                        account.end_attempt(budget.end_attempt(&run));
                        budget.start_attempt(None);
                        account.start_attempt(None);
                    }
                }
                prop_assert_eq!(account.run(), budget.run());
                let json = serde_json::to_string(&account).unwrap();
                prop_assert_eq!(serde_json::from_str::<Account>(&json).unwrap(), account.clone());
            }
        }
    }
}
