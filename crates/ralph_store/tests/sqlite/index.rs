//! The index in a file.

use std::fs;
use std::sync::Arc;

use crate::journal_stage::{Stage, line};
use ralph_store::{
    ApprovalQuery, Batch, CostGroup, CostQuery, Cursor, Note, RunFold, RunQuery, SavedResponse, SqliteStore,
    Store, StoreError, catch_up,
};

/// The batches of a run, cut after these lines.
fn batches(run: &str, cuts: &[u64]) -> Vec<Batch> {
    let mut fold = RunFold::new();
    let mut batches = Vec::new();
    let mut next = 1;
    for cut in cuts {
        for seq in next..=*cut {
            fold.push(line(run, seq).as_bytes());
        }
        next = cut + 1;
        batches.push(fold.take().unwrap());
    }
    batches
}

#[tokio::test]
async fn the_same_again_changes_nothing() {
    let stage = Stage::new();
    let store = stage.open().await.store;
    let all = batches("a", &[10, 40, 90]);
    let ingested = store.ingest(all.clone()).await.unwrap();
    let records = all.iter().map(|batch| batch.records.len() as u64).sum::<u64>();
    assert_eq!((ingested.records, ingested.disconnected.len()), (records, 0));
    for again in [
        all.clone(),
        all[..1].to_vec(),
        batches("a", &[90]),
        batches("a", &[55]),
    ] {
        let ingested = store.ingest(again).await.unwrap();
        assert_eq!((ingested.records, ingested.disconnected.len()), (0, 0));
    }
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 90);
}

#[tokio::test]
async fn a_batch_that_overlaps_adds_what_is_new() {
    let stage = Stage::new();
    let store = stage.open().await.store;
    store.ingest(batches("a", &[40])).await.unwrap();
    let ingested = store.ingest(batches("a", &[90])).await.unwrap();
    assert!(ingested.records > 0 && ingested.disconnected.is_empty());
    let count = |cut| batches("a", &[cut])[0].records.len() as u64;
    assert_eq!(ingested.records, count(90) - count(40));
}

#[tokio::test]
async fn a_gap_is_told_and_never_kept() {
    let stage = Stage::new();
    let store = stage.open().await.store;
    let mut all = batches("a", &[10, 40, 90]);
    let last = all.pop().unwrap();
    let middle = all.pop().unwrap();
    let other = batches("b", &[20]);
    store.ingest(all).await.unwrap();
    let ingested = store.ingest([vec![last.clone()], other].concat()).await.unwrap();
    assert_eq!(ingested.disconnected, ["a"]);
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 10);
    assert_eq!(store.run("b").await.unwrap().unwrap().head_seq, 20);
    assert!(
        store
            .ingest(vec![middle, last])
            .await
            .unwrap()
            .disconnected
            .is_empty()
    );
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 90);
    let unknown = batches("c", &[10, 20]).pop().unwrap();
    assert_eq!(store.ingest(vec![unknown]).await.unwrap().disconnected, ["c"]);
}

