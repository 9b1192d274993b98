//! Machine and budget together: random sequences of events, usage, checks, waits, top-ups, timers, signals and commands,
//! with time passing in between.

use std::time::Duration;

use agent_api::{
    Body, ErrorClass, ErrorInfo, Limit, MicroUsd, Outcome, Status, StatusChanged, TurnFinished, TurnStarted,
};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use ralph_run::control::{ControlCommand, SendMode, TopUp};
use ralph_run::machine::{
    AttemptReport, ConversationPlan, Effect, Input, LimitPolicy, LoopPlan, Plan, Signal, StorageStatus,
    Timer, WorkPlan,
};
use ralph_run::watchdog::WatchAction;
use ralph_run::{CooldownCause, EndReason, LimitKind, RunBody, Totals, WarningKind};

use crate::findings::finding;
use crate::play::{Play, command, report, says, send, usage, with_max_cost};

const MAX_COST: u64 = 100;
const MAX_WAIT: Duration = Duration::from_secs(6 * 3600);

/// Something that can happen. Costs are what the process has cost so far.
#[derive(Debug, Clone)]
enum Happening {
    TurnStarted,
    TurnFinished(Outcome),
    Idle,
    Usage(u64),
    SpawnFailed,
    Ended(Outcome, Option<u64>),
    /// A limit of the vendor, which resets in so many seconds, or nobody knows when.
    Limited(Option<i64>),
    /// A failure that may pass.
    Retryable,
    TopUp(TopUp),
    /// Time passes by both clocks; the wall clock may be set as well.
    Advance(u64, i64),
    Done(u64),
    Verified(bool),
    Timer(Timer),
    Command(ControlCommand),
    Send(SendMode),
    Signal(Signal),
    Storage(StorageStatus),
    OutputClosed,
    Finding(WatchAction),
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

fn finding_action() -> impl Strategy<Value = WatchAction> {
    proptest::prop_oneof![
        2 => Just(WatchAction::Notify),
        6 => Just(WatchAction::Interrupt),
        1 => Just(WatchAction::Stop),
    ]
}

fn happening() -> impl Strategy<Value = Happening> {
    let timer = prop::sample::select(vec![
        Timer::Runtime,
        Timer::Iteration,
        Timer::Cooldown,
        Timer::Cooldown,
        Timer::Raise,
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
    let top_up = (0..80_u64, 0..3_u32, 0..5_000_u64).prop_map(|(cost, iterations, seconds)| TopUp {
        cost: Some(MicroUsd::new(cost)).filter(|cost| *cost > MicroUsd::ZERO),
        iterations: Some(iterations).filter(|count| *count > 0),
        seconds: Some(seconds).filter(|seconds| *seconds > 1_000),
        tokens: None,
    });
    let reset = prop::option::of(-100_000..100_000_i64);
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
        8 => reset.prop_map(Happening::Limited),
        4 => Just(Happening::Retryable),
        6 => top_up.prop_map(Happening::TopUp),
        8 => (0..4_000_u64, -10_000..10_000_i64).prop_map(|(time, set)| Happening::Advance(time, if set % 5 == 0 { set } else { 0 })),
        8 => (0..60_u64).prop_map(Happening::Done),
        12 => any::<bool>().prop_map(Happening::Verified),
        6 => timer.prop_map(Happening::Timer),
        1 => control.prop_map(Happening::Command),
        4 => any::<bool>().prop_map(|is_queued| Happening::Send(if is_queued { SendMode::Queue } else { SendMode::Steer })),
        1 => signal.prop_map(Happening::Signal),
        2 => storage.prop_map(Happening::Storage),
        1 => Just(Happening::OutputClosed),
        4 => finding_action().prop_map(Happening::Finding),
    ]
}

fn plans() -> impl Strategy<Value = Plan> {
    let limits = (any::<bool>(), any::<bool>());
    (work_plans(), limits).prop_map(|(mut plan, (asks, has_runtime))| {
        if asks {
            plan.limit_policy = LimitPolicy::Ask;
        }
        plan.limits.runtime = has_runtime.then_some(Duration::from_secs(10_000));
        plan.max_wait = Some(MAX_WAIT);
        plan
    })
}

fn work_plans() -> impl Strategy<Value = Plan> {
    let looping =
        (any::<bool>(), 0..4_u32, any::<bool>()).prop_map(|(has_verify, max_iterations, is_once)| {
            let verify = if has_verify {
                vec!["check".to_owned()]
            } else {
                Vec::new()
            };
            let plan = LoopPlan {
                verify,
                is_once,
                ..LoopPlan::default()
            };
            let mut plan = with_max_cost(MAX_COST, plan);
            plan.limits.iterations = Some(max_iterations);
            plan
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
                | Self::Limited(_)
                | Self::Retryable
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
            Self::Limited(seconds) => {
                open.has_process = false;
                let mut error = ErrorInfo::new(ErrorClass::RateLimit, "rate_limit", "too much");
                let reset = seconds.map(|seconds| play.now.at + SignedDuration::from_secs(seconds));
                error.resets_at = reset.and_then(|reset| u64::try_from(reset.as_second()).ok());
                play.ends(AttemptReport {
                    error: Some(error),
                    ..report(Outcome::Failed)
                })
            }
            Self::Retryable => {
                open.has_process = false;
                let mut error = ErrorInfo::new(ErrorClass::Network, "network", "no line");
                error.is_retryable = true;
                play.ends(AttemptReport {
                    error: Some(error),
                    ..report(Outcome::Failed)
                })
            }
            Self::TopUp(amounts) => {
                let amounts = ControlCommand::TopUp(amounts);
                if play.machine.accept(&amounts).is_err() {
                    return None;
                }
                play.step(command(amounts))
            }
            Self::Advance(seconds, set) => {
                play.advance(Duration::from_secs(seconds));
                play.now.at += SignedDuration::from_secs(set);
                play.step(Input::Timer(Timer::Runtime))
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
            Self::Finding(action) => play.step(finding(WarningKind::RepeatedCall, action)),
        };
        Some(effects)
    }
}

/// What holds for every wait for a usage limit.
#[derive(Default)]
struct Waits {
    /// When the first of the waits in a row began.
    since: Option<Timestamp>,
    /// The iteration and attempt that was started last.
    position: (u32, u32),
    raised_cost: u64,
}

impl Waits {
    fn check(
        &mut self,
        effects: &[Effect],
        now: Timestamp,
    ) -> Result<(), proptest::test_runner::TestCaseError> {
        for effect in effects {
            match effect {
                Effect::ArmAt(timer, until) => {
                    prop_assert!(matches!(timer, Timer::Cooldown | Timer::Raise));
                    prop_assert!(*until > now, "a wait that is over already");
                }
                Effect::Record(body) => match &**body {
                    RunBody::CooldownStarted(cooldown) if cooldown.cause == CooldownCause::UsageLimit => {
                        let since = *self.since.get_or_insert(now);
                        let latest = since + SignedDuration::try_from(MAX_WAIT).unwrap();
                        prop_assert!(cooldown.until <= latest, "longer than `max_wait`");
                    }
                    RunBody::CooldownStarted(_) => self.since = None,
                    RunBody::IterationEnded(_) => self.since = None,
                    RunBody::LimitRaised(raised) if raised.limit == LimitKind::Cost => {
                        self.raised_cost = raised.to
                    }
                    _ => {}
                },
                Effect::Spawn {
                    iteration, attempt, ..
                } => {
                    let (last, last_attempt) = self.position;
                    if self.since.is_some() {
                        prop_assert_eq!(
                            (*iteration, *attempt),
                            (last, last_attempt + 1),
                            "a wait burns an iteration"
                        );
                    }
                    self.position = (*iteration, *attempt);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn limits_ends_and_totals_hold_whatever_happens(
        plan in plans(),
        happenings in prop::collection::vec(happening(), 0..80),
    ) {
        let plan_asks = plan.limit_policy == LimitPolicy::Ask;
        let mut play = Play::begin(plan);
        let mut open = Open::default();
        open.follow(&play.effects.clone());
        // Whether a limit was exhausted while nothing else was ending the run.
        let mut was_exhausted = false;
        let mut attempts = Totals::default();
        let asks = plan_asks;
        let mut waits = Waits::default();
        waits.check(&play.effects, play.now.at)?;
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
            prop_assert!(!play.machine.is_parked() || !open.has_process, "it waits, and its agent works");
            waits.check(&effects, play.now.at)?;
            for effect in &effects {
                if let Effect::Record(body) = effect
                    && let RunBody::BudgetAwaited(_) = &**body
                {
                    prop_assert!(asks && is_exhausted, "nobody needs to raise anything");
                }
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
                | EndReason::Watchdog
                | EndReason::Limit(
                    LimitKind::Runtime | LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage))
        );
        if play.machine.budget().spent() >= MicroUsd::new(MAX_COST) && waits.raised_cost == 0 {
            prop_assert!(is_budget || is_other_cause, "{:?} although the limit is exhausted", ended.reason);
        }
    }

    #[test]
    fn after_a_stop_of_the_watchdog_the_run_ends_with_what_still_runs(
        plan in plans(),
        happenings in prop::collection::vec(happening(), 0..40),
    ) {
        let mut play = Play::begin(plan);
        let mut open = Open::default();
        open.follow(&play.effects.clone());
        for happening in happenings {
            if let Some(effects) = happening.perform(&mut play, &mut open) {
                open.follow(&effects);
            }
        }
        let effects = play.step(finding(WarningKind::OutOfScope, WatchAction::Stop));
        open.follow(&effects);
        let is_spawned = effects.iter().any(|effect| matches!(effect, Effect::Spawn { .. }));
        prop_assert!(!is_spawned);
        if open.has_process {
            play.ends(report(Outcome::Interrupted));
        } else if open.is_verifying {
            play.verified(false);
        }
        prop_assert!(play.ended().is_some());
    }
}
