//! `Account`: what the agent reports about tokens and cost, as the run's own totals.

use agent_client::{CostBasis, MicroUsd};
use json_lines::Value;

use super::quirks::UsageReport;
use crate::emitter::Emitter;
use crate::event::{Body, ContextUse, Cost, RunUsage, Tokens, Usage, UsageScope};

/// The totals of one process.
#[derive(Debug)]
pub(super) struct Account {
    basis: CostBasis,
    tokens: Tokens,
    /// What the session has cost so far, earlier runs included.
    session_cost: Option<MicroUsd>,
    /// Whether some of the tokens were not reported.
    is_partial: bool,
    has_tokens: bool,
}

impl Account {
    pub(super) fn new(basis: CostBasis) -> Self {
        Self {
            basis,
            tokens: Tokens::default(),
            session_cost: None,
            is_partial: false,
            has_tokens: false,
        }
    }

    /// A `usage_update`: how full the context is, and what the session has cost.
    pub(super) fn update(&mut self, update: &Value, is_turn_open: bool, events: &mut Emitter) {
        if let Some(cost) = update.get("cost").and_then(dollars) {
            self.session_cost = Some(cost);
            events.note_session_total(cost);
        }
        let used = update.count("used");
        events.emit(Body::Usage(Box::new(Usage {
            scope: UsageScope::Session,
            tokens: Tokens::default(),
            cost: self.session_cost.map(Cost::reported),
            model: None,
            context: used.map(|used| ContextUse {
                used,
                size: update.count("size").filter(|size| *size > 0),
            }),
            run: self.run(is_turn_open),
        })));
    }

    /// One call of the model.
    pub(super) fn step(&mut self, usage: &Value, events: &mut Emitter) {
        let tokens = canonical(usage);
        self.tokens += tokens;
        self.has_tokens = true;
        self.emit(UsageScope::Step, tokens, None, true, events);
    }

    /// The answer to a prompt. `has_steps` says whether the turn called a tool, so that there were several calls of the
    /// model.
    pub(super) fn turn(
        &mut self,
        answer: &Value,
        report: UsageReport,
        has_steps: bool,
        events: &mut Emitter,
    ) {
        let usage = answer.get("usage").filter(|usage| usage.is_object());
        let quota = answer.at(&["_meta", "quota"]);
        let (tokens, model) = match (usage, quota) {
            (Some(usage), _) => (canonical(usage), None),
            (None, Some(quota)) => (quota_tokens(quota), quota_model(quota)),
            (None, None) if report == UsageReport::StepsInUpdates => {
                return self.emit(UsageScope::Run, self.tokens, None, false, events);
            }
            (None, None) => return self.turn_without_figures(events),
        };
        self.has_tokens = true;
        // opencode reports zeros for a turn that was cancelled.
        self.is_partial |= tokens == Tokens::default();
        let scope = match report {
            UsageReport::LastStep => {
                self.is_partial |= has_steps;
                self.tokens += tokens;
                UsageScope::Step
            }
            UsageReport::Turn | UsageReport::StepsInUpdates => {
                self.tokens += tokens;
                UsageScope::Turn
            }
            UsageReport::Process => {
                self.tokens = tokens;
                UsageScope::Run
            }
        };
        self.emit(scope, tokens, model, false, events);
    }

    /// A turn of which nothing is known: the total becomes a lower bound.
    pub(super) fn turn_without_figures(&mut self, events: &mut Emitter) {
        self.is_partial = true;
        self.emit(UsageScope::Run, self.tokens, None, false, events);
    }

    fn emit(
        &self,
        scope: UsageScope,
        tokens: Tokens,
        model: Option<String>,
        is_turn_open: bool,
        events: &mut Emitter,
    ) {
        let usage = Usage::new(scope, tokens, self.run(is_turn_open));
        events.emit(Body::Usage(Box::new(Usage { model, ..usage })));
    }

    fn run(&self, is_turn_open: bool) -> RunUsage {
        let cost = self.session_cost.map(|total| match self.basis {
            CostBasis::Resumed { session_total } => total.saturating_sub(session_total),
            CostBasis::NewSession | CostBasis::ResumedUnknown => total,
        });
        RunUsage {
            tokens: self.tokens,
            cost: cost.map(Cost::reported),
            is_partial: is_turn_open || self.is_partial || !self.has_tokens,
            may_include_earlier_runs: cost.is_some() && self.basis == CostBasis::ResumedUnknown,
        }
    }
}

