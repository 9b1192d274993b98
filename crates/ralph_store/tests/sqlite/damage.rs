//! Files that are not as they should be.

use std::fs;
use std::path::Path;

use crate::journal_stage::{Stage, line};
use ralph_store::{ApprovalQuery, Note, RunQuery, SavedResponse, SqliteStore, Store, StoreError, catch_up};
use rusqlite::Connection;

/// A closed index of two runs.
async fn indexed(stage: &Stage) -> String {
    stage.write_run("a", 300, true);
    stage.write_run("b", 300, false);
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    let everything = everything(&store).await;
    store.close().await.unwrap();
    everything
}

async fn everything(store: &SqliteStore) -> String {
    let runs = store.runs(&RunQuery::default()).await.unwrap();
    let messages = store.messages("a").await.unwrap();
    format!("{runs:?} {messages:?} {:?}", store.progress("b").await.unwrap())
}

fn database(stage: &Stage) -> Connection {
    Connection::open(stage.data().join("ralph.db")).unwrap()
}

/// Overwrites the start of the first page of a table.
fn flip_page(stage: &Stage, table: &str) {
    let (page, size): (u32, u32) = database(stage)
        .query_row(
            "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?1",
            [table],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    let path = stage.data().join("ralph.db");
    let mut bytes = fs::read(&path).unwrap();
    let start = usize::try_from((page - 1) * size).unwrap();
    bytes[start..][..64].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

fn is_moved_aside(notes: &[Note]) -> bool {
    matches!(notes, [Note::MovedAside { .. }])
}

#[tokio::test]
async fn damage_that_a_reader_met_is_repaired_at_the_next_start() {
    let stage = Stage::new();
    let before = indexed(&stage).await;
    flip_page(&stage, "message");
    let opened = stage.open().await;
    assert_eq!(opened.notes, [], "nobody looks at all of a file that was closed");
    let asked = opened.store.messages("a").await;
    assert!(matches!(asked, Err(StoreError::Damaged(_))), "{asked:?}");
    assert!(opened.store.health().await.problem.is_some());
    opened.store.close().await.unwrap();

    let opened = stage.open().await;
    assert!(is_moved_aside(&opened.notes), "{:?}", opened.notes);
    catch_up(&opened.store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(everything(&opened.store).await, before);
    assert_eq!(opened.store.health().await.problem, None);
    opened.store.close().await.unwrap();
    assert_eq!(stage.open().await.notes, []);
}

#[tokio::test]
async fn damage_that_is_met_at_the_start_does_not_prevent_it() {
    let stage = Stage::new();
    let before = indexed(&stage).await;
    flip_page(&stage, "run");
    let opened = stage.open().await;
    assert!(is_moved_aside(&opened.notes), "{:?}", opened.notes);
    catch_up(&opened.store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(everything(&opened.store).await, before);
}

#[tokio::test]
async fn tables_without_a_version_or_a_version_without_tables_are_no_index() {
    for (version, table) in [(0, "CREATE TABLE run(x)"), (1, "CREATE TABLE other(x)")] {
        let stage = Stage::new();
        fs::create_dir_all(stage.data()).unwrap();
        let connection = database(&stage);
        connection.execute_batch(table).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
        drop(connection);
        let opened = stage.open().await;
        assert!(is_moved_aside(&opened.notes), "{version}: {:?}", opened.notes);
        assert_eq!(
            catch_up(&opened.store, &stage.runs(), |_| {}).await.unwrap().runs,
            0
        );
    }
}

fn answer() -> SavedResponse {
    SavedResponse {
        digest: "d".to_owned(),
        status: 201,
        body: "{}".to_owned(),
        at: jiff::Timestamp::now(),
    }
}

#[tokio::test]
async fn an_index_that_is_made_anew_keeps_the_old_one_aside_and_its_answers() {
    let stage = Stage::new();
    let before = indexed(&stage).await;
    let store = stage.open().await.store;
    let answer = answer();
    store.put_response("k", &answer).await.unwrap();
    store.close().await.unwrap();
    // Twice: the one that was put aside before is in nobody's way.
    for _ in 0..2 {
        let opened = SqliteStore::open_anew(stage.options()).await.unwrap();
        let replaced: Vec<&Path> = opened
            .notes
            .iter()
            .map(|note| match note {
                Note::Replaced { to } => to.as_path(),
                note => panic!("{note}"),
            })
            .collect();
        assert_eq!(replaced.len(), 2);
        assert!(replaced.iter().all(|path| path.exists()), "{replaced:?}");
        assert!(opened.store.indexed_runs().await.unwrap().is_empty());
        catch_up(&opened.store, &stage.runs(), |_| {}).await.unwrap();
        assert_eq!(everything(&opened.store).await, before);
        assert_eq!(opened.store.response("k").await.unwrap().as_ref(), Some(&answer));
        opened.store.close().await.unwrap();
    }
}

#[tokio::test]
async fn an_index_of_a_newer_version_and_a_damaged_one_can_be_made_anew() {
    let stage = Stage::new();
    let before = indexed(&stage).await;
    let damages: [&dyn Fn(); 2] = [
        &|| database(&stage).pragma_update(None, "user_version", 99).unwrap(),
        &|| fs::write(stage.data().join("ralph.db"), [0xa5; 10_000]).unwrap(),
    ];
    for damage in damages {
        damage();
        let opened = SqliteStore::open_anew(stage.options()).await.unwrap();
        catch_up(&opened.store, &stage.runs(), |_| {}).await.unwrap();
        assert_eq!(everything(&opened.store).await, before);
        opened.store.close().await.unwrap();
        assert_eq!(stage.open().await.notes, []);
    }
}

#[tokio::test]
async fn a_run_that_means_nothing_to_this_version_is_left_out_and_read_again() {
    for change in [
        "UPDATE run SET summary = '{\"id\":7}' WHERE id = 'b'",
        "UPDATE run SET state = '7' WHERE id = 'b'",
    ] {
        let stage = Stage::new();
        let before = indexed(&stage).await;
        database(&stage).execute(change, []).unwrap();
        let store = stage.open().await.store;
        let listed = store.runs(&RunQuery::default()).await.unwrap().items;
        assert!(listed.iter().any(|run| run.id == "a"), "{change}");
        assert!(store.progress("b").await.unwrap().is_none(), "{change}");
        store.index_texts().await.unwrap();
        let caught_up = catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
        assert_eq!(caught_up.runs, 1, "{change}");
        assert_eq!(everything(&store).await, before, "{change}");
    }
}

#[tokio::test]
async fn a_run_that_goes_on_and_means_nothing_to_this_version_is_read_from_its_start() {
    let stage = Stage::new();
    indexed(&stage).await;
    database(&stage)
        .execute("UPDATE run SET state = '7' WHERE id = 'b'", [])
        .unwrap();
    stage.append("b", &format!("{}\n", line("b", 301)));
    let store = stage.open().await.store;
    catch_up(&store, &stage.runs(), |_| {}).await.unwrap();
    assert_eq!(store.run("b").await.unwrap().unwrap().head_seq, 301);
    let progress = store.progress("b").await.unwrap().unwrap();
    assert_eq!(progress.offset, fs::metadata(stage.journal("b")).unwrap().len());
}

#[tokio::test]
async fn a_page_of_runs_that_mean_nothing_says_where_to_go_on() {
    let stage = Stage::new();
    indexed(&stage).await;
    database(&stage)
        .execute("UPDATE run SET summary = '7' WHERE id = 'b'", [])
        .unwrap();
    let store = stage.open().await.store;
    let query = RunQuery {
        limit: 1,
        ..RunQuery::default()
    };
    let page = store.runs(&query).await.unwrap();
    assert!(page.items.is_empty());
    let next = RunQuery {
        cursor: page.next,
        ..query
    };
    assert_eq!(store.runs(&next).await.unwrap().items[0].id, "a");
}

#[tokio::test]
async fn a_question_that_means_nothing_does_not_end_the_list_of_them() {
    let stage = Stage::new();
    for (odd, other) in [("a", "b"), ("b", "a")] {
        indexed(&stage).await;
        let change =
            "UPDATE approval SET kind = 77 WHERE (key >> 40) = (SELECT number FROM run WHERE id = ?1)";
        assert!(database(&stage).execute(change, [odd]).unwrap() > 1);
        let store = stage.open().await.store;
        let all = ApprovalQuery {
            run: Some(other.to_owned()),
            ..ApprovalQuery::default()
        };
        let all = store.approvals(&all).await.unwrap().items.len();
        let (mut query, mut runs) = (ApprovalQuery::default(), Vec::new());
        query.limit = 2;
        loop {
            let page = store.approvals(&query).await.unwrap();
            runs.extend(page.items.into_iter().map(|row| row.run));
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(runs, vec![other; all]);
        store.close().await.unwrap();
    }
}