#[tokio::test]
async fn pages_of_runs_neither_lose_nor_repeat_any_while_others_begin() {
    let stage = Stage::new();
    let store = stage.open().await.store;
    for run in 0..25 {
        store
            .ingest(batches(&format!("run-{run:02}"), &[5]))
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut query = RunQuery {
        limit: 7,
        ..RunQuery::default()
    };
    loop {
        let page = store.runs(&query).await.unwrap();
        seen.extend(page.items.into_iter().map(|run| run.id));
        store
            .ingest(batches(&format!("z-{}", seen.len()), &[5]))
            .await
            .unwrap();
        let Some(next) = page.next else { break };
        query.cursor = Some(next);
    }
    let expected: Vec<String> = (0..25).rev().map(|run| format!("run-{run:02}")).collect();
    assert_eq!(seen, expected);
    query.cursor = Some(Cursor("nonsense".to_owned()));
    assert!(matches!(store.runs(&query).await, Err(StoreError::BadCursor)));
}

#[tokio::test]
async fn runs_are_found_by_what_is_asked() {
    let stage = Stage::new();
    stage.write_run("a", 30, true);
    stage.write_run("bb", 13, false);
    stage.write_run("c", 30, false);
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let find = async |query: RunQuery| -> Vec<String> {
        let page = store.runs(&query).await.unwrap();
        page.items.into_iter().map(|run| run.id).collect()
    };
    let any = RunQuery::default;
    assert_eq!(find(any()).await, ["c", "bb", "a"]);
    assert_eq!(
        find(RunQuery {
            has_ended: Some(true),
            ..any()
        })
        .await,
        ["a"]
    );
    assert_eq!(
        find(RunQuery {
            has_ended: Some(false),
            ..any()
        })
        .await,
        ["c", "bb"]
    );
    assert_eq!(
        find(RunQuery {
            is_waiting: Some(true),
            ..any()
        })
        .await,
        ["bb"]
    );
    assert_eq!(
        find(RunQuery {
            workspace: Some("/w/0".into()),
            ..any()
        })
        .await,
        ["bb"]
    );
    assert_eq!(
        find(RunQuery {
            backend: Some("codex".into()),
            ..any()
        })
        .await,
        [""; 0]
    );
    let began = store.run("a").await.unwrap().unwrap().started_at;
    assert_eq!(
        find(RunQuery {
            until: Some(began),
            ..any()
        })
        .await,
        [""; 0]
    );
    assert_eq!(
        find(RunQuery {
            since: Some(began),
            limit: 1,
            ..any()
        })
        .await,
        ["c"]
    );
    assert_eq!(
        find(RunQuery {
            session: Some("s-bb".to_owned()),
            ..any()
        })
        .await,
        ["bb"]
    );
    let pending = ApprovalQuery {
        is_pending: true,
        ..ApprovalQuery::default()
    };
    let pending = store.approvals(&pending).await.unwrap().items;
    assert_eq!(
        (
            pending.len(),
            pending[0].run.as_str(),
            pending[0].request.as_str()
        ),
        (1, "bb", "q13")
    );
    let of_a = ApprovalQuery {
        run: Some("a".into()),
        ..ApprovalQuery::default()
    };
    assert_eq!(store.approvals(&of_a).await.unwrap().items.len(), 4);
    assert_eq!(store.messages("a").await.unwrap().len(), 3);
}

#[tokio::test]
async fn costs_are_added_up_by_what_is_asked() {
    let stage = Stage::new();
    let store = stage.open().await.store;
    for run in ["a", "bb", "c"] {
        store.ingest(batches(run, &[100])).await.unwrap();
    }
    let sum = |group| CostQuery {
        group,
        ..CostQuery::default()
    };
    for (group, keys) in [
        (CostGroup::Day, vec!["2026-11-16"]),
        (CostGroup::Model, vec!["claude-opus-4-5"]),
        (CostGroup::Backend, vec!["claude_code"]),
        (CostGroup::Workspace, vec!["/w/0", "/w/1"]),
        (CostGroup::Run, vec!["a", "bb", "c"]),
    ] {
        let rows = store.costs(&sum(group)).await.unwrap();
        assert_eq!(rows.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(), keys);
        assert_eq!(rows.iter().map(|row| row.tokens.input).sum::<u64>(), 3 * 960);
        assert_eq!(rows.iter().map(|row| row.tokens.output).sum::<u64>(), 3 * 96);
        assert_eq!(rows.iter().map(|row| row.messages).sum::<u64>(), 3 * 12);
        assert!(
            rows.iter()
                .all(|row| row.is_estimate && row.cost.as_micro_usd() > 0)
        );
    }
    let of_one = CostQuery {
        workspace: Some("/w/0".into()),
        ..sum(CostGroup::Run)
    };
    assert_eq!(store.costs(&of_one).await.unwrap()[0].key, "bb");
    let before = CostQuery {
        until: Some(jiff::Timestamp::UNIX_EPOCH),
        ..sum(CostGroup::Day)
    };
    assert!(store.costs(&before).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_first_answer_to_a_request_is_the_one_that_is_remembered() {
    let stage = Stage::new();
    let answer = |digest: &str, day: i64| SavedResponse {
        digest: digest.to_owned(),
        status: 201,
        body: "{}".to_owned(),
        at: jiff::Timestamp::from_second(day * 86_400).unwrap(),
    };
    let store = stage.open().await.store;
    assert_eq!(store.response("k").await.unwrap(), None);
    assert_eq!(store.put_response("k", &answer("a", 100)).await.unwrap(), None);
    assert_eq!(
        store.put_response("k", &answer("a", 100)).await.unwrap(),
        None,
        "the same again"
    );
    assert_eq!(
        store.put_response("k", &answer("b", 101)).await.unwrap(),
        Some(answer("a", 100))
    );
    store.clear().await.unwrap();
    store.close().await.unwrap();
    let store = stage.open().await.store;
    assert_eq!(store.response("k").await.unwrap(), Some(answer("a", 100)));
    store.put_response("later", &answer("c", 108)).await.unwrap();
    assert_eq!(store.response("k").await.unwrap(), None, "a week is long enough");
}

#[tokio::test]
async fn one_server_has_a_data_directory() {
    let stage = Stage::new();
    let first = stage.open().await.store;
    let second = SqliteStore::open(stage.options()).await.unwrap_err();
    assert!(matches!(&second, StoreError::InUse { pid: Some(pid), .. } if *pid == std::process::id()));
    assert!(
        second.to_string().contains(&std::process::id().to_string()),
        "{second}"
    );
    first.close().await.unwrap();
    let third = stage.open().await;
    assert_eq!(third.notes, []);
    assert!(matches!(first.run("a").await, Err(StoreError::Closed)));
    assert!(matches!(first.ingest(Vec::new()).await, Err(StoreError::Closed)));
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    let store = stage.open().await.store;
    store.ingest(batches("a", &[10])).await.unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&stage.data()), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(stage.data()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    assert!(names.contains(&"ralph.db-wal".to_owned()), "{names:?}");
}

#[tokio::test]
async fn after_an_unclean_stop_the_file_is_looked_at() {
    let stage = Stage::new();
    stage.write_run("a", 100, true);
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    drop(store);
    let opened = reopen(&stage).await;
    assert_eq!(opened.notes, [Note::UncleanStop]);
    assert_eq!(opened.store.run("a").await.unwrap().unwrap().head_seq, 100);
    opened.store.close().await.unwrap();
    assert_eq!(stage.open().await.notes, []);
}

/// A store that was dropped gives its lock back when its thread has ended.
async fn reopen(stage: &Stage) -> ralph_store::Opened {
    loop {
        match SqliteStore::open(stage.options()).await {
            Err(StoreError::InUse { .. }) => tokio::task::yield_now().await,
            opened => return opened.unwrap(),
        }
    }
}

fn count_in_words(stage: &Stage, sql: &str) -> i64 {
    let connection = rusqlite::Connection::open(stage.data().join("search.db")).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn words_of_a_run_that_was_half_removed_are_forgotten() {
    let stage = Stage::new();
    for run in ["a", "b", "c"] {
        stage.write_run(run, 100, true);
    }
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    store.index_texts().await.unwrap();
    store.close().await.unwrap();
    // As if the process had ended between the two files; of `c` there is a journal, so it comes back.
    let connection = rusqlite::Connection::open(stage.data().join("ralph.db")).unwrap();
    connection
        .execute("DELETE FROM run WHERE id IN ('b', 'c')", [])
        .unwrap();
    drop(connection);
    fs::remove_dir_all(stage.runs().join("b")).unwrap();
    let store = stage.open().await.store;
    store.index_texts().await.unwrap();
    assert_eq!(
        count_in_words(&stage, "SELECT count(*) FROM run WHERE name = 'b'"),
        0
    );
    assert_eq!(count_in_words(&stage, "SELECT count(*) FROM run"), 2);
    let records = count_in_words(&stage, "SELECT count(*) FROM record");
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    store.index_texts().await.unwrap();
    assert_eq!(count_in_words(&stage, "SELECT count(*) FROM record"), records);
}

#[tokio::test]
async fn pieces_of_the_text_index_are_put_together_when_nothing_is_new() {
    const PIECES: &str = "SELECT count(DISTINCT segid) FROM words_idx";
    let stage = Stage::new();
    let store = stage.open().await.store;
    for run in 0..6 {
        stage.write_run(&format!("run-{run}"), 100, true);
        catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
        store.index_texts().await.unwrap();
    }
    assert!(count_in_words(&stage, PIECES) > 1);
    for _ in 0..20 {
        store.index_texts().await.unwrap();
    }
    assert_eq!(count_in_words(&stage, PIECES), 1);
}

type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);

#[tokio::test]
async fn a_damaged_file_is_moved_aside_and_history_is_the_same_after_the_rebuild() {
    let stage = Stage::new();
    for run in 0..40 {
        stage.write_run(&format!("run-{run}"), 300, true);
    }
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let before = format!("{:?}", store.runs(&RunQuery::default()).await.unwrap());
    store.close().await.unwrap();
    let path = stage.data().join("ralph.db");
    let whole = fs::read(&path).unwrap();
    let flip_pages = |bytes: &mut Vec<u8>| {
        for page in bytes.chunks_mut(4096).skip(1) {
            page[..64].fill(0xa5);
        }
        // As if nobody had closed it: the flag is in one of the pages, too.
    };
    let flip_start = |bytes: &mut Vec<u8>| bytes[..100].fill(0);
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2);
    let damages: [(&str, Damage<'_>); 3] = [("pages", &flip_pages), ("start", &flip_start), ("cut", &cut)];
    for (name, damage) in damages {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        let opened = stage.open().await;
        let Some(Note::MovedAside { to, .. }) = opened.notes.first() else {
            panic!("{name}: {:?}", opened.notes);
        };
        assert_eq!(fs::read(to).unwrap(), bytes, "{name}");
        let caught_up = catch_up(&opened.store, &stage.runs(), |_| {}).await.unwrap();
        assert_eq!(caught_up.runs, 40, "{name}");
        let after = format!("{:?}", opened.store.runs(&RunQuery::default()).await.unwrap());
        assert_eq!(after, before, "{name}");
        opened.store.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_and_readers_never_meet_a_locked_database() {
    let stage = Stage::new();
    let store = Arc::new(stage.open().await.store);
    let writers = (0..50).map(|run| {
        let store = store.clone();
        tokio::spawn(async move {
            let cuts: Vec<u64> = (1..=20).map(|cut| cut * 5).collect();
            for batch in batches(&format!("run-{run:02}"), &cuts) {
                store.ingest(vec![batch]).await.unwrap();
            }
        })
    });
    let readers = (0..10).map(|reader| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..30 {
                let page = store.runs(&RunQuery::default()).await.unwrap();
                let run = format!("run-{reader:02}");
                let (rows, run) = (store.messages(&run).await.unwrap(), store.run(&run).await);
                let head = run.unwrap().map_or(0, |run| run.head_seq);
                assert!(rows.last().is_none_or(|row| row.seq <= head));
                assert!(page.items.len() <= 50);
            }
        })
    });
    for task in writers.chain(readers).collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let page = store.runs(&RunQuery::default()).await.unwrap();
    assert_eq!(page.items.len(), 50);
    assert!(page.items.iter().all(|run| run.head_seq == 100));
    assert_eq!(store.health().await.problem, None);
}
