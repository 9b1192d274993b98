//! Tests of `SqliteStore` that need its private parts.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use super::file::with_suffix;
use super::migrate::migrate;
use super::read;
use super::schema::MIGRATIONS;
use super::store::{SqliteOptions, SqliteStore};
use crate::error::StoreError;
use crate::fold::RunFold;
use crate::home_claim::{HomeClaim, OtherHome};
use crate::rows::{Batch, SignedTokens, UsageRow};
use crate::store::Store as _;

fn options(home: &Path) -> SqliteOptions {
    SqliteOptions {
        data_directory: home.join("data"),
        runs_directory: home.join("runs"),
        home: None,
    }
}

/// A run of so many records.
fn batch(run: &str, records: u64) -> Batch {
    let mut fold = RunFold::named(run);
    fold.push(br#"{"seq":1,"at":"2026-01-01T00:00:00Z","iteration":0,"attempt":0,"event":{"type":"run_started","data":{"workspace":"/w"}}}"#);
    for seq in 2..=records {
        let line = format!(
            r#"{{"seq":{seq},"at":"2026-01-01T00:00:01Z","iteration":1,"attempt":1,"event":{{"type":"notice","data":{{}}}}}}"#
        );
        fold.push(line.as_bytes());
    }
    fold.take().unwrap()
}

/// As [`batch`], with a usage row for each record.
fn batch_with_rows(run: &str, records: u64) -> Batch {
    let mut batch = batch(run, records);
    let usage = batch.records.iter().map(|record| UsageRow {
        seq: record.seq,
        at: record.at,
        model: None,
        tokens: SignedTokens::default(),
        cost_micro_usd: None,
        is_estimate: false,
    });
    batch.usage = usage.collect();
    batch
}

#[tokio::test]
async fn a_full_disk_costs_nothing_that_was_there_and_later_all_is_well() {
    let home = TempDir::new().unwrap();
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    store.ingest(vec![batch("before", 100)]).await.unwrap();
    let set_room = async |pages: i64| {
        let done = store.writer.run(move |connection| {
            connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
        });
        done.await.unwrap();
    };
    set_room(1).await;
    let refused = store.ingest(vec![batch_with_rows("more", 20_000)]).await;
    assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
    assert!(store.health().await.problem.is_some());
    assert!(store.run("more").await.unwrap().is_none(), "all of it or nothing");
    assert_eq!(store.run("before").await.unwrap().unwrap().head_seq, 100);
    set_room(1_000_000).await;
    store.ingest(vec![batch_with_rows("more", 20_000)]).await.unwrap();
    assert_eq!(store.run("more").await.unwrap().unwrap().head_seq, 20_000);
    assert_eq!(store.health().await.problem, None);
}

#[tokio::test]
async fn a_job_that_fails_takes_none_of_its_neighbours_with_it() {
    let home = TempDir::new().unwrap();
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    let refuse =
        "CREATE TRIGGER t BEFORE INSERT ON run WHEN NEW.id = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END";
    store
        .writer
        .run(|connection| connection.execute_batch(refuse))
        .await
        .unwrap();
    let (good, bad, other) = tokio::join!(
        store.ingest(vec![batch("good", 10)]),
        store.ingest(vec![batch("part", 10), batch("bad", 10)]),
        store.ingest(vec![batch("other", 10)])
    );
    assert!(good.is_ok() && bad.is_err() && other.is_ok());
    assert!(store.run("part").await.unwrap().is_none());
    assert_eq!(store.indexed_runs().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_job_that_panics_fails_alone() {
    let home = TempDir::new().unwrap();
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    let panicked = store
        .writer
        .run(|_| -> rusqlite::Result<()> { panic!("a fault of ours") })
        .await;
    assert!(matches!(panicked, Err(StoreError::Closed)));
    let ingested = store.ingest(vec![batch("a", 3)]).await.unwrap();
    assert!(ingested.records > 0);
}

#[tokio::test]
async fn what_nothing_could_rebuild_waits_for_the_disk() {
    let home = TempDir::new().unwrap();
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    let level =
        |connection: &Connection| connection.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0));
    assert_eq!(store.writer.run_strictly(level).await.unwrap(), 2);
    assert_eq!(store.writer.run(level).await.unwrap(), 1);
}

#[tokio::test]
async fn the_log_stays_small_while_somebody_reads_slowly() {
    const MAX_LOG_BYTES: u64 = 1 << 20;
    let home = TempDir::new().unwrap();
    let store = SqliteStore::open_with(options(home.path()), MAX_LOG_BYTES)
        .await
        .unwrap()
        .store;
    store.ingest(vec![batch("first", 10)]).await.unwrap();
    let path = home.path().join("data/ralph.db");
    let wal = with_suffix(&path, "-wal");
    let (stop, is_over) = std::sync::mpsc::channel::<()>();
    let reader = std::thread::spawn(move || {
        let connection = Connection::open(&path).unwrap();
        let mut count = 0;
        // Looks at one state for a while, and at once at the next one.
        while is_over.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            connection.execute_batch("BEGIN").unwrap();
            connection
                .query_row("SELECT count(*) FROM usage", [], |row| row.get::<_, i64>(0))
                .unwrap();
            let _ = is_over.recv_timeout(Duration::from_millis(50));
            connection.execute_batch("COMMIT").unwrap();
            count += 1;
        }
        count
    });
    let mut largest = 0;
    for run in 0..60 {
        store
            .ingest(vec![batch_with_rows(&format!("run-{run}"), 5_000)])
            .await
            .unwrap();
        largest = largest.max(fs::metadata(&wal).unwrap().len());
    }
    drop(stop);
    assert!(reader.join().unwrap() > 1);
    // The limit and what one commit adds.
    assert!(largest < 2 * MAX_LOG_BYTES, "{largest}");
}

