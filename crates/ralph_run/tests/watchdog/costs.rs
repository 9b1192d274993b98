//! Burn rate, context and unknown events.

use agent_api::{
    Body, CloseReason, ContextUse, Cost, MicroUsd, PermissionRequested, RequestClosed, RequestId, RunUsage,
    Tokens, ToolKind, TurnStarted, Unknown, Usage, UsageScope,
};
use ralph_run::watchdog::{WatchAction, WatchRules};
use ralph_run::{Continued, IterationOutcome, RunBody, Suspended, WarningKind};

use crate::stage::Stage;

fn usage(micro_usd: u64, context: Option<ContextUse>) -> Body {
    let run = RunUsage {
        cost: Some(Cost::reported(MicroUsd::new(micro_usd))),
        ..RunUsage::default()
    };
    let mut usage = Usage::new(UsageScope::Run, Tokens::default(), run);
    usage.context = context;
    Body::Usage(Box::new(usage))
}

/// Spends this much in each of so many minutes.
fn spend(stage: &mut Stage, total: &mut u64, minutes: u32, each: u64) {
    for _ in 0..minutes {
        stage.pass(60);
        *total += each;
        stage.event(usage(*total, None));
    }
}

#[test]
fn a_run_that_spends_more_than_three_times_its_median_is_found_once() {
    let (mut stage, mut total) = (Stage::new(WatchRules::default()), 0);
    spend(&mut stage, &mut total, 20, 100_000);
    assert_eq!(stage.take(), []);
    spend(&mut stage, &mut total, 4, 600_000);
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(finding.kind, WarningKind::BurnRate);
    assert!(
        finding.message.ends_with("more than 3 times its median of $0.10"),
        "{}",
        finding.message
    );
    spend(&mut stage, &mut total, 3, 600_000);
    assert_eq!(stage.kinds(), []);
    // Back to normal, and again.
    spend(&mut stage, &mut total, 20, 100_000);
    spend(&mut stage, &mut total, 5, 600_000);
    assert_eq!(stage.kinds(), [WarningKind::BurnRate]);
}

#[test]
fn the_time_in_which_a_run_waits_is_not_what_it_normally_spends() {
    let mut rules = WatchRules::default();
    rules.silence.action = WatchAction::Off;
    let continued = |stage: &mut Stage| {
        stage.end_iteration("More.", IterationOutcome::Continues);
        stage.pass(3 * 3600);
        stage.begin_iteration();
    };
    let answered = |stage: &mut Stage| {
        let id = RequestId::new("1");
        stage.event(Body::PermissionRequested(Box::new(PermissionRequested::new(
            id.clone(),
            "Bash",
            ToolKind::Execute,
        ))));
        stage.pass(3 * 3600);
        stage.event(Body::RequestClosed(RequestClosed {
            request: id,
            reason: CloseReason::Answered,
        }));
    };
    let suspended = |stage: &mut Stage| {
        stage.run(RunBody::Suspended(Suspended { pid: 7 }));
        stage.pass(3 * 3600);
        stage.run(RunBody::Continued(Continued {
            suspended_ms: 3 * 3_600_000,
        }));
    };
    let waits: [fn(&mut Stage); 3] = [continued, answered, suspended];
    for wait in waits {
        let (mut stage, mut total) = (Stage::new(rules.clone()), 0);
        spend(&mut stage, &mut total, 20, 300_000);
        wait(&mut stage);
        spend(&mut stage, &mut total, 10, 300_000);
        assert_eq!(stage.kinds(), []);
        spend(&mut stage, &mut total, 5, 1_500_000);
        assert_eq!(stage.kinds(), [WarningKind::BurnRate]);
    }
}

#[test]
fn small_amounts_and_short_runs_say_nothing() {
    let (mut stage, mut total) = (Stage::new(WatchRules::default()), 0);
    spend(&mut stage, &mut total, 9, 10_000);
    spend(&mut stage, &mut total, 5, 5_000_000);
    assert_eq!(stage.kinds(), []);
    let (mut stage, mut total) = (Stage::new(WatchRules::default()), 0);
    spend(&mut stage, &mut total, 30, 1_000);
    spend(&mut stage, &mut total, 5, 100_000);
    assert_eq!(stage.kinds(), []);
}

#[test]
fn a_cost_that_is_reported_late_was_spent_over_time() {
    let mut rules = WatchRules::default();
    rules.silence.action = WatchAction::Off;
    let (mut stage, mut total) = (Stage::new(rules), 0);
    for _ in 0..12 {
        // Reported every 5 to 40 minutes.
        for minutes in [5, 40, 10] {
            stage.pass(minutes * 60);
            total += u64::try_from(minutes).unwrap() * 100_000;
            stage.event(usage(total, None));
        }
    }
    assert_eq!(stage.kinds(), []);
}

#[test]
fn the_agents_own_figure_at_the_end_of_a_turn_replaces_estimates_of_the_whole_turn() {
    let mut stage = Stage::new(WatchRules::default());
    let mut total = 0;
    spend(&mut stage, &mut total, 20, 100_000);
    stage.event(Body::TurnStarted(TurnStarted { number: 2 }));
    let estimate = |micro_usd| {
        let mut cost = Cost::reported(MicroUsd::new(micro_usd));
        cost.source = agent_api::CostSource::Estimated;
        let run = RunUsage {
            cost: Some(cost),
            ..RunUsage::default()
        };
        Body::Usage(Box::new(Usage::new(UsageScope::Run, Tokens::default(), run)))
    };
    for _ in 0..30 {
        stage.pass(60);
        total += 10_000;
        stage.event(estimate(total));
    }
    stage.pass(1);
    // Subagents were not in the estimate.
    stage.event(usage(total + 3_000_000, None));
    assert_eq!(stage.kinds(), []);
}

#[test]
fn a_context_that_is_nearly_full_is_found_again_only_after_it_was_emptied() {
    let mut stage = Stage::new(WatchRules::default());
    let mut fill = |used: u64| {
        stage.event(usage(
            0,
            Some(ContextUse {
                used,
                size: Some(200_000),
            }),
        ));
        stage.take()
    };
    assert_eq!(fill(179_999), []);
    let [finding] = fill(180_000).try_into().unwrap();
    assert_eq!(finding.kind, WarningKind::ContextNearlyFull);
    assert_eq!(finding.message, "the agent's context is 90% full");
    assert_eq!(finding.evidence[0].text, "180000 of 200000 tokens");
    for used in [190_000, 175_000, 185_000] {
        assert_eq!(fill(used), []);
    }
    assert_eq!(fill(20_000), []);
    assert_eq!(fill(199_000).len(), 1);
}

#[test]
fn a_context_of_unknown_size_is_never_full() {
    let mut stage = Stage::new(WatchRules::default());
    for size in [None, Some(0)] {
        stage.event(usage(
            0,
            Some(ContextUse {
                used: 5_000_000,
                size,
            }),
        ));
    }
    assert_eq!(stage.kinds(), []);
}

#[test]
fn unknown_events_are_found_once_by_type_and_named_with_the_agents_version() {
    let mut stage = Stage::new(WatchRules::default());
    let unknown = |name: &str| {
        Body::Unknown(Unknown {
            type_name: name.to_owned(),
        })
    };
    for _ in 0..3 {
        stage.event(unknown("telepathy"));
    }
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(
        finding.message,
        "Demo 1.2.3 writes events of a type that this version of ralph does not know: `telepathy`"
    );
    for number in 0..100 {
        stage.event(unknown(&format!("type-{number}")));
    }
    assert_eq!(stage.kinds().len(), 9);
}
