//! `NativeOutput`: an agent's own output format. `Turns`: the turns and the usage of a recording, for its mappers.

use agent_client::MicroUsd;
use json_lines::Value;

use super::{copilot, goose, opencode};
use crate::backend::Mapper;
use crate::emitter::Emitter;
use crate::event::{
    Body, Cost, ErrorInfo, Outcome, RunUsage, SessionStarted, Tokens, TurnFinished, Usage, UsageScope,
};

/// An agent's own output format.
#[derive(Debug, Clone, Copy)]
pub(in crate::backends::acp) struct NativeOutput {
    /// Whether an object of the first lines is in this format.
    pub(in crate::backends::acp) recognises: fn(&Value) -> bool,
    pub(in crate::backends::acp) mapper: fn() -> Box<dyn Mapper>,
}

pub(in crate::backends::acp) const COPILOT: NativeOutput = NativeOutput {
    recognises: copilot::recognises,
    mapper: || Box::new(copilot::CopilotMapper::default()),
};
pub(in crate::backends::acp) const GOOSE: NativeOutput = NativeOutput {
    recognises: goose::recognises,
    mapper: || Box::new(goose::GooseMapper::default()),
};
pub(in crate::backends::acp) const OPENCODE: NativeOutput = NativeOutput {
    recognises: opencode::recognises,
    mapper: || Box::new(opencode::OpencodeMapper::default()),
};

/// The turns of a recording, and what they used.
#[derive(Debug, Default)]
pub(super) struct Turns {
    count: u32,
    is_open: bool,
    pub(super) used: RunUsage,
}

impl Turns {
    /// Starts the session with the first turn, and a turn if none is open.
    pub(super) fn open(&mut self, session: SessionStarted, events: &mut Emitter) {
        if self.is_open {
            return;
        }
        if self.count == 0 {
            events.emit(Body::SessionStarted(Box::new(session)));
        }
        self.is_open = true;
        self.count += 1;
        events.turn_started(self.count);
    }

    pub(super) fn finish(
        &mut self,
        outcome: Outcome,
        error: Option<ErrorInfo>,
        text: Option<String>,
        events: &mut Emitter,
    ) {
        self.is_open = false;
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            text,
            error,
            ..TurnFinished::new(self.count, outcome)
        })));
    }

    /// Adds the usage of one step.
    pub(super) fn add_step(&mut self, tokens: Tokens, cost: Option<MicroUsd>, events: &mut Emitter) {
        self.used.tokens += tokens;
        if let Some(step) = cost {
            let before = self.used.cost.map_or(MicroUsd::ZERO, |cost| cost.micro_usd);
            self.used.cost = Some(Cost::reported(before + step));
        }
        self.report(UsageScope::Step, tokens, cost.map(Cost::reported), events);
    }

    pub(super) fn report(&self, scope: UsageScope, tokens: Tokens, cost: Option<Cost>, events: &mut Emitter) {
        let usage = Usage::new(scope, tokens, self.used);
        events.emit(Body::Usage(Box::new(Usage { cost, ..usage })));
    }

    /// Whether the last turn has ended.
    pub(super) fn is_idle(&self) -> bool {
        self.count > 0 && !self.is_open
    }
}
