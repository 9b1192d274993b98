//! What is spent: exact, whatever agents report, and for longer than the runs are kept.

use jiff::SignedDuration;
use ralph_store::{CostGroup, CostQuery, CostRow, RunCounts, reindex};
use serde_json::json;

use crate::journal::Journal;
use crate::stage::Stage;

const GROUPS: [CostGroup; 5] = [
    CostGroup::Day,
    CostGroup::Model,
    CostGroup::Workspace,
    CostGroup::Backend,
    CostGroup::Run,
];

async fn costs(stage: &Stage, group: CostGroup) -> Vec<CostRow> {
    let query = CostQuery {
        group,
        ..CostQuery::default()
    };
    stage.store.costs(&query).await.unwrap()
}

/// Numbers that look random and are the same every time.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

pub(crate) async fn rows_add_up_to_the_totals_even_when_those_fall(stage: &Stage) {
    let store = &stage.store;
    for seed in 0..40_u64 {
        let mut random = numbers(seed);
        let run = format!("run-{seed}");
        let mut journal = Journal::of(&run);
        for attempt in 1..=2 {
            journal.run(
                "attempt_started",
                &json!({"number": attempt, "pid": 1, "raw_log": "r", "program": "p"}),
            );
            let mut last = (0, 0, 0);
            for _ in 0..=random(6) {
                journal.clock += SignedDuration::from_hours(i64::try_from(random(9)).unwrap());
                let model = ["claude-opus-4-5", "other"][usize::try_from(random(2)).unwrap()];
                last = (random(1_000), random(100), random(10_000));
                let is_partial = random(2) == 0;
                let cost = (random(4) > 0).then(|| json!({"micro_usd": last.2, "source": "reported"}));
                journal.agent(
                    "usage",
                    &json!({
                        "scope": "turn", "tokens": {}, "model": model,
                        "run": {
                            "tokens": {"input": last.0, "output": last.1}, "cost": cost, "is_partial": is_partial,
                        },
                    }),
                );
                if random(3) == 0 {
                    store.ingest(vec![journal.take()]).await.unwrap();
                }
            }
            let totals = json!({
                "tokens": {"input": last.0 / 2, "output": last.1 * 2}, "cost": last.2 / 3, "turns": 1,
            });
            journal.run(
                "attempt_ended",
                &json!({"outcome": "succeeded", "exit": {}, "totals": totals}),
            );
        }
        let totals = json!({"tokens": {"input": random(500), "output": random(500)}, "cost": random(5_000)});
        journal.run(
            "run_ended",
            &json!({"reason": "completed", "exit_code": 0, "iterations": 1, "totals": totals}),
        );
        store.ingest(vec![journal.take()]).await.unwrap();
    }
    let mut whole = (0, 0, 0);
    for row in costs(stage, CostGroup::Run).await {
        let totals = store.run(&row.key).await.unwrap().unwrap().totals;
        assert_eq!(
            (row.tokens, Some(row.cost)),
            (totals.tokens, totals.cost),
            "{}",
            row.key
        );
        whole.0 += row.tokens.input;
        whole.1 += row.tokens.output;
        whole.2 += row.cost.as_micro_usd();
    }
    assert!(whole.0 > 0 && whole.1 > 0 && whole.2 > 0);
    // No day and no model is less than nothing, so every grouping has the same sum.
    for group in GROUPS {
        let rows = costs(stage, group).await;
        let sum = |of: fn(&CostRow) -> u64| rows.iter().map(of).sum::<u64>();
        let sums = (
            sum(|row| row.tokens.input),
            sum(|row| row.tokens.output),
            sum(|row| row.cost.as_micro_usd()),
        );
        assert_eq!(sums, whole, "{group:?}");
    }
}

pub(crate) async fn sums_beyond_the_largest_integer_are_capped(stage: &Stage) {
    for run in ["a", "b"] {
        let mut journal = Journal::of(run);
        journal.use_tokens(u64::MAX / 2, 7, Some("absurd"));
        journal.cost(u64::MAX);
        stage.store.ingest(vec![journal.take()]).await.unwrap();
    }
    let check = async |when: &str| {
        for group in GROUPS {
            let rows = costs(stage, group).await;
            let largest = u64::try_from(i64::MAX).unwrap();
            assert!(
                rows.iter()
                    .all(|row| row.tokens.input == largest && row.cost.as_micro_usd() == largest),
                "{when}: {group:?}: {rows:?}"
            );
            assert_eq!(
                rows.iter().map(|row| row.tokens.output).sum::<u64>(),
                14,
                "{when}"
            );
        }
    };
    check("here").await;
    stage
        .store
        .remove(&["a".to_owned(), "b".to_owned()])
        .await
        .unwrap();
    check("removed").await;
}

