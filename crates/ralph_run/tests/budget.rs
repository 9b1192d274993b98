//! `UsageAccount` and `Budget`: what a run has used, and when a limit is exhausted.

use agent_api::{Cost, CostSource, MicroUsd, RunUsage, Tokens, Usage, UsageScope};
use proptest::proptest;
use ralph_run::{Budget, BudgetLimits, LimitKind, Totals, UsageAccount, WarningKind, estimate};

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

/// An account with an open attempt.
fn started(model: Option<&str>) -> UsageAccount {
    let mut account = UsageAccount::default();
    start(&mut account, model);
    account
}

fn start(account: &mut UsageAccount, model: Option<&str>) {
    account.set_requested_model(model);
    account.start_attempt();
}

fn apply(account: &mut UsageAccount, usage: &Usage) {
    account.apply_usage(usage.model.as_deref(), &usage.run);
}

/// Ends the attempt as the machine does.
fn end(account: &mut UsageAccount, usage: Option<RunUsage>) -> Totals {
    if let Some(usage) = usage {
        account.apply_usage(None, &usage);
    }
    let totals = account.attempt().unwrap_or_default();
    account.end_attempt(totals);
    totals
}

fn messages(budget: &mut Budget) -> Vec<String> {
    let warnings = budget.take_warnings().into_iter();
    warnings.map(|warned| warned.message).collect()
}

fn cost(totals: Totals) -> (Option<u64>, bool) {
    (totals.cost.map(MicroUsd::as_micro_usd), totals.is_estimate)
}

#[test]
fn a_cost_limit_that_cannot_hold_is_warned_about_once() {
    let unpriced = |cost| usage(Some("no-such-model"), run_usage(output(10), cost, false));
    let mut budget = with_cost_limit(100_000);
    start(budget.account_mut(), None);
    apply(budget.account_mut(), &settled(10, None));
    assert_eq!(messages(&mut budget), [""; 0], "the price is known");
    start(budget.account_mut(), None);
    apply(budget.account_mut(), &unpriced(reported(5)));
    assert_eq!(messages(&mut budget), [""; 0], "the agent reports it");
    start(budget.account_mut(), None);
    let open = usage(Some("no-such-model"), run_usage(output(10), None, true));
    apply(budget.account_mut(), &open);
    assert_eq!(
        messages(&mut budget),
        [""; 0],
        "it may report it at the end of the turn"
    );
    apply(budget.account_mut(), &unpriced(None));
    let warned = messages(&mut budget);
    assert!(warned[0].contains("`no-such-model` is not known"), "{warned:?}");
    assert_eq!(messages(&mut budget), [""; 0]);
    let mut unlimited = Budget::default();
    apply(unlimited.account_mut(), &unpriced(None));
    assert_eq!(messages(&mut unlimited), [""; 0]);
}

#[test]
fn totals_of_one_process_replace_each_other() {
    let mut account = started(None);
    apply(&mut account, &settled(10, reported(100)));
    apply(&mut account, &settled(30, reported(250)));
    assert_eq!(cost(account.totals()), (Some(250), false));
    assert_eq!(account.totals().tokens, output(30));
}

#[test]
fn processes_add_up() {
    let mut account = UsageAccount::default();
    for (tokens, cost) in [(10, 100), (20, 150)] {
        start(&mut account, None);
        apply(&mut account, &settled(tokens, reported(cost)));
        account.add_turns(2);
        end(
            &mut account,
            Some(run_usage(output(tokens), reported(cost), false)),
        );
    }
    assert_eq!(cost(account.totals()), (Some(250), false));
    assert_eq!(account.totals().tokens, output(30));
    assert_eq!(account.totals().turns, 4);
}

#[test]
fn an_open_turn_is_estimated_on_top_of_what_was_reported() {
    let mut account = started(None);
    apply(&mut account, &partial(1_000, None));
    assert_eq!(cost(account.totals()), (Some(15_000), true));
    apply(&mut account, &settled(1_100, reported(40_000)));
    assert_eq!(cost(account.totals()), (Some(40_000), false));
    apply(&mut account, &partial(1_200, reported(40_000)));
    apply(&mut account, &partial(1_300, reported(40_000)));
    assert_eq!(cost(account.totals()), (Some(40_000 + 200 * 15), true));
    apply(&mut account, &settled(1_300, reported(43_500)));
    assert_eq!(cost(account.totals()), (Some(43_500), false));
}

#[test]
fn a_cost_that_the_agent_updates_within_a_turn_replaces_the_estimate() {
    let mut account = started(None);
    apply(&mut account, &partial(1_000, None));
    assert_eq!(cost(account.totals()), (Some(15_000), true));
    apply(&mut account, &partial(1_000, reported(14_000)));
    assert_eq!(cost(account.totals()), (Some(14_000), false));
    // The tokens of a turn may follow its cost, and the turn may end without figures that are complete.
    apply(&mut account, &partial(1_200, reported(14_000)));
    assert_eq!(cost(account.totals()), (Some(14_000), false));
    apply(&mut account, &partial(1_300, reported(19_000)));
    assert_eq!(cost(account.totals()), (Some(19_000), false));
    let totals = end(
        &mut account,
        Some(run_usage(output(1_300), reported(19_000), true)),
    );
    assert_eq!(cost(totals), (Some(19_000), false));
    // The next process may be another version of the agent.
    start(&mut account, None);
    apply(&mut account, &partial(100, None));
    assert_eq!(cost(account.totals()), (Some(19_000 + 100 * 15), true));
}

