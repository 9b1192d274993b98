//! Taking in: all of it or nothing, and each record once.

use ralph_store::{ApprovalState, Batch, CostQuery, IndexedRun, RunFold};
use serde_json::json;

use crate::journal::Journal;
use crate::stage::Stage;

/// The batches of a run, cut after these records.
pub(crate) fn batches(run: &str, cuts: &[u64]) -> Vec<Batch> {
    let mut journal = Journal::of(run);
    cuts.iter().map(|cut| journal.work_until(*cut).take()).collect()
}

/// Everything there is to know of a run, to be compared.
pub(crate) async fn all_of(stage: &Stage, run: &str) -> String {
    let store = &stage.store;
    let progress = store.progress(run).await.unwrap();
    let approvals = ralph_store::ApprovalQuery {
        run: Some(run.to_owned()),
        ..Default::default()
    };
    let approvals = store.approvals(&approvals).await.unwrap().items;
    let messages = store.messages(run).await.unwrap();
    let costs = store.costs(&CostQuery::default()).await.unwrap();
    format!("{progress:#?} {approvals:#?} {messages:#?} {costs:#?}")
}

pub(crate) async fn the_same_again_changes_nothing(stage: &Stage) {
    let all = batches("a", &[10, 40, 90]);
    let ingested = stage.store.ingest(all.clone()).await.unwrap();
    let records = all.iter().map(|batch| batch.records.len() as u64).sum::<u64>();
    assert_eq!((ingested.records, ingested.disconnected.len()), (records, 0));
    let before = all_of(stage, "a").await;
    for again in [
        all.clone(),
        all[..1].to_vec(),
        all[1..].to_vec(),
        batches("a", &[90]),
        batches("a", &[55]),
    ] {
        let ingested = stage.store.ingest(again).await.unwrap();
        assert_eq!((ingested.records, ingested.disconnected.len()), (0, 0));
        assert_eq!(all_of(stage, "a").await, before);
    }
}

pub(crate) async fn a_batch_that_overlaps_adds_what_is_new(stage: &Stage) {
    stage.store.ingest(batches("a", &[40])).await.unwrap();
    let whole = batches("a", &[90]);
    let ingested = stage.store.ingest(whole.clone()).await.unwrap();
    let known = batches("a", &[40])[0].records.len() as u64;
    assert_eq!(ingested.records, whole[0].records.len() as u64 - known);
    let piecewise = all_of(stage, "a").await;
    stage.store.clear().await.unwrap();
    stage.store.ingest(whole).await.unwrap();
    assert_eq!(all_of(stage, "a").await, piecewise);
}

pub(crate) async fn a_gap_is_told_and_never_kept(stage: &Stage) {
    let store = &stage.store;
    let [first, middle, last] = batches("a", &[10, 40, 90]).try_into().unwrap();
    store.ingest(vec![first]).await.unwrap();
    let other = batches("b", &[20]).remove(0);
    let ingested = store.ingest(vec![last.clone(), other]).await.unwrap();
    assert_eq!(ingested.disconnected, ["a"]);
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 10);
    assert_eq!(store.run("b").await.unwrap().unwrap().head_seq, 20);
    let ingested = store.ingest(vec![middle, last]).await.unwrap();
    assert!(ingested.disconnected.is_empty());
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 90);
    let unknown = batches("c", &[10, 20]).pop().unwrap();
    assert_eq!(store.ingest(vec![unknown]).await.unwrap().disconnected, ["c"]);
    assert!(store.run("c").await.unwrap().is_none());
}

pub(crate) async fn several_batches_of_one_run_are_taken_in_order(stage: &Stage) {
    let store = &stage.store;
    let one = batches("a", &[5, 10, 17, 40]);
    let other = batches("b", &[3, 9, 33]);
    let mixed = [&one[..2], &other[..1], &one[2..], &other[1..]].concat();
    let records = mixed.iter().map(|batch| batch.records.len() as u64).sum::<u64>();
    let ingested = store.ingest(mixed).await.unwrap();
    assert_eq!((ingested.records, ingested.disconnected.len()), (records, 0));
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 40);
    let progress = store.progress("b").await.unwrap().unwrap();
    assert_eq!(
        (progress.offset, progress.summary.head_seq),
        (other[2].offset, 33)
    );
    let mut offsets = store.indexed_runs().await.unwrap();
    offsets.sort_by(|one, other| one.run.cmp(&other.run));
    let expected = [("a", one[3].offset), ("b", other[2].offset)];
    assert_eq!(
        offsets,
        expected.map(|(run, offset)| IndexedRun {
            run: run.to_owned(),
            offset,
            ended_at: None,
            is_current: true,
        })
    );
}

