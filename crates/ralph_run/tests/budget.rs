//! What a run has spent, and when it has spent enough.

use agent_api::{Cost, CostSource, MicroUsd, RunUsage, Tokens, Usage, UsageScope};
use proptest::proptest;
use ralph_run::{Budget, BudgetAlert, BudgetLimits, LimitKind, Totals, estimate};

const MODEL: &str = "claude-sonnet-4-5";

fn usd(micro_usd: u64) -> MicroUsd {
    MicroUsd::new(micro_usd)
}

fn output(tokens: u64) -> Tokens {
    Tokens {
        output: tokens,
        ..Tokens::default()
    }
}

fn reported(cost: u64) -> Option<Cost> {
    Some(Cost {
        micro_usd: usd(cost),
        source: CostSource::Reported,
    })
}

fn run_usage(tokens: Tokens, cost: Option<Cost>, is_partial: bool) -> RunUsage {
    RunUsage {
        tokens,
        cost,
        is_partial,
        may_include_earlier_runs: false,
    }
}

fn usage(model: Option<&str>, run: RunUsage) -> Usage {
    Usage {
        scope: UsageScope::Step,
        tokens: Tokens::default(),
        cost: None,
        model: model.map(str::to_owned),
        context: None,
        run,
    }
}

/// In the middle of a turn.
fn partial(tokens: u64, cost: Option<Cost>) -> Usage {
    usage(Some(MODEL), run_usage(output(tokens), cost, true))
}

/// At the end of a turn.
fn settled(tokens: u64, cost: Option<Cost>) -> Usage {
    usage(Some(MODEL), run_usage(output(tokens), cost, false))
}

fn with_cost_limit(limit: u64) -> Budget {
    let limits = BudgetLimits {
        cost: Some(usd(limit)),
        ..BudgetLimits::default()
    };
    Budget::new(limits, MicroUsd::ZERO)
}

fn unlimited() -> Budget {
    Budget::new(BudgetLimits::default(), MicroUsd::ZERO)
}

fn cost(totals: Totals) -> (Option<u64>, bool) {
    (totals.cost.map(MicroUsd::as_micro_usd), totals.is_estimate)
}

#[test]
fn totals_of_one_process_replace_each_other() {
    let mut budget = unlimited();
    budget.start_attempt(None);
    budget.apply(&settled(10, reported(100)));
    budget.apply(&settled(30, reported(250)));
    assert_eq!(cost(budget.run()), (Some(250), false));
    assert_eq!(budget.run().tokens, output(30));
}

#[test]
fn processes_add_up() {
    let mut budget = unlimited();
    for (tokens, cost) in [(10, 100), (20, 150)] {
        budget.start_attempt(None);
        budget.apply(&settled(tokens, reported(cost)));
        budget.add_turns(2);
        budget.end_attempt(&run_usage(output(tokens), reported(cost), false));
    }
    assert_eq!(cost(budget.run()), (Some(250), false));
    assert_eq!(budget.run().tokens, output(30));
    assert_eq!(budget.run().turns, 4);
}

#[test]
fn an_iteration_counts_its_own_attempts_only() {
    let mut budget = unlimited();
    for cost in [100, 150, 200] {
        if cost != 150 {
            budget.start_iteration();
        }
        budget.start_attempt(None);
        budget.end_attempt(&run_usage(output(1), reported(cost), false));
        if cost == 150 {
            assert_eq!(budget.iteration().cost, Some(usd(250)));
        }
    }
    assert_eq!(budget.iteration().cost, Some(usd(200)));
    assert_eq!(budget.run().cost, Some(usd(450)));
}

#[test]
fn an_open_turn_is_estimated_on_top_of_what_was_reported() {
    let mut budget = unlimited();
    budget.start_attempt(None);
    budget.apply(&partial(1_000, None));
    assert_eq!(cost(budget.run()), (Some(15_000), true));
    budget.apply(&settled(1_100, reported(40_000)));
    assert_eq!(cost(budget.run()), (Some(40_000), false));
    budget.apply(&partial(1_200, reported(40_000)));
    budget.apply(&partial(1_300, reported(40_000)));
    assert_eq!(cost(budget.run()), (Some(40_000 + 200 * 15), true));
    budget.apply(&settled(1_300, reported(43_500)));
    assert_eq!(cost(budget.run()), (Some(43_500), false));
}

