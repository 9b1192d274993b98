//! What only a server can do to us: be away, be another's, be newer, and have a password.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use ralph_store::{CostQuery, PostgresOptions, PostgresStore, RunQuery, Store, StoreError};
use test_support::postgres::{PASSWORD, PostgresServer};

use crate::ingest::batches;
use crate::search::query;

fn options(url: &str) -> PostgresOptions {
    PostgresOptions {
        patience: Duration::from_millis(300),
        ..PostgresOptions::new(url, "/nowhere")
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
    assert_eq!(versions.trim(), "1 2 3", "a step is taken once");
    server
        .execute(database, "INSERT INTO ralph.schema_version VALUES(99, now())")
        .unwrap();
    let refused = connect(&url).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::NewerSchema { found: 99, known: 3 }),
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
    // As version 2 was.
    let back = "DROP TABLE ralph.home, ralph.usage_day; DROP INDEX ralph.message_queued;
        ALTER TABLE ralph.run DROP COLUMN ended_at, DROP COLUMN reason, DROP COLUMN fold_version;
        DELETE FROM ralph.schema_version WHERE version = 3;";
    server.execute(database, back).unwrap();
    let store = connect(&url).await.unwrap();
    assert_eq!(store.run("a").await.unwrap().unwrap().head_seq, 40);
    assert_eq!(store.costs(&CostQuery::default()).await.unwrap(), spent);
    assert!(
        !store.indexed_runs().await.unwrap()[0].is_current,
        "it is read again"
    );
    let ingested = store.ingest(batches("a", &[40])).await.unwrap();
    assert!(ingested.records > 0 && ingested.disconnected.is_empty());
    assert!(store.indexed_runs().await.unwrap()[0].is_current);
    assert_eq!(store.costs(&CostQuery::default()).await.unwrap(), spent);
    store.close().await.unwrap();
}
