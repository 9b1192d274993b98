//! Forgetting, rebuilding, and leaving.

use ralph_store::{CostQuery, RunQuery, SavedResponse, SearchQuery, StoreError, reindex};

use crate::ingest::all_of;
use crate::search::query;
use crate::stage::Stage;

async fn count(stage: &Stage, text: &str) -> usize {
    stage.store.search(&query(text)).await.unwrap().hits.len()
}

pub(crate) async fn removed_runs_are_forgotten_and_others_are_not(stage: &Stage) {
    let store = &stage.store;
    for run in ["one", "two"] {
        let mut journal = stage.run(run);
        journal.greet("s");
        journal.work_until(40).say("needle");
    }
    stage.catch_up().await;
    let before = all_of(stage, "two").await;
    let spent = store.costs(&CostQuery::default()).await.unwrap()[0].tokens.input;
    store
        .remove(&["one".to_owned(), "unknown".to_owned()])
        .await
        .unwrap();
    assert!(store.run("one").await.unwrap().is_none());
    assert!(store.messages("one").await.unwrap().is_empty());
    let of_session = RunQuery {
        session: Some("s".to_owned()),
        ..RunQuery::default()
    };
    assert_eq!(store.runs(&of_session).await.unwrap().items.len(), 1);
    assert_eq!(count(stage, "needle").await, 1);
    let left = store.costs(&CostQuery::default()).await.unwrap()[0].tokens.input;
    assert_eq!(left, spent, "what it cost stays");
    let after = all_of(stage, "two").await;
    let without_costs = |text: &str| text.split(" [\n    CostRow").next().unwrap().to_owned();
    assert_eq!(without_costs(&after), without_costs(&before));
    // It is still on the disk, and comes back.
    stage.catch_up().await;
    assert_eq!(count(stage, "needle").await, 2);
    assert_eq!(all_of(stage, "two").await, before);
    // A run whose directory is gone goes with it.
    std::fs::remove_dir_all(stage.runs().join("one")).unwrap();
    stage.catch_up().await;
    assert_eq!(store.indexed_runs().await.unwrap().len(), 1);
    assert_eq!(count(stage, "needle").await, 1);
}

pub(crate) async fn everything_but_answers_and_costs_is_forgotten_when_it_is_cleared(stage: &Stage) {
    let store = &stage.store;
    stage.run("a").work_until(40).say("needle");
    stage.catch_up().await;
    let answer = SavedResponse {
        digest: "d".to_owned(),
        status: 200,
        body: String::new(),
        at: jiff::Timestamp::UNIX_EPOCH,
    };
    store.put_response("k", &answer).await.unwrap();
    store.clear().await.unwrap();
    assert!(store.runs(&RunQuery::default()).await.unwrap().items.is_empty());
    assert!(
        !store.costs(&CostQuery::default()).await.unwrap().is_empty(),
        "nor are costs"
    );
    assert_eq!(count(stage, "needle").await, 0);
    assert_eq!(store.health().await.text_lag, 0);
    assert_eq!(store.response("k").await.unwrap(), Some(answer));
}

pub(crate) async fn after_a_rebuild_everything_is_as_it_was(stage: &Stage) {
    let store = &stage.store;
    for run in ["a", "b", "c"] {
        let mut journal = stage.run(run);
        journal.greet("s");
        journal.work_until(70).say("needle");
    }
    stage.catch_up().await;
    let hits = |query: SearchQuery| async move { stage.store.search(&query).await.unwrap().hits };
    let (before, found) = (all_of(stage, "b").await, hits(query("needle")).await);
    reindex(&**store, &stage.runs(), |_| {}).await.unwrap();
    assert!(store.health().await.text_lag > 0, "the words are not there yet");
    assert!(store.search(&query("needle")).await.unwrap().lag > 0);
    store.index_texts().await.unwrap();
    assert_eq!(store.health().await.text_lag, 0);
    assert_eq!(all_of(stage, "b").await, before);
    assert_eq!(hits(query("needle")).await, found);
}

pub(crate) async fn a_closed_index_answers_nothing(stage: &Stage) {
    let store = &stage.store;
    let mut journal = stage.run("a");
    journal.say("needle");
    stage.catch_up().await;
    store.close().await.unwrap();
    assert!(matches!(store.run("a").await, Err(StoreError::Closed)));
    assert!(matches!(store.ingest(Vec::new()).await, Err(StoreError::Closed)));
    assert!(matches!(store.clear().await, Err(StoreError::Closed)));
    assert!(store.health().await.problem.is_some());
    // Whatever was there is there for the next one.
    let next = stage.open().await.unwrap();
    assert_eq!(next.run("a").await.unwrap().unwrap().head_seq, 2);
    assert_eq!(next.search(&query("needle")).await.unwrap().hits.len(), 1);
    next.close().await.unwrap();
}

pub(crate) async fn another_server_is_refused_until_the_first_one_leaves(stage: &Stage) {
    let refused = stage.open().await.err().unwrap();
    let us = std::process::id();
    assert!(
        matches!(&refused, StoreError::InUse { pid: Some(pid), .. } if *pid == us),
        "{refused}"
    );
    assert!(refused.to_string().contains(&us.to_string()), "{refused}");
    assert!(
        stage.store.indexed_runs().await.unwrap().is_empty(),
        "the first one goes on"
    );
    stage.store.close().await.unwrap();
    stage.open().await.unwrap().close().await.unwrap();
}
