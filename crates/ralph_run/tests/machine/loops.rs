//! From prompt to prompt.

use std::time::Duration;

use agent_api::{ErrorClass, Limit, MicroUsd, Outcome, SessionChoice};
use ralph_run::machine::{AttemptReport, Effect, Input, LoopPlan, Plan, Timer};
use ralph_run::{EndReason, IterationOutcome, LimitKind};

use crate::play::{Play, done, fails, looping, report, says, usage, with_max_cost, with_max_iterations};

#[test]
fn a_promise_on_the_last_line_completes_the_run() {
    for (text, is_done) in [
        ("LOOP_COMPLETE", true),
        ("Done.\n\n  LOOP_COMPLETE  \n\n", true),
        ("LOOP_COMPLETE\nbut one thing is left", false),
        ("I will say LOOP_COMPLETE later", false),
        ("", false),
    ] {
        let mut play = Play::begin(Plan::default());
        play.ends(says(text));
        assert_eq!(play.end(), is_done.then_some(EndReason::Completed), "{text}");
    }
}

#[test]
fn without_the_promise_the_next_iteration_is_a_fresh_session() {
    let plan = Plan {
        first_session: SessionChoice::Resume("kept".to_owned()),
        ..Plan::default()
    };
    let mut play = Play::begin(plan);
    play.ends(says("half way"));
    play.ends(done());
    assert_eq!(play.spawned(), [(1, 1, None), (2, 1, None)]);
    assert_eq!(
        play.sessions(),
        [SessionChoice::Resume("kept".to_owned()), SessionChoice::New]
    );
    assert_eq!(
        play.iterations(),
        [IterationOutcome::Continues, IterationOutcome::Completed]
    );
}

#[test]
fn words_are_verified_and_a_failing_check_is_fed_back() {
    let plan = looping(LoopPlan {
        verify: vec!["one".to_owned(), "two".to_owned()],
        ..LoopPlan::default()
    });
    let mut play = Play::begin(plan);
    assert!(play.ends(done()).contains(&Effect::Verify { index: 0 }));
    assert!(play.verified(true).contains(&Effect::Verify { index: 1 }));
    play.verified(false);
    assert_eq!(play.end(), None);
    assert_eq!(play.spawned()[1], (2, 1, Some("check: 1 test failed".to_owned())));
    play.ends(done());
    play.verified(true);
    play.verified(true);
    assert_eq!(play.end(), Some(EndReason::Completed));
    assert_eq!(
        play.iterations(),
        [IterationOutcome::VerifyFailed, IterationOutcome::Completed]
    );
}

#[test]
fn once_takes_the_results_own_verdict_and_still_verifies() {
    let once = |verify: &[&str]| {
        looping(LoopPlan {
            is_once: true,
            verify: verify.iter().map(ToString::to_string).collect(),
            ..LoopPlan::default()
        })
    };
    let mut play = Play::begin(once(&[]));
    play.ends(says("no promise here"));
    assert_eq!(play.end(), Some(EndReason::Completed));
    let mut play = Play::begin(once(&["check"]));
    play.ends(says("done"));
    play.verified(false);
    assert_eq!(play.end(), Some(EndReason::VerifyFailed));
    let mut play = Play::begin(once(&[]));
    play.ends(fails(ErrorClass::Vendor));
    assert_eq!(play.end(), Some(EndReason::AgentError));
}

#[test]
fn the_limit_of_iterations_holds_and_a_completion_on_the_last_counts() {
    let two = |plan| with_max_iterations(2, plan);
    let mut play = Play::begin(two(LoopPlan::default()));
    play.ends(says("one"));
    play.ends(says("two"));
    assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Iterations)));
    let mut play = Play::begin(two(LoopPlan::default()));
    play.ends(says("one"));
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
    let mut play = Play::begin(two(LoopPlan {
        verify: vec!["check".to_owned()],
        ..LoopPlan::default()
    }));
    play.ends(says("one"));
    play.ends(done());
    play.verified(false);
    assert_eq!(
        play.end(),
        Some(EndReason::VerifyFailed),
        "there is no further iteration to fix it"
    );
}