pub(crate) async fn costs_outlive_their_runs_and_never_count_twice(stage: &Stage) {
    let store = &stage.store;
    for (run, workspace) in [("one", "/a"), ("two", "/b"), ("three", "/a")] {
        let mut journal = stage.run_in(run, workspace, "claude_code");
        journal.use_tokens(100, 10, Some("claude-opus-4-5"));
        journal.use_tokens(50, 5, None);
        journal.clock = SignedDuration::from_hours(20);
        journal.use_tokens(7, 1, Some("other"));
        journal.cost(3_000);
    }
    stage.catch_up().await;
    let all = async || {
        let mut all = Vec::new();
        for group in GROUPS {
            all.push(costs(stage, group).await);
        }
        all
    };
    let before = all().await;
    assert_eq!(before[0].iter().map(|row| row.messages).sum::<u64>(), 6);

    store
        .remove(&["one".to_owned(), "three".to_owned()])
        .await
        .unwrap();
    assert_eq!(all().await, before, "two are removed from the index");
    stage.catch_up().await;
    assert_eq!(all().await, before, "and taken in again");

    std::fs::remove_dir_all(stage.runs().join("one")).unwrap();
    stage.catch_up().await;
    assert_eq!(all().await, before, "one is removed from the disk");
    stage.catch_up().await;
    assert_eq!(all().await, before, "nothing new");

    std::fs::remove_dir_all(stage.runs().join("two")).unwrap();
    for _ in 0..2 {
        reindex(&**store, &stage.runs(), |_| {}).await.unwrap();
        assert_eq!(all().await, before, "another is gone when all is indexed again");
    }
    assert_eq!(store.indexed_runs().await.unwrap().len(), 1);

    let here = CostQuery {
        workspace: Some("/b".to_owned()),
        group: CostGroup::Model,
        ..CostQuery::default()
    };
    let rows = store.costs(&here).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.tokens.input).sum::<u64>(), 157);
    let midnight = "2026-11-17T00:00:00Z".parse().unwrap();
    let next_day = CostQuery {
        since: Some(midnight),
        ..CostQuery::default()
    };
    let rows = store.costs(&next_day).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].key.as_str(), rows[0].tokens.input), ("2026-11-17", 21));
}

/// The end of a run that used this much.
fn end(journal: &mut Journal, tokens: (u64, u64), cost: Option<u64>) {
    let totals = json!({"tokens": {"input": tokens.0, "output": tokens.1}, "cost": cost, "turns": 1});
    journal.run(
        "run_ended",
        &json!({"reason": "completed", "exit_code": 0, "iterations": 1, "totals": totals}),
    );
}

pub(crate) async fn removed_runs_without_a_known_cost_cost_nothing(stage: &Stage) {
    let mut journal = Journal::of("a");
    journal.use_tokens(20, 2, Some("a model without a price"));
    stage.store.ingest(vec![journal.take()]).await.unwrap();
    stage.store.remove(&["a".to_owned()]).await.unwrap();
    for group in GROUPS {
        let rows = costs(stage, group).await;
        assert_eq!((rows[0].tokens.input, rows[0].cost.as_micro_usd()), (20, 0));
    }
}

