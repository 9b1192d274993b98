//! `Writer`: the one thread that writes to the file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::corruption_flag::CorruptionFlag;
use super::explain::explain;
use super::ingest::ingest;
use super::open::BUSY_TIMEOUT;
use crate::error::StoreError;
use crate::priority;
use crate::rows::{Batch, Ingested};

/// How many jobs are queued at most. Callers with further jobs wait.
const MAX_WAITING: usize = 64;
/// How many records go into one commit, if they come in several jobs.
const MAX_RECORDS: usize = 100_000;

/// How long readers are waited for when the log is to be emptied: longer than any of ours may take.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(100);
const CHECKPOINT_ATTEMPTS: usize = 40;

type Task = Box<dyn FnOnce(&Connection) -> rusqlite::Result<()> + Send>;

enum Job {
    Ingest {
        batches: Vec<Batch>,
        reply: oneshot::Sender<Result<Ingested, StoreError>>,
    },
    Task {
        task: Task,
        is_strict: bool,
        reply: oneshot::Sender<Result<(), StoreError>>,
    },
    Close {
        reply: oneshot::Sender<Result<(), StoreError>>,
    },
}

/// The way to the thread that writes. It ends when this is dropped.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        wal: PathBuf,
        max_wal_bytes: u64,
        corruption: CorruptionFlag,
    ) -> Result<Self, StoreError> {
        let (jobs, receiver) = mpsc::channel(MAX_WAITING);
        let mut worker = Worker {
            connection,
            wal,
            max_wal_bytes,
            is_strict: false,
            corruption,
        };
        thread::Builder::new()
            .name("ralph-store".to_owned())
            .spawn(move || {
                priority::lower(priority::INDEX);
                worker.work(receiver);
            })
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { jobs })
    }

    pub(super) async fn ingest(&self, batches: Vec<Batch>) -> Result<Ingested, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Ingest { batches, reply }).await?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Does something in a transaction of its own, which can be done again if the power fails.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.perform(false, task).await
    }

    /// Does something in a transaction of its own, which is on the disk afterwards.
    pub(super) async fn run_strictly<T: Send + 'static>(
        &self,
        task: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.perform(true, task).await
    }

    async fn perform<T: Send + 'static>(
        &self,
        is_strict: bool,
        task: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, done) = oneshot::channel();
        let (give, result) = oneshot::channel();
        let task = Box::new(move |connection: &Connection| {
            let value = task(connection)?;
            // The caller may have stopped waiting. The work is done anyway.
            let _ = give.send(value);
            Ok(())
        });
        self.send(Job::Task {
            task,
            is_strict,
            reply,
        })
        .await?;
        done.await.map_err(|_| StoreError::Closed)??;
        result.await.map_err(|_| StoreError::Closed)
    }

    pub(super) async fn close(&self) -> Result<(), StoreError> {
        let (reply, done) = oneshot::channel();
        self.send(Job::Close { reply }).await?;
        done.await.map_err(|_| StoreError::Closed)?
    }

    async fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.send(job).await.map_err(|_| StoreError::Closed)
    }
}

struct Worker {
    connection: Connection,
    wal: PathBuf,
    max_wal_bytes: u64,
    /// Whether every commit waits for the disk.
    is_strict: bool,
    corruption: CorruptionFlag,
}

type Waiting = (Vec<Batch>, oneshot::Sender<Result<Ingested, StoreError>>);

impl Worker {
    /// Works until it is closed. A job that panics fails alone: its transaction is rolled back, and the next job is done.
    fn work(&mut self, mut jobs: mpsc::Receiver<Job>) {
        while catch_unwind(AssertUnwindSafe(|| self.work_until_closed(&mut jobs))).is_err() {
            tracing::error!("a job of the index panicked; the jobs after it continue");
        }
    }

