//! `Writer`: the task with the one connection that writes.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use sqlx::{Connection as _, Error, PgConnection};
use tokio::sync::{mpsc, oneshot};

use super::address::Address;
use super::connect::{leave, open_writer};
use super::delete;
use super::escape::escape;
use super::explain::{explain, is_lost, within};
use super::ingest::ingest;
use super::read::response;
use super::usage::compact;
use crate::columns::nanoseconds;
use crate::error::StoreError;
use crate::home_claim::{HomeClaim, OtherHome};
use crate::rows::{Batch, Ingested};
use crate::store::{RESPONSE_LIFETIME, SavedResponse};

/// How many jobs are queued at most. Callers with further jobs wait.
const MAX_WAITING: usize = 64;
/// How many records go into one commit, if they come in several jobs, and how many bytes their lines have.
const MAX_RECORDS: usize = 100_000;
const MAX_LINE_BYTES: usize = 64 << 20;
/// A commit that takes longer has failed.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(90);
/// After a database took this long without an answer, jobs fail at once for the same time.
const MAX_SILENCE: Duration = Duration::from_secs(1);

/// Something to be written.
pub(super) enum Task {
    Ingest(Vec<Batch>),
    Remove(Vec<String>),
    Clear,
    /// The numbers of runs that ended before a time, in nanoseconds.
    CompactUsage {
        runs: Vec<i64>,
        ended_before: i64,
    },
    PutResponse(String, SavedResponse),
    #[cfg(test)]
    Panic,
}

/// What became of it.
#[derive(Default)]
pub(super) struct Done {
    pub(super) ingested: Ingested,
    /// The response that was saved before.
    pub(super) first: Option<SavedResponse>,
}

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

enum Job {
    Task(Task, Reply<Done>),
    Close(Reply<()>),
}

/// The way to the task that writes. It ends when this is dropped.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    pub(super) fn start(address: Address, home: Option<HomeClaim>, connection: PgConnection) -> Self {
        let (jobs, receiver) = mpsc::channel(MAX_WAITING);
        let worker = Worker {
            address,
            // Only opening an index may take it over. A new connection of the writer must not.
            home: home.map(|home| HomeClaim {
                other: OtherHome::Refuse,
                ..home
            }),
            connection: Some(connection),
            refused: None,
        };
        tokio::spawn(worker.work(receiver));
        Self { jobs }
    }

    pub(super) async fn perform(&self, task: Task) -> Result<Done, StoreError> {
        let (reply, done) = oneshot::channel();
        self.send(Job::Task(task, reply)).await?;
        done.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) async fn close(&self) -> Result<(), StoreError> {
        let (reply, done) = oneshot::channel();
        self.send(Job::Close(reply)).await?;
        done.await.map_err(|_| StoreError::Closed)?
    }

    async fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.send(job).await.map_err(|_| StoreError::Closed)
    }
}

struct Worker {
    address: Address,
    home: Option<HomeClaim>,
    connection: Option<PgConnection>,
    /// When the database said nothing for a long time.
    refused: Option<Instant>,
}

impl Worker {
    /// Works until it is closed. A job that panics fails alone: its connection is closed, which rolls its transaction
    /// back, and the next job is done with a new one.
    async fn work(mut self, mut jobs: mpsc::Receiver<Job>) {
        while AssertUnwindSafe(self.work_until_closed(&mut jobs))
            .catch_unwind()
            .await
            .is_err()
        {
            tracing::error!("a job of the index panicked; the jobs after it continue");
        }
    }

