//! What agents ask, are told, and cost.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use ralph_store::{
    ApprovalKind, ApprovalQuery, ApprovalRow, CostGroup, CostQuery, CostRow, MessageState, SavedResponse,
};
use serde_json::json;

use crate::journal::Journal;
use crate::stage::Stage;

pub(crate) async fn questions_wait_until_they_are_closed(stage: &Stage) {
    let store = &stage.store;
    let mut one = Journal::of("one");
    one.ask("first");
    one.clock = SignedDuration::from_secs(10);
    one.agent(
        "question_asked",
        &json!({"request": "third", "questions": [{"text": "Which?"}]}),
    );
    let mut two = Journal::of("two");
    two.clock = SignedDuration::from_secs(5);
    two.agent("plan_proposed", &json!({"request": "second", "plan": "Do it"}));
    store.ingest(vec![one.take(), two.take()]).await.unwrap();
    let find = async |run: Option<&str>, is_pending: bool, limit: usize| -> Vec<String> {
        let query = ApprovalQuery {
            run: run.map(str::to_owned),
            is_pending,
            limit,
            ..ApprovalQuery::default()
        };
        let page = store.approvals(&query).await.unwrap();
        page.items.into_iter().map(|row| row.request).collect()
    };
    assert_eq!(find(None, true, 0).await, ["first", "second", "third"]);
    assert_eq!(find(None, false, 2).await, ["first", "second"]);
    assert_eq!(find(Some("one"), true, 0).await, ["first", "third"]);
    assert_eq!(find(Some("unknown"), true, 0).await, [""; 0]);
    let page = store.approvals(&ApprovalQuery::default()).await.unwrap();
    assert_eq!(page.next, None);
    let rows = page.items;
    for (index, row) in rows.iter().enumerate() {
        let up_to_here = ApprovalQuery {
            limit: index + 1,
            ..ApprovalQuery::default()
        };
        let place = (row.asked_at, row.run.clone(), row.seq);
        let is_last = index + 1 == rows.len();
        let next = store.approvals(&up_to_here).await.unwrap().next;
        assert_eq!(next, (!is_last).then_some(place));
        let behind = ApprovalQuery {
            after: Some((row.asked_at, row.run.clone(), row.seq)),
            ..ApprovalQuery::default()
        };
        let behind = store.approvals(&behind).await.unwrap().items;
        let names =
            |rows: &[ApprovalRow]| -> Vec<String> { rows.iter().map(|row| row.request.clone()).collect() };
        assert_eq!(names(&behind), names(&rows[index + 1..]));
    }
    let kinds: Vec<ApprovalKind> = rows.iter().map(|row| row.kind).collect();
    assert_eq!(
        kinds,
        [
            ApprovalKind::Permission,
            ApprovalKind::Plan,
            ApprovalKind::Question
        ]
    );
    assert_eq!((rows[1].run.as_str(), rows[1].seq), ("two", 2));
    assert!(rows[1].data.get().contains("Do it"));
    assert!(store.run("one").await.unwrap().unwrap().activity.needs_person());
    one.answer("first");
    one.answer("third");
    store.ingest(vec![one.take()]).await.unwrap();
    assert_eq!(find(None, true, 0).await, ["second"]);
    assert_eq!(find(None, false, 0).await, ["first", "second", "third"]);
    assert!(!store.run("one").await.unwrap().unwrap().activity.needs_person());
}

pub(crate) async fn messages_say_what_became_of_them(stage: &Stage) {
    let store = &stage.store;
    let mut journal = Journal::of("a");
    for message in ["m1", "m2", "m3"] {
        journal.send(message, &format!("text of {message}"));
    }
    store.ingest(vec![journal.take()]).await.unwrap();
    let states = async || -> Vec<(String, MessageState)> {
        let messages = store.messages("a").await.unwrap();
        messages.into_iter().map(|row| (row.id, row.state)).collect()
    };
    let expect =
        |one, two, three| [("m1", one), ("m2", two), ("m3", three)].map(|(id, state)| (id.to_owned(), state));
    let queued = MessageState::Queued;
    assert_eq!(states().await, expect(queued, queued, queued));
    journal.agent(
        "message_updated",
        &json!({"message_id": "m2", "state": "completed"}),
    );
    store.ingest(vec![journal.take()]).await.unwrap();
    assert_eq!(states().await, expect(queued, MessageState::Delivered, queued));
    journal.end();
    store.ingest(vec![journal.take()]).await.unwrap();
    let lost = MessageState::Lost;
    assert_eq!(states().await, expect(lost, MessageState::Delivered, lost));
    let first = &store.messages("a").await.unwrap()[0];
    assert_eq!(
        (first.text.as_str(), first.mode.as_str()),
        ("text of m1", "queue")
    );
    assert_eq!(
        (first.command_id.as_str(), first.run.as_str(), first.seq),
        ("c-m1", "a", 2)
    );
}

