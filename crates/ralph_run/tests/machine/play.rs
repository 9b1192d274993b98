//! A loop in the hands of a test.

use std::time::Duration;

use agent_api::{
    AgentKind, Body, Cost, CostSource, ErrorClass, ErrorInfo, Event, ExitInfo, MicroUsd, Outcome, RunUsage,
    SessionChoice, Tokens, Usage, UsageScope,
};
use ralph_run::control::{ControlCommand, SendMode};
use ralph_run::machine::{
    AttemptReport, CommandInput, Effect, Input, LoopPlan, Machine, Moment, Plan, SpawnPrompt, WorkPlan,
};
use ralph_run::{BudgetLimits, EndReason, IterationOutcome, MessageSent, RunBody, RunEnded};

pub(crate) struct Play {
    pub(crate) machine: Machine,
    pub(crate) now: Moment,
    pub(crate) effects: Vec<Effect>,
}

impl Play {
    pub(crate) fn begin(plan: Plan) -> Self {
        let mut play = Self {
            machine: Machine::new(plan),
            now: start(),
            effects: Vec::new(),
        };
        play.step(Input::Begin);
        play
    }

    /// Gives the effects of this input alone.
    pub(crate) fn step(&mut self, input: Input<'_>) -> Vec<Effect> {
        let effects = self.machine.step(input, self.now);
        self.effects.extend(effects.iter().cloned());
        effects
    }

    /// Time passes.
    pub(crate) fn advance(&mut self, time: Duration) {
        self.now.at += jiff::SignedDuration::try_from(time).unwrap();
        self.now.elapsed += time;
    }

    /// All records, in order.
    pub(crate) fn records(&self) -> impl Iterator<Item = &RunBody> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Record(body) => Some(&**body),
            _ => None,
        })
    }

    pub(crate) fn event(&mut self, body: Body) -> Vec<Effect> {
        let event = Event::new(AgentKind::DEMO, body);
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
                    prompt,
                    ..
                } => {
                    let failure = match prompt {
                        SpawnPrompt::Iteration { last_failure, .. } => last_failure.clone(),
                        SpawnPrompt::Task | SpawnPrompt::Message(_) => None,
                    };
                    Some((*iteration, *attempt, failure))
                }
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
                    RunBody::IterationEnded(ended) => ended.outcome.known().copied(),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    }

    /// How the run ended; exactly once, and last.
    pub(crate) fn ended(&self) -> Option<&RunEnded> {
        let mut ends = self.effects.iter().filter_map(|effect| match effect {
            Effect::End(ended) => Some(ended),
            _ => None,
        });
        let first = ends.next();
        assert_eq!(ends.next(), None, "two ends");
        if first.is_some() {
            assert!(
                matches!(self.effects.last(), Some(Effect::End(_))),
                "something after the end"
            );
        }
        assert_eq!(self.machine.has_ended(), first.is_some());
        first
    }

    pub(crate) fn end(&self) -> Option<EndReason> {
        self.ended().and_then(|ended| ended.reason.known().copied())
    }

    pub(crate) fn warnings(&self) -> Vec<&str> {
        let records = self.effects.iter().filter_map(|effect| match effect {
            Effect::Record(body) => Some(&**body),
            _ => None,
        });
        let warnings = records.filter_map(|body| match body {
            RunBody::Warned(warned) => Some(warned.message.as_str()),
            _ => None,
        });
        warnings.collect()
    }

    /// The agent reports what it has cost so far, in micro-dollars.
    pub(crate) fn costs(&mut self, micro_usd: u64) -> Vec<Effect> {
        self.event(Body::Usage(Box::new(Usage {
            scope: UsageScope::Turn,
            tokens: Tokens::default(),
            cost: None,
            model: None,
            context: None,
            run: usage(micro_usd),
        })))
    }
}

pub(crate) fn usage(micro_usd: u64) -> RunUsage {
    RunUsage {
        cost: Some(Cost {
            micro_usd: MicroUsd::new(micro_usd),
            source: CostSource::Reported,
        }),
        ..RunUsage::default()
    }
}

pub(crate) fn looping(plan: LoopPlan) -> Plan {
    Plan {
        work: WorkPlan::Loop(plan),
        ..Plan::default()
    }
}

/// A loop that may cost this much.
pub(crate) fn with_max_cost(micro_usd: u64, plan: LoopPlan) -> Plan {
    Plan {
        limits: BudgetLimits {
            cost: Some(MicroUsd::new(micro_usd)),
            ..BudgetLimits::default()
        },
        ..looping(plan)
    }
}

/// A loop with at most this many iterations.
pub(crate) fn with_max_iterations(iterations: u32, plan: LoopPlan) -> Plan {
    Plan {
        limits: BudgetLimits {
            iterations: Some(iterations),
            ..BudgetLimits::default()
        },
        ..looping(plan)
    }
}

/// When every play begins.
pub(crate) fn start() -> Moment {
    Moment {
        at: "2026-11-15T22:00:00Z".parse().unwrap(),
        elapsed: Duration::ZERO,
        random: 128,
    }
}

pub(crate) fn command(command: ControlCommand) -> Input<'static> {
    Input::Command(CommandInput {
        command,
        message_id: "id".to_owned(),
        by: None,
    })
}

/// A message whose id is its text.
pub(crate) fn send(text: &str, mode: SendMode) -> Input<'static> {
    Input::Command(CommandInput {
        command: ControlCommand::Send {
            text: text.to_owned(),
            mode,
        },
        message_id: text.to_owned(),
        by: None,
    })
}

pub(crate) fn report(outcome: Outcome) -> AttemptReport {
    AttemptReport {
        outcome,
        error: None,
        final_text: None,
        is_degraded: false,
        session_id: Some("s".to_owned()),
        exit: ExitInfo::default(),
        usage: None,
        duration: Duration::from_millis(10),
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