#[test]
fn steps_of_other_models_have_their_own_price() {
    let mut budget = unlimited();
    budget.start_attempt(Some(MODEL));
    budget.apply(&usage(None, run_usage(output(100), None, true)));
    budget.apply(&usage(
        Some("claude-haiku-4-5"),
        run_usage(output(200), None, true),
    ));
    assert_eq!(cost(budget.run()), (Some(100 * 15 + 100 * 5), true));
}

#[test]
fn a_process_that_dies_in_a_turn_costs_its_estimate() {
    let mut budget = unlimited();
    budget.start_attempt(None);
    budget.apply(&settled(100, reported(5_000)));
    budget.apply(&partial(300, reported(5_000)));
    let totals = budget.end_attempt(&run_usage(output(300), reported(5_000), true));
    assert_eq!(cost(totals), (Some(5_000 + 200 * 15), true));
}

#[test]
fn an_agent_that_reports_no_money_is_estimated_by_the_model_that_was_asked_for() {
    let mut budget = unlimited();
    budget.start_attempt(Some("gpt-5.1-codex"));
    budget.apply(&usage(None, run_usage(output(100), None, false)));
    budget.apply(&usage(None, run_usage(output(300), None, false)));
    assert_eq!(budget.run().cost, estimate("gpt-5.1-codex", &output(300)));
    assert!(budget.run().is_estimate);
}

#[test]
fn the_model_can_be_named_later() {
    let mut budget = unlimited();
    budget.start_attempt(None);
    budget.set_model(MODEL);
    budget.apply(&usage(None, run_usage(output(100), None, true)));
    assert_eq!(cost(budget.run()), (Some(1_500), true));
}

#[test]
fn an_unknown_model_costs_nothing_known_and_the_limit_of_tokens_still_holds() {
    let limits = BudgetLimits {
        cost: Some(usd(1)),
        tokens: Some(1_000),
        turns: None,
    };
    let mut budget = Budget::new(limits, MicroUsd::ZERO);
    budget.start_attempt(Some("scripted-model"));
    budget.apply(&usage(None, run_usage(output(999), None, true)));
    assert_eq!(cost(budget.run()), (None, true));
    assert_eq!(budget.check(), Some(BudgetAlert::Near(LimitKind::Tokens)));
    budget.apply(&usage(None, run_usage(output(1_000), None, true)));
    assert_eq!(budget.check(), Some(BudgetAlert::Reached(LimitKind::Tokens)));
    assert_eq!(budget.check(), None);
}

#[test]
fn a_limit_warns_once_and_ends_once() {
    let mut budget = with_cost_limit(1_000);
    budget.start_attempt(None);
    let mut seen = Vec::new();
    for cost in [0, 799, 800, 900, 999, 1_000, 1_001, 5_000] {
        budget.apply(&settled(1, reported(cost)));
        while let Some(alert) = budget.check() {
            seen.push((cost, alert));
        }
    }
    assert_eq!(
        seen,
        [
            (800, BudgetAlert::Near(LimitKind::Cost)),
            (1_000, BudgetAlert::Reached(LimitKind::Cost))
        ]
    );
}

#[test]
fn a_limit_that_is_jumped_over_is_reached_and_not_near() {
    let mut budget = with_cost_limit(1_000);
    budget.start_attempt(None);
    budget.apply(&settled(1, reported(2_000)));
    assert_eq!(budget.check(), Some(BudgetAlert::Reached(LimitKind::Cost)));
    // The agent's own figure may be lower than the estimate that ended it.
    budget.apply(&settled(1, reported(900)));
    assert_eq!(budget.check(), None);
}

#[test]
fn an_estimate_reaches_the_limit_in_the_middle_of_a_turn() {
    let mut budget = with_cost_limit(15_000);
    budget.start_attempt(None);
    budget.apply(&partial(999, None));
    assert_eq!(budget.check(), Some(BudgetAlert::Near(LimitKind::Cost)));
    budget.apply(&partial(1_000, None));
    assert_eq!(budget.check(), Some(BudgetAlert::Reached(LimitKind::Cost)));
}

