//! `UsageAccount`: what a run has used and cost so far, computed from its events. The machine's limits, the model of a
//! run and the index all count with it, so they cannot disagree.

use agent_api::{Body, ContextUse, CostSource, MicroUsd, RunUsage, Tokens};
use serde::{Deserialize, Serialize};

use crate::prices::{context_window, estimate};
use crate::record::{RunBody, RunEvent, Totals};

/// Usage of a run over all its attempts.
///
/// The agent's own cost figure counts. Where it reports none, or none yet, tokens are priced with the
/// [price list](crate::estimate), so that a cost limit holds in the middle of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageAccount {
    ended: Totals,
    /// The model that was asked for; the agent may report another one.
    requested_model: Option<String>,
    attempt: Option<AttemptUsage>,
}

/// Usage of one process. Its reports are running totals: a later one replaces an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct AttemptUsage {
    model: Option<String>,
    /// Up to the last ended turn: the agent's figure, or our estimate.
    settled: Amount,
    settled_tokens: Tokens,
    /// Our estimate for what came after it.
    open: Amount,
    /// The agent has changed its cost figure within a turn, so the figure is up to date at every report.
    is_cost_live: bool,
    seen_tokens: Tokens,
    turns: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Amount {
    /// `None` if unknown.
    pub cost: Option<MicroUsd>,
    pub is_estimate: bool,
}

/// What one report added to the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageStep {
    pub tokens: Tokens,
    /// Our estimate for these tokens; empty where the agent's own figure replaces the estimates.
    pub price: Amount,
}

impl UsageAccount {
    /// Applies one event of a journal, in order.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Agent(event) => self.observe(&event.body),
            RunEvent::Run(RunBody::RunStarted(started)) => self.requested_model.clone_from(&started.model),
            RunEvent::Run(RunBody::CommandReceived(received))
                if received.command == "set_model" && received.refused.is_none() =>
            {
                self.requested_model.clone_from(&received.model);
            }
            RunEvent::Run(RunBody::AttemptStarted(_)) => self.start_attempt(),
            RunEvent::Run(RunBody::AttemptEnded(ended)) => self.end_attempt(ended.totals),
            RunEvent::Run(_) | RunEvent::Unknown(_) => {}
        }
    }

    /// The model that the next attempt is started with.
    pub fn set_requested_model(&mut self, model: Option<&str>) {
        self.requested_model = model.map(str::to_owned);
    }

    pub fn start_attempt(&mut self) {
        self.attempt = Some(AttemptUsage {
            model: self.requested_model.clone(),
            ..AttemptUsage::default()
        });
    }

    /// Applies an event of the agent.
    pub fn observe(&mut self, body: &Body) {
        match body {
            Body::SessionStarted(session) => self.set_model(session.model.as_deref()),
            Body::SessionUpdated(session) => self.set_model(session.model.as_deref()),
            Body::Usage(usage) => {
                self.apply_usage(usage.model.as_deref(), &usage.run);
            }
            Body::TurnFinished(turn) => self.add_turns(turn.steps.unwrap_or(1)),
            Body::Finished(finished) => {
                self.apply_usage(None, &finished.usage);
            }
            _ => {}
        }
    }

    pub fn set_model(&mut self, model: Option<&str>) {
        if let Some(attempt) = &mut self.attempt
            && model.is_some()
            && model != attempt.model.as_deref()
        {
            attempt.model = model.map(str::to_owned);
        }
    }

    /// A context with its size: the one that the agent reports, or that of the model in the price list. One that holds
    /// more than the list says has another size, which is not known.
    pub fn sized_context(&self, context: ContextUse, model: Option<&str>) -> ContextUse {
        let listed = || {
            let window = context_window(model.or_else(|| self.model())?);
            window.filter(|size| *size >= context.used)
        };
        ContextUse {
            size: context.size.or_else(listed),
            ..context
        }
    }

    /// The model that the open attempt named last.
    pub fn model(&self) -> Option<&str> {
        self.attempt.as_ref()?.model.as_deref()
    }

    /// Adds the steps of a turn as the agent counts them, which is also what it compares with `--max-turns`.
    pub fn add_turns(&mut self, steps: u64) {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        let attempt = self.open_attempt();
        attempt.turns = attempt.turns.saturating_add(steps);
    }

    /// Applies a report of the open attempt's usage so far.
    pub fn apply_usage(&mut self, model: Option<&str>, usage: &RunUsage) -> UsageStep {
        self.open_attempt();
        self.set_model(model);
        self.open_attempt().apply(usage)
    }

    /// Closes the open attempt with its final totals.
    pub fn end_attempt(&mut self, totals: Totals) {
        self.ended = self.ended + totals;
        self.attempt = None;
    }

    /// The open attempt so far, without its duration; `None` between attempts.
    pub fn attempt(&self) -> Option<Totals> {
        self.attempt.as_ref().map(AttemptUsage::totals)
    }

    pub fn ended(&self) -> Totals {
        self.ended
    }

    /// The run so far. The duration is that of its ended attempts.
    pub fn totals(&self) -> Totals {
        self.ended + self.attempt().unwrap_or_default()
    }

    /// Whether a turn of the open attempt has ended and its cost is unknown. Before the end of a turn the agent may still
    /// report it.
    pub fn is_unpriced(&self) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| {
            attempt.settled_tokens.total() > 0 && (attempt.settled + attempt.open).cost.is_none()
        })
    }

    fn open_attempt(&mut self) -> &mut AttemptUsage {
        self.attempt.get_or_insert_with(AttemptUsage::default)
    }
}

