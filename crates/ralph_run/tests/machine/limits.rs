//! Limits that are reached while somebody can raise them.

use std::time::Duration;

use agent_api::{Body, MicroUsd, Outcome, Status, StatusChanged};
use ralph_run::control::{ControlCommand, RefusalCode, SendMode, TopUp};
use ralph_run::machine::{
    AttemptReport, ConversationPlan, Effect, Input, LimitPolicy, LoopPlan, Plan, Signal, Timer, WorkPlan,
};
use ralph_run::{BudgetLimits, EndReason, IterationOutcome, LimitKind, RunBody};

use crate::play::{Play, command, done, report, says, send, usage, with_max_cost, with_max_iterations};

const HOUR: Duration = Duration::from_secs(3600);

fn asking(plan: Plan) -> Plan {
    Plan {
        limit_policy: LimitPolicy::Ask,
        ..plan
    }
}

fn cost(micro_usd: u64) -> ControlCommand {
    ControlCommand::TopUp(TopUp {
        cost: Some(MicroUsd::new(micro_usd)),
        ..TopUp::default()
    })
}

fn iterations(iterations: u32) -> ControlCommand {
    ControlCommand::TopUp(TopUp {
        iterations: Some(iterations),
        ..TopUp::default()
    })
}

impl Play {
    /// The limits that the run has waited for.
    fn awaited(&self) -> Vec<(LimitKind, String)> {
        self.records()
            .filter_map(|body| match body {
                RunBody::BudgetAwaited(awaited) => {
                    Some((*awaited.limit.known().unwrap(), awaited.message.clone()))
                }
                _ => None,
            })
            .collect()
    }

    fn raised(&self) -> Vec<(LimitKind, u64)> {
        self.records()
            .filter_map(|body| match body {
                RunBody::LimitRaised(raised) => Some((*raised.limit.known().unwrap(), raised.to)),
                _ => None,
            })
            .collect()
    }

    fn top_up(&mut self, amounts: ControlCommand) -> Vec<Effect> {
        self.machine.accept(&amounts).unwrap();
        self.step(command(amounts))
    }
}

#[test]
fn a_limit_interrupts_the_turn_and_a_top_up_continues_with_a_new_iteration() {
    let mut play = Play::begin(asking(with_max_cost(1_000_000, LoopPlan::default())));
    assert!(play.costs(1_100_000).contains(&Effect::Interrupt));
    assert_eq!(play.costs(1_200_000), [], "once is enough");
    let effects = play.ends(report(Outcome::Interrupted));
    let until = play.now.at + jiff::SignedDuration::from_mins(15);
    assert!(effects.contains(&Effect::ArmAt(Timer::Raise, until)));
    assert_eq!(
        play.awaited(),
        [(LimitKind::Cost, "cost limit reached: $1.20 of $1.00".to_owned())]
    );
    assert_eq!((play.end(), play.spawned().len()), (None, 1));
    let effects = play.top_up(cost(5_000_000));
    assert!(effects.contains(&Effect::Disarm(Timer::Raise)));
    assert_eq!(play.raised(), [(LimitKind::Cost, 6_000_000)]);
    let (iteration, attempt, failure) = play.spawned()[1].clone();
    assert_eq!((iteration, attempt), (2, 1));
    assert!(
        failure
            .unwrap()
            .contains("interrupted before it was done (cost limit reached)")
    );
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
    assert_eq!(
        play.iterations(),
        [IterationOutcome::Ended, IterationOutcome::Completed]
    );
}

#[test]
fn without_a_top_up_the_run_ends_with_its_limit() {
    let mut play = Play::begin(asking(with_max_cost(5, LoopPlan::default())));
    play.costs(5);
    play.ends(report(Outcome::Interrupted));
    play.step(Input::Timer(Timer::Raise));
    let ended = play.ended().unwrap();
    assert_eq!(ended.reason, EndReason::Limit(LimitKind::Cost));
    assert!(ended.message.as_deref().unwrap().contains("--max-cost"));
    assert_eq!(ended.exit_code, 2);
}

#[test]
fn a_top_up_that_is_too_small_waits_on() {
    let mut play = Play::begin(asking(with_max_cost(5, LoopPlan::default())));
    play.costs(50);
    play.ends(report(Outcome::Interrupted));
    play.top_up(cost(5));
    assert_eq!((play.awaited().len(), play.spawned().len()), (2, 1));
    play.top_up(cost(41));
    assert_eq!(play.spawned().len(), 2);
}

#[test]
fn a_limit_can_be_raised_before_it_is_reached_and_while_the_agent_is_interrupted() {
    let mut play = Play::begin(asking(with_max_cost(5, LoopPlan::default())));
    play.top_up(cost(5));
    assert!(!play.costs(9).contains(&Effect::Interrupt));
    assert!(play.costs(10).contains(&Effect::Interrupt));
    play.top_up(cost(100));
    play.ends(report(Outcome::Interrupted));
    assert_eq!(play.awaited(), []);
    assert_eq!(play.spawned().len(), 2);
    // Without asking, too.
    let mut play = Play::begin(with_max_cost(5, LoopPlan::default()));
    play.top_up(cost(5));
    assert!(!play.costs(9).contains(&Effect::Interrupt));
}