/// Claude's result of an interrupted turn has no figures for the answer that it was writing.
#[test]
fn a_turn_that_was_cut_off_costs_its_estimate() {
    let mut account = started(None);
    apply(&mut account, &partial(1_000, None));
    apply(&mut account, &settled(0, reported(0)));
    assert_eq!(cost(account.totals()), (Some(15_000), true));
    assert_eq!(account.totals().tokens, output(1_000));
    let totals = end(&mut account, Some(run_usage(output(0), reported(0), false)));
    assert_eq!(cost(totals), (Some(15_000), true));
    // The same after a turn that ended well.
    start(&mut account, None);
    apply(&mut account, &settled(100, reported(2_000)));
    apply(&mut account, &partial(300, reported(2_000)));
    let totals = end(&mut account, Some(run_usage(output(100), reported(2_000), false)));
    assert_eq!(cost(totals), (Some(2_000 + 200 * 15), true));
}

#[test]
fn a_cost_after_an_estimated_turn_replaces_the_estimate_of_that_turn() {
    let mut account = started(None);
    apply(&mut account, &settled(1_000, None));
    apply(&mut account, &partial(1_100, None));
    assert_eq!(cost(account.totals()), (Some(1_100 * 15), true));
    apply(&mut account, &partial(1_100, reported(12_000)));
    assert_eq!(cost(account.totals()), (Some(12_000), false));
}

#[test]
fn steps_of_other_models_have_their_own_price() {
    let mut account = started(Some(MODEL));
    apply(&mut account, &usage(None, run_usage(output(100), None, true)));
    let haiku = usage(Some("claude-haiku-4-5"), run_usage(output(200), None, true));
    apply(&mut account, &haiku);
    assert_eq!(cost(account.totals()), (Some(100 * 15 + 100 * 5), true));
}

#[test]
fn a_process_that_dies_in_a_turn_costs_its_estimate() {
    let mut account = started(None);
    apply(&mut account, &settled(100, reported(5_000)));
    apply(&mut account, &partial(300, reported(5_000)));
    let totals = end(&mut account, Some(run_usage(output(300), reported(5_000), true)));
    assert_eq!(cost(totals), (Some(5_000 + 200 * 15), true));
}

#[test]
fn an_agent_that_reports_no_cost_is_estimated_by_the_model_that_was_asked_for() {
    let mut account = started(Some("gpt-5.1-codex"));
    apply(&mut account, &usage(None, run_usage(output(100), None, false)));
    apply(&mut account, &usage(None, run_usage(output(300), None, false)));
    assert_eq!(account.totals().cost, estimate("gpt-5.1-codex", &output(300)));
    assert!(account.totals().is_estimate);
}

#[test]
fn the_model_can_be_named_later() {
    let mut account = started(None);
    account.set_model(Some(MODEL));
    apply(&mut account, &usage(None, run_usage(output(100), None, true)));
    assert_eq!(cost(account.totals()), (Some(1_500), true));
}

#[test]
fn a_lost_process_has_used_what_was_seen() {
    let mut account = started(None);
    apply(&mut account, &settled(1_000, reported(100)));
    apply(&mut account, &partial(3_000, None));
    account.add_turns(1);
    let open = estimate(MODEL, &output(2_000)).map_or(0, MicroUsd::as_micro_usd);
    assert!(open > 0);
    let seen = account.totals();
    assert_eq!(end(&mut account, None), seen);
    assert_eq!(cost(seen), (Some(100 + open), true));
    assert_eq!((seen.tokens, seen.turns), (output(3_000), 1));
    start(&mut account, None);
    assert_eq!(account.totals(), seen);
}

#[test]
fn the_token_limit_holds_where_the_cost_is_unknown() {
    let limits = BudgetLimits {
        cost: Some(usd(1)),
        tokens: Some(1_000),
        ..BudgetLimits::default()
    };
    let mut budget = Budget::new(limits, MicroUsd::ZERO);
    start(budget.account_mut(), Some("scripted-model"));
    apply(
        budget.account_mut(),
        &usage(None, run_usage(output(999), None, true)),
    );
    assert_eq!(cost(budget.account().totals()), (None, true));
    assert_eq!(budget.exhausted(), None);
    let warned = messages(&mut budget);
    assert_eq!(warned[0], "80% of the token limit is used: 999 of 1000 tokens");
    apply(
        budget.account_mut(),
        &usage(None, run_usage(output(1_000), None, true)),
    );
    assert_eq!(budget.exhausted(), Some(LimitKind::Tokens));
    let message = budget.describe(LimitKind::Tokens).unwrap();
    assert!(
        message.contains("1000 of 1000 tokens") && message.contains("--max-tokens"),
        "{message}"
    );
}

