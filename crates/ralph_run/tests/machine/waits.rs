//! Waiting for a usage limit and backing off, instead of failing.

use std::time::Duration;

use agent_api::{Body, ErrorClass, ErrorInfo, Limit, Outcome, RateLimit, RateLimitStatus, SessionChoice};
use jiff::{SignedDuration, Timestamp};
use ralph_run::control::ControlCommand;
use ralph_run::machine::{AttemptReport, Effect, Input, LoopPlan, Plan, Signal, Timer};
use ralph_run::{BudgetLimits, CooldownCause, EndReason, IterationOutcome, LimitKind, RunBody};

use crate::play::{Play, command, done, fails, looping, report, says, start};

const HOUR: Duration = Duration::from_secs(3600);

fn in_hours(hours: i64) -> Timestamp {
    start().at + SignedDuration::from_hours(hours)
}

fn rejected(resets_at: Option<Timestamp>) -> Body {
    let mut limit = RateLimit::new(RateLimitStatus::Rejected);
    limit.resets_at = resets_at.map(|at| u64::try_from(at.as_second()).unwrap());
    Body::RateLimit(Box::new(limit))
}

fn retryable(class: ErrorClass) -> AttemptReport {
    let mut error = ErrorInfo::new(class, "code", "it broke");
    error.is_retryable = true;
    AttemptReport {
        error: Some(error),
        ..report(Outcome::Failed)
    }
}

impl Play {
    /// The waits that were begun: why and until when.
    fn waits(&self) -> Vec<(CooldownCause, Timestamp)> {
        self.records()
            .filter_map(|body| match body {
                RunBody::CooldownStarted(cooldown) => Some((cooldown.cause, cooldown.until)),
                _ => None,
            })
            .collect()
    }

    /// The wait is over.
    fn wake(&mut self) -> Vec<Effect> {
        let (_, until) = *self.waits().last().unwrap();
        let left = Duration::try_from(until.duration_since(self.now.at)).unwrap_or_default();
        self.advance(left);
        self.step(Input::Timer(Timer::Cooldown))
    }

    fn last_wait(&self) -> Duration {
        let (_, until) = *self.waits().last().unwrap();
        Duration::try_from(until.duration_since(self.now.at)).unwrap()
    }
}

#[test]
fn a_usage_limit_is_waited_for_and_the_iteration_repeated() {
    let mut play = Play::begin(Plan {
        first_session: SessionChoice::Resume("kept".to_owned()),
        ..Plan::default()
    });
    for _ in 0..5 {
        play.event(rejected(Some(play.now.at + SignedDuration::from_hours(1))));
        let effects = play.ends(fails(ErrorClass::Quota));
        let until = play.now.at + SignedDuration::from_hours(1);
        assert!(
            effects.contains(&Effect::ArmAt(Timer::Cooldown, until)),
            "{effects:?}"
        );
        assert!(play.machine.is_parked());
        assert_eq!(play.end(), None, "five failures would have ended it");
        play.wake();
        assert!(!play.machine.is_parked());
    }
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
    assert_eq!(play.ended().unwrap().iterations, 1);
    assert_eq!(play.iterations(), [IterationOutcome::Completed]);
    let attempts: Vec<u32> = play.spawned().iter().map(|(_, attempt, _)| *attempt).collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5, 6]);
    assert_eq!(play.sessions()[5], SessionChoice::Resume("kept".to_owned()));
}

#[test]
fn the_reset_comes_from_the_error_too() {
    let after = |report: AttemptReport| {
        let mut play = Play::begin(Plan::default());
        play.ends(report);
        play.waits()
    };
    let mut told = retryable(ErrorClass::RateLimit);
    told.error.as_mut().unwrap().retry_after_seconds = Some(7200);
    assert_eq!(after(told), [(CooldownCause::UsageLimit, in_hours(2))]);
    let mut told = fails(ErrorClass::Quota);
    told.error.as_mut().unwrap().resets_at = Some(u64::try_from(in_hours(3).as_second()).unwrap());
    assert_eq!(after(told), [(CooldownCause::UsageLimit, in_hours(3))]);
}

