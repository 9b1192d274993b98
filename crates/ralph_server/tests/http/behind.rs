//! An index that is behind what happens.

use jiff::Timestamp;
use ralph_run::EndReason;
use ralph_run::model::RunState;
use serde_json::{Value, json};

use crate::stage::{Stage, wrote};

fn seqs(page: &Value) -> Vec<u64> {
    let records = page["items"].as_array().unwrap();
    records
        .iter()
        .map(|record| record["seq"].as_u64().unwrap())
        .collect()
}

/// A piece of a text.
fn piece(number: usize) -> Value {
    let data = json!({"item": format!("m/{number}"), "part": "text", "mode": "append", "text": "x"});
    json!({"agent_kind": "demo", "type": "delta", "data": data})
}

#[tokio::test]
async fn records_that_the_index_lacks_come_from_the_journal() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "a"), wrote(2, "b")]).await;
    let more = [wrote(3, "c"), piece(4), wrote(4, "x"), wrote(5, "d"), piece(6)];
    stage.append(&run, &more);
    // Those who watch live know of them.
    let mut summary = stage.app.store.run(run.id()).await.unwrap().unwrap();
    summary.head_seq = 8;
    stage.app.live.board().update(&summary);
    let path = format!("/api/v1/runs/{}/records", run.id());
    let page = stage.get(&path).await.json();
    assert_eq!(seqs(&page), [1, 2, 3, 4, 6, 7]);
    assert_eq!(
        (&page["head_seq"], &page["next_after"]),
        (&json!(8), &Value::Null)
    );

    let (mut forwards, mut after) = (Vec::new(), 0);
    loop {
        let page = stage.get(&format!("{path}?after={after}&limit=2")).await.json();
        forwards.extend(seqs(&page));
        match page["next_after"].as_u64() {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(forwards, [1, 2, 3, 4, 6, 7]);
    let back = stage.get(&format!("{path}?before=8&limit=3")).await.json();
    assert_eq!((seqs(&back), &back["next_before"]), (vec![4, 6, 7], &json!(4)));
    let back = stage.get(&format!("{path}?before=4&limit=2")).await.json();
    assert_eq!(seqs(&back), [2, 3]);
    let some = stage
        .get(&format!("{path}?kinds=text_block&after=3"))
        .await
        .json();
    assert_eq!(seqs(&some), [4, 6, 7]);
    assert_eq!(stage.get(&format!("{path}/7")).await.json()["seq"], 7);
    // A piece of a text is no record of its own, here as in the index.
    assert_eq!(stage.get(&format!("{path}/5")).await.problem().0, 404);
    stage.index().await;
    assert_eq!(seqs(&stage.get(&path).await.json()), forwards);
}

#[tokio::test]
async fn a_record_that_is_not_written_to_its_end_is_none_yet() {
    let stage = Stage::new().await;
    let run = stage.run(&[]).await;
    stage.append(&run, &[wrote(1, "a")]);
    let whole = std::fs::read(run.journal()).unwrap();
    std::fs::write(run.journal(), &whole[..whole.len() - 1]).unwrap();
    let path = format!("/api/v1/runs/{}/records", run.id());
    assert_eq!(seqs(&stage.get(&path).await.json()), [1]);
    std::fs::write(run.journal(), &whole).unwrap();
    assert_eq!(seqs(&stage.get(&path).await.json()), [1, 2]);
}

#[tokio::test]
async fn records_of_another_journal_than_the_index_knows_are_not_mixed_up() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "old"), wrote(2, "old")]).await;
    let mut summary = stage.app.store.run(run.id()).await.unwrap().unwrap();
    summary.epoch = "another".to_owned();
    summary.head_seq = 1;
    stage.app.live.board().update(&summary);
    let text = std::fs::read_to_string(run.journal()).unwrap();
    let first = text.lines().next().unwrap();
    std::fs::write(run.journal(), format!("{first}\n")).unwrap();
    let page = stage.get(&format!("/api/v1/runs/{}/records", run.id())).await;
    assert_eq!(seqs(&page.json()), [1]);
    assert_eq!(page.json()["epoch"], ralph_run::epoch_of(first.as_bytes()));
}

#[tokio::test]
async fn the_list_shows_runs_as_they_are_and_not_as_the_index_has_them() {
    let stage = Stage::new().await;
    let (one, two) = (stage.run(&[]).await, stage.run(&[]).await);
    let known = stage.app.store.run(one.id()).await.unwrap().unwrap();
    let board = stage.app.live.board();
    // One has gone on, and ended, since the index was told.
    let mut ended = known.clone();
    ended.head_seq = 9;
    ended.activity = RunState::Ended {
        reason: EndReason::Completed.into(),
    };
    board.update(&ended);
    // One is newer in the index.
    let mut old = stage.app.store.run(two.id()).await.unwrap().unwrap();
    (old.head_seq, old.title) = (0, "old".to_owned());
    board.update(&old);
    // One is not there at all.
    let mut new = known.clone();
    new.id = "20991116-000000-000001".to_owned();
    new.started_at = Timestamp::now();
    board.update(&new);
    let list = async |query: &str| {
        let page = stage.get(&format!("/api/v1/runs{query}")).await.json();
        let items = page["items"].as_array().unwrap().clone();
        let ids = items.iter().map(|run| run["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), page)
    };
    let mut both = [one.id().to_owned(), two.id().to_owned()];
    both.sort();
    let [early, late] = both;
    let (all, page) = list("").await;
    assert_eq!(all, [new.id.clone(), late.clone(), early.clone()]);
    assert!(!page.to_string().contains("\"old\""));
    let head = |id: &str| {
        let items = page["items"].as_array().unwrap();
        items.iter().find(|run| run["id"] == id).unwrap()["head_seq"].clone()
    };
    assert_eq!((head(one.id()), head(two.id())), (json!(9), json!(1)));
    let (ended, _) = list("?ended=true").await;
    assert_eq!(ended, [one.id()]);
    let (going_on, _) = list("?ended=false").await;
    assert_eq!(going_on, [new.id.as_str(), two.id()]);
    // Each is on one page.
    let (first, page) = list("?limit=1").await;
    let next = page["next"].as_str().unwrap();
    let (second, _) = list(&format!("?limit=1&cursor={next}")).await;
    assert_eq!((first, second), (vec![new.id, late], vec![early]));
    assert!(list("?workspace=/elsewhere").await.0.is_empty());
}

#[tokio::test]
async fn how_far_the_text_index_is_behind_is_said_by_the_metrics_and_by_every_search() {
    let stage = Stage::new().await;
    let run = stage.run(&[wrote(1, "needle")]).await;
    let told = async || {
        let metrics = stage.get("/metrics").await.text();
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix("ralph_text_index_lag_records "));
        let found = stage.get("/api/v1/search?q=needle").await.json();
        (
            line.unwrap().to_owned(),
            found["lag"].clone(),
            found["items"].as_array().unwrap().len(),
        )
    };
    assert_eq!(told().await, ("0".to_owned(), json!(0), 1));
    stage.append(&run, &[wrote(2, "needle"), wrote(3, "needle")]);
    let runs = stage.home.runs_directory();
    ralph_store::catch_up(stage.app.store.as_ref(), &runs, |_| {})
        .await
        .unwrap();
    assert_eq!(told().await, ("2".to_owned(), json!(2), 1));
    stage.index().await;
    assert_eq!(told().await, ("0".to_owned(), json!(0), 3));
}
