//! What only a server can do to us: be away, be another's, be newer, and have a password.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ralph_store::{
    CostQuery, MAX_KEPT_LINE_BYTES, PostgresOptions, PostgresStore, RunQuery, SearchMode, SearchQuery, Store,
    StoreError, catch_up,
};
use serde_json::json;
use test_support::postgres::{PASSWORD, PostgresServer};

use crate::ingest::batches;
use crate::journal::Journal;
use crate::search::query;

fn options(url: &str) -> PostgresOptions {
    PostgresOptions {
        patience: Duration::from_millis(300),
        ..PostgresOptions::new(url)
    }
}

async fn connect(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::connect(options(url), |_| {}).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_waited_for_and_then_said_to_be_away() {
    let server = PostgresServer::start().unwrap();
    let url = server.create_database().unwrap();
    server.stop().unwrap();
    let told = Mutex::new(Vec::new());
    let start = Instant::now();
    let refused = PostgresStore::connect(options(&url), |waiting| {
        told.lock().unwrap().push(waiting.clone())
    });
    let refused = refused.await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    assert!(start.elapsed() < Duration::from_secs(5));
    let told = told.into_inner().unwrap();
    assert!(!told.is_empty() && told.iter().all(|waiting| waiting.waited < waiting.patience));
    // One that comes late is not too late.
    let patient = PostgresOptions {
        patience: Duration::from_secs(60),
        ..options(&url)
    };
    let (waits, begins) = tokio::sync::oneshot::channel();
    let waits = Mutex::new(Some(waits));
    let connecting = PostgresStore::connect(patient, |_| {
        if let Some(waits) = waits.lock().unwrap().take() {
            waits.send(()).unwrap();
        }
    });
    let starting = async {
        begins.await.unwrap();
        tokio::task::block_in_place(|| server.start_again()).unwrap();
    };
    let (store, ()) = tokio::join!(connecting, starting);
    assert_eq!(store.unwrap().health().await.problem, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_goes_away_fails_at_once_and_works_when_it_is_back() {
    let server = PostgresServer::start().unwrap();
    let store = connect(&server.create_database().unwrap()).await.unwrap();
    let [first, second, third] = batches("a", &[10, 20, 30]).try_into().unwrap();
    store.ingest(vec![first]).await.unwrap();
    store.index_texts().await.unwrap();
    for batch in [second, third] {
        // Several connections are idle when it goes.
        let (one, two, three) = tokio::join!(store.run("a"), store.indexed_runs(), store.messages("a"));
        assert!(one.unwrap().is_some() && two.unwrap().len() == 1 && three.is_ok());
        server.stop().unwrap();
        let start = Instant::now();
        assert!(is_away(store.run("a").await));
        assert!(is_away(store.ingest(vec![batch.clone()]).await));
        assert!(is_away(store.search(&query("hello")).await));
        assert!(is_away(store.index_texts().await));
        assert!(is_away(store.clear().await));
        assert!(is_away(store.runs(&RunQuery::default()).await));
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        let health = store.health().await;
        assert!(
            health
                .problem
                .is_some_and(|problem| problem.contains("not available"))
        );
        server.start_again().unwrap();
        assert_eq!(store.health().await.problem, None, "it is back");
        assert!(store.run("a").await.unwrap().is_some());
        let ingested = store.ingest(vec![batch]).await.unwrap();
        assert!(ingested.disconnected.is_empty());
        store.index_texts().await.unwrap();
    }
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 30);
    // Restarted between two questions, without anybody having asked.
    server.stop().unwrap();
    server.start_again().unwrap();
    assert!(store.run("a").await.unwrap().is_some());
    store.ingest(batches("b", &[10])).await.unwrap();
    store.close().await.unwrap();
}

fn is_away<T>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unavailable(_)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_lost_its_connection_writes_again_only_with_the_lock() {
    let server = PostgresServer::shared().unwrap();
    let url = server.create_database().unwrap();
    let database = url.rsplit('/').next().unwrap();
    let store = connect(&url).await.unwrap();
    store.ingest(batches("a", &[10])).await.unwrap();
    let cut =
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid()";
    server.execute(database, cut).unwrap();
    // Another one takes the database.
    let other = connect(&url).await.unwrap();
    let refused = store.ingest(batches("b", &[10])).await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    assert!(store.health().await.problem.is_some());
    assert_eq!(
        store.indexed_runs().await.unwrap().len(),
        1,
        "what is there can be read"
    );
    other.ingest(batches("c", &[10])).await.unwrap();
    other.close().await.unwrap();
    store.ingest(batches("b", &[10])).await.unwrap();
    assert_eq!(store.indexed_runs().await.unwrap().len(), 3);
    assert_eq!(store.health().await.problem, None);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let server = PostgresServer::shared().unwrap();
    let url = server.create_database().unwrap();
    let database = url.rsplit('/').next().unwrap();
    connect(&url).await.unwrap().close().await.unwrap();
    connect(&url).await.unwrap().close().await.unwrap();
    let versions = server
        .execute(
            database,
            "SELECT string_agg(version::text, ' ' ORDER BY version) FROM ralph.schema_version",
        )
        .unwrap();
    assert_eq!(versions.trim(), "1 2 3 4", "a step is taken once");
    server
        .execute(database, "INSERT INTO ralph.schema_version VALUES(99, now())")
        .unwrap();
    let refused = connect(&url).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::NewerSchema { found: 99, known: 4 }),
        "{refused}"
    );
    let public = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'";
    assert_eq!(
        server.execute(database, public).unwrap().trim(),
        "0",
        "nothing of the user's is touched"
    );
}