pub(crate) async fn another_journal_under_the_same_name_replaces_the_run(stage: &Stage) {
    let store = &stage.store;
    store.ingest(batches("a", &[90])).await.unwrap();
    store.ingest(batches("b", &[30])).await.unwrap();
    let other_before = store.progress("b").await.unwrap().unwrap();
    let mut journal = Journal::begin(None, "a", "/elsewhere", "codex");
    let first = journal.work_until(12).take();
    let second = journal.work_until(20).take();
    let ingested = store.ingest(vec![second.clone()]).await.unwrap();
    assert_eq!(ingested.disconnected, ["a"], "it does not begin at the start");
    let records = (first.records.len() + second.records.len()) as u64;
    let ingested = store.ingest(vec![first.clone(), second]).await.unwrap();
    assert_eq!((ingested.records, ingested.disconnected.len()), (records, 0));
    let summary = store.run("a").await.unwrap().unwrap();
    assert_eq!((summary.head_seq, summary.workspace.as_str()), (20, "/elsewhere"));
    assert_eq!(store.messages("a").await.unwrap().len(), 2);
    let other = store.progress("b").await.unwrap().unwrap();
    assert_eq!(
        (other.summary, other.state),
        (other_before.summary, other_before.state)
    );
    // Both in one call: what was told of the old journal first goes with it.
    let old = batches("a", &[60]).remove(0);
    store.ingest(vec![old, first.clone()]).await.unwrap();
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 12);
    assert_eq!(store.progress("a").await.unwrap().unwrap().offset, first.offset);
}

pub(crate) async fn a_fold_goes_on_where_the_index_stopped(stage: &Stage) {
    let store = &stage.store;
    let mut journal = Journal::of("a");
    journal.greet("s");
    journal.work_until(61).send("m", "wait");
    journal.ask("open");
    let lines = journal.lines();
    let mut whole = RunFold::new();
    for line in &lines {
        whole.push(line.as_bytes());
    }
    // A new one for every few lines, which knows only what the index has.
    for lines in lines.chunks(7) {
        let progress = store.progress("a").await.unwrap();
        let mut fold = progress.map_or_else(RunFold::new, RunFold::resume);
        for line in lines {
            fold.push(line.as_bytes());
        }
        let ingested = store.ingest(vec![fold.take().unwrap()]).await.unwrap();
        assert!(ingested.disconnected.is_empty());
    }
    let piecewise = all_of(stage, "a").await;
    store.remove(&["a".to_owned()]).await.unwrap();
    store.ingest(vec![whole.take().unwrap()]).await.unwrap();
    assert_eq!(piecewise, all_of(stage, "a").await);
    let progress = store.progress("a").await.unwrap().unwrap();
    assert_eq!(progress.approvals.last().unwrap().request, "open");
    assert!(store.progress("unknown").await.unwrap().is_none());
}

pub(crate) async fn what_a_batch_changes_takes_the_place_of_what_was_there(stage: &Stage) {
    let store = &stage.store;
    let mut journal = Journal::of("a");
    journal.ask("one");
    journal.ask("two");
    let first = journal.take();
    journal.answer("one");
    let second = journal.take();
    let state = async |request: &str| {
        let approvals = store
            .approvals(&ralph_store::ApprovalQuery::default())
            .await
            .unwrap()
            .items;
        let found = approvals.iter().find(|row| row.request == request).unwrap();
        (found.state, found.closed_at.is_some())
    };
    store.ingest(vec![first.clone()]).await.unwrap();
    assert_eq!(state("one").await, (ApprovalState::Pending, false));
    // Together with the one before: the last one counts.
    store.ingest(vec![first, second]).await.unwrap();
    assert_eq!(state("one").await, (ApprovalState::Answered, true));
    assert_eq!(state("two").await, (ApprovalState::Pending, false));
    journal.run(
        "run_ended",
        &json!({"reason": "stopped", "exit_code": 130, "iterations": 1, "totals": {}}),
    );
    store.ingest(vec![journal.take()]).await.unwrap();
    assert_eq!(state("two").await, (ApprovalState::Withdrawn, true));
}

pub(crate) async fn nothing_is_no_error(stage: &Stage) {
    let store = &stage.store;
    assert_eq!(store.ingest(Vec::new()).await.unwrap().records, 0);
    store.remove(&[]).await.unwrap();
    assert!(store.run("a").await.unwrap().is_none());
    assert!(store.messages("a").await.unwrap().is_empty());
    assert!(store.indexed_runs().await.unwrap().is_empty());
    assert_eq!(store.index_texts().await.unwrap(), 0);
    let health = store.health().await;
    assert_eq!((health.problem, health.text_lag), (None, 0));
}