#[test]
fn a_limit_warns_once_and_is_exhausted_as_long_as_it_is() {
    let mut budget = with_cost_limit(1_000_000);
    start(budget.account_mut(), None);
    let mut warnings = Vec::new();
    for (cost, is_exhausted) in [
        (0, false),
        (799_999, false),
        (800_000, false),
        (900_000, false),
        (999_999, false),
        (1_000_000, true),
        (5_000_000, true),
        // The agent's own figure may be lower than the estimate before it.
        (900_000, false),
        (1_000_001, true),
    ] {
        apply(budget.account_mut(), &settled(1, reported(cost)));
        assert_eq!(
            budget.exhausted(),
            is_exhausted.then_some(LimitKind::Cost),
            "{cost}"
        );
        assert_eq!(
            budget.exhausted(),
            is_exhausted.then_some(LimitKind::Cost),
            "asked again"
        );
        warnings.extend(budget.take_warnings().into_iter().map(|warned| (cost, warned)));
    }
    let [(at, warned)] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    assert_eq!(*at, 800_000);
    assert_eq!(warned.kind, WarningKind::CostNearLimit);
    assert_eq!(warned.message, "80% of the cost limit is used: $0.80 of $1.00");
}

#[test]
fn an_estimate_exhausts_the_limit_in_the_middle_of_a_turn() {
    let mut budget = with_cost_limit(15_000);
    start(budget.account_mut(), None);
    apply(budget.account_mut(), &partial(999, None));
    assert_eq!(budget.exhausted(), None);
    apply(budget.account_mut(), &partial(1_000, None));
    assert_eq!(budget.exhausted(), Some(LimitKind::Cost));
}

#[test]
fn earlier_runs_of_the_task_count_against_the_limit_but_not_as_this_run() {
    let limits = BudgetLimits {
        cost: Some(usd(1_000_000)),
        ..BudgetLimits::default()
    };
    let mut budget = Budget::new(limits, usd(900_000));
    assert_eq!(
        messages(&mut budget),
        ["80% of the cost limit is used: $0.90 of $1.00"]
    );
    start(budget.account_mut(), None);
    apply(budget.account_mut(), &settled(1, reported(100_000)));
    assert_eq!(budget.exhausted(), Some(LimitKind::Cost));
    assert_eq!(budget.spent(), usd(1_000_000));
    assert_eq!(budget.account().totals().cost, Some(usd(100_000)));
    let message = budget.describe(LimitKind::Cost).unwrap();
    assert!(
        message.contains("$0.90") && message.contains("--reset-budget"),
        "{message}"
    );
}

#[test]
fn one_exhausted_limit_does_not_hide_the_warning_of_another() {
    let limits = BudgetLimits {
        cost: Some(usd(100)),
        tokens: Some(100),
        ..BudgetLimits::default()
    };
    let mut budget = Budget::new(limits, MicroUsd::ZERO);
    start(budget.account_mut(), None);
    apply(budget.account_mut(), &settled(85, reported(200)));
    assert_eq!(budget.exhausted(), Some(LimitKind::Cost));
    assert_eq!(
        messages(&mut budget),
        ["80% of the token limit is used: 85 of 100 tokens"]
    );
}

#[test]
fn zero_is_no_limit() {
    let limits = BudgetLimits {
        cost: Some(MicroUsd::ZERO),
        tokens: Some(0),
        iterations: Some(0),
        runtime: Some(std::time::Duration::ZERO),
    };
    let mut budget = Budget::new(limits, usd(5));
    start(budget.account_mut(), None);
    apply(budget.account_mut(), &settled(85, reported(200)));
    assert_eq!(budget.exhausted(), None);
    assert_eq!(messages(&mut budget), [""; 0]);
}

proptest! {
    #[test]
    fn cost_never_shrinks_while_a_turn_is_open(steps in proptest::collection::vec(0_u64..5_000, 1..40)) {
        let mut account = started(None);
        let (mut total, mut last) = (0, None);
        for step in steps {
            total += step;
            apply(&mut account, &partial(total, None));
            assert!(account.totals().cost >= last);
            last = account.totals().cost;
        }
        // Whole micro-dollars per token of this model, so that steps add up exactly.
        assert_eq!(last.unwrap_or_default(), usd(total * 15));
    }

    #[test]
    fn the_run_is_the_sum_of_its_attempts(figures in proptest::collection::vec((0..u64::MAX, proptest::option::of(0..u64::MAX), proptest::bool::ANY), 0..20)) {
        let mut account = UsageAccount::default();
        let mut sum = Totals::default();
        for (tokens, cost, is_partial) in figures {
            start(&mut account, Some(MODEL));
            apply(&mut account, &usage(None, run_usage(output(tokens), cost.and_then(reported), is_partial)));
            let ended = end(&mut account, Some(run_usage(output(tokens), cost.and_then(reported), is_partial)));
            sum = sum + ended;
            assert_eq!(account.totals(), sum);
        }
    }
}