#[tokio::test]
async fn no_password_is_ever_shown() {
    let server = PostgresServer::shared().unwrap();
    let url = server.create_database().unwrap();
    let store = connect(&url).await.unwrap();
    let in_use = connect(&url).await.unwrap_err();
    let mut shown = vec![format!("{store:?} {:?} {in_use} {in_use:?}", options(&url))];
    store.close().await.unwrap();
    let wrong = url.replace("postgres:hush", "postgres:wrong-hush");
    for url in [
        wrong,
        format!("{url}_missing"),
        url.replace("127.0.0.1", "127.0.0.1:1"),
        format!("{url}?pasword={PASSWORD}"),
        format!("{url}?sslmode={PASSWORD}"),
        format!("{url}?sslmode=require"),
    ] {
        let start = Instant::now();
        let error = connect(&url).await.unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(
            matches!(error, StoreError::Unavailable(_) | StoreError::BadAddress(_)),
            "{error:?}"
        );
        shown.push(format!("{error} {error:?}"));
    }
    for text in shown {
        assert!(!text.contains("hush"), "{text}");
    }
}

#[tokio::test]
async fn a_socket_in_the_file_system_is_as_good() {
    let server = PostgresServer::shared().unwrap();
    let url = server.create_database().unwrap();
    let database = url.rsplit('/').next().unwrap();
    let store = connect(&server.socket_url(database)).await.unwrap();
    store.ingest(batches("a", &[10])).await.unwrap();
    assert_eq!(store.indexed_runs().await.unwrap().len(), 1);
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_of_the_released_schema_is_upgraded_and_keeps_what_it_has() {
    let server = PostgresServer::shared().unwrap();
    let url = server.create_database().unwrap();
    let database = url.rsplit('/').next().unwrap();
    let store = connect(&url).await.unwrap();
    store.ingest(batches("a", &[40])).await.unwrap();
    let spent = store.costs(&CostQuery::default()).await.unwrap();
    store.close().await.unwrap();
    // As version 2 was, but for the columns of tables that are made again.
    let back = "DROP TABLE ralph.home, ralph.usage_day, ralph.record, ralph.text, ralph.text_run;
        DROP INDEX ralph.message_queued;
        ALTER TABLE ralph.run DROP COLUMN ended_at, DROP COLUMN reason, DROP COLUMN fold_version,
            DROP COLUMN generation;
        CREATE TABLE ralph.record(run bigint); CREATE TABLE ralph.kind(id integer);
        CREATE TABLE ralph.text(id bigint); CREATE TABLE ralph.text_run(id bigint);
        DELETE FROM ralph.schema_version WHERE version > 2;";
    server.execute(database, back).unwrap();
    let store = connect(&url).await.unwrap();
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 40);
    assert_eq!(store.costs(&CostQuery::default()).await.unwrap(), spent);
    assert!(
        !store.indexed_runs().await.unwrap()[0].is_current,
        "it is read again"
    );
    // A live run does not continue from rows without lines.
    assert!(store.progress("a").await.unwrap().is_none());
    let ingested = store.ingest(batches("a", &[40])).await.unwrap();
    assert!(ingested.records > 0 && ingested.disconnected.is_empty());
    assert!(store.indexed_runs().await.unwrap()[0].is_current);
    store.index_texts().await.unwrap();
    assert!(!store.search(&query("hello")).await.unwrap().hits.is_empty());
    assert_eq!(store.costs(&CostQuery::default()).await.unwrap(), spent);
    store.close().await.unwrap();
}

