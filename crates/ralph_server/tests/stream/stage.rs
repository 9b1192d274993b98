//! A server without its doors: the stream alone.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::WebSocketUpgrade;
use axum::routing::get;
use ralph_run::Home;
use ralph_run::ports::LocalJournals;
use ralph_server::SocketRunners;
use ralph_server::live::Hub;
use ralph_server::stream::{StreamContext, serve};
use ralph_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, Store};
use tempfile::TempDir;
use tokio::sync::watch;

pub(crate) struct Stage {
    pub(crate) home: Home,
    pub(crate) address: SocketAddr,
    pub(crate) live: Arc<Hub>,
    pub(crate) store: Arc<dyn Store>,
    _ending: watch::Sender<bool>,
    _directory: TempDir,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let (directory, home) = make_home();
        let options = SqliteOptions {
            data_directory: directory.path().join("data"),
            runs_directory: home.runs_directory(),
            home: None,
        };
        let store = Arc::new(SqliteStore::open(options).await.unwrap().store);
        Self::with_store(directory, home, store).await
    }

    /// With an index in this PostgreSQL database.
    pub(crate) async fn with_postgres(url: &str) -> Self {
        let (directory, home) = make_home();
        let options = PostgresOptions::new(url);
        let store = PostgresStore::connect(options, |_| {}).await.unwrap();
        Self::with_store(directory, home, Arc::new(store)).await
    }

    async fn with_store(directory: TempDir, home: Home, store: Arc<dyn Store>) -> Self {
        let journals = Arc::new(LocalJournals::new(home.clone()));
        let live = Hub::new(journals, store.clone());
        tokio::spawn(live.clone().work());
        let (ending, is_ending) = watch::channel(false);
        let context = StreamContext {
            live: live.clone(),
            runners: Arc::new(SocketRunners::new(home.clone())),
            version: "0.0.0",
            ending: is_ending,
            principal: None,
            process: None,
            log: None,
        };
        let upgrade = move |upgrade: WebSocketUpgrade| {
            let context = context.clone();
            async move { upgrade.on_upgrade(move |socket| serve(socket, context)) }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router: Router = Router::new().route("/stream", get(upgrade));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            home,
            address,
            live,
            store,
            _ending: ending,
            _directory: directory,
        }
    }

    /// Waits until a run is followed.
    pub(crate) async fn wait_for(&self, run: &str) {
        self.live.notice();
        self.until(async || self.live.feed(run).await.is_ok()).await;
    }

    /// Waits until the index has a record.
    pub(crate) async fn wait_until_indexed(&self, run: &str, seq: u64) {
        self.until(async || {
            let known = self.store.run(run).await.unwrap();
            known.is_some_and(|known| known.head_seq >= seq)
        })
        .await;
    }

    pub(crate) async fn until(&self, is_so: impl AsyncFn() -> bool) {
        let look = async {
            while !is_so().await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), look).await.unwrap();
    }
}

fn make_home() -> (TempDir, Home) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::new(directory.path().join("state"), None);
    home.prepare().unwrap();
    (directory, home)
}
