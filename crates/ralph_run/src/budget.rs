//! What a run has spent, and when it has spent enough. Pure: it is told what was used, and asked.

use agent_api::{CostSource, MicroUsd, RunUsage, Tokens, Usage};

use crate::prices::estimate;
use crate::reason::LimitKind;
use crate::record::Totals;

/// From this part of a limit on, somebody should know.
const NEAR_PERCENT: u128 = 80;

/// How much a run may spend. `None` and 0 are no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// Money, what the task has cost before included.
    pub cost: Option<MicroUsd>,
    /// Tokens of this run, cached ones included.
    pub tokens: Option<u64>,
    /// Turns of this run.
    pub turns: Option<u32>,
}

/// A limit is near, or reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetAlert {
    /// 80 % of it are used.
    Near(LimitKind),
    /// All of it is used.
    Reached(LimitKind),
}

/// The account of a run over all its attempts.
///
/// What the agent reports counts. Where it reports nothing, or not yet, tokens times the [price list](crate::estimate)
/// stand in, so that a limit bites in the middle of a turn. Where neither is known, the other limits still hold.
#[derive(Debug, Clone)]
pub struct Budget {
    limits: BudgetLimits,
    /// What the task had cost before this run.
    spent_before: MicroUsd,
    /// Ended attempts of the run, and of the iteration.
    run: Totals,
    iteration: Totals,
    attempt: Attempt,
    /// What was told, so that it is told once.
    alerts: Vec<BudgetAlert>,
}

/// The account of one process. Its totals replace each other; they are never added up.
#[derive(Debug, Clone, Default)]
struct Attempt {
    /// The model that was named last.
    model: Option<String>,
    /// What is accounted for: by the agent's own figure, or by ours at the end of a turn.
    settled: Amount,
    settled_tokens: Tokens,
    /// Our figure for what came after it.
    open: Amount,
    seen_tokens: Tokens,
    turns: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    cost: Option<MicroUsd>,
    is_estimate: bool,
}

impl Budget {
    /// The account of a run. `spent_before` is what the same task has cost in earlier runs.
    #[must_use]
    pub fn new(limits: BudgetLimits, spent_before: MicroUsd) -> Self {
        Self {
            limits,
            spent_before,
            run: Totals::default(),
            iteration: Totals::default(),
            attempt: Attempt::default(),
            alerts: Vec::new(),
        }
    }

    /// A prompt of the loop begins.
    pub fn start_iteration(&mut self) {
        self.iteration = Totals::default();
    }

    /// A process begins, with the model that was asked for.
    pub fn start_attempt(&mut self, model: Option<&str>) {
        self.attempt = Attempt {
            model: model.map(str::to_owned),
            ..Attempt::default()
        };
    }

    /// The agent says which model it uses.
    pub fn set_model(&mut self, model: &str) {
        if self.attempt.model.as_deref() != Some(model) {
            self.attempt.model = Some(model.to_owned());
        }
    }

    /// The agent reports what it has used so far.
    pub fn apply(&mut self, usage: &Usage) {
        if let Some(model) = &usage.model {
            self.set_model(model);
        }
        self.attempt.apply(&usage.run);
    }

    /// So many more turns have ended.
    pub fn add_turns(&mut self, turns: u32) {
        self.attempt.turns = self.attempt.turns.saturating_add(turns);
    }

    /// The process has ended: what it used in the end. Gives its totals, but for the time.
    pub fn end_attempt(&mut self, usage: &RunUsage) -> Totals {
        self.attempt.apply(usage);
        self.abandon_attempt()
    }

    /// The process is gone and nobody knows what it used in the end: what was seen counts. Gives its totals, but for
    /// the time.
    pub fn abandon_attempt(&mut self) -> Totals {
        let totals = self.attempt.totals();
        add(&mut self.run, &totals);
        add(&mut self.iteration, &totals);
        self.attempt = Attempt::default();
        totals
    }

    /// The run so far, but for the time.
    #[must_use]
    pub fn run(&self) -> Totals {
        let mut totals = self.run;
        add(&mut totals, &self.attempt.totals());
        totals
    }

    /// The iteration so far, but for the time.
    #[must_use]
    pub fn iteration(&self) -> Totals {
        let mut totals = self.iteration;
        add(&mut totals, &self.attempt.totals());
        totals
    }

    /// What the task has cost, earlier runs included: what the limit is held against.
    #[must_use]
    pub fn spent(&self) -> MicroUsd {
        self.spent_before + self.run().cost.unwrap_or_default()
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &BudgetLimits {
        &self.limits
    }

    /// What nobody was told yet; ask until it is `None`. A limit that is reached at once is not near first.
    pub fn check(&mut self) -> Option<BudgetAlert> {
        let run = self.run();
        let limits = [
            (
                LimitKind::Cost,
                self.spent().as_micro_usd(),
                self.limits.cost.map(MicroUsd::as_micro_usd),
            ),
            (LimitKind::Tokens, run.tokens.total(), self.limits.tokens),
            (
                LimitKind::Turns,
                u64::from(run.turns),
                self.limits.turns.map(u64::from),
            ),
        ];
        for (kind, used, limit) in limits {
            let Some(alert) = limit.and_then(|limit| alert(kind, used, limit)) else {
                continue;
            };
            let is_told = self.alerts.contains(&alert) || self.alerts.contains(&BudgetAlert::Reached(kind));
            if !is_told {
                self.alerts.push(alert);
                return Some(alert);
            }
        }
        None
    }
}

impl Attempt {
    fn apply(&mut self, usage: &RunUsage) {
        let reported = usage.cost.map(|cost| Amount {
            cost: Some(cost.micro_usd),
            is_estimate: cost.source == CostSource::Estimated,
        });
        if usage.is_partial {
            if let Some(reported) = reported {
                self.settled = reported;
            }
            // Priced step by step, because subagents have models of their own.
            let new = usage.tokens.since(self.seen_tokens);
            self.open = self.open.plus(self.price(new));
        } else {
            self.settled = reported.unwrap_or_else(|| {
                let new = usage.tokens.since(self.settled_tokens);
                self.settled.plus(self.price(new))
            });
            self.settled_tokens = usage.tokens;
            self.open = Amount::default();
        }
        self.seen_tokens = usage.tokens;
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

    fn totals(&self) -> Totals {
        let amount = self.settled.plus(self.open);
        Totals {
            tokens: self.seen_tokens,
            cost: amount.cost,
            is_estimate: amount.is_estimate,
            turns: self.turns,
            duration_ms: 0,
        }
    }
}

impl Amount {
    fn plus(self, other: Self) -> Self {
        Self {
            cost: sum(self.cost, other.cost),
            is_estimate: self.is_estimate || other.is_estimate,
        }
    }
}

fn alert(kind: LimitKind, used: u64, limit: u64) -> Option<BudgetAlert> {
    if limit == 0 {
        return None;
    }
    if used >= limit {
        return Some(BudgetAlert::Reached(kind));
    }
    let is_near = u128::from(used) * 100 >= u128::from(limit) * NEAR_PERCENT;
    is_near.then_some(BudgetAlert::Near(kind))
}

fn add(totals: &mut Totals, more: &Totals) {
    totals.tokens += more.tokens;
    totals.cost = sum(totals.cost, more.cost);
    totals.is_estimate |= more.is_estimate;
    totals.turns = totals.turns.saturating_add(more.turns);
}

/// What is unknown adds nothing, and does not hide what is known.
fn sum(one: Option<MicroUsd>, other: Option<MicroUsd>) -> Option<MicroUsd> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (known, None) | (None, known) => known,
    }
}