/// A delta and the block that leaves its text to it, and a tool with a long output.
fn write_journals(runs: &Path) {
    let mut journal = Journal::begin(Some(runs), "a", "/work", "claude_code");
    let start = "The quick brown fox ".repeat(20);
    let offset = journal
        .agent("delta", &json!({"item": "m/1", "part": "text", "text": start}))
        .0;
    let checksum = start.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let from = json!({"offset": offset, "bytes": start.len(), "checksum": checksum});
    journal.agent(
        "text_block_rest",
        &json!({"item": "m/1", "text": "jumps.", "text_from": from}),
    );
    journal.call("Bash", "make");
    journal.finish_call(&format!("{} over the lazy dog", "x ".repeat(30_000)));
    let mut journal = Journal::begin(Some(runs), "b", "/elsewhere", "codex");
    journal.say("A lazy fox");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn search_needs_no_journal() {
    let server = PostgresServer::shared().unwrap();
    let store = connect(&server.create_database().unwrap()).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    write_journals(home.path());
    catch_up(&store, home.path(), |_| {}).await.unwrap();
    drop(home);
    assert_eq!(store.index_texts().await.unwrap(), 4);
    let page = store.search(&query("fox")).await.unwrap();
    let found: Vec<(&str, u64, &str)> = page
        .hits
        .iter()
        .map(|hit| (hit.run.as_str(), hit.seq, hit.kind.as_str()))
        .collect();
    assert_eq!(found, [("a", 3, "text_block"), ("b", 2, "text_block")]);
    assert_eq!(page.hits[1].snippet, "A lazy fox");
    assert_eq!(page.hits[1].marks, [(7, 10)]);
    let phrase = store.search(&query("\"fox jumps\"")).await.unwrap();
    assert!(phrase.hits[0].snippet.ends_with("fox jumps."), "{phrase:?}");
    let substring = SearchQuery {
        mode: SearchMode::Substring,
        ..query("r the LAZY d")
    };
    let page = store.search(&substring).await.unwrap();
    assert_eq!((page.hits.len(), page.hits[0].seq), (1, 5));
    assert!(page.hits[0].snippet.ends_with("over the lazy dog"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_is_too_long_is_listed_and_not_searched() {
    let server = PostgresServer::shared().unwrap();
    let url = server.create_database().unwrap();
    let store = connect(&url).await.unwrap();
    let mut journal = Journal::of("a");
    journal.say(&format!("needle {}", "x".repeat(MAX_KEPT_LINE_BYTES)));
    journal.say("needle");
    let batch = journal.take();
    assert!(batch.line_bytes() < MAX_KEPT_LINE_BYTES);
    assert_eq!(store.ingest(vec![batch]).await.unwrap().records, 3);
    store.index_texts().await.unwrap();
    let page = store.search(&query("needle")).await.unwrap();
    assert_eq!((page.hits.len(), page.hits[0].seq, page.lag), (1, 3, 0));
    let database = url.rsplit('/').next().unwrap();
    let rows = "SELECT string_agg(seq::text, ' ' ORDER BY seq) FROM ralph.record";
    assert_eq!(server.execute(database, rows).unwrap().trim(), "1 2 3");
}
