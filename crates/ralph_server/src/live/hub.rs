//! All that goes on.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ralph_run::{Home, RunDirectory};
use ralph_store::{RecordQuery, RunFold, Store, StoreError};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::board::Board;
use super::feed::{Position, RunFeed};
use super::follow::follow;
use super::inbox::Inbox;
use super::ingest::{Ingest, index_texts};

/// How soon a run that somebody else has started is seen.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How often lists are told.
const TELL: Duration = Duration::from_millis(250);

/// Follows all runs of a user, tells those who watch, and keeps the index up to date.
pub struct Live {
    home: Home,
    store: Arc<dyn Store>,
    feeds: Mutex<HashMap<String, Arc<RunFeed>>>,
    /// Runs that are followed.
    followed: Mutex<HashSet<String>>,
    /// Runs to be followed at once.
    noticed: Notify,
    board: Board,
    inbox: Inbox,
    ingest: Ingest,
    has_caught_up: AtomicBool,
}

/// There is no such run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no run `{0}`")]
pub struct NoSuchRun(pub String);

impl Live {
    /// Nothing is followed before [`Self::work`].
    #[must_use]
    pub fn new(home: Home, store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            home,
            store,
            feeds: Mutex::default(),
            followed: Mutex::default(),
            noticed: Notify::new(),
            board: Board::default(),
            inbox: Inbox::default(),
            ingest: Ingest::default(),
            has_caught_up: AtomicBool::new(false),
        })
    }

    /// What all runs are doing.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Everything that waits for a person.
    #[must_use]
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// What keeps the index from being up to date, if something does.
    #[must_use]
    pub fn index_problem(&self) -> Option<String> {
        self.ingest.problem()
    }

    /// How many runs have something that is not in the index yet.
    #[must_use]
    pub fn index_waiting(&self) -> usize {
        self.ingest.waiting()
    }

    /// Whether the index has what happened before we were there.
    #[must_use]
    pub fn has_caught_up(&self) -> bool {
        self.has_caught_up.load(Ordering::Relaxed)
    }

    /// The index has what happened before we were there.
    pub fn set_caught_up(&self) {
        self.has_caught_up.store(true, Ordering::Relaxed);
    }

    /// A run has just been started: it need not be looked for.
    pub fn notice(&self) {
        self.noticed.notify_one();
    }

    /// Follows runs, tells, and indexes until it is dropped.
    pub async fn work(self: Arc<Self>) {
        let mut tasks = JoinSet::new();
        let live = self.clone();
        tasks.spawn(async move { live.ingest.work(&live.home, &live.store).await });
        let live = self.clone();
        tasks.spawn(async move { index_texts(&live.store).await });
        let live = self.clone();
        tasks.spawn(async move { live.tell().await });
        loop {
            self.follow_new(&mut tasks);
            tokio::select! {
                () = self.noticed.notified() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                Some(ended) = tasks.join_next() => {
                    if let Err(error) = ended {
                        // One run's misfortune is no other run's.
                        tracing::error!(%error, "a task has failed");
                    }
                }
            }
        }
    }

    fn follow_new(self: &Arc<Self>, tasks: &mut JoinSet<()>) {
        let active = match self.home.list_active() {
            Ok(active) => active,
            Err(error) => {
                tracing::warn!(%error, "the runs cannot be listed");
                return;
            }
        };
        for run in active {
            let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
            // One that has only just been made has no journal yet.
            if !run.journal().exists() || !followed.insert(run.id().to_owned()) {
                continue;
            }
            drop(followed);
            tasks.spawn(follow(self.clone(), run));
        }
    }

    async fn tell(&self) {
        let mut tick = interval(TELL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            self.board.tick();
            self.inbox.tick();
            self.feeds().retain(|run, feed| {
                let is_live = self
                    .followed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .contains(run);
                is_live || feed.is_watched()
            });
        }
    }

    /// What the index knows of a run, to go on from there.
    pub(super) async fn known(&self, run: &str) -> Option<RunFold> {
        let progress = self.store.progress(run).await.ok().flatten()?;
        for approval in &progress.approvals {
            self.inbox.update(approval);
        }
        Some(RunFold::resume(progress))
    }

    /// A run's journal is followed from here on.
    pub(super) fn begin(&self, run: &RunDirectory, epoch: &str, head: Position) -> Arc<RunFeed> {
        let mut feeds = self.feeds();
        match feeds.get(run.id()) {
            Some(feed) => {
                let (known, reached) = feed.head();
                if *known != *epoch || reached != head {
                    feed.reset(epoch, head);
                }
                feed.clone()
            }
            None => {
                let feed = RunFeed::new(run.id().to_owned(), run.journal(), epoch, head);
                let feed = Arc::new(feed);
                feeds.insert(run.id().to_owned(), feed.clone());
                feed
            }
        }
    }

    /// A run has something new for the index.
    pub(super) fn changed(&self, run: &str) {
        self.ingest.set(run);
    }

    /// A run is not followed any more.
    pub(super) fn ended(&self, run: &str) {
        self.ingest.set(run);
        self.followed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(run);
    }

    /// A run to watch: one that goes on, or one that has ended.
    ///
    /// # Errors
    /// When there is none, or the index cannot be asked.
    pub async fn feed(&self, run: &str) -> Result<Arc<RunFeed>, FeedError> {
        if let Some(feed) = self.feeds().get(run) {
            return Ok(feed.clone());
        }
        let directory = self.home.run(run).ok_or_else(|| NoSuchRun(run.to_owned()))?;
        let progress = self.store.progress(run).await?;
        let progress = progress.ok_or_else(|| NoSuchRun(run.to_owned()))?;
        let head = Position {
            seq: progress.summary.head_seq,
            offset: progress.offset,
        };
        let mut feeds = self.feeds();
        let feed = feeds.entry(run.to_owned()).or_insert_with(|| {
            let epoch = &progress.summary.epoch;
            Arc::new(RunFeed::new(run.to_owned(), directory.journal(), epoch, head))
        });
        Ok(feed.clone())
    }

    /// A place in the journal where reading what is behind a record can begin.
    ///
    /// # Errors
    /// When the index cannot be asked.
    pub async fn position(&self, feed: &RunFeed, after: u64) -> Result<Position, StoreError> {
        let (_, head) = feed.head();
        if after >= head.seq {
            return Ok(head);
        }
        let query = RecordQuery {
            before: Some(after + 1),
            limit: 1,
            ..RecordQuery::default()
        };
        let row = self.store.records(feed.run(), &query).await?.pop();
        Ok(Position {
            seq: after,
            offset: row.map_or(0, |row| row.offset),
        })
    }

    fn feeds(&self) -> MutexGuard<'_, HashMap<String, Arc<RunFeed>>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// There is none.
    #[error(transparent)]
    NoSuchRun(#[from] NoSuchRun),
    /// The index cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}