/// What is spent is written down here, too, and compared.
pub(crate) async fn costs_are_what_was_spent_however_they_are_added_up(stage: &Stage) {
    type Spent = BTreeMap<String, (u64, u64, u64)>;
    let store = &stage.store;
    let mut truth: BTreeMap<&str, Spent> = BTreeMap::new();
    let (mut input_in_all, mut cost_in_all) = (0, 0);
    for number in 0..6_u64 {
        let (run, workspace) = (format!("run-{number}"), format!("/w/{}", number % 2));
        let backend = ["claude_code", "codex", "gemini"][usize::try_from(number % 3).unwrap()];
        let mut journal = Journal::begin(None, &run, &workspace, backend);
        journal.run(
            "attempt_started",
            &json!({"number": 1, "pid": 1, "raw_log": "r", "program": "p"}),
        );
        let mut cost = 0;
        for message in 1..=8_u64 {
            // Two days, and two models; of one run it is not known which.
            journal.clock = SignedDuration::from_hours(if message > 4 { 20 } else { 0 });
            let day = if message > 4 { "2026-11-17" } else { "2026-11-16" };
            // A message of which no model is named is of the one before it.
            let model = match (number, message % 2) {
                (5, _) => None,
                (_, 0) => Some("claude-opus-4-5"),
                (_, _) => Some("other"),
            };
            let (input, output) = (100 * message, message + number);
            journal.use_tokens(input, output, model);
            cost += 1_000 * message;
            journal.cost(cost);
            let keys = [
                ("day", day),
                ("model", model.unwrap_or("unknown")),
                ("workspace", &workspace),
                ("backend", backend),
                ("run", &run),
            ];
            for (group, key) in keys {
                let spent = truth.entry(group).or_default().entry(key.to_owned()).or_default();
                *spent = (spent.0 + 1, spent.1 + input, spent.2 + output);
            }
            input_in_all += input;
        }
        cost_in_all += cost;
        // In pieces, as they come in while a run is watched.
        store.ingest(vec![journal.take()]).await.unwrap();
    }
    for (group, name) in [
        (CostGroup::Day, "day"),
        (CostGroup::Model, "model"),
        (CostGroup::Workspace, "workspace"),
        (CostGroup::Backend, "backend"),
        (CostGroup::Run, "run"),
    ] {
        let query = CostQuery {
            group,
            ..CostQuery::default()
        };
        let rows = store.costs(&query).await.unwrap();
        let found: Vec<(String, (u64, u64, u64))> = rows
            .iter()
            .map(|row| {
                (
                    row.key.clone(),
                    (row.messages, row.tokens.input, row.tokens.output),
                )
            })
            .collect();
        let expected: Vec<_> = truth[name].clone().into_iter().collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(rows.iter().map(|row| row.tokens.input).sum::<u64>(), input_in_all);
        let cost: u64 = rows.iter().map(|row| row.cost.as_micro_usd()).sum();
        assert_eq!(cost, cost_in_all, "{name}");
        assert!(rows.iter().all(|row| !row.is_estimate), "the agent said so");
        let mut pages = Vec::new();
        loop {
            let query = CostQuery {
                group,
                after: pages.last().map(|row: &CostRow| row.key.clone()),
                limit: 1,
                ..CostQuery::default()
            };
            let page = store.costs(&query).await.unwrap();
            if page.is_empty() {
                break;
            }
            pages.extend(page);
        }
        assert_eq!(pages, rows, "{name}");
    }
    let midnight: Timestamp = "2026-11-17T00:00:00Z".parse().unwrap();
    let days = async |since: Option<Timestamp>, until: Option<Timestamp>, workspace: Option<&str>| {
        let query = CostQuery {
            since,
            until,
            workspace: workspace.map(str::to_owned),
            group: CostGroup::Day,
            ..CostQuery::default()
        };
        let rows = store.costs(&query).await.unwrap();
        rows.into_iter()
            .map(|row| (row.key, row.messages))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        days(None, Some(midnight), None).await,
        [("2026-11-16".to_owned(), 24)]
    );
    assert_eq!(
        days(Some(midnight), None, None).await,
        [("2026-11-17".to_owned(), 24)]
    );
    assert_eq!(days(Some(midnight), Some(midnight), None).await, []);
    assert_eq!(
        days(Some(midnight), None, Some("/w/1")).await,
        [("2026-11-17".to_owned(), 12)]
    );
}

pub(crate) async fn the_first_response_to_a_request_is_the_one_that_is_kept(stage: &Stage) {
    let store = &stage.store;
    let answer = |digest: &str, day: i64| SavedResponse {
        digest: digest.to_owned(),
        status: 201,
        body: "{\"a\":\"\u{0}\"}".to_owned(),
        at: Timestamp::from_second(day * 86_400).unwrap(),
    };
    assert_eq!(store.response("k").await.unwrap(), None);
    assert_eq!(store.put_response("k", &answer("a", 100)).await.unwrap(), None);
    let again = store.put_response("k", &answer("a", 100)).await.unwrap();
    assert_eq!(again, None, "the same again");
    let other = store.put_response("k", &answer("b", 101)).await.unwrap();
    assert_eq!(other, Some(answer("a", 100)));
    assert_eq!(store.response("k").await.unwrap(), Some(answer("a", 100)));
    store.put_response("later", &answer("c", 108)).await.unwrap();
    assert_eq!(store.response("k").await.unwrap(), None, "a week is long enough");
}