#[test]
fn a_raised_limit_warns_again_at_its_own_80_percent() {
    let mut play = Play::begin(with_max_cost(1_000_000, LoopPlan::default()));
    play.costs(800_000);
    play.top_up(cost(1_000_000));
    play.costs(1_500_000);
    assert_eq!(play.warnings().len(), 1);
    play.costs(1_600_000);
    assert_eq!(
        play.warnings()[1],
        "80% of the cost limit is used: $1.60 of $2.00"
    );
}

#[test]
fn the_iteration_limit_warns_and_can_be_raised() {
    let mut play = Play::begin(asking(with_max_iterations(5, LoopPlan::default())));
    for _ in 0..4 {
        play.ends(says("more"));
    }
    assert_eq!(
        play.warnings(),
        ["80% of the iteration limit is used: 4 of 5 iterations"]
    );
    play.ends(says("more"));
    assert_eq!(
        play.awaited(),
        [(
            LimitKind::Iterations,
            "iteration limit reached: 5 of 5 iterations".to_owned()
        )]
    );
    play.top_up(iterations(1));
    let (number, _, failure) = play.spawned()[5].clone();
    assert_eq!((number, failure), (6, None), "nothing was interrupted");
    play.ends(says("more"));
    play.step(Input::Timer(Timer::Raise));
    let ended = play.ended().unwrap();
    assert_eq!(
        (ended.reason.clone(), ended.iterations),
        (EndReason::Limit(LimitKind::Iterations).into(), 6)
    );
}

#[test]
fn a_failing_check_in_the_last_iteration_can_be_given_another_one() {
    let plan = || {
        asking(with_max_iterations(
            1,
            LoopPlan {
                verify: vec!["check".to_owned()],
                ..LoopPlan::default()
            },
        ))
    };
    let mut play = Play::begin(plan());
    play.ends(done());
    play.verified(false);
    assert_eq!(play.awaited().len(), 1);
    play.step(Input::Timer(Timer::Raise));
    assert_eq!(play.end(), Some(EndReason::VerifyFailed));
    let mut play = Play::begin(plan());
    play.ends(done());
    play.verified(false);
    play.top_up(iterations(3));
    assert_eq!(play.spawned()[1].2.as_deref(), Some("check: 1 test failed"));
}

#[test]
fn the_time_limit_warns_interrupts_and_can_be_raised() {
    let mut play = Play::begin(asking(Plan {
        limits: BudgetLimits {
            runtime: Some(HOUR),
            ..BudgetLimits::default()
        },
        ..Plan::default()
    }));
    let armed = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::Arm(Timer::Runtime, after) => Some(after.as_secs()),
            _ => None,
        })
    };
    assert_eq!(armed(&play.effects), Some(48 * 60));
    play.advance(Duration::from_secs(48 * 60));
    let effects = play.step(Input::Timer(Timer::Runtime));
    assert_eq!(armed(&effects), Some(12 * 60));
    assert_eq!(play.warnings(), ["80% of the time limit is used: 48m of 1h"]);
    play.advance(Duration::from_secs(12 * 60));
    assert!(
        play.step(Input::Timer(Timer::Runtime))
            .contains(&Effect::Interrupt)
    );
    play.ends(report(Outcome::Interrupted));
    assert_eq!(play.awaited()[0].1, "time limit reached: 1h of 1h");
    // Waiting does not use up what is added.
    play.advance(HOUR);
    let effects = play.top_up(ControlCommand::TopUp(TopUp {
        seconds: Some(3600),
        ..TopUp::default()
    }));
    assert_eq!(play.raised(), [(LimitKind::Runtime, 7200)]);
    assert_eq!(armed(&effects), Some(36 * 60), "80% of two hours");
    assert_eq!(play.spawned().len(), 2);
}

#[test]
fn a_run_that_waits_for_a_higher_limit_can_be_ended_at_once() {
    for (input, reason) in [
        (Input::Signal(Signal::Interrupt), EndReason::Interrupted),
        (Input::Signal(Signal::HangUp), EndReason::HungUp),
        (command(ControlCommand::Stop), EndReason::Stopped),
        (command(ControlCommand::Interrupt), EndReason::Interrupted),
    ] {
        for plan in [
            with_max_cost(5, LoopPlan::default()),
            conversation(with_max_cost(5, LoopPlan::default())),
        ] {
            let mut play = Play::begin(asking(plan));
            play.costs(5);
            play.ends(report(Outcome::Interrupted));
            assert_eq!(play.awaited().len(), 1);
            play.step(match &input {
                Input::Signal(signal) => Input::Signal(*signal),
                Input::Command(input) => command(input.command.clone()),
                _ => unreachable!(),
            });
            assert_eq!(play.end(), Some(reason));
        }
    }
}

