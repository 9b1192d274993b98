//! Machine and budget together: random sequences of events, usage, checks, timers, signals and commands.

use agent_api::{Body, Limit, Outcome, Status, StatusChanged, TurnFinished, TurnStarted};
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use ralph_run::control::{ControlCommand, SendMode};
use ralph_run::machine::{
    AttemptReport, ConversationPlan, Effect, Input, LoopPlan, Plan, Signal, StorageStatus, Timer, WorkPlan,
};
use ralph_run::{EndReason, LimitKind, RunBody, Totals};

use crate::play::{Play, command, report, says, send, usage, with_max_cost};

const MAX_COST: u64 = 100;

/// Something that can happen. Costs are what the process has cost so far.
#[derive(Debug, Clone)]
enum Happening {
    TurnStarted,
    TurnFinished(Outcome),
    Idle,
    Usage(u64),
    SpawnFailed,
    Ended(Outcome, Option<u64>),
    Done(u64),
    Verified(bool),
    Timer(Timer),
    Command(ControlCommand),
    Send(SendMode),
    Signal(Signal),
    Storage(StorageStatus),
    OutputClosed,
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![
        Outcome::Succeeded,
        Outcome::Failed,
        Outcome::Crashed,
        Outcome::NoResult,
        Outcome::Interrupted,
        Outcome::LimitReached(Limit::Turns),
    ])
}

fn happening() -> impl Strategy<Value = Happening> {
    let timer = prop::sample::select(vec![
        Timer::Runtime,
        Timer::Iteration,
        Timer::Cooldown,
        Timer::Grace,
        Timer::Idle,
        Timer::Storage,
    ]);
    let control = prop::sample::select(vec![
        ControlCommand::Interrupt,
        ControlCommand::Stop,
        ControlCommand::Kill,
        ControlCommand::CloseInput,
        ControlCommand::SetModel { model: None },
    ]);
    let signal = prop::sample::select(vec![Signal::Interrupt, Signal::Terminate, Signal::HangUp]);
    let storage = prop::sample::select(vec![
        StorageStatus::Writable,
        StorageStatus::Failing("full".to_owned()),
        StorageStatus::Lost("gone".to_owned()),
    ]);
    // What ends a run early is rare, so that runs live long enough to reach their limits.
    proptest::prop_oneof![
        8 => Just(Happening::TurnStarted),
        8 => outcome().prop_map(Happening::TurnFinished),
        8 => Just(Happening::Idle),
        16 => (0..60_u64).prop_map(Happening::Usage),
        3 => Just(Happening::SpawnFailed),
        16 => (outcome(), prop::option::of(0..60_u64)).prop_map(|(outcome, cost)| Happening::Ended(outcome, cost)),
        8 => (0..60_u64).prop_map(Happening::Done),
        12 => any::<bool>().prop_map(Happening::Verified),
        6 => timer.prop_map(Happening::Timer),
        1 => control.prop_map(Happening::Command),
        4 => any::<bool>().prop_map(|is_queued| Happening::Send(if is_queued { SendMode::Queue } else { SendMode::Steer })),
        1 => signal.prop_map(Happening::Signal),
        2 => storage.prop_map(Happening::Storage),
        1 => Just(Happening::OutputClosed),
    ]
}

fn plans() -> impl Strategy<Value = Plan> {
    let looping =
        (any::<bool>(), 0..4_u32, any::<bool>()).prop_map(|(has_verify, max_iterations, is_once)| {
            let verify = if has_verify {
                vec!["check".to_owned()]
            } else {
                Vec::new()
            };
            with_max_cost(
                MAX_COST,
                LoopPlan {
                    verify,
                    max_iterations,
                    is_once,
                    ..LoopPlan::default()
                },
            )
        });
    let conversation = (any::<bool>(), any::<bool>()).prop_map(|(has_prompt, can_resume)| Plan {
        work: WorkPlan::Conversation(ConversationPlan {
            has_prompt,
            idle_timeout: None,
            can_resume,
        }),
        ..with_max_cost(MAX_COST, LoopPlan::default())
    });
    proptest::prop_oneof![looping, conversation]
}

/// What is open from the driver's point of view, so that only what can happen does.
#[derive(Default)]
struct Open {
    has_process: bool,
    is_verifying: bool,
}

impl Open {
    fn follow(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Spawn { .. } => self.has_process = true,
                Effect::Verify { .. } => self.is_verifying = true,
                _ => {}
            }
        }
    }
}

