//! What a run uses.

use claude_code::event::{Assistant, StreamBody, TurnResult, Usage as WireUsage};
use claude_code::{CostAccount, CostBasis, Dialect, Event as WireEvent, MicroUsd, TokenCount};

use super::text::copied;
use crate::event::{Body, ContextUse, Cost, CostSource, RunUsage, Tokens, Usage, UsageScope};

/// The account of one process, and what of it was told.
#[derive(Debug)]
pub(super) struct Account {
    account: CostAccount,
    dialect: Dialect,
    /// The message whose usage was told last.
    told: Option<String>,
    context_size: Option<u64>,
}

impl Account {
    pub(super) fn new(basis: CostBasis, dialect: Dialect, earlier: Option<Tokens>) -> Self {
        let account = CostAccount::new(basis).with_dialect(dialect);
        Self {
            account: match earlier {
                Some(earlier) => account.with_earlier_tokens(TokenCount {
                    input: earlier.input,
                    output: earlier.output,
                    cache_read: earlier.cache_read,
                    cache_creation: earlier.cache_write,
                    thinking: earlier.reasoning,
                }),
                None => account,
            },
            dialect,
            told: None,
            context_size: None,
        }
    }

    pub(super) fn apply(&mut self, wire: &WireEvent) {
        self.account.apply(wire);
    }

    /// What a piece of a message says about its usage: at its start what was read, at its end what was written.
    pub(super) fn step(&mut self, body: &StreamBody) -> Option<Body> {
        let (usage, model) = match body {
            StreamBody::MessageStart { message } => {
                self.told = message.id.as_ref().map(copied);
                (message.usage.as_ref()?, message.model.as_ref())
            }
            StreamBody::MessageDelta { usage, .. } => (usage.as_deref()?, None),
            StreamBody::ContentBlockStart { .. }
            | StreamBody::ContentBlockDelta { .. }
            | StreamBody::ContentBlockStop { .. }
            | StreamBody::MessageStop
            | StreamBody::Ping
            | StreamBody::Unknown(_) => return None,
        };
        Some(self.step_usage(usage, model.map(copied), true))
    }

    /// The usage of a whole message, once: every block of it repeats it.
    pub(super) fn message(&mut self, wire: &WireEvent, assistant: &Assistant) -> Option<Body> {
        let message = assistant.message.as_ref()?;
        let id = message.id.as_deref()?;
        let usage = message.usage.as_ref()?;
        if self.told.as_deref() == Some(id) {
            return None;
        }
        id.clone_into(self.told.get_or_insert_default());
        let is_main = wire.parent_tool_use_id().is_none();
        Some(self.step_usage(usage, message.model.as_ref().map(copied), is_main))
    }

    fn step_usage(&self, usage: &WireUsage, model: Option<String>, is_main: bool) -> Body {
        let count = self.dialect.tokens(usage);
        Body::Usage(Box::new(Usage {
            scope: UsageScope::Step,
            tokens: tokens(count),
            cost: None,
            model,
            // A subagent has a context of its own.
            context: is_main.then(|| ContextUse {
                used: count.context(),
                size: self.context_size,
            }),
            run: self.run(true),
        }))
    }

    /// What a turn used, by its result.
    pub(super) fn result(&mut self, result: &TurnResult) -> Body {
        let models = result.model_usage.to_vec();
        let sizes = models.iter().filter_map(|(_, usage)| usage.context_window);
        self.context_size = sizes.max().or(self.context_size);
        let count = result.usage.as_ref().map(|usage| self.dialect.tokens(usage));
        let scope = if self.dialect.usage_is_cumulative {
            UsageScope::Session
        } else {
            UsageScope::Turn
        };
        Body::Usage(Box::new(Usage {
            scope,
            tokens: tokens(count.unwrap_or_default()),
            cost: result.total_cost.map(reported),
            model: match models.as_slice() {
                [(model, _)] => Some(copied(model)),
                _ => None,
            },
            context: None,
            run: self.run(false),
        }))
    }

    fn run(&self, is_open: bool) -> RunUsage {
        let unsettled = self.account.unsettled_tokens();
        RunUsage {
            tokens: tokens(self.account.tokens() + unsettled),
            cost: self.account.cost().map(reported),
            is_partial: is_open,
            may_include_earlier_runs: self.account.may_include_earlier_runs(),
        }
    }
}

fn reported(amount: MicroUsd) -> Cost {
    Cost {
        micro_usd: amount,
        source: CostSource::Reported,
    }
}

fn tokens(count: TokenCount) -> Tokens {
    Tokens {
        input: count.input,
        cache_read: count.cache_read,
        cache_write: count.cache_creation,
        output: count.output,
        reasoning: count.thinking,
    }
}
