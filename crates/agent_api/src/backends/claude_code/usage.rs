//! `Account`: usage events from a `CostAccount`.

use std::borrow::Cow;
use std::collections::HashMap;

use agent_client::{MicroUsd, Tokens};
use claude_code::event::{Assistant, StreamBody, TurnResult};
use claude_code::{CostAccount, Dialect, Event as WireEvent};

use super::mapper::MapperSetup;
use crate::event::{Body, ContextUse, Cost, RunUsage, Usage, UsageScope};

/// The usage of one process, and how much of it was reported.
#[derive(Debug)]
pub(super) struct Account {
    account: CostAccount,
    dialect: Dialect,
    /// The message whose usage was reported last.
    reported_message: Option<String>,
    /// What the messages that are being written have used, by the subagent that writes them.
    streamed: HashMap<Option<String>, Tokens>,
    /// What the run had cost when its last turn ended.
    settled: Option<MicroUsd>,
    context_size: Option<u64>,
}

impl Account {
    pub(super) fn new(setup: &MapperSetup) -> Self {
        let mut account = CostAccount::new(setup.cost_basis).with_dialect(setup.dialect);
        // Versions before 2.1.9 do not report theirs.
        if let Some(version) = setup.capabilities.and_then(|known| known.version()) {
            account = account.with_version(version);
        }
        if let Some(earlier) = setup.earlier_tokens {
            account = account.with_earlier_tokens(earlier);
        }
        Self {
            account,
            dialect: setup.dialect,
            reported_message: None,
            streamed: HashMap::new(),
            settled: None,
            context_size: None,
        }
    }

    pub(super) fn apply(&mut self, wire: &WireEvent) {
        self.account.apply(wire);
    }

    /// What a piece of a message says about its usage: at its start what was read, at its end what was written. The
    /// end may leave out what the start had.
    pub(super) fn step(&mut self, wire: &WireEvent, body: &StreamBody) -> Option<Body> {
        let lane = || wire.parent_tool_use_id().map(Cow::into_owned);
        match body {
            StreamBody::MessageStart { message } => {
                self.reported_message = message.id.as_deref().map(str::to_owned);
                let count = self.dialect.tokens(message.usage.as_ref()?);
                let lane = lane();
                let is_main = lane.is_none();
                self.streamed.insert(lane, count);
                Some(self.step_usage(count, message.model.as_deref().map(str::to_owned), is_main))
            }
            StreamBody::MessageDelta { usage, .. } => {
                let lane = lane();
                let start = self.streamed.get(&lane).copied().unwrap_or_default();
                let count = start.max_of_each(self.dialect.tokens(usage.as_deref()?));
                Some(self.step_usage(count, None, lane.is_none()))
            }
            _ => None,
        }
    }

    /// The usage of a whole message, once: every block of it repeats it.
    pub(super) fn message(&mut self, wire: &WireEvent, assistant: &Assistant) -> Option<Body> {
        let message = assistant.message.as_ref()?;
        let id = message.id.as_deref()?;
        let usage = message.usage.as_ref()?;
        if self.reported_message.as_deref() == Some(id) {
            return None;
        }
        id.clone_into(self.reported_message.get_or_insert_default());
        let is_main = wire.parent_tool_use_id().is_none();
        let count = self.dialect.tokens(usage);
        Some(self.step_usage(count, message.model.as_deref().map(str::to_owned), is_main))
    }

    fn step_usage(&self, count: Tokens, model: Option<String>, is_main: bool) -> Body {
        Body::Usage(Box::new(Usage {
            model,
            // A subagent has a context of its own, and what read nothing says nothing about it.
            context: (is_main && count.context() > 0).then(|| ContextUse {
                used: count.context(),
                size: self.context_size,
            }),
            ..Usage::new(UsageScope::Step, count, self.run(true))
        }))
    }

    /// What a turn used, by its result.
    pub(super) fn result(&mut self, result: &TurnResult) -> Body {
        self.streamed.clear();
        let models = result.model_usage.to_vec();
        let sizes = models.iter().filter_map(|(_, usage)| usage.context_window);
        self.context_size = sizes.max().or(self.context_size);
        let count = result.usage.as_ref().map(|usage| self.dialect.tokens(usage));
        let (scope, cost) = if self.dialect.usage_is_cumulative {
            (UsageScope::Session, result.total_cost)
        } else {
            (UsageScope::Turn, self.turn_cost(result))
        };
        Body::Usage(Box::new(Usage {
            cost: cost.map(Cost::reported),
            model: match models.as_slice() {
                [(model, _)] => Some(str::to_owned(model)),
                _ => None,
            },
            ..Usage::new(scope, count.unwrap_or_default(), self.run(false))
        }))
    }

    /// What the run cost more than before. The agent itself only reports totals.
    fn turn_cost(&mut self, result: &TurnResult) -> Option<MicroUsd> {
        let total = self.account.cost();
        let earlier = std::mem::replace(&mut self.settled, total);
        // A first total that may include earlier runs says nothing about the turn.
        let is_known = earlier.is_some() || !self.account.may_include_earlier_runs();
        result.total_cost.filter(|_| is_known)?;
        Some(total?.saturating_sub(earlier.unwrap_or_default()))
    }

    /// What the session has cost so far, as the agent counts it.
    pub(super) fn session_total(&self) -> Option<MicroUsd> {
        self.account.session_total()
    }

    fn run(&self, is_open: bool) -> RunUsage {
        let unsettled = self.account.unsettled_tokens();
        RunUsage {
            tokens: self.account.tokens() + unsettled,
            cost: self.account.cost().map(Cost::reported),
            is_partial: is_open,
            may_include_earlier_runs: self.account.may_include_earlier_runs(),
        }
    }
}