impl Happening {
    /// Performs it, if it can happen now.
    fn perform(self, play: &mut Play, open: &mut Open) -> Option<Vec<Effect>> {
        let is_of_process = matches!(
            self,
            Self::TurnStarted
                | Self::TurnFinished(_)
                | Self::Idle
                | Self::Usage(_)
                | Self::SpawnFailed
                | Self::Ended(..)
                | Self::Done(_)
        );
        if is_of_process && !open.has_process {
            return None;
        }
        let effects = match self {
            Self::TurnStarted => play.event(Body::TurnStarted(TurnStarted { number: 1 })),
            Self::TurnFinished(outcome) => {
                play.event(Body::TurnFinished(Box::new(TurnFinished::new(1, outcome))))
            }
            Self::Idle => play.event(Body::StatusChanged(StatusChanged { status: Status::Idle })),
            Self::Usage(cost) => play.costs(cost),
            Self::SpawnFailed => {
                open.has_process = false;
                play.step(Input::SpawnFailed("gone".to_owned()))
            }
            Self::Ended(outcome, cost) => {
                open.has_process = false;
                play.ends(AttemptReport {
                    usage: cost.map(usage),
                    ..report(outcome)
                })
            }
            Self::Done(cost) => {
                open.has_process = false;
                play.ends(AttemptReport {
                    usage: Some(usage(cost)),
                    ..says("LOOP_COMPLETE")
                })
            }
            Self::Verified(is_ok) => {
                if !std::mem::take(&mut open.is_verifying) {
                    return None;
                }
                play.verified(is_ok)
            }
            Self::Timer(timer) => play.step(Input::Timer(timer)),
            Self::Command(control) => {
                if play.machine.accept(&control).is_err() {
                    return None;
                }
                play.step(command(control))
            }
            Self::Send(mode) => {
                let text = "hello".to_owned();
                if play.machine.accept(&ControlCommand::Send { text, mode }).is_err() {
                    return None;
                }
                play.step(send("hello", mode))
            }
            Self::Signal(signal) => play.step(Input::Signal(signal)),
            Self::Storage(status) => play.step(Input::Storage(status)),
            Self::OutputClosed => play.step(Input::OutputClosed),
        };
        Some(effects)
    }
}

proptest! {
    #[test]
    fn limits_ends_and_totals_hold_whatever_happens(
        plan in plans(),
        happenings in prop::collection::vec(happening(), 0..80),
    ) {
        let mut play = Play::begin(plan);
        let mut open = Open::default();
        open.follow(&play.effects.clone());
        // Whether a limit was exhausted while nothing else was ending the run.
        let mut was_exhausted = false;
        let mut attempts = Totals::default();
        for happening in happenings {
            let had_ended = play.machine.has_ended();
            let Some(effects) = happening.perform(&mut play, &mut open) else { continue };
            if had_ended {
                prop_assert_eq!(effects, []);
                continue;
            }
            let is_exhausted = play.machine.budget().exhausted().is_some();
            was_exhausted |= is_exhausted;
            let spawns = effects.iter().filter(|effect| matches!(effect, Effect::Spawn { .. })).count();
            prop_assert!(spawns <= 1);
            prop_assert!(spawns == 0 || !is_exhausted, "started although a limit is exhausted");
            open.follow(&effects);
            for effect in &effects {
                if let Effect::Record(body) = effect
                    && let RunBody::AttemptEnded(ended) = &**body
                {
                    attempts = attempts + ended.totals;
                }
            }
        }
        // Exactly one end, and nothing after it, is what this checks as well.
        let Some(ended) = play.ended() else { return Ok(()) };
        prop_assert_eq!(ended.totals, attempts);
        let is_budget = ended.reason == EndReason::Limit(LimitKind::Cost);
        prop_assert!(!is_budget || was_exhausted, "ended by a limit that was not exhausted");
        let is_other_cause = matches!(
            ended.reason,
            ralph_run::Open::Known(EndReason::Completed
                | EndReason::Interrupted
                | EndReason::Stopped
                | EndReason::Terminated
                | EndReason::HungUp
                | EndReason::OutputClosed
                | EndReason::StorageFailed
                | EndReason::Limit(LimitKind::Runtime | LimitKind::IterationTimeout | LimitKind::Turns))
        );
        if play.machine.budget().exhausted().is_some() {
            prop_assert!(is_budget || is_other_cause, "{:?} although the limit is exhausted", ended.reason);
        }
    }
}