    async fn work_until_closed(&mut self, jobs: &mut mpsc::Receiver<Job>) {
        let mut next = jobs.recv().await;
        while let Some(job) = next.take() {
            match job {
                Job::Task(task, reply) => {
                    let mut group = vec![(task, reply)];
                    let mut size = size_of(&group[0].0);
                    while size.is_some_and(|(records, bytes)| records < MAX_RECORDS && bytes < MAX_LINE_BYTES)
                    {
                        match jobs.try_recv() {
                            Ok(Job::Task(task @ Task::Ingest(_), reply)) => {
                                size = size
                                    .zip(size_of(&task))
                                    .map(|(one, other)| (one.0 + other.0, one.1 + other.1));
                                group.push((task, reply));
                            }
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.perform_group(group).await;
                }
                Job::Close(reply) => {
                    jobs.close();
                    let _ = reply.send(self.close().await);
                    return;
                }
            }
            if next.is_none() {
                next = jobs.recv().await;
            }
        }
    }

    /// One commit for all of them. If that fails, each has one of its own, so that none fails for another.
    async fn perform_group(&mut self, group: Vec<(Task, Reply<Done>)>) {
        let (tasks, replies): (Vec<Task>, Vec<Reply<Done>>) = group.into_iter().unzip();
        match self.perform(&tasks).await {
            Ok(all) => {
                for (reply, done) in replies.into_iter().zip(all) {
                    let _ = reply.send(Ok(done));
                }
            }
            Err(StoreError::Unavailable(why)) => {
                for reply in replies {
                    let _ = reply.send(Err(StoreError::Unavailable(why.clone())));
                }
            }
            Err(error) if tasks.len() == 1 => {
                if let Some(reply) = replies.into_iter().next() {
                    let _ = reply.send(Err(error));
                }
            }
            Err(_) => {
                for (task, reply) in tasks.iter().zip(replies) {
                    let done = self.perform(std::slice::from_ref(task)).await;
                    let _ = reply.send(done.map(|mut all| all.pop().unwrap_or_default()));
                }
            }
        }
    }

    /// Everything that is done here can be done twice: a connection that broke since it was used last is replaced.
    async fn perform(&mut self, tasks: &[Task]) -> Result<Vec<Done>, StoreError> {
        let was_open = self.connection.is_some();
        let mut connection = self.connect().await?;
        let mut result = self.transact(&mut connection, tasks).await;
        if was_open && result.as_ref().is_err_and(is_lost) {
            drop(connection);
            connection = self.connect().await?;
            result = self.transact(&mut connection, tasks).await;
        }
        match &result {
            Err(error) if is_lost(error) => {}
            _ => self.connection = Some(connection),
        }
        result.map_err(explain)
    }

    async fn connect(&mut self) -> Result<PgConnection, StoreError> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        if self
            .refused
            .is_some_and(|refused| refused.elapsed() < MAX_SILENCE)
        {
            return Err(StoreError::Unavailable("the database does not answer".to_owned()));
        }
        let start = Instant::now();
        let opened = open_writer(&self.address, self.home.as_ref()).await;
        let is_silent = opened
            .as_ref()
            .is_err_and(|refused| matches!(refused.error, StoreError::Unavailable(_)));
        self.refused = (is_silent && start.elapsed() > MAX_SILENCE).then(Instant::now);
        opened.map_err(|refused| refused.error)
    }

    async fn transact(&mut self, connection: &mut PgConnection, tasks: &[Task]) -> Result<Vec<Done>, Error> {
        let result = within(COMMIT_TIMEOUT, async {
            let mut transaction = connection.begin().await?;
            if !tasks.iter().any(is_milestone) {
                sqlx::raw_sql("SET LOCAL synchronous_commit = off")
                    .execute(&mut *transaction)
                    .await?;
            }
            let mut all = Vec::new();
            for task in tasks {
                all.push(do_task(&mut transaction, task).await?);
            }
            transaction.commit().await?;
            Ok(all)
        });
        result.await
    }

    async fn close(&mut self) -> Result<(), StoreError> {
        match self.connection.take() {
            Some(connection) => leave(connection).await.map_err(explain),
            None => Ok(()),
        }
    }
}

async fn do_task(connection: &mut PgConnection, task: &Task) -> Result<Done, Error> {
    match task {
        Task::Ingest(batches) => Ok(Done {
            ingested: ingest(connection, batches).await?,
            first: None,
        }),
        Task::Remove(runs) => delete::remove(connection, runs).await.map(|()| Done::default()),
        Task::Clear => delete::clear(connection).await.map(|()| Done::default()),
        Task::CompactUsage { runs, ended_before } => {
            compact(connection, runs, *ended_before).await?;
            Ok(Done::default())
        }
        Task::PutResponse(key, answer) => Ok(Done {
            first: put_response(connection, key, answer).await?,
            ingested: Ingested::default(),
        }),
        #[cfg(test)]
        Task::Panic => panic!("a fault of ours"),
    }
}

/// Returns the response that was saved first, if that was another one.
async fn put_response(
    connection: &mut PgConnection,
    key: &str,
    answer: &SavedResponse,
) -> Result<Option<SavedResponse>, Error> {
    let at = nanoseconds(answer.at);
    let forgotten = u64::try_from(RESPONSE_LIFETIME.as_nanos()).unwrap_or(u64::MAX);
    sqlx::query("DELETE FROM remembered WHERE at < $1")
        .bind(at.saturating_sub_unsigned(forgotten))
        .execute(&mut *connection)
        .await?;
    let new = sqlx::query(
        "INSERT INTO remembered(key, digest, status, body, at) VALUES($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
    )
    .bind(escape(key))
    .bind(escape(&answer.digest))
    .bind(i32::from(answer.status))
    .bind(escape(&answer.body))
    .bind(at)
    .execute(&mut *connection)
    .await?;
    if new.rows_affected() > 0 {
        return Ok(None);
    }
    let first = response(connection, key).await?;
    Ok(first.filter(|first| first != answer))
}

/// How many records, and bytes of lines, a task has that others may join; none for one that is done alone.
fn size_of(task: &Task) -> Option<(usize, usize)> {
    match task {
        Task::Ingest(batches) => Some((
            batches.iter().map(|batch| batch.records.len()).sum(),
            batches.iter().map(Batch::line_bytes).sum(),
        )),
        Task::Remove(_) | Task::Clear | Task::CompactUsage { .. } | Task::PutResponse(..) => None,
        #[cfg(test)]
        Task::Panic => None,
    }
}

/// Whether the task must be on the disk before it is reported as done: the start and the end of a run, and what cannot be
/// read again.
fn is_milestone(task: &Task) -> bool {
    match task {
        Task::Ingest(batches) => batches
            .iter()
            .any(|batch| batch.start == 0 || batch.summary.ended_at.is_some()),
        // Undone as a whole, it is done again the next time.
        Task::CompactUsage { .. } => false,
        Task::Remove(_) | Task::Clear | Task::PutResponse(..) => true,
        #[cfg(test)]
        Task::Panic => false,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Task;
    use crate::error::StoreError;
    use crate::postgres::{PostgresOptions, PostgresStore};
    use crate::store::Store as _;

    #[tokio::test]
    async fn a_job_that_panics_fails_alone() {
        let server = test_support::postgres::PostgresServer::shared().unwrap();
        let url = server.create_database().unwrap();
        let options = PostgresOptions::new(url);
        let store = PostgresStore::connect(options, |_| {}).await.unwrap();
        let failed = store.write(Task::Panic).await;
        assert!(matches!(failed, Err(StoreError::Closed)));
        store.remove(&["a".to_owned()]).await.unwrap();
        assert_eq!(store.health().await.problem, None);
        store.close().await.unwrap();
    }
}