#[tokio::test]
async fn a_question_that_takes_too_long_is_ended() {
    let home = TempDir::new().unwrap();
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    let readers = store.readers.clone().with_time_limit(Duration::from_millis(20));
    let forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let asked = readers
        .read(move |connection| {
            connection
                .query_row(forever, [], |_| Ok(()))
                .map_err(super::explain::explain)
        })
        .await;
    assert!(matches!(asked, Err(StoreError::Unavailable(_))), "{asked:?}");
    assert!(readers.read(read::indexed_runs).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let home = TempDir::new().unwrap();
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    store
        .writer
        .run(|connection| connection.pragma_update(None, "user_version", 99))
        .await
        .unwrap();
    store.close().await.unwrap();
    let path = home.path().join("data/ralph.db");
    let before = fs::read(&path).unwrap();
    let known = i64::try_from(MIGRATIONS.len()).unwrap();
    let refused = SqliteStore::open(options(home.path())).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::Newer { found: 99, known: ours } if ours == known),
        "{refused}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(matches!(
        SqliteStore::open(options(home.path())).await,
        Err(StoreError::Newer { .. })
    ));
}

fn table_names(connection: &Connection) -> Vec<String> {
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

#[test]
fn a_migration_is_done_once_and_leaves_a_copy() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("x.db");
    let mut connection = Connection::open(&path).unwrap();
    let steps = ["CREATE TABLE a(x)", "CREATE TABLE b(x)", "CREATE TABLE c(x)"];
    assert_eq!(
        migrate(&mut connection, &path, &steps[..1]).unwrap(),
        None,
        "a new file needs no copy"
    );
    connection.execute("INSERT INTO a VALUES('kept')", []).unwrap();
    let migrated = migrate(&mut connection, &path, &steps).unwrap().unwrap();
    assert_eq!((migrated.from, migrated.to), (1, 3));
    assert_eq!(table_names(&connection), ["a", "b", "c"]);
    let copy = Connection::open(&migrated.backup).unwrap();
    assert_eq!(table_names(&copy), ["a"]);
    let kept: String = copy.query_row("SELECT x FROM a", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "kept");
    assert_eq!(migrate(&mut connection, &path, &steps).unwrap(), None);
}