fn conversation(plan: Plan) -> Plan {
    Plan {
        work: WorkPlan::Conversation(ConversationPlan {
            has_prompt: true,
            idle_timeout: None,
            can_resume: true,
        }),
        ..plan
    }
}

#[test]
fn a_conversation_waits_for_a_message_again_after_a_top_up() {
    let mut play = Play::begin(asking(conversation(with_max_cost(5, LoopPlan::default()))));
    assert!(play.costs(6).contains(&Effect::Interrupt));
    let effects = play.event(Body::StatusChanged(StatusChanged { status: Status::Idle }));
    assert!(effects.contains(&Effect::CloseInput));
    play.ends(report(Outcome::Interrupted));
    assert_eq!(play.awaited().len(), 1);
    assert_eq!(play.step(send("later", SendMode::Steer)), [], "it is queued");
    play.top_up(cost(10));
    assert_eq!(play.spawned().len(), 2, "the queued message starts the agent");
    play.ends(report(Outcome::Succeeded));
    assert!(matches!(play.records().last(), Some(RunBody::MessageAwaited(_))));
    assert!(play.machine.is_idle());
}

#[test]
fn work_that_is_done_counts_although_it_crossed_the_limit() {
    let mut play = Play::begin(asking(with_max_cost(5, LoopPlan::default())));
    play.costs(10);
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
    let mut play = Play::begin(asking(with_max_cost(5, LoopPlan::default())));
    play.ends(AttemptReport {
        usage: Some(usage(10)),
        ..says("more")
    });
    assert_eq!(play.awaited().len(), 1);
    assert_eq!(play.iterations(), [IterationOutcome::Continues]);
    play.top_up(cost(10));
    assert_eq!(play.spawned()[1], (2, 1, None));
}

#[test]
fn a_top_up_that_makes_no_sense_is_refused() {
    let code = |play: &Play, amounts: TopUp| {
        let refused = play.machine.accept(&ControlCommand::TopUp(amounts));
        refused
            .map_err(|refusal| (refusal.code, refusal.message))
            .unwrap_err()
    };
    let mut play = Play::begin(with_max_cost(5, LoopPlan::default()));
    let zero = TopUp {
        cost: Some(MicroUsd::ZERO),
        ..TopUp::default()
    };
    assert_eq!(code(&play, zero).0, RefusalCode::Invalid);
    assert_eq!(code(&play, TopUp::default()).0, RefusalCode::Invalid);
    let tokens = TopUp {
        tokens: Some(5),
        ..TopUp::default()
    };
    let (refusal, message) = code(&play, tokens);
    assert_eq!(refusal, RefusalCode::Unsupported);
    assert!(message.contains("no token limit"), "{message}");
    let once = Play::begin(with_max_iterations(
        5,
        LoopPlan {
            is_once: true,
            ..LoopPlan::default()
        },
    ));
    let more = TopUp {
        iterations: Some(5),
        ..TopUp::default()
    };
    assert_eq!(code(&once, more).0, RefusalCode::Unsupported);
    play.ends(done());
    let five = TopUp {
        cost: Some(MicroUsd::new(5)),
        ..TopUp::default()
    };
    assert_eq!(code(&play, five).0, RefusalCode::RunEnded);
}

#[test]
fn a_conversation_gets_its_prompt_after_a_limit_that_was_used_up_before() {
    let mut play = Play::begin(asking(Plan {
        work: WorkPlan::Conversation(ConversationPlan {
            has_prompt: true,
            idle_timeout: None,
            can_resume: true,
        }),
        limits: BudgetLimits {
            cost: Some(MicroUsd::new(100)),
            ..BudgetLimits::default()
        },
        spent_before: MicroUsd::new(100),
        ..Plan::default()
    }));
    assert_eq!(play.awaited().len(), 1);
    let effects = play.top_up(cost(500));
    let is_task = |effect: &Effect| {
        matches!(
            effect,
            Effect::Spawn {
                prompt: ralph_run::machine::SpawnPrompt::Task,
                ..
            }
        )
    };
    assert!(effects.iter().any(is_task), "{effects:?}");
}

#[test]
fn what_an_iteration_that_reached_a_limit_said_about_itself_is_not_lost() {
    let plan = || asking(with_max_cost(100, LoopPlan::default()));
    // A login that is missing cannot be fixed by a higher limit.
    let mut play = Play::begin(plan());
    play.costs(200);
    play.ends(crate::play::fails(agent_api::ErrorClass::Auth));
    assert_eq!(play.end(), Some(EndReason::NotLoggedIn));
    let mut play = Play::begin(plan());
    play.costs(200);
    play.ends(says("half of it"));
    assert_eq!(play.iterations(), [IterationOutcome::Continues]);
}