    fn work_until_closed(&mut self, jobs: &mut mpsc::Receiver<Job>) {
        let mut next = jobs.blocking_recv();
        while let Some(job) = next.take() {
            match job {
                Job::Ingest { batches, reply } => {
                    let mut group = vec![(batches, reply)];
                    let mut records = count(&group);
                    while records < MAX_RECORDS {
                        match jobs.try_recv() {
                            Ok(Job::Ingest { batches, reply }) => {
                                group.push((batches, reply));
                                records = count(&group);
                            }
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.ingest_group(group);
                }
                Job::Task {
                    task,
                    is_strict,
                    reply,
                } => {
                    self.be_strict(is_strict);
                    let result = self.transact(task);
                    let _ = reply.send(result);
                }
                Job::Close { reply } => {
                    jobs.close();
                    let _ = reply.send(self.close());
                    return;
                }
            }
            self.bound_wal();
            if next.is_none() {
                next = jobs.blocking_recv();
            }
        }
    }

    /// One commit for all of them. If that fails, each has one of its own, so that none fails for another.
    fn ingest_group(&mut self, group: Vec<Waiting>) {
        self.be_strict(group.iter().any(|(batches, _)| batches.iter().any(is_milestone)));
        let together = self.transact(|connection| {
            let all = group.iter().map(|(batches, _)| ingest(connection, batches));
            all.collect::<rusqlite::Result<Vec<_>>>()
        });
        match together {
            Ok(all) => {
                for ((_, reply), ingested) in group.into_iter().zip(all) {
                    let _ = reply.send(Ok(ingested));
                }
            }
            Err(error) => {
                let mut group = group.into_iter();
                if group.len() == 1 {
                    if let Some((_, reply)) = group.next() {
                        let _ = reply.send(Err(error));
                    }
                    return;
                }
                for (batches, reply) in group {
                    let result = self.transact(|connection| ingest(connection, &batches));
                    let _ = reply.send(result);
                }
            }
        }
    }

    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let result = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| {
                let value = work(&transaction)?;
                transaction.commit()?;
                Ok(value)
            })
            .map_err(explain);
        self.corruption.observe(&result);
        result
    }

    /// The start and the end of a run are on the disk before they are reported as written. The rest can be read again.
    fn be_strict(&mut self, is_strict: bool) {
        if self.is_strict == is_strict {
            return;
        }
        let level = if is_strict { "FULL" } else { "NORMAL" };
        match self.connection.pragma_update(None, "synchronous", level) {
            Ok(()) => self.is_strict = is_strict,
            Err(error) => tracing::warn!(%error, "cannot set `synchronous` for the next commit"),
        }
    }

    /// Empties the write-ahead log when it has grown. Waits for readers that still need it: each has a time limit.
    fn bound_wal(&self) {
        let is_large = std::fs::metadata(&self.wal).is_ok_and(|wal| wal.len() > self.max_wal_bytes);
        if !is_large {
            return;
        }
        // In short attempts: each looks again at which readers are active. One long attempt would wait for a
        // state that a reader which always starts again never releases.
        let is_empty = self.connection.busy_timeout(CHECKPOINT_WAIT).is_ok()
            && (0..CHECKPOINT_ATTEMPTS).any(|_| {
                let is_busy = self
                    .connection
                    .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
                matches!(is_busy, Ok(false))
            });
        if !is_empty {
            tracing::warn!(
                "the write-ahead log of the index grows: a reader has it open for a long time, or the disk is full"
            );
        }
        if let Err(error) = self.connection.busy_timeout(BUSY_TIMEOUT) {
            tracing::warn!(%error, "cannot reset the busy timeout of the index");
        }
    }

    /// A file that is suspect keeps its flag: the next one who opens it looks at it.
    fn close(&mut self) -> Result<(), StoreError> {
        if !self.corruption.is_set() {
            self.be_strict(true);
            self.transact(|connection| {
                connection.execute("UPDATE meta SET value = 0 WHERE key = 'is_open'", [])
            })?;
        }
        self.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(explain)
    }
}

fn count(group: &[Waiting]) -> usize {
    let batches = group.iter().flat_map(|(batches, _)| batches);
    batches.map(|batch| batch.records.len()).sum()
}

/// Whether a run begins or ends here.
fn is_milestone(batch: &Batch) -> bool {
    batch.start == 0 || batch.summary.ended_at.is_some()
}
