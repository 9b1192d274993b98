//! What follows from a finding of the watchdog.

use agent_api::{Body, Outcome, Status, StatusChanged, TurnFinished};
use ralph_run::control::ControlCommand;
use ralph_run::machine::{ConversationPlan, Effect, Input, LoopPlan, Plan, Timer, WorkPlan};
use ralph_run::watchdog::{Finding, WatchAction};
use ralph_run::{EndReason, IterationOutcome, RunBody, WarningKind};

use crate::play::{Play, command, done, fails, looping, report, says};

pub(crate) fn finding(kind: WarningKind, action: WatchAction) -> Input<'static> {
    Input::Finding {
        finding: Finding {
            kind,
            message: "`make` failed 3 times".to_owned(),
            evidence: Vec::new(),
            action,
        },
        message_id: "advice".to_owned(),
    }
}

fn turn_ends(play: &mut Play, outcome: Outcome) -> Vec<Effect> {
    play.event(Body::TurnFinished(Box::new(TurnFinished::new(1, outcome))));
    play.event(Body::StatusChanged(StatusChanged { status: Status::Idle }))
}

/// What the agent was told.
fn told(effects: &[Effect]) -> Vec<&str> {
    let told = effects.iter().filter_map(|effect| match effect {
        Effect::Say { text, .. } => Some(text.as_str()),
        _ => None,
    });
    told.collect()
}

fn loop_plan() -> Plan {
    looping(LoopPlan::default())
}

