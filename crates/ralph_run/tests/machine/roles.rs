//! A loop in which roles take turns.

use agent_api::{ErrorClass, Outcome, SessionChoice};
use ralph_run::machine::{
    AttemptReport, Effect, Handover, LoopPlan, Plan, RolePlan, RoleSession, SpawnPrompt,
};
use ralph_run::{EndReason, LimitKind};

use crate::play::{Play, done, fails, looping, report, says};

fn role(name: &str, next: usize) -> RolePlan {
    RolePlan {
        name: name.to_owned(),
        next,
        ..RolePlan::default()
    }
}

/// plan, build, review, plan, …
fn cycle() -> LoopPlan {
    LoopPlan {
        roles: vec![role("plan", 1), role("build", 2), role("review", 0)],
        ..LoopPlan::default()
    }
}

/// Who worked, and what each one was handed over.
fn turns(play: &Play) -> Vec<(&str, Option<(&str, &str)>)> {
    let spawned = play.effects.iter().filter_map(|effect| match effect {
        Effect::Spawn { role, prompt, .. } => {
            let handover = match prompt {
                SpawnPrompt::Iteration { handover, .. } => handover.as_ref(),
                SpawnPrompt::Task | SpawnPrompt::Message(_) => None,
            };
            let handover = handover.map(|Handover { from, text }| (from.as_str(), text.as_str()));
            Some((role.as_deref().unwrap_or("no role"), handover))
        }
        _ => None,
    });
    spawned.collect()
}

fn in_session(id: &str, report: AttemptReport) -> AttemptReport {
    AttemptReport {
        session_id: Some(id.to_owned()),
        ..report
    }
}

#[test]
fn each_role_hands_its_last_message_to_the_next_and_the_first_follows_the_last() {
    let mut play = Play::begin(looping(cycle()));
    for text in ["a plan", "built", "looks good"] {
        play.ends(says(text));
    }
    assert_eq!(
        turns(&play),
        [
            ("plan", None),
            ("build", Some(("plan", "a plan"))),
            ("review", Some(("build", "built"))),
            ("plan", Some(("review", "looks good"))),
        ]
    );
    play.ends(done());
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn a_promise_that_does_not_hold_is_passed_on_with_what_went_wrong() {
    let mut play = Play::begin(looping(LoopPlan {
        verify: vec!["check".to_owned()],
        ..cycle()
    }));
    play.ends(says("a plan"));
    play.ends(done());
    play.verified(false);
    assert_eq!(turns(&play)[2].0, "review");
    assert_eq!(play.spawned()[2].2.as_deref(), Some("check: 1 test failed"));
    play.ends(done());
    play.verified(true);
    assert_eq!(play.end(), Some(EndReason::Completed));
}

#[test]
fn a_role_that_fails_has_its_turn_again_with_the_same_handover() {
    let mut play = Play::begin(looping(cycle()));
    play.ends(says("a plan"));
    play.ends(fails(ErrorClass::Vendor));
    play.ends(report(Outcome::Crashed));
    play.ends(says("built"));
    let build = ("build", Some(("plan", "a plan")));
    assert_eq!(
        turns(&play)[1..],
        [build, build, build, ("review", Some(("build", "built")))]
    );
}

#[test]
fn a_role_that_keeps_its_session_resumes_its_own_one() {
    let mut plan = cycle();
    plan.roles[1].session = RoleSession::Keep;
    let mut play = Play::begin(looping(plan));
    for round in 1..=2 {
        for name in ["plan", "build", "review"] {
            play.ends(in_session(&format!("{name}-{round}"), says("done")));
        }
    }
    let resumed = |session: &SessionChoice| match session {
        SessionChoice::Resume(id) => id.clone(),
        _ => "new".to_owned(),
    };
    let sessions: Vec<String> = play.sessions().iter().map(resumed).collect();
    assert_eq!(sessions, ["new", "new", "new", "new", "build-1", "new", "new"]);
    // A session that the agent does not have any more is not asked for again.
    play.ends(says("a plan"));
    assert_eq!(resumed(play.sessions().last().unwrap()), "build-2");
    play.ends(AttemptReport {
        session_id: None,
        ..fails(ErrorClass::Vendor)
    });
    assert_eq!(play.sessions().last(), Some(&SessionChoice::New));
}

#[test]
fn a_role_that_names_itself_for_ever_is_ended_by_the_limits() {
    let mut plan = looping(LoopPlan {
        roles: vec![role("plan", 1), role("build", 1)],
        ..LoopPlan::default()
    });
    plan.limits.iterations = Some(5);
    let mut play = Play::begin(plan);
    while play.end().is_none() {
        play.ends(says("more to do"));
    }
    let names: Vec<&str> = turns(&play).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["plan", "build", "build", "build", "build"]);
    assert_eq!(play.end(), Some(EndReason::Limit(LimitKind::Iterations)));
}

#[test]
fn a_success_without_a_word_is_a_failed_iteration() {
    for text in [None, Some(" \n")] {
        let silent = || AttemptReport {
            final_text: text.map(str::to_owned),
            ..report(Outcome::Succeeded)
        };
        let mut play = Play::begin(Plan::default());
        play.ends(silent());
        assert!(
            play.spawned()[1]
                .2
                .as_deref()
                .unwrap()
                .contains("without a single word")
        );
        play.ends(silent());
        play.ends(silent());
        assert_eq!(play.end(), Some(EndReason::AgentError));
        let mut once = Play::begin(looping(LoopPlan {
            is_once: true,
            ..LoopPlan::default()
        }));
        once.ends(silent());
        assert_eq!(once.end(), Some(EndReason::AgentError));
    }
}

#[test]
fn a_role_that_reaches_a_limit_with_its_last_answer_hands_over_all_the_same() {
    let mut plan = looping(cycle());
    plan.limit_policy = ralph_run::machine::LimitPolicy::Ask;
    plan.limits.iterations = Some(1);
    let mut play = Play::begin(plan);
    play.ends(says("a plan"));
    play.step(crate::play::command(ralph_run::control::ControlCommand::TopUp(
        ralph_run::control::TopUp {
            iterations: Some(1),
            ..Default::default()
        },
    )));
    assert_eq!(
        turns(&play),
        [("plan", None), ("build", Some(("plan", "a plan")))]
    );
}