#[test]
fn another_end_after_a_rejected_request_is_not_a_usage_limit() {
    let mut play = Play::begin(Plan::default());
    play.event(rejected(Some(in_hours(1))));
    play.ends(report(Outcome::LimitReached(Limit::Turns)));
    assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Turns)));
    let mut play = Play::begin(Plan::default());
    play.event(rejected(Some(in_hours(1))));
    play.event(Body::RateLimit(Box::new(RateLimit::new(
        RateLimitStatus::Allowed,
    ))));
    play.ends(fails(ErrorClass::Vendor));
    assert_eq!(play.waits(), []);
}

#[test]
fn a_limit_that_resets_too_late_ends_the_run_and_names_the_setting() {
    for (hours, max_wait, is_too_late) in [
        (6, Some(6 * HOUR), false),
        (7, Some(6 * HOUR), true),
        (24 * 365, Some(6 * HOUR), true),
        (24 * 365, None, false),
    ] {
        let mut play = Play::begin(Plan {
            max_wait,
            ..Plan::default()
        });
        play.event(rejected(Some(in_hours(hours))));
        play.ends(fails(ErrorClass::RateLimit));
        let usage = EndReason::Limit(LimitKind::Usage);
        assert_eq!(play.end(), is_too_late.then_some(usage), "{hours}");
        if hours == 7 {
            let message = play.ended().unwrap().message.clone().unwrap();
            assert!(message.contains("2026-11-16 05:00 UTC"), "{message}");
            assert!(message.contains("`max_wait` (6h)"), "{message}");
            assert_eq!(usage.exit_code(), 2);
        }
    }
}

#[test]
fn without_a_usable_reset_the_waits_grow_up_to_15_minutes_and_are_bounded_in_total() {
    for reset in [
        None,
        Some(start().at - SignedDuration::from_hours(1)),
        Some(Timestamp::MIN),
    ] {
        let mut play = Play::begin(Plan::default());
        let mut waited = Vec::new();
        while play.end().is_none() {
            if let Some(reset) = reset.filter(|reset| reset.as_second() > 0) {
                play.event(rejected(Some(reset)));
            }
            play.ends(retryable(ErrorClass::Overloaded));
            if play.end().is_none() {
                waited.push(play.last_wait().as_secs());
                play.wake();
            }
        }
        assert_eq!(waited[..6], [30, 60, 120, 240, 480, 900], "{reset:?}");
        assert!(waited.iter().all(|wait| *wait <= 900));
        assert_eq!(waited.iter().sum::<u64>(), 6 * 3600);
        assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Usage)));
        assert!(
            play.ended()
                .unwrap()
                .message
                .clone()
                .unwrap()
                .contains("`max_wait` (6h)")
        );
    }
}

#[test]
fn a_success_makes_the_next_wait_short_again() {
    let mut play = Play::begin(Plan::default());
    for _ in 0..4 {
        play.ends(retryable(ErrorClass::RateLimit));
        play.wake();
    }
    play.ends(says("better"));
    play.ends(retryable(ErrorClass::RateLimit));
    assert_eq!(play.last_wait().as_secs(), 30);
    assert_eq!(play.spawned().last().unwrap().0, 2);
}

#[test]
fn a_wait_can_be_ended_at_once() {
    for (input, reason) in [
        (Input::Signal(Signal::Interrupt), EndReason::Interrupted),
        (Input::Signal(Signal::Terminate), EndReason::Terminated),
        (command(ControlCommand::Stop), EndReason::Stopped),
        (command(ControlCommand::Interrupt), EndReason::Interrupted),
        (command(ControlCommand::Kill), EndReason::Stopped),
    ] {
        let mut play = Play::begin(Plan::default());
        play.ends(retryable(ErrorClass::RateLimit));
        play.step(input);
        assert_eq!(play.end(), Some(reason));
        assert_eq!(play.iterations(), [IterationOutcome::Ended]);
    }
}