#[test]
fn a_migration_that_fails_or_is_killed_leaves_the_old_state() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("x.db");
    let mut connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA cache_size = 2; PRAGMA cache_spill = 1;")
        .unwrap();
    let first = "CREATE TABLE a(x)";
    migrate(&mut connection, &path, &[first]).unwrap();
    // What the files are in the middle of a step is what a killed process leaves; a small cache puts much of the step
    // into them before its end.
    let (from, to) = (home.path().to_owned(), home.path().join("killed"));
    connection
        .create_scalar_function(
            "kill",
            0,
            rusqlite::functions::FunctionFlags::SQLITE_UTF8,
            move |_| {
                fs::create_dir_all(&to).unwrap();
                for name in ["x.db", "x.db-wal"] {
                    fs::copy(from.join(name), to.join(name)).unwrap();
                }
                Ok(0)
            },
        )
        .unwrap();
    let fill = "CREATE TABLE b(x); INSERT INTO b SELECT randomblob(900) FROM
        (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) SELECT i FROM n)";
    let steps = [first, fill, "SELECT kill(); DROP TABLE a; CREATE TABLE not valid"];
    assert!(migrate(&mut connection, &path, &steps).is_err());
    assert_eq!(table_names(&connection), ["a"]);
    let killed = home.path().join("killed/x.db");
    assert!(fs::metadata(with_suffix(&killed, "-wal")).unwrap().len() > 100_000);
    let mut killed_connection = Connection::open(&killed).unwrap();
    assert_eq!(table_names(&killed_connection), ["a"]);
    let migrated = migrate(&mut killed_connection, &killed, &steps[..2])
        .unwrap()
        .unwrap();
    assert_eq!((migrated.from, migrated.to), (1, 2));
    assert_eq!(table_names(&killed_connection), ["a", "b"]);
}

#[tokio::test]
async fn an_index_of_the_first_schema_is_upgraded_and_keeps_what_it_has() {
    let home = TempDir::new().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::create_dir_all(home.path().join("runs")).unwrap();
    let mut old = Connection::open(data.join("ralph.db")).unwrap();
    super::migrate::migrate(&mut old, &data.join("ralph.db"), &super::schema::MIGRATIONS[..1]).unwrap();
    let batch = batch("a", 5);
    let summary = serde_json::to_string(&batch.summary).unwrap();
    old.execute(
        "INSERT INTO run VALUES(1, 'a', ?1, '/w', 'claude_code', 1, 1, 0, ?2, 5, ?3, '{\"version\":2}')",
        (
            &batch.summary.epoch,
            crate::columns::integer(batch.offset),
            &summary,
        ),
    )
    .unwrap();
    // 2026-01-01.
    old.execute_batch(
        "INSERT INTO usage VALUES((1 << 40) + 2, 1767225600000000000, NULL, 7, 0, 0, 3, 0, 11, 0);
         INSERT INTO remembered VALUES('k', 'd', 200, 'body', 9223372036854775807);",
    )
    .unwrap();
    drop(old);

    let opened = SqliteStore::open(options(home.path())).await.unwrap();
    assert!(
        matches!(&opened.notes[..], [super::Note::Migrated { from: 1, to: 3, backup }] if backup.exists()),
        "{:?}",
        opened.notes
    );
    let store = opened.store;
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 5);
    assert_eq!(store.response("k").await.unwrap().unwrap().body, "body");
    let runs = store.indexed_runs().await.unwrap();
    assert!(
        !runs[0].is_current && runs[0].ended_at.is_none(),
        "it is read again"
    );
    let spent = async || {
        let rows = store.costs(&crate::query::CostQuery::default()).await.unwrap();
        let row = &rows[0];
        (
            rows.len(),
            row.key.clone(),
            row.tokens.input,
            row.cost.as_micro_usd(),
        )
    };
    let expected = (1, "2026-01-01".to_owned(), 7, 11);
    assert_eq!(spent().await, expected);
    store.remove(&["a".to_owned()]).await.unwrap();
    assert_eq!(spent().await, expected);
}

