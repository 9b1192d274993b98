//! An index that is behind what happens.

use serde_json::{Value, json};

use crate::stage::{Stage, wrote};

fn seqs(page: &Value) -> Vec<u64> {
    let records = page["records"].as_array().unwrap();
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
    assert_eq!(page.json()["epoch"], "another");
}