#[test]
fn a_finding_is_recorded_and_by_default_nothing_else_happens() {
    let mut play = Play::begin(loop_plan());
    let effects = play.step(finding(WarningKind::RepeatedFailure, WatchAction::Notify));
    assert!(
        matches!(&effects[..], [Effect::Record(_), Effect::SaveSoon]),
        "{effects:?}"
    );
    assert_eq!(play.warnings(), ["`make` failed 3 times"]);
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn stop_ends_the_run_with_the_finding_as_its_message() {
    let mut play = Play::begin(loop_plan());
    let effects = play.step(finding(WarningKind::OutOfScope, WatchAction::Stop));
    assert!(effects.contains(&Effect::Interrupt), "{effects:?}");
    turn_ends(&mut play, Outcome::Interrupted);
    play.ends(report(Outcome::Interrupted));
    let ended = play.ended().unwrap();
    assert_eq!(ended.reason, EndReason::Watchdog);
    assert_eq!(ended.message.as_deref(), Some("`make` failed 3 times"));
    assert_eq!(ended.exit_code, 1);
}

#[test]
fn stop_ends_a_run_that_verifies_or_pauses() {
    let mut play = Play::begin(looping(LoopPlan {
        verify: vec!["check".to_owned()],
        ..LoopPlan::default()
    }));
    play.ends(done());
    let effects = play.step(finding(WarningKind::BurnRate, WatchAction::Stop));
    assert!(effects.contains(&Effect::StopVerify), "{effects:?}");
    play.verified(true);
    assert_eq!(play.end(), Some(EndReason::Watchdog));
    let mut play = Play::begin(looping(LoopPlan {
        cooldown: std::time::Duration::from_secs(5),
        ..LoopPlan::default()
    }));
    play.ends(says("More to do."));
    play.step(finding(WarningKind::RepeatedAnswer, WatchAction::Stop));
    assert_eq!(play.end(), Some(EndReason::Watchdog));
}

#[test]
fn interrupt_ends_the_turn_and_tells_the_agent_in_the_same_iteration() {
    let mut play = Play::begin(loop_plan());
    let effects = play.step(finding(WarningKind::RepeatedFailure, WatchAction::Interrupt));
    assert!(effects.contains(&Effect::Interrupt), "{effects:?}");
    assert_eq!(told(&effects), [""; 0]);
    let effects = turn_ends(&mut play, Outcome::Interrupted);
    let [text] = told(&effects)[..] else {
        panic!("{effects:?}")
    };
    assert!(
        text.contains("`make` failed 3 times. Do not repeat it."),
        "{text}"
    );
    // The journal has it as a message.
    let is_message = |effect: &Effect| match effect {
        Effect::Record(body) => match &**body {
            RunBody::CommandReceived(received) => received.by.as_deref() == Some("watchdog"),
            _ => false,
        },
        _ => false,
    };
    assert!(effects.iter().any(is_message), "{effects:?}");
    // It is over when the agent is done, and the grace period has no effect any more.
    assert_eq!(turn_ends(&mut play, Outcome::Succeeded), [Effect::CloseInput]);
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
    assert_eq!(play.spawned().len(), 1);
}

#[test]
fn an_agent_that_does_not_stop_is_stopped_and_the_next_iteration_is_told() {
    let mut play = Play::begin(loop_plan());
    play.step(finding(WarningKind::Silence, WatchAction::Interrupt));
    assert_eq!(play.step(Input::Timer(Timer::Grace)), [Effect::Stop]);
    play.ends(report(Outcome::Cancelled));
    assert_eq!(play.iterations(), [IterationOutcome::Failed]);
    let spawned = play.spawned();
    assert_eq!(spawned.len(), 2);
    assert!(spawned[1].2.as_ref().unwrap().contains("`make` failed 3 times"));
}

#[test]
fn an_agent_without_messages_is_interrupted_and_the_next_iteration_is_told() {
    let plan = Plan {
        takes_messages: false,
        ..loop_plan()
    };
    let mut play = Play::begin(plan);
    play.step(finding(WarningKind::RepeatedCall, WatchAction::Interrupt));
    assert_eq!(told(&turn_ends(&mut play, Outcome::Interrupted)), [""; 0]);
    play.ends(report(Outcome::Crashed));
    // Not a crash that is tried again.
    assert_eq!(play.iterations(), [IterationOutcome::Failed]);
    assert!(play.spawned()[1].2.is_some());
    play.ends(says("Another way."));
    assert!(play.spawned()[2].2.is_none(), "told once");
}

#[test]
fn a_repeated_answer_is_told_to_the_next_iteration_without_an_interrupt() {
    let mut play = Play::begin(loop_plan());
    play.ends(says("Done?"));
    let effects = play.step(finding(WarningKind::RepeatedAnswer, WatchAction::Interrupt));
    assert!(!effects.contains(&Effect::Interrupt), "{effects:?}");
    assert_eq!(told(&effects).len(), 1);
    assert_eq!(play.spawned().len(), 2);
    let mut play = Play::begin(looping(LoopPlan {
        cooldown: std::time::Duration::from_secs(5),
        ..LoopPlan::default()
    }));
    play.ends(says("Done?"));
    play.step(finding(WarningKind::RepeatedAnswer, WatchAction::Interrupt));
    play.step(Input::Timer(Timer::Cooldown));
    assert!(
        play.spawned()[1]
            .2
            .as_ref()
            .unwrap()
            .contains("`make` failed 3 times")
    );
}

#[test]
fn failed_iterations_are_limited_whoever_ended_them() {
    let mut play = Play::begin(loop_plan());
    for _ in 0..3 {
        play.step(finding(WarningKind::Silence, WatchAction::Interrupt));
        play.ends(report(Outcome::Cancelled));
    }
    assert_eq!(play.end(), Some(EndReason::Watchdog));
}

#[test]
fn ctrl_c_ends_a_run_whose_turn_the_watchdog_has_interrupted() {
    let mut play = Play::begin(loop_plan());
    play.step(finding(WarningKind::RepeatedCall, WatchAction::Interrupt));
    play.step(command(ControlCommand::Interrupt));
    assert_eq!(told(&turn_ends(&mut play, Outcome::Interrupted)), [""; 0]);
    play.ends(report(Outcome::Interrupted));
    assert_eq!(play.end(), Some(EndReason::Interrupted));
}

#[test]
fn a_conversation_is_told_after_its_turn() {
    let plan = Plan {
        work: WorkPlan::Conversation(ConversationPlan {
            has_prompt: true,
            idle_timeout: None,
            can_resume: true,
        }),
        ..Plan::default()
    };
    let mut play = Play::begin(plan);
    let effects = play.step(finding(WarningKind::RepeatedCall, WatchAction::Interrupt));
    assert!(effects.contains(&Effect::Interrupt), "{effects:?}");
    assert_eq!(told(&turn_ends(&mut play, Outcome::Interrupted)).len(), 1);
    // Idle: nothing can be interrupted, and nothing is sent.
    turn_ends(&mut play, Outcome::Succeeded);
    let effects = play.step(finding(WarningKind::Silence, WatchAction::Interrupt));
    assert!(
        matches!(&effects[..], [Effect::Record(_), Effect::SaveSoon]),
        "{effects:?}"
    );
    play.step(finding(WarningKind::OutOfScope, WatchAction::Stop));
    play.ends(report(Outcome::Succeeded));
    assert_eq!(play.end(), Some(EndReason::Watchdog));
}

#[test]
fn a_stop_keeps_its_grace_period_although_the_watchdogs_turn_has_ended() {
    let mut play = Play::begin(loop_plan());
    play.step(finding(WarningKind::RepeatedCall, WatchAction::Interrupt));
    play.step(command(ControlCommand::Interrupt));
    let effects = play.event(Body::TurnFinished(Box::new(TurnFinished::new(
        1,
        Outcome::Interrupted,
    ))));
    assert!(!effects.contains(&Effect::Disarm(Timer::Grace)), "{effects:?}");
    let effects = play.step(Input::Timer(Timer::Grace));
    assert!(effects.contains(&Effect::Stop), "{effects:?}");
}

#[test]
fn advice_that_comes_too_late_is_for_the_next_iteration() {
    // The answer that is repeated is over, and the agent takes no messages.
    let mut play = Play::begin(Plan {
        takes_messages: false,
        ..loop_plan()
    });
    play.ends(says("Nothing to do."));
    play.step(finding(WarningKind::RepeatedAnswer, WatchAction::Interrupt));
    assert_eq!(play.spawned().len(), 2);
    play.ends(says("Nothing to do."));
    let told = play.spawned()[2].2.clone().unwrap();
    assert!(told.contains("`make` failed 3 times"), "{told}");
    // A turn that succeeds although it was interrupted is not a failure.
    let mut play = Play::begin(Plan {
        takes_messages: false,
        ..loop_plan()
    });
    play.step(finding(WarningKind::RepeatedCall, WatchAction::Interrupt));
    play.ends(says("Found it."));
    assert_eq!(play.iterations(), [IterationOutcome::Continues]);
    assert!(play.spawned()[1].2.clone().unwrap().contains("`make` failed"));
}

#[test]
fn every_attempt_of_the_next_iteration_gets_the_advice() {
    let plan = looping(LoopPlan {
        cooldown: std::time::Duration::from_secs(5),
        ..LoopPlan::default()
    });
    let mut play = Play::begin(plan);
    play.ends(says("Done?"));
    play.step(finding(WarningKind::RepeatedAnswer, WatchAction::Interrupt));
    play.step(Input::Timer(Timer::Cooldown));
    play.ends(report(Outcome::Crashed));
    play.ends(fails(agent_api::ErrorClass::RateLimit));
    play.step(Input::Timer(Timer::Cooldown));
    let spawned = play.spawned();
    assert_eq!(spawned.len(), 4);
    for (_, attempt, told) in &spawned[1..] {
        let told = told.as_deref().unwrap_or_default();
        assert!(
            told.contains("`make` failed 3 times"),
            "attempt {attempt}: {told}"
        );
    }
    play.ends(says("Another way."));
    play.step(Input::Timer(Timer::Cooldown));
    assert!(play.spawned()[4].2.is_none(), "told once");
}

#[test]
fn advice_about_a_turn_that_has_ended_or_is_being_interrupted_is_not_lost() {
    // The agent exits.
    let mut play = Play::begin(loop_plan());
    turn_ends(&mut play, Outcome::Succeeded);
    play.step(finding(WarningKind::RepeatedCall, WatchAction::Interrupt));
    play.ends(says("More to do."));
    assert!(play.spawned()[1].2.clone().unwrap().contains("`make` failed"));
    // A second finding in the same turn.
    let mut play = Play::begin(loop_plan());
    play.step(finding(WarningKind::RepeatedCall, WatchAction::Interrupt));
    let Input::Finding {
        mut finding,
        message_id,
    } = finding(WarningKind::FlippedFile, WatchAction::Interrupt)
    else {
        unreachable!()
    };
    finding.message = "`a.rs` was changed back and forth".to_owned();
    play.step(Input::Finding { finding, message_id });
    let effects = turn_ends(&mut play, Outcome::Interrupted);
    let [text] = told(&effects)[..] else {
        panic!("{effects:?}")
    };
    assert!(
        text.contains("`make` failed") && text.contains("back and forth"),
        "{text}"
    );
}

#[test]
fn a_usage_limit_during_an_interrupt_of_the_watchdog_is_waited_for() {
    let mut play = Play::begin(loop_plan());
    play.step(finding(WarningKind::RepeatedCall, WatchAction::Interrupt));
    play.ends(crate::play::fails(agent_api::ErrorClass::RateLimit));
    assert_eq!(play.iterations(), []);
    assert_eq!(play.end(), None);
}
