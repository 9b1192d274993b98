//! `Readers`: the pool of connections for queries.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::corruption_flag::CorruptionFlag;
use super::explain::explain;
use super::open::BUSY_TIMEOUT;
use crate::error::StoreError;

/// More would only wait for the same disk.
const MAX_READERS: usize = 4;
/// No question may keep the write-ahead log from being emptied for longer.
const TIME_LIMIT: Duration = Duration::from_secs(3);
/// How many steps of SQLite's machine lie between two looks at the clock.
const CHECK_INTERVAL_STEPS: i32 = 20_000;

/// Connections that read. Each is used for one question at a time, and for a moment only.
#[derive(Debug, Clone)]
pub(super) struct Readers {
    path: PathBuf,
    time_limit: Duration,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    corruption: CorruptionFlag,
}

impl Readers {
    pub(super) fn new(path: PathBuf, corruption: CorruptionFlag) -> Self {
        Self {
            path,
            time_limit: TIME_LIMIT,
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(MAX_READERS)),
            corruption,
        }
    }

    #[cfg(test)]
    pub(super) fn with_time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Asks something, all of it of one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permits = self.permits.clone();
        let permit = permits.acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let readers = self.clone();
        let asked = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let answer = readers.ask(question);
            readers.corruption.observe(&answer);
            answer
        });
        asked
            .await
            .map_err(|error| StoreError::Database(error.to_string()))?
    }

    fn ask<T>(&self, question: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = idle.map_or_else(|| self.open(), Ok)?;
        let until = Instant::now() + self.time_limit;
        connection
            .progress_handler(CHECK_INTERVAL_STEPS, Some(move || Instant::now() > until))
            .map_err(explain)?;
        let snapshot = connection.transaction().map_err(explain)?;
        let answer = question(&snapshot);
        drop(snapshot);
        if answer.is_ok() && !self.permits.is_closed() {
            self.idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
        }
        answer
    }

    fn open(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags).map_err(explain)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(explain)?;
        connection
            .execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -1024;")
            .map_err(explain)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }

    /// Answers nothing more.
    pub(super) fn close(&self) {
        self.permits.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