#[test]
fn the_time_limit_stands_still_during_a_wait() {
    let mut play = Play::begin(Plan {
        limits: BudgetLimits {
            runtime: Some(HOUR),
            ..BudgetLimits::default()
        },
        ..Plan::default()
    });
    play.advance(HOUR / 2);
    play.event(rejected(Some(in_hours(5))));
    let effects = play.ends(fails(ErrorClass::RateLimit));
    assert!(effects.contains(&Effect::Disarm(Timer::Runtime)));
    let effects = play.wake();
    let left_to_warning = Duration::from_secs(18 * 60);
    assert!(
        effects.contains(&Effect::Arm(Timer::Runtime, left_to_warning)),
        "{effects:?}"
    );
    assert_eq!(play.spawned().len(), 2);
    play.advance(HOUR / 2);
    play.step(Input::Timer(Timer::Runtime));
    play.ends(report(Outcome::Interrupted));
    assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Runtime)));
}

#[test]
fn failures_that_may_pass_back_off_and_others_do_not() {
    let mut play = Play::begin(looping(LoopPlan {
        max_consecutive_failures: 0,
        ..LoopPlan::default()
    }));
    for seconds in [5, 30, 120, 120] {
        play.ends(retryable(ErrorClass::Network));
        let (cause, _) = *play.waits().last().unwrap();
        assert_eq!(
            (cause, play.last_wait().as_secs()),
            (CooldownCause::Backoff, seconds)
        );
        assert!(!play.machine.is_parked(), "a backoff is part of the run's time");
        play.wake();
    }
    play.ends(says("better"));
    play.ends(retryable(ErrorClass::Vendor));
    assert_eq!(play.last_wait().as_secs(), 5);
    play.wake();
    let waits = play.waits().len();
    play.ends(fails(ErrorClass::Vendor));
    play.ends(fails(ErrorClass::Tool));
    assert_eq!(play.waits().len(), waits);
}

#[test]
fn a_backoff_counts_as_a_failure_and_ends_the_run_like_others() {
    let mut play = Play::begin(Plan::default());
    for _ in 0..2 {
        play.ends(retryable(ErrorClass::Network));
        play.wake();
    }
    play.ends(retryable(ErrorClass::Network));
    assert_eq!(play.end(), Some(EndReason::AgentError));
}

#[test]
fn retries_of_several_runs_are_spread() {
    let wait = |random: u8| {
        let mut play = Play::begin(Plan::default());
        play.now.random = random;
        play.ends(retryable(ErrorClass::Network));
        play.last_wait()
    };
    assert_eq!(
        (wait(0), wait(128)),
        (Duration::from_secs(4), Duration::from_secs(5))
    );
    assert!(wait(200) < wait(255) && wait(255) < Duration::from_secs(6));
}

#[test]
fn a_prompt_that_is_too_long_has_one_ending_however_it_is_reported() {
    let reported = |outcome| AttemptReport {
        outcome,
        ..fails(ErrorClass::ContextWindow)
    };
    for outcome in [Outcome::Failed, Outcome::LimitReached(Limit::Tokens)] {
        let mut play = Play::begin(Plan::default());
        play.ends(reported(outcome));
        assert_eq!(play.end(), Some(EndReason::PromptTooLong));
        assert_eq!(play.ended().unwrap().message.as_deref(), Some("it broke"));
        // A context that the agent's work has filled is not the prompt's fault.
        let mut play = Play::begin(Plan::default());
        let tool =
            agent_api::ToolStarted::new(agent_api::ItemId::new("1"), "Bash", agent_api::ToolKind::Execute);
        play.event(Body::ToolStarted(Box::new(tool)));
        play.ends(reported(outcome));
        assert_eq!(play.end(), None);
        assert_eq!(play.spawned().len(), 2);
    }
    assert_eq!(EndReason::PromptTooLong.exit_code(), 1);
}

