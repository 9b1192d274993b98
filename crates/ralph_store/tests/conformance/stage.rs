//! A place with runs and an index of them.

use std::path::PathBuf;
use std::sync::Arc;

use ralph_store::{HomeClaim, OtherHome, SqliteOptions, SqliteStore, Store, StoreError, catch_up};
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
        server: Arc<test_support::postgres::PostgresServer>,
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
        Self::of(Engine::Postgres { url, server }).await
    }

    async fn of(engine: Engine) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("runs")).unwrap();
        let store = open(&engine, &home, None).await.unwrap();
        Self { home, engine, store }
    }

    /// As another server would.
    pub(crate) async fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        open(&self.engine, &self.home, None).await
    }

    /// As a server with this state directory would.
    pub(crate) async fn open_for(&self, id: &str, other: OtherHome) -> Result<Arc<dyn Store>, StoreError> {
        let claim = HomeClaim {
            id: id.to_owned(),
            other,
        };
        open(&self.engine, &self.home, Some(claim)).await
    }

    /// Changes the tables behind the back of the engine. `TABLE` stands for the prefix of a table's name.
    pub(crate) fn change(&self, sql: &str) {
        match &self.engine {
            Engine::Sqlite => {
                let file = self.home.path().join("data/ralph.db");
                let connection = rusqlite::Connection::open(file).unwrap();
                connection
                    .busy_timeout(std::time::Duration::from_secs(5))
                    .unwrap();
                connection.execute_batch(&sql.replace("TABLE.", "")).unwrap();
            }
            #[cfg(unix)]
            Engine::Postgres { url, server } => {
                let database = url.rsplit('/').next().unwrap();
                server
                    .execute(database, &sql.replace("TABLE.", "ralph."))
                    .unwrap();
            }
        }
    }

    /// Keeps the database as it is now. The index must be closed.
    pub(crate) fn dump(&self) {
        match &self.engine {
            Engine::Sqlite => {
                let data = self.home.path().join("data");
                std::fs::copy(data.join("ralph.db"), self.home.path().join("dump")).unwrap();
            }
            #[cfg(unix)]
            Engine::Postgres { url, server } => {
                let database = url.rsplit('/').next().unwrap();
                let copy = format!("CREATE DATABASE {database}_dump TEMPLATE {database}");
                server.execute("postgres", &copy).unwrap();
            }
        }
    }

    /// Puts back what was [kept](Self::dump).
    pub(crate) fn restore(&self) {
        match &self.engine {
            Engine::Sqlite => {
                let data = self.home.path().join("data");
                std::fs::copy(self.home.path().join("dump"), data.join("ralph.db")).unwrap();
            }
            #[cfg(unix)]
            Engine::Postgres { url, server } => {
                let database = url.rsplit('/').next().unwrap();
                for sql in [
                    format!("DROP DATABASE {database} WITH (FORCE)"),
                    format!("ALTER DATABASE {database}_dump RENAME TO {database}"),
                ] {
                    server.execute("postgres", &sql).unwrap();
                }
            }
        }
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

async fn open(
    engine: &Engine,
    home: &TempDir,
    claim: Option<HomeClaim>,
) -> Result<Arc<dyn Store>, StoreError> {
    let runs_directory = home.path().join("runs");
    match engine {
        Engine::Sqlite => {
            let options = SqliteOptions {
                data_directory: home.path().join("data"),
                runs_directory,
                home: claim,
            };
            Ok(Arc::new(SqliteStore::open(options).await?.store))
        }
        #[cfg(unix)]
        Engine::Postgres { url, .. } => {
            let options = ralph_store::PostgresOptions {
                home: claim,
                ..ralph_store::PostgresOptions::new(url)
            };
            Ok(Arc::new(
                ralph_store::PostgresStore::connect(options, |_| {}).await?,
            ))
        }
    }
}