impl AttemptUsage {
    fn apply(&mut self, usage: &RunUsage) -> UsageStep {
        let reported = usage.cost.map(|cost| Amount {
            cost: Some(cost.micro_usd),
            is_estimate: cost.source == CostSource::Estimated,
        });
        let tokens = usage.tokens.since(self.seen_tokens);
        let mut price = Amount::default();
        if usage.is_partial {
            if let Some(reported) = reported {
                // Some agents report a cost only at the end of a turn and repeat it until the next end. Others update it
                // during a turn: then it covers the tokens that were estimated here, and no estimate is added to it.
                self.is_cost_live |= reported != self.settled;
                self.settled = reported;
            }
            if self.is_cost_live {
                self.open = Amount::default();
            } else {
                // Priced step by step, because subagents have models of their own.
                price = self.price(tokens);
                self.open = self.open + price;
            }
        } else if usage.tokens == self.settled_tokens && self.seen_tokens != self.settled_tokens {
            // A turn that was cut off: Claude's result leaves out the answer that was being written, which is paid for all
            // the same. What was seen of it stays, as an estimate.
            self.settled = reported.unwrap_or(self.settled);
            return UsageStep {
                tokens: Tokens::default(),
                price,
            };
        } else {
            self.settled = reported.unwrap_or_else(|| {
                let new = usage.tokens.since(self.settled_tokens);
                self.settled + self.price(new)
            });
            self.settled_tokens = usage.tokens;
            self.open = Amount::default();
        }
        self.seen_tokens = usage.tokens;
        UsageStep { tokens, price }
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
        let Amount { cost, is_estimate } = self.settled + self.open;
        Totals {
            tokens: self.seen_tokens,
            cost,
            is_estimate,
            turns: self.turns,
            duration_ms: 0,
        }
    }
}

impl std::ops::Add for Amount {
    type Output = Self;

    /// An unknown cost adds nothing and does not hide a known one.
    fn add(self, other: Self) -> Self {
        Self {
            cost: match (self.cost, other.cost) {
                (Some(one), Some(two)) => Some(one + two),
                (one, two) => one.or(two),
            },
            is_estimate: self.is_estimate || other.is_estimate,
        }
    }
}
