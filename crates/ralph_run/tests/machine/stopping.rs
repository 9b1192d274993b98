//! Ending before it is done.

use std::time::Duration;

use agent_api::{Body, Denial, ItemId, Outcome, TurnFinished};
use ralph_run::machine::{DenialPolicy, Effect, Input, Plan, RunCommand, Signal, Timer};
use ralph_run::{EndReason, LimitKind};

use crate::play::{Play, done, report, says};

fn denial() -> Denial {
    Denial {
        item: Some(ItemId::new("toolu_1")),
        tool: "Bash".to_owned(),
        reason: None,
    }
}

#[test]
fn one_ctrl_c_is_graceful_and_the_second_kills() {
    let mut play = Play::begin(Plan::default());
    let effects = play.step(Input::Signal(Signal::Interrupt));
    assert!(effects.contains(&Effect::Interrupt));
    assert!(!effects.contains(&Effect::Stop));
    assert_eq!(play.step(Input::Signal(Signal::Interrupt)), [Effect::Kill]);
    play.ends(report(Outcome::Interrupted));
    assert_eq!(play.end(), Some(EndReason::Interrupted));
}

#[test]
fn an_agent_that_ignores_an_interrupt_is_stopped() {
    let mut play = Play::begin(Plan::default());
    play.step(Input::Signal(Signal::Interrupt));
    assert_eq!(play.step(Input::Timer(Timer::Grace)), [Effect::Stop]);
}

#[test]
fn our_reason_counts_whatever_the_agent_says_at_its_end() {
    for (input, reason) in [
        (Input::Signal(Signal::Terminate), EndReason::Terminated),
        (Input::Signal(Signal::HangUp), EndReason::HungUp),
        (Input::OutputClosed, EndReason::OutputClosed),
        (Input::StorageFailed, EndReason::StorageFailed),
        (Input::Command(RunCommand::Stop), EndReason::Stopped),
        (Input::Command(RunCommand::Interrupt), EndReason::Interrupted),
        (Input::Limit(LimitKind::Cost), EndReason::Limit(LimitKind::Cost)),
        (Input::Timer(Timer::Runtime), EndReason::Limit(LimitKind::Runtime)),
        (
            Input::Timer(Timer::Iteration),
            EndReason::Limit(LimitKind::IterationTimeout),
        ),
    ] {
        let mut play = Play::begin(Plan::default());
        let effects = play.step(input);
        assert!(effects.contains(&Effect::Interrupt) || effects.contains(&Effect::Stop));
        assert_eq!(play.end(), None, "the process is still there");
        assert!(!play.machine.takes_messages());
        play.ends(report(Outcome::Crashed));
        assert_eq!(play.end(), Some(reason), "and is not tried again");
    }
}

#[test]
fn the_first_reason_counts() {
    let mut play = Play::begin(Plan::default());
    play.step(Input::Limit(LimitKind::Cost));
    play.step(Input::Signal(Signal::Terminate));
    play.ends(report(Outcome::Cancelled));
    assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Cost)));
}

#[test]
fn a_run_between_iterations_ends_at_once() {
    let mut play = Play::begin(Plan {
        cooldown: Duration::from_secs(60),
        ..Plan::default()
    });
    play.ends(says("one"));
    play.step(Input::Signal(Signal::Interrupt));
    assert_eq!(play.end(), Some(EndReason::Interrupted));
}

#[test]
fn a_verify_command_that_runs_is_stopped_first() {
    let mut play = Play::begin(Plan {
        verify: vec!["sleep".to_owned()],
        ..Plan::default()
    });
    play.ends(done());
    let effects = play.step(Input::Signal(Signal::Terminate));
    assert_eq!(effects, [Effect::StopVerify]);
    assert_eq!(play.end(), None);
    play.verified(true);
    assert_eq!(
        play.end(),
        Some(EndReason::Terminated),
        "a stopped check proves nothing"
    );
}

#[test]
fn what_is_not_allowed_fails_fast_unless_told_otherwise() {
    let mut play = Play::begin(Plan::default());
    assert!(
        play.event(Body::PermissionDenied(Box::new(denial())))
            .contains(&Effect::Interrupt)
    );
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Denied));
    let mut play = Play::begin(Plan {
        denials: DenialPolicy::Continue,
        ..Plan::default()
    });
    play.event(Body::PermissionDenied(Box::new(denial())));
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn denials_in_the_result_count_too() {
    let mut play = Play::begin(Plan::default());
    play.event(Body::TurnFinished(Box::new(TurnFinished {
        number: 1,
        outcome: Outcome::Succeeded,
        text: None,
        error: None,
        stop_reason: None,
        duration_ms: None,
        api_duration_ms: None,
        steps: None,
        denials: vec![denial()],
        structured_output: None,
    })));
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Denied));
}

#[test]
fn nothing_happens_after_the_end() {
    let mut play = Play::begin(Plan::default());
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
    for input in [
        Input::Begin,
        Input::Signal(Signal::Interrupt),
        Input::Timer(Timer::Runtime),
        Input::Command(RunCommand::Kill),
        Input::AttemptEnded(report(Outcome::Crashed)),
    ] {
        assert_eq!(play.machine.step(input), []);
    }
}

#[test]
fn ctrl_c_after_anything_that_ends_the_run_ends_it_at_once() {
    let mut play = Play::begin(Plan::default());
    play.step(Input::Signal(Signal::Terminate));
    assert_eq!(play.step(Input::Signal(Signal::Interrupt)), [Effect::Kill]);
}