pub(crate) async fn costs_of_old_runs_stay_the_same_as_daily_sums(stage: &Stage) {
    let store = &stage.store;
    let day = SignedDuration::from_hours(24);
    let mut priced = stage.run_in("priced", "/a", "claude_code");
    for _ in 0..2 {
        priced.use_tokens(100, 10, Some("claude-opus-4-5"));
        priced.use_tokens(50, 5, Some("other"));
        priced.use_tokens(7, 1, Some("claude-opus-4-5"));
        priced.clock += day;
    }
    priced.cost(3_000);
    end(&mut priced, (314, 32), Some(3_000));
    let mut unpriced = stage.run_in("unpriced", "/b", "codex");
    unpriced.use_tokens(20, 2, Some("a model without a price"));
    unpriced.use_tokens(1, 1, Some("a model without a price"));
    end(&mut unpriced, (21, 3), None);
    let mut live = stage.run_in("live", "/b", "codex");
    live.use_tokens(1_000, 1, None);
    let mut new = stage.run_in("new", "/b", "codex");
    new.clock = day * 4;
    new.use_tokens(2_000, 1, None);
    end(&mut new, (2_000, 1), None);
    stage.catch_up().await;
    let all = async || {
        let mut all = Vec::new();
        for group in GROUPS {
            all.push(costs(stage, group).await);
        }
        all
    };
    let before = all().await;
    let long_ago = Journal::at(3 * 24 * 3600);
    assert_eq!(store.compact_usage(long_ago).await.unwrap(), 2);
    assert_eq!(all().await, before);
    assert_eq!(store.compact_usage(long_ago).await.unwrap(), 0, "once");
    assert_eq!(all().await, before);
    // The others still have a row for each message, and an old run needs none.
    stage.change("UPDATE TABLE.usage SET input = 0");
    let by_run = costs(stage, CostGroup::Run).await;
    let input: Vec<_> = by_run
        .iter()
        .map(|row| (row.key.as_str(), row.messages, row.tokens.input))
        .collect();
    assert_eq!(
        input,
        [
            ("live", 1, 0),
            ("new", 1, 0),
            ("priced", 6, 314),
            ("unpriced", 2, 21)
        ]
    );
    stage.change("UPDATE TABLE.usage SET input = 1000");

    let before = all().await;
    store.remove(&["priced".to_owned()]).await.unwrap();
    assert_eq!(all().await, before, "a compacted run is removed");
    stage.catch_up().await;
    assert_eq!(all().await, before, "and taken in again");
}

pub(crate) async fn a_run_that_grows_after_its_usage_was_compacted_is_read_again(stage: &Stage) {
    let store = &stage.store;
    let mut run = stage.run_in("a", "/a", "claude_code");
    run.use_tokens(100, 10, Some("claude-opus-4-5"));
    run.cost(3_000);
    end(&mut run, (100, 10), Some(3_000));
    stage.catch_up().await;
    let compacted = costs(stage, CostGroup::Run).await;
    assert_eq!(store.compact_usage(Journal::at(24 * 3600)).await.unwrap(), 1);
    assert_eq!(costs(stage, CostGroup::Run).await, compacted);
    // The second end says that less was used, which changes the row of the first.
    end(&mut run, (60, 10), Some(2_000));
    stage.catch_up().await;
    let rows = costs(stage, CostGroup::Run).await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].tokens.input, rows[0].cost.as_micro_usd()), (60, 2_000));
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, run.seq);
    assert_eq!(store.compact_usage(Journal::at(24 * 3600)).await.unwrap(), 1);
    assert_eq!(costs(stage, CostGroup::Run).await[0].tokens.input, 60);
}

pub(crate) async fn runs_are_counted_by_why_they_ended(stage: &Stage) {
    let store = &stage.store;
    assert_eq!(store.counts().await.unwrap(), RunCounts::default());
    for (run, reason) in [
        ("a", json!("completed")),
        ("b", json!({"limit": "cost"})),
        ("c", json!("completed")),
        ("d", json!(null)),
        ("e", json!("a_reason_of_tomorrow")),
    ] {
        let mut journal = Journal::of(run);
        if reason.is_null() {
            journal.ask("q1");
            journal.ask("q2");
            journal.answer("q1");
            journal.send("m1", "hi");
        } else {
            journal.run(
                "run_ended",
                &json!({"reason": reason, "exit_code": 0, "iterations": 1, "totals": {"turns": 1}}),
            );
        }
        store.ingest(vec![journal.take()]).await.unwrap();
    }
    let counts = RunCounts {
        ended: [("a_reason_of_tomorrow", 1), ("completed", 2), ("limit_cost", 1)]
            .map(|(reason, count)| (reason.to_owned(), count))
            .to_vec(),
        queued_messages: 1,
        pending_requests: 1,
    };
    assert_eq!(store.counts().await.unwrap(), counts);
}