#[test]
fn a_crash_is_tried_once_more_with_the_same_prompt_in_a_new_session() {
    for outcome in [Outcome::Crashed, Outcome::NoResult, Outcome::Lost] {
        let mut play = Play::begin(Plan {
            first_session: SessionChoice::Last,
            ..looping(LoopPlan {
                is_once: true,
                ..LoopPlan::default()
            })
        });
        play.ends(report(outcome));
        assert_eq!(play.spawned(), [(1, 1, None), (1, 2, None)], "{outcome:?}");
        assert_eq!(play.sessions()[1], SessionChoice::New);
        play.ends(report(outcome));
        let expected = if outcome == Outcome::NoResult {
            EndReason::NoResult
        } else {
            EndReason::Crashed
        };
        assert_eq!(play.end(), Some(expected));
    }
}

#[test]
fn what_makes_sense_but_failed_is_not_tried_again() {
    for outcome in [Outcome::Failed, Outcome::Refused, Outcome::Stalled] {
        let mut play = Play::begin(looping(LoopPlan {
            is_once: true,
            ..LoopPlan::default()
        }));
        play.ends(report(outcome));
        assert_eq!(play.spawned().len(), 1, "{outcome:?}");
        assert_eq!(play.end(), Some(EndReason::AgentError));
    }
}

#[test]
fn failures_in_a_row_end_the_run_and_a_success_starts_the_count_anew() {
    let mut play = Play::begin(Plan::default());
    play.ends(fails(ErrorClass::Vendor));
    play.ends(fails(ErrorClass::Vendor));
    play.ends(says("better"));
    play.ends(fails(ErrorClass::Vendor));
    play.ends(fails(ErrorClass::Vendor));
    assert_eq!(play.end(), None);
    play.ends(fails(ErrorClass::Vendor));
    assert_eq!(play.end(), Some(EndReason::AgentError));
    assert_eq!(
        play.spawned()[1].2.as_deref(),
        Some("it broke"),
        "the next iteration starts with the error"
    );
    assert_eq!(play.spawned()[3].2, None);
}

#[test]
fn what_a_person_must_fix_ends_the_run_at_once() {
    for (class, reason) in [
        (ErrorClass::Auth, EndReason::NotLoggedIn),
        (ErrorClass::ModelNotFound, EndReason::ModelNotFound),
        (ErrorClass::Quota, EndReason::NoCredit),
    ] {
        let mut play = Play::begin(Plan::default());
        play.ends(fails(class));
        assert_eq!(play.end(), Some(reason));
        assert_eq!(reason.exit_code(), 69);
    }
    let mut play = Play::begin(Plan::default());
    play.step(Input::SpawnFailed("not installed".to_owned()));
    assert_eq!(play.end(), Some(EndReason::BackendUnavailable));
}

#[test]
fn limits_of_the_agents_own_end_the_run() {
    for (limit, kind) in [
        (Limit::Turns, LimitKind::Turns),
        (Limit::Budget, LimitKind::Cost),
        (Limit::Tokens, LimitKind::Tokens),
    ] {
        let mut play = Play::begin(Plan::default());
        play.ends(report(Outcome::LimitReached(limit)));
        assert_eq!(play.end(), Some(EndReason::Limit(kind)));
    }
}

#[test]
fn a_pause_between_iterations_is_kept() {
    let cooldown = Duration::from_secs(7);
    let mut play = Play::begin(looping(LoopPlan {
        cooldown,
        ..LoopPlan::default()
    }));
    let effects = play.ends(says("one"));
    let until = play.now.at + jiff::SignedDuration::from_secs(7);
    assert!(effects.contains(&Effect::ArmAt(Timer::Cooldown, until)));
    assert_eq!(play.spawned().len(), 1);
    play.step(Input::Timer(Timer::Cooldown));
    assert_eq!(play.spawned().len(), 2);
}

#[test]
fn totals_are_those_of_all_attempts() {
    let mut play = Play::begin(Plan::default());
    for (cost, ends) in [(5, report(Outcome::Crashed)), (7, says("one")), (11, done())] {
        play.costs(cost - 1);
        play.ends(AttemptReport {
            usage: Some(usage(cost)),
            ..ends
        });
    }
    let totals = play.ended().unwrap().totals;
    assert_eq!(totals.cost.map(MicroUsd::as_micro_usd), Some(23));
    assert_eq!(totals.duration_ms, 30);
}

#[test]
fn a_conversation_that_is_not_there_ends_the_run_instead_of_going_on_without_it() {
    let mut play = Play::begin(Plan {
        first_session: SessionChoice::Resume("gone".to_owned()),
        ..Plan::default()
    });
    play.ends(AttemptReport {
        session_id: None,
        ..fails(ErrorClass::InvalidRequest)
    });
    assert_eq!(play.end(), Some(EndReason::AgentError));
    assert_eq!(play.spawned().len(), 1);
}

