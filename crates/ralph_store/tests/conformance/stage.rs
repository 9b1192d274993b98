//! A place with runs and an index of them.

use std::path::PathBuf;
use std::sync::Arc;

use ralph_store::{SqliteOptions, SqliteStore, Store, StoreError, catch_up};
use tempfile::TempDir;

use crate::journal::Journal;

/// A place with runs and an index of them.
pub(crate) struct Stage {
    home: TempDir,
    engine: Engine,
    pub(crate) store: Arc<dyn Store>,
}

/// Where the index is.
enum Engine {
    Sqlite,
    #[cfg(unix)]
    Postgres {
        url: String,
        /// It ends with the last stage that uses it.
        _server: Arc<test_support::postgres::PostgresServer>,
    },
}

impl Stage {
    pub(crate) async fn sqlite() -> Self {
        Self::of(Engine::Sqlite).await
    }

    #[cfg(unix)]
    pub(crate) async fn postgres() -> Self {
        let server = test_support::postgres::PostgresServer::shared().unwrap();
        let url = server.create_database().unwrap();
        Self::of(Engine::Postgres { url, _server: server }).await
    }

    async fn of(engine: Engine) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("runs")).unwrap();
        let store = open(&engine, &home).await.unwrap();
        Self { home, engine, store }
    }

    /// As another server would.
    pub(crate) async fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        open(&self.engine, &self.home).await
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.home.path().join("runs")
    }

    /// A run that begins here.
    pub(crate) fn run(&self, id: &str) -> Journal {
        Journal::begin(Some(&self.runs()), id, "/work", "claude_code")
    }

    pub(crate) fn run_in(&self, id: &str, workspace: &str, backend: &str) -> Journal {
        Journal::begin(Some(&self.runs()), id, workspace, backend)
    }

    /// Takes in all that the runs have on the disk, and indexes its words. Says how many records had some.
    pub(crate) async fn catch_up(&self) -> u64 {
        let caught_up = catch_up(&*self.store, &self.runs(), |_| {}).await.unwrap();
        assert!(caught_up.unreadable.is_empty());
        self.store.index_texts().await.unwrap()
    }
}

async fn open(engine: &Engine, home: &TempDir) -> Result<Arc<dyn Store>, StoreError> {
    let runs_directory = home.path().join("runs");
    match engine {
        Engine::Sqlite => {
            let options = SqliteOptions {
                data_directory: home.path().join("data"),
                runs_directory,
            };
            Ok(Arc::new(SqliteStore::open(options).await?.store))
        }
        #[cfg(unix)]
        Engine::Postgres { url, .. } => {
            let options = ralph_store::PostgresOptions::new(url, runs_directory);
            Ok(Arc::new(
                ralph_store::PostgresStore::connect(options, |_| {}).await?,
            ))
        }
    }
}
