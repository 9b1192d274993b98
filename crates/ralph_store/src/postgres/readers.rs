//! `Readers`: the pool of connections for queries.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::{Connection as _, Error, PgConnection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::address::{Address, Purpose};
use super::connect::open;
use super::explain::{explain, is_lost, within};
use crate::error::StoreError;

/// More would only wait for each other.
const MAX_READERS: usize = 8;
/// How long a connection may take to say that it is still there.
const PING_TIMEOUT: Duration = Duration::from_secs(2);

/// Connections that read. Each is used for one question at a time.
#[derive(Debug, Clone)]
pub(super) struct Readers {
    address: Address,
    idle: Arc<Mutex<Vec<PgConnection>>>,
    permits: Arc<Semaphore>,
}

/// A connection for a question. One that is dropped is not used again.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) connection: PgConnection,
    permit: OwnedSemaphorePermit,
}

impl Readers {
    pub(super) fn new(address: Address) -> Self {
        Self {
            address,
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(MAX_READERS)),
        }
    }

    /// A connection that was there a moment ago.
    pub(super) async fn take(&self) -> Result<Reader, StoreError> {
        let permits = self.permits.clone();
        let permit = permits.acquire_owned().await.map_err(|_| StoreError::Closed)?;
        while let Some(mut connection) = self.pop() {
            if within(PING_TIMEOUT, connection.ping()).await.is_ok() {
                return Ok(Reader { connection, permit });
            }
            // The others are of the same age.
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        let connection = open(&self.address, Purpose::Read).await.map_err(explain)?;
        Ok(Reader { connection, permit })
    }

    /// Takes a connection back after its answer, if it is of any more use.
    pub(super) fn give_back<T>(&self, reader: Reader, answer: Result<T, Error>) -> Result<T, StoreError> {
        if !answer.as_ref().is_err_and(is_lost) {
            self.put(reader);
        }
        answer.map_err(explain)
    }

    fn put(&self, reader: Reader) {
        let Reader { connection, permit } = reader;
        if !self.permits.is_closed() {
            self.idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
        }
        drop(permit);
    }

    fn pop(&self) -> Option<PgConnection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Answers nothing more.
    pub(super) async fn close(&self) {
        self.permits.close();
        while let Some(connection) = self.pop() {
            // It is over either way.
            let _ = within(PING_TIMEOUT, connection.close()).await;
        }
    }
}