#[test]
fn an_iteration_that_takes_too_long_is_interrupted_and_the_next_one_told() {
    let mut play = Play::begin(looping(LoopPlan {
        iteration_timeout: Some(HOUR),
        ..LoopPlan::default()
    }));
    let effects = play.step(Input::Timer(Timer::Iteration));
    assert!(effects.contains(&Effect::Interrupt));
    assert!(!play.machine.takes_messages());
    play.ends(report(Outcome::Interrupted));
    assert_eq!(play.iterations(), [IterationOutcome::TimedOut]);
    let told = play.spawned()[1].2.clone().unwrap();
    assert!(told.contains("longer than 1h"), "{told}");
    for _ in 0..2 {
        play.step(Input::Timer(Timer::Iteration));
        play.ends(report(Outcome::Interrupted));
    }
    assert_eq!(
        play.end(),
        Some(EndReason::Limit(LimitKind::IterationTimeout)),
        "it counts as a failure"
    );
}

#[test]
fn an_iteration_that_ends_in_time_after_all_is_not_timed_out() {
    let mut play = Play::begin(looping(LoopPlan {
        iteration_timeout: Some(HOUR),
        ..LoopPlan::default()
    }));
    play.step(Input::Timer(Timer::Iteration));
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn work_between_two_waits_does_not_count_as_waiting() {
    let mut play = Play::begin(Plan {
        max_wait: Some(6 * HOUR),
        ..Plan::default()
    });
    for reset in [5, 10, 15] {
        let tool =
            agent_api::ToolStarted::new(agent_api::ItemId::new("1"), "Bash", agent_api::ToolKind::Execute);
        play.event(Body::ToolStarted(Box::new(tool)));
        play.advance(2 * HOUR);
        play.event(rejected(Some(in_hours(reset))));
        play.ends(fails(ErrorClass::RateLimit));
        assert_eq!(play.end(), None, "{reset}");
        play.wake();
    }
    assert_eq!(play.waits().len(), 3);
}

#[test]
fn an_agent_that_exits_without_a_result_at_a_usage_limit_has_not_crashed() {
    for outcome in [Outcome::NoResult, Outcome::Crashed] {
        let mut play = Play::begin(Plan::default());
        for _ in 0..5 {
            play.event(rejected(Some(play.now.at + SignedDuration::from_hours(1))));
            play.ends(report(outcome));
            assert_eq!(play.last_wait(), HOUR, "{outcome:?}");
            play.wake();
        }
        play.ends(done());
        assert_eq!(play.end(), Some(EndReason::Completed), "{outcome:?}");
        assert_eq!(play.ended().unwrap().iterations, 1);
    }
}

#[test]
fn an_agent_that_was_stopped_at_a_usage_limit_does_not_wait() {
    for outcome in [Outcome::Interrupted, Outcome::Cancelled] {
        let mut play = Play::begin(Plan::default());
        play.event(rejected(Some(in_hours(1))));
        play.ends(report(outcome));
        assert_eq!(play.end(), Some(EndReason::Interrupted), "{outcome:?}");
    }
}

#[test]
fn a_wait_without_a_reset_and_an_overload_are_only_tried_again() {
    let is_retry = |reset: Option<Timestamp>, class: ErrorClass| {
        let mut play = Play::begin(Plan::default());
        play.event(rejected(reset));
        play.ends(fails(class));
        let cooldown = play.records().find_map(|body| match body {
            RunBody::CooldownStarted(cooldown) => Some(cooldown.is_retry),
            _ => None,
        });
        cooldown.unwrap()
    };
    assert!(!is_retry(Some(in_hours(1)), ErrorClass::RateLimit));
    assert!(is_retry(None, ErrorClass::RateLimit));
    assert!(is_retry(Some(in_hours(-1)), ErrorClass::RateLimit));
    assert!(is_retry(Some(in_hours(1)), ErrorClass::Overloaded));
}