/// The protocol does not say whether `inputTokens` includes cached tokens, or `outputTokens` thinking; agents differ.
/// `totalTokens` shows it: everything that the total has on top of input and output was counted apart.
fn canonical(usage: &Value) -> Tokens {
    let count = |key| usage.count(key).unwrap_or_default();
    let (input, output) = (count("inputTokens"), count("outputTokens"));
    let (read, write) = (count("cachedReadTokens"), count("cachedWriteTokens"));
    let reasoning = count("thoughtTokens");
    let cached = read.saturating_add(write);
    let apart = usage
        .count("totalTokens")
        .map(|total| total.saturating_sub(input.saturating_add(output)));
    let (is_cache_apart, is_reasoning_apart) = match apart {
        Some(apart) => (
            cached > 0 && apart >= cached,
            reasoning > 0 && (apart == reasoning || apart == cached.saturating_add(reasoning)),
        ),
        None => (cached > input, false),
    };
    Tokens {
        input: if is_cache_apart {
            input
        } else {
            input.saturating_sub(cached)
        },
        cache_read: read,
        cache_write: write,
        output: if is_reasoning_apart {
            output.saturating_add(reasoning)
        } else {
            output
        },
        reasoning,
    }
}

/// Gemini CLI's figures: per turn, without a word about the cache or thinking.
fn quota_tokens(quota: &Value) -> Tokens {
    let count = |key| quota.get("token_count").and_then(|tokens| tokens.count(key));
    Tokens {
        input: count("input_tokens").unwrap_or_default(),
        output: count("output_tokens").unwrap_or_default(),
        ..Tokens::default()
    }
}

fn quota_model(quota: &Value) -> Option<String> {
    match quota.list("model_usage") {
        [only] => only.text("model").map(str::to_owned),
        _ => None,
    }
}

fn dollars(cost: &Value) -> Option<MicroUsd> {
    let is_dollars = cost.text("currency").is_none_or(|currency| currency == "USD");
    MicroUsd::from_usd(cost.get("amount")?.as_f64().filter(|_| is_dollars)?)
}

#[cfg(test)]
mod tests {
    use json_lines::Value;
    use serde_json::json;

    use super::{canonical, dollars};
    use crate::event::Tokens;

    #[test]
    fn the_total_shows_what_input_and_output_include() {
        let truth = Tokens {
            input: 200,
            cache_read: 1_000,
            cache_write: 0,
            output: 34,
            reasoning: 10,
        };
        for usage in [
            // opencode: cache and thinking are counted apart.
            json!({"inputTokens": 200, "outputTokens": 24, "totalTokens": 1234, "thoughtTokens": 10, "cachedReadTokens": 1000}),
            // Copilot and Qwen: included.
            json!({"inputTokens": 1200, "outputTokens": 34, "totalTokens": 1234, "thoughtTokens": 10, "cachedReadTokens": 1000}),
            // codex-acp: only the cache is counted apart.
            json!({"inputTokens": 200, "outputTokens": 34, "totalTokens": 1234, "thoughtTokens": 10, "cachedReadTokens": 1000}),
            json!({"inputTokens": 200, "outputTokens": 34, "thoughtTokens": 10, "cachedReadTokens": 1000}),
        ] {
            assert_eq!(canonical(&Value::from(&usage)), truth, "{usage}");
        }
        let odd = json!({"inputTokens": "many", "outputTokens": -3, "totalTokens": u64::MAX, "cachedReadTokens": 1.5});
        assert_eq!(canonical(&Value::from(&odd)), Tokens::default());
        assert_eq!(canonical(&Value::Null), Tokens::default());
    }

    #[test]
    fn costs_in_other_currencies_or_below_zero_do_not_count() {
        let cost = json!({"amount": 0.00423, "currency": "USD"});
        assert_eq!(dollars(&Value::from(&cost)).unwrap().as_micro_usd(), 4_230);
        for odd in [
            json!({"amount": 1, "currency": "EUR"}),
            json!({"amount": -1, "currency": "USD"}),
            json!({"amount": "1"}),
        ] {
            assert_eq!(dollars(&Value::from(&odd)), None, "{odd}");
        }
    }
}
