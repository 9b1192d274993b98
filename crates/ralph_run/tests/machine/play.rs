//! A loop in the hands of a test.

use agent_api::{AgentKind, Body, ErrorClass, ErrorInfo, Event, ExitInfo, Outcome, SessionChoice};
use ralph_run::machine::{AttemptReport, Effect, Input, Machine, Plan};
use ralph_run::{EndReason, IterationOutcome, MessageSent, RunBody, Totals};

pub(crate) struct Play {
    pub(crate) machine: Machine,
    pub(crate) effects: Vec<Effect>,
}

impl Play {
    pub(crate) fn begin(plan: Plan) -> Self {
        let mut play = Self {
            machine: Machine::new(plan),
            effects: Vec::new(),
        };
        play.step(Input::Begin);
        play
    }

    /// Gives the effects of this input alone.
    pub(crate) fn step(&mut self, input: Input<'_>) -> Vec<Effect> {
        let effects = self.machine.step(input);
        self.effects.extend(effects.iter().cloned());
        effects
    }

    pub(crate) fn event(&mut self, body: Body) -> Vec<Effect> {
        let event = Event {
            agent_kind: AgentKind::DEMO,
            parent: None,
            raw: None,
            body,
        };
        self.step(Input::Event(&event))
    }

    pub(crate) fn ends(&mut self, report: AttemptReport) -> Vec<Effect> {
        self.step(Input::AttemptEnded(report))
    }

    pub(crate) fn verified(&mut self, is_ok: bool) -> Vec<Effect> {
        self.step(Input::Verified {
            is_ok,
            summary: "check: 1 test failed".to_owned(),
        })
    }

    /// Which processes were started: iteration, attempt, what went wrong before.
    pub(crate) fn spawned(&self) -> Vec<(u32, u32, Option<String>)> {
        self.effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Spawn {
                    iteration,
                    attempt,
                    last_failure,
                    ..
                } => Some((*iteration, *attempt, last_failure.clone())),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn sessions(&self) -> Vec<SessionChoice> {
        self.effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Spawn { session, .. } => Some(session.clone()),
                _ => None,
            })
            .collect()
    }

    /// How the iterations ended.
    pub(crate) fn iterations(&self) -> Vec<IterationOutcome> {
        self.effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Record(body) => match &**body {
                    RunBody::IterationEnded(ended) => Some(ended.outcome),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    }

    /// Why the run ended; exactly once, and last.
    pub(crate) fn end(&self) -> Option<EndReason> {
        let mut ends = self.effects.iter().filter_map(|effect| match effect {
            Effect::End { reason, .. } => Some(*reason),
            _ => None,
        });
        let first = ends.next();
        assert_eq!(ends.next(), None, "two ends");
        if first.is_some() {
            assert!(
                matches!(self.effects.last(), Some(Effect::End { .. })),
                "something after the end"
            );
            assert!(self.machine.has_ended());
        }
        first
    }
}

pub(crate) fn report(outcome: Outcome) -> AttemptReport {
    AttemptReport {
        outcome,
        error: None,
        final_text: None,
        is_degraded: false,
        session_id: Some("s".to_owned()),
        exit: ExitInfo::default(),
        totals: Totals {
            turns: 1,
            ..Totals::default()
        },
    }
}

pub(crate) fn says(text: &str) -> AttemptReport {
    AttemptReport {
        final_text: Some(text.to_owned()),
        ..report(Outcome::Succeeded)
    }
}

pub(crate) fn done() -> AttemptReport {
    says("All is well.\nLOOP_COMPLETE\n")
}

pub(crate) fn fails(class: ErrorClass) -> AttemptReport {
    AttemptReport {
        error: Some(ErrorInfo::new(class, "code", "it broke")),
        ..report(Outcome::Failed)
    }
}

/// What giving the agent a message looks like.
pub(crate) fn said(text: &str) -> [Effect; 2] {
    let message_id = text.to_owned();
    [
        Effect::Record(Box::new(RunBody::MessageSent(MessageSent { message_id }))),
        Effect::Say {
            id: text.to_owned(),
            text: text.to_owned(),
        },
    ]
}