#[test]
fn a_failure_in_the_last_iteration_is_a_failure_and_no_limit() {
    let mut play = Play::begin(with_max_iterations(1, LoopPlan::default()));
    play.ends(fails(ErrorClass::Vendor));
    assert_eq!(play.end(), Some(EndReason::AgentError));
}

#[test]
fn an_answer_that_completes_the_work_counts_though_it_crossed_a_limit() {
    let mut play = Play::begin(with_max_cost(5, LoopPlan::default()));
    assert!(play.costs(10).contains(&Effect::Interrupt));
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
    let mut play = Play::begin(with_max_cost(5, LoopPlan::default()));
    play.costs(10);
    play.ends(says("not yet"));
    assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Cost)));
    let message = play.ended().unwrap().message.as_deref();
    assert_eq!(
        message,
        Some("used $0.00001 of $0.000005; raise `--max-cost` to continue")
    );
}

#[test]
fn a_check_that_fails_after_a_limit_was_crossed_ends_the_run_with_the_limit() {
    // Crossed in the middle of the answer, and by the figures at its end.
    for cost in [Some(10), None] {
        let mut play = Play::begin(with_max_cost(
            5,
            LoopPlan {
                verify: vec!["check".to_owned()],
                ..LoopPlan::default()
            },
        ));
        cost.map(|cost| play.costs(cost));
        play.ends(AttemptReport {
            usage: Some(usage(10)),
            ..done()
        });
        assert_eq!(play.end(), None, "it is verified first");
        play.verified(false);
        assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Cost)));
        assert_eq!(play.spawned().len(), 1);
        assert_eq!(play.iterations(), [IterationOutcome::VerifyFailed]);
    }
}

#[test]
fn a_limit_that_is_crossed_at_the_end_of_an_attempt_ends_the_run() {
    for ends in [
        says("more to do"),
        report(Outcome::Crashed),
        fails(ErrorClass::Vendor),
    ] {
        let mut play = Play::begin(with_max_cost(5, LoopPlan::default()));
        play.ends(AttemptReport {
            usage: Some(usage(5)),
            ..ends
        });
        assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Cost)));
        assert_eq!(play.spawned().len(), 1);
    }
}

#[test]
fn a_task_that_has_spent_its_budget_before_starts_nothing() {
    let mut plan = with_max_cost(1_000_000, LoopPlan::default());
    plan.spent_before = MicroUsd::new(1_000_000);
    let play = Play::begin(plan);
    let ended = play.ended().unwrap();
    assert_eq!(ended.reason, EndReason::Limit(LimitKind::Cost));
    assert_eq!(ended.iterations, 0);
    assert!(ended.message.as_deref().unwrap().contains("--reset-budget"));
    assert_eq!(play.spawned(), []);
}

#[test]
fn eighty_percent_are_warned_about_wherever_they_are_reached() {
    let warned = ["80% of the cost limit is used: $0.80 of $1.00"];
    let limit = || with_max_cost(1_000_000, LoopPlan::default());
    let mut before = limit();
    before.spent_before = MicroUsd::new(800_000);
    assert_eq!(Play::begin(before).warnings(), warned);
    let mut play = Play::begin(limit());
    play.costs(800_000);
    play.costs(900_000);
    assert_eq!(play.warnings(), warned);
    let mut play = Play::begin(limit());
    play.ends(AttemptReport {
        usage: Some(usage(800_000)),
        ..done()
    });
    assert_eq!(play.warnings(), warned);
}

#[test]
fn an_agent_that_cannot_be_started_any_more_is_a_failed_iteration() {
    let missing = || Input::SpawnFailed("not found".to_owned());
    let mut play = Play::begin(Plan::default());
    play.ends(says("one"));
    let effects = play.step(missing());
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::ArmAt(Timer::Cooldown, _)))
    );
    play.step(Input::Timer(Timer::Cooldown));
    play.ends(says("it is back"));
    assert_eq!(play.end(), None);
    for _ in 0..3 {
        play.step(missing());
        play.step(Input::Timer(Timer::Cooldown));
    }
    assert_eq!(play.end(), Some(EndReason::BackendUnavailable));
}
