//! An index belongs to one state directory, and is brought up to date whatever state it is found in.

use ralph_store::{CostQuery, OtherHome, RunQuery, StoreError, catch_up};

use crate::ingest::all_of;
use crate::stage::Stage;

pub(crate) async fn the_index_of_another_home_is_refused_and_left_as_it_is(stage: &Stage) {
    stage.store.close().await.unwrap();
    let first = stage.open_for("first", OtherHome::Refuse).await.unwrap();
    stage.run("a").work_until(40);
    catch_up(&*first, &stage.runs(), |_| {}).await.unwrap();
    first.close().await.unwrap();

    let refused = stage.open_for("second", OtherHome::Refuse).await.err().unwrap();
    assert!(
        matches!(&refused, StoreError::OtherHome { found } if found == "first"),
        "{refused}"
    );
    let message = refused.to_string();
    assert!(
        message.contains("another database") && message.contains("--take-over"),
        "{message}"
    );

    let first = stage.open_for("first", OtherHome::Refuse).await.unwrap();
    assert!(first.run("a").await.unwrap().is_some());
    first.close().await.unwrap();
}

pub(crate) async fn an_index_without_an_id_belongs_to_the_first_home_that_opens_it(stage: &Stage) {
    stage.run("a").work_until(40);
    stage.catch_up().await;
    stage.store.close().await.unwrap();
    let first = stage.open_for("first", OtherHome::Refuse).await.unwrap();
    assert!(first.run("a").await.unwrap().is_some(), "what it has is kept");
    first.close().await.unwrap();
    assert!(stage.open_for("second", OtherHome::Refuse).await.is_err());
}

pub(crate) async fn an_index_that_is_taken_over_has_nothing_of_the_other_home(stage: &Stage) {
    stage.store.close().await.unwrap();
    let first = stage.open_for("first", OtherHome::Refuse).await.unwrap();
    for run in ["a", "b"] {
        stage.run(run).work_until(40);
    }
    catch_up(&*first, &stage.runs(), |_| {}).await.unwrap();
    first.remove(&["b".to_owned()]).await.unwrap();
    first.close().await.unwrap();

    let second = stage.open_for("second", OtherHome::TakeOver).await.unwrap();
    assert!(second.runs(&RunQuery::default()).await.unwrap().items.is_empty());
    assert!(second.costs(&CostQuery::default()).await.unwrap().is_empty());
    second.close().await.unwrap();
    assert!(stage.open_for("first", OtherHome::Refuse).await.is_err());
    let second = stage.open_for("second", OtherHome::TakeOver).await.unwrap();
    second.close().await.unwrap();
}

pub(crate) async fn runs_of_an_older_fold_stay_listed_until_they_are_read_again(stage: &Stage) {
    let store = &stage.store;
    for run in ["a", "b"] {
        stage.run(run).work_until(90);
    }
    stage.catch_up().await;
    let expected = all_of(stage, "a").await;
    // An older fold missed a request and used another state.
    stage.change(
        "UPDATE TABLE.run SET fold_version = 1, state = replace(state, '\"version\":', '\"version\":1,\"was\":');
         DELETE FROM TABLE.approval; DELETE FROM TABLE.usage;",
    );
    assert!(
        store
            .indexed_runs()
            .await
            .unwrap()
            .iter()
            .all(|run| !run.is_current)
    );
    assert_eq!(store.runs(&RunQuery::default()).await.unwrap().items.len(), 2);
    let caught_up = catch_up(&**store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!((caught_up.runs, caught_up.removed.len()), (2, 0));
    assert_eq!(all_of(stage, "a").await, expected);
    assert!(
        store
            .indexed_runs()
            .await
            .unwrap()
            .iter()
            .all(|run| run.is_current)
    );
    let again = catch_up(&**store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(again.runs, 0, "once is enough");
}

pub(crate) async fn a_database_restored_from_an_older_dump_is_caught_up(stage: &Stage) {
    let mut grows = stage.run("grows");
    grows.work_until(40);
    stage.run("replaced").work_until(40);
    stage.run("goes").work_until(40);
    stage.catch_up().await;
    stage.store.close().await.unwrap();
    stage.dump();

    let store = stage.open().await.unwrap();
    grows.work_until(90);
    let mut other = stage.run_in("replaced", "/elsewhere", "codex");
    other.work_until(60);
    std::fs::remove_dir_all(stage.runs().join("goes")).unwrap();
    stage.run("new").work_until(40);
    catch_up(&*store, &stage.runs(), |_| {}).await.unwrap();
    store.index_texts().await.unwrap();
    let expected = shown(&*store).await;
    store.close().await.unwrap();

    stage.restore();
    let store = stage.open().await.unwrap();
    assert!(store.run("goes").await.unwrap().is_some(), "it is the old state");
    catch_up(&*store, &stage.runs(), |_| {}).await.unwrap();
    store.index_texts().await.unwrap();
    assert_eq!(shown(&*store).await, expected);
    assert_eq!(store.health().await.text_lag, 0);
    store.close().await.unwrap();
}

async fn shown(store: &dyn ralph_store::Store) -> String {
    let runs = store.runs(&RunQuery::default()).await.unwrap().items;
    let costs = store.costs(&CostQuery::default()).await.unwrap();
    let hits = store.search(&crate::search::query("hello")).await.unwrap().hits;
    let mut places: Vec<(String, u64)> = hits.into_iter().map(|hit| (hit.run, hit.seq)).collect();
    places.sort();
    format!("{runs:#?} {costs:#?} {places:?}")
}