#[tokio::test]
async fn a_new_index_keeps_what_removed_runs_cost() {
    let home = TempDir::new().unwrap();
    std::fs::create_dir_all(home.path().join("runs")).unwrap();
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    store
        .ingest(vec![batch("here", 5), batch("removed", 5)])
        .await
        .unwrap();
    let put_usage = |connection: &Connection| {
        connection.execute_batch(
            "INSERT INTO usage SELECT (number << 40) + 2, 1767225600000000000, 'm', 7, 0, 0, 3, 0, 11, 0 FROM run",
        )
    };
    store.writer.run(put_usage).await.unwrap();
    store.remove(&["removed".to_owned()]).await.unwrap();
    store.close().await.unwrap();
    for _ in 0..2 {
        let store = SqliteStore::open_anew(options(home.path())).await.unwrap().store;
        let rows = store.costs(&crate::query::CostQuery::default()).await.unwrap();
        assert_eq!((rows.len(), rows[0].tokens.input, rows[0].messages), (1, 14, 2));
        assert!(store.indexed_runs().await.unwrap().is_empty());
        store.close().await.unwrap();
    }
    // What is taken in again counts once: here with no usage at all.
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    store.ingest(vec![batch("here", 5)]).await.unwrap();
    let rows = store.costs(&crate::query::CostQuery::default()).await.unwrap();
    assert_eq!((rows.len(), rows[0].tokens.input), (1, 7));
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_new_index_is_not_made_in_the_place_of_another_homes() {
    let home = TempDir::new().unwrap();
    let claim = |id: &str, other| SqliteOptions {
        home: Some(HomeClaim {
            id: id.to_owned(),
            other,
        }),
        ..options(home.path())
    };
    let first = SqliteStore::open(claim("first", OtherHome::Refuse))
        .await
        .unwrap()
        .store;
    first.ingest(vec![batch("a", 5)]).await.unwrap();
    first.close().await.unwrap();
    drop(first);
    let refused = SqliteStore::open_anew(claim("second", OtherHome::Refuse)).await;
    assert!(matches!(refused, Err(StoreError::OtherHome { .. })));
    let first = SqliteStore::open(claim("first", OtherHome::Refuse))
        .await
        .unwrap()
        .store;
    assert!(first.run("a").await.unwrap().is_some());
    first.close().await.unwrap();
    drop(first);
    let second = SqliteStore::open_anew(claim("second", OtherHome::TakeOver))
        .await
        .unwrap();
    assert!(second.store.run("a").await.unwrap().is_none());
    assert!(matches!(&second.notes[0], super::Note::Replaced { to } if to.exists()));
}

/// How SQLite answers a query.
fn plan(connection: &Connection, sql: &str) -> rusqlite::Result<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    let lines = statement.query_map([], |row| row.get::<_, String>(3))?;
    Ok(lines.collect::<rusqlite::Result<Vec<_>>>()?.join("; "))
}

#[tokio::test]
async fn what_is_counted_is_read_from_indexes_alone() {
    let home = TempDir::new().unwrap();
    let store = SqliteStore::open(options(home.path())).await.unwrap().store;
    for sql in read::COUNTS {
        let plan = store
            .writer
            .run(move |connection| plan(connection, sql))
            .await
            .unwrap();
        assert!(plan.contains("USING COVERING INDEX"), "{sql}: {plan}");
    }
    store.close().await.unwrap();
}