#[test]
fn what_the_task_cost_before_counts_against_the_limit_and_not_as_the_run() {
    let limits = BudgetLimits {
        cost: Some(usd(1_000)),
        ..BudgetLimits::default()
    };
    let mut budget = Budget::new(limits, usd(900));
    assert_eq!(budget.check(), Some(BudgetAlert::Near(LimitKind::Cost)));
    budget.start_attempt(None);
    budget.apply(&settled(1, reported(100)));
    assert_eq!(budget.check(), Some(BudgetAlert::Reached(LimitKind::Cost)));
    assert_eq!(budget.spent(), usd(1_000));
    assert_eq!(budget.run().cost, Some(usd(100)));
}

#[test]
fn turns_have_a_limit() {
    let limits = BudgetLimits {
        turns: Some(2),
        ..BudgetLimits::default()
    };
    let mut budget = Budget::new(limits, MicroUsd::ZERO);
    budget.start_attempt(None);
    budget.add_turns(1);
    assert_eq!(budget.check(), None);
    budget.add_turns(1);
    assert_eq!(budget.check(), Some(BudgetAlert::Reached(LimitKind::Turns)));
}

#[test]
fn several_limits_are_told_one_after_the_other() {
    let limits = BudgetLimits {
        cost: Some(usd(100)),
        tokens: Some(100),
        turns: None,
    };
    let mut budget = Budget::new(limits, MicroUsd::ZERO);
    budget.start_attempt(None);
    budget.apply(&settled(85, reported(200)));
    assert_eq!(budget.check(), Some(BudgetAlert::Reached(LimitKind::Cost)));
    assert_eq!(budget.check(), Some(BudgetAlert::Near(LimitKind::Tokens)));
    assert_eq!(budget.check(), None);
}

#[test]
fn zero_is_no_limit() {
    let limits = BudgetLimits {
        cost: Some(MicroUsd::ZERO),
        tokens: Some(0),
        turns: Some(0),
    };
    let mut budget = Budget::new(limits, usd(5));
    budget.start_attempt(None);
    budget.apply(&settled(85, reported(200)));
    assert_eq!(budget.check(), None);
}

proptest! {
    #[test]
    fn money_never_shrinks_while_a_turn_is_open(steps in proptest::collection::vec(0_u64..5_000, 1..40)) {
        let mut budget = unlimited();
        budget.start_attempt(None);
        let (mut total, mut last) = (0, None);
        for step in steps {
            total += step;
            budget.apply(&partial(total, None));
            assert!(budget.run().cost >= last);
            last = budget.run().cost;
        }
        // Whole micro-dollars per token of this model, so that steps add up exactly.
        assert_eq!(last.unwrap_or_default(), usd(total * 15));
    }

    #[test]
    fn no_figures_break_the_account(figures in proptest::collection::vec((0..u64::MAX, proptest::option::of(0..u64::MAX), proptest::bool::ANY), 0..20)) {
        let mut budget = with_cost_limit(1_000);
        for (tokens, cost, is_partial) in figures {
            budget.start_attempt(Some(MODEL));
            budget.apply(&usage(None, run_usage(output(tokens), cost.and_then(reported), is_partial)));
            budget.end_attempt(&run_usage(output(tokens), cost.and_then(reported), is_partial));
            while budget.check().is_some() {}
        }
    }
}

#[test]
fn a_process_that_nobody_saw_the_end_of_has_used_what_was_seen() {
    let mut budget = unlimited();
    budget.start_iteration();
    budget.start_attempt(None);
    budget.apply(&settled(1_000, reported(100)));
    budget.apply(&partial(3_000, None));
    budget.add_turns(1);
    let open = estimate(MODEL, &output(2_000)).map_or(0, MicroUsd::as_micro_usd);
    assert!(open > 0);
    let seen = budget.run();
    let totals = budget.abandon_attempt();
    assert_eq!(totals, seen);
    assert_eq!(cost(totals), (Some(100 + open), true));
    assert_eq!((totals.tokens, totals.turns), (output(3_000), 1));
    // It is over: the next one adds to it.
    budget.start_attempt(None);
    assert_eq!((budget.run(), budget.iteration()), (seen, seen));
}
