//! Ending before it is done.

use std::time::Duration;

use agent_api::{Body, Denial, ItemId, Outcome, TurnFinished};
use ralph_run::control::ControlCommand;
use ralph_run::machine::{DenialPolicy, Effect, Input, LoopPlan, Plan, Signal, StorageStatus, Timer};
use ralph_run::{BudgetLimits, EndReason, LimitKind};

use crate::play::{Play, command, done, looping, report, says, with_max_cost};

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
        (
            Input::Storage(StorageStatus::Lost("x".to_owned())),
            EndReason::StorageFailed,
        ),
        (command(ControlCommand::Stop), EndReason::Stopped),
        (command(ControlCommand::Interrupt), EndReason::Interrupted),
        (Input::Timer(Timer::Runtime), EndReason::Limit(LimitKind::Runtime)),
    ] {
        let mut play = Play::begin(Plan {
            limits: BudgetLimits {
                runtime: Some(Duration::from_secs(60)),
                ..BudgetLimits::default()
            },
            ..Plan::default()
        });
        play.advance(Duration::from_secs(60));
        let effects = play.step(input);
        assert!(effects.contains(&Effect::Interrupt) || effects.contains(&Effect::Stop));
        assert_eq!(play.end(), None, "the process is still there");
        assert!(!play.machine.takes_messages());
        play.ends(report(Outcome::Crashed));
        assert_eq!(play.end(), Some(reason), "and is not tried again");
    }
}

#[test]
fn a_terminal_that_was_closed_is_the_reason_although_a_write_failed_first() {
    let mut play = Play::begin(Plan::default());
    assert!(play.step(Input::OutputClosed).contains(&Effect::Stop));
    assert_eq!(play.step(Input::Signal(Signal::HangUp)), []);
    play.ends(report(Outcome::Crashed));
    assert_eq!(play.end(), Some(EndReason::HungUp));
}

#[test]
fn the_first_reason_counts() {
    let mut play = Play::begin(with_max_cost(5, LoopPlan::default()));
    play.costs(5);
    play.step(Input::Signal(Signal::Terminate));
    play.ends(report(Outcome::Cancelled));
    assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Cost)));
}

#[test]
fn a_run_between_iterations_ends_at_once() {
    let mut play = Play::begin(looping(LoopPlan {
        cooldown: Duration::from_secs(60),
        ..LoopPlan::default()
    }));
    play.ends(says("one"));
    play.step(Input::Signal(Signal::Interrupt));
    assert_eq!(play.end(), Some(EndReason::Interrupted));
}

#[test]
fn a_verify_command_that_runs_is_stopped_first() {
    let mut play = Play::begin(looping(LoopPlan {
        verify: vec!["sleep".to_owned()],
        ..LoopPlan::default()
    }));
    play.ends(done());
    let effects = play.step(Input::Signal(Signal::Terminate));
    assert_eq!(effects.last(), Some(&Effect::StopVerify));
    assert_eq!(
        play.step(Input::Signal(Signal::Interrupt)),
        [Effect::KillVerify],
        "Ctrl-C does not wait for it"
    );
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
    let mut play = Play::begin(looping(LoopPlan {
        denials: DenialPolicy::Continue,
        ..LoopPlan::default()
    }));
    play.event(Body::PermissionDenied(Box::new(denial())));
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn denials_in_the_result_count_too() {
    let mut play = Play::begin(Plan::default());
    play.event(Body::TurnFinished(Box::new({
        let mut turn = TurnFinished::new(1, Outcome::Succeeded);
        turn.denials = vec![denial()];
        turn
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
        command(ControlCommand::Kill),
        Input::AttemptEnded(report(Outcome::Crashed)),
    ] {
        assert_eq!(play.step(input), []);
    }
}

#[test]
fn ctrl_c_after_anything_that_ends_the_run_ends_it_at_once() {
    let mut play = Play::begin(Plan::default());
    play.step(Input::Signal(Signal::Terminate));
    assert_eq!(play.step(Input::Signal(Signal::Interrupt)), [Effect::Kill]);
}

#[test]
fn a_full_disk_is_waited_for_and_given_up_in_the_end() {
    let full = || Input::Storage(StorageStatus::Failing("cannot write to `x`: full".to_owned()));
    let mut play = Play::begin(Plan::default());
    assert_eq!(play.step(Input::Storage(StorageStatus::Writable)), []);
    let effects = play.step(full());
    assert!(matches!(effects.last(), Some(Effect::Arm(Timer::Storage, _))));
    assert_eq!(play.step(full()), [], "one warning is enough");
    let effects = play.step(Input::Storage(StorageStatus::Writable));
    assert_eq!(effects.first(), Some(&Effect::Disarm(Timer::Storage)));
    assert_eq!(play.step(Input::Timer(Timer::Storage)), [], "a late timer");
    play.step(full());
    assert!(play.step(Input::Timer(Timer::Storage)).contains(&Effect::Stop));
    play.ends(report(Outcome::Cancelled));
    assert_eq!(play.end(), Some(EndReason::StorageFailed));
    let message = play.ended().unwrap().message.as_deref();
    assert_eq!(message, Some("cannot write to `x`: full"));
    let again = "the journal can be written again; nothing was lost";
    let retrying = "cannot write to `x`: full; retrying";
    assert_eq!(play.warnings(), [retrying, again, retrying]);
}
