//! `Hub`: follows all runs of a user, for everyone who watches them and for the index.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ralph_run::{Home, RunDirectory};
use ralph_store::{Progress, RecordQuery, RunFold, Store, StoreError, resume_point};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::board::Board;
use super::feed::{Position, RunFeed};
use super::follow::{Leaving, follow};
use super::follow_states::FollowStates;
use super::inbox::Inbox;
use super::ingest::Ingest;
use crate::metrics::Metrics;

/// How soon a run that somebody else has started is seen.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How long somebody may have to wait for a run that was started a moment ago, and how often is looked for it.
const APPEARANCE: Duration = Duration::from_secs(2);
const APPEARANCE_LOOK: Duration = Duration::from_millis(10);
/// How soon a service that has failed is started again.
const RESTART: Duration = Duration::from_secs(1);
/// How often lists are told.
const TELL: Duration = Duration::from_millis(250);
/// How long the index may take to say where a record or a run stands. Without it, the journal is read.
const INDEX_PATIENCE: Duration = Duration::from_secs(2);

/// Follows all runs of a user, tells those who watch, and keeps the index up to date.
pub struct Hub {
    home: Home,
    store: Arc<dyn Store>,
    feeds: Mutex<HashMap<String, Arc<RunFeed>>>,
    follow_states: FollowStates,
    /// Runs that somebody asks for: they are followed even if they seem to have ended.
    wanted: Mutex<BTreeSet<String>>,
    /// Runs to be followed at once.
    noticed: Notify,
    board: Board,
    inbox: Inbox,
    ingest: Ingest,
    has_caught_up: AtomicBool,
    metrics: Arc<Metrics>,
}

/// There is no such run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no run `{0}`")]
pub struct NoSuchRun(pub String);

impl Hub {
    /// Nothing is followed before [`Self::work`].
    #[must_use]
    pub fn new(home: Home, store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            home,
            store,
            feeds: Mutex::default(),
            follow_states: FollowStates::default(),
            wanted: Mutex::default(),
            noticed: Notify::new(),
            board: Board::default(),
            inbox: Inbox::default(),
            ingest: Ingest::default(),
            has_caught_up: AtomicBool::new(false),
            metrics: Arc::default(),
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

    /// Whether a run is followed: then its records reach the index by themselves.
    #[must_use]
    pub fn is_followed(&self, run: &str) -> bool {
        self.follow_states.is_following(run)
    }

    /// Runs were taken into the index by somebody else: the text index is compared with all of them.
    pub fn compare_texts(&self) {
        self.ingest.compare_texts();
    }

    /// How many runs have something that is not in the index yet.
    #[must_use]
    pub fn index_waiting(&self) -> usize {
        self.ingest.waiting()
    }

    /// What is counted.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
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
        tasks.spawn(restarted("the index", move || {
            let live = live.clone();
            async move {
                live.ingest
                    .work(&live.home, &live.store, &live.follow_states)
                    .await
            }
        }));
        let live = self.clone();
        tasks.spawn(restarted("the text index", move || {
            let live = live.clone();
            async move { live.ingest.index_texts(&live.store).await }
        }));
        let live = self.clone();
        tasks.spawn(restarted("runs that have ended", move || {
            live.clone().drop_settled()
        }));
        let live = self.clone();
        tasks.spawn(restarted("the lists", move || {
            let live = live.clone();
            async move { live.tick().await }
        }));
        loop {
            self.follow_new(&mut tasks);
            let look_again = tokio::time::sleep(LOOK_AGAIN);
            tokio::pin!(look_again);
            loop {
                tokio::select! {
                    () = self.noticed.notified() => break,
                    () = &mut look_again => break,
                    Some(ended) = tasks.join_next() => {
                        if let Err(error) = ended {
                            // One run's misfortune is no other run's.
                            tracing::error!(%error, "following a run has failed");
                        }
                    }
                }
            }
        }
    }

    fn follow_new(self: &Arc<Self>, tasks: &mut JoinSet<()>) {
        let wanted = std::mem::take(&mut *self.wanted.lock().unwrap_or_else(PoisonError::into_inner));
        let wanted = wanted.into_iter().filter_map(|run| self.home.run(&run));
        let active = self.home.list_active().unwrap_or_else(|error| {
            tracing::warn!(%error, "the runs cannot be listed");
            Vec::new()
        });
        for run in active.into_iter().chain(wanted) {
            // One that has only just been made has no journal yet.
            if self.follow_states.may_begin(run.id(), Instant::now())
                && run.journal().exists()
                && self.follow_states.begin(run.id(), Instant::now())
            {
                tasks.spawn(follow(self.clone(), run));
            }
        }
    }

    async fn tick(&self) {
        let mut tick = interval(TELL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            self.board.tick();
            self.inbox.tick();
            // Whoever holds a feed is about to watch it, or watches it.
            self.feeds()
                .retain(|run, feed| self.follow_states.has(run) || Arc::strong_count(feed) > 1);
        }
    }

    /// Lets go of runs that have ended, once the index has all of them and nothing says any more that they go on. It
    /// waits for the disk, so lists and inbox do not wait for it.
    async fn drop_settled(self: Arc<Self>) {
        let mut tick = interval(TELL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            let ended = self.follow_states.ended();
            if ended.is_empty() {
                continue;
            }
            let hub = self.clone();
            let looked = tokio::task::spawn_blocking(move || {
                for (run, is_indexed) in ended {
                    let is_settled = is_indexed && !hub.home.is_active(&run);
                    if (is_settled || hub.home.run(&run).is_none()) && hub.board.forget(&run) {
                        hub.follow_states.forget(&run);
                    }
                }
            });
            if let Err(error) = looked.await {
                tracing::error!(%error, "looking for runs that have ended has failed");
            }
        }
    }

    /// What the index knows of a run, to go on from there; else from the start.
    pub(super) async fn known(&self, run: &RunDirectory) -> RunFold {
        let journal = run.journal();
        let asked = resume_point(self.store.as_ref(), run.id(), &journal);
        let Ok(Ok(Some(progress))) = timeout(INDEX_PATIENCE, asked).await else {
            return RunFold::named(run.id());
        };
        for approval in &progress.approvals {
            self.inbox.update(approval);
        }
        RunFold::resume(progress)
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
    pub(super) fn changed(&self, run: &str, is_urgent: bool) {
        self.ingest.set(run, is_urgent);
    }

    /// A run is not followed any more.
    pub(super) fn on_left(&self, run: &str, leaving: Leaving) {
        self.ingest.set(run, true);
        match leaving {
            Leaving::Ended { head } => {
                self.inbox.forget(run);
                self.follow_states.end(run, head);
            }
            Leaving::Gone => {
                self.inbox.forget(run);
                self.board.remove(run);
                self.follow_states.forget(run);
            }
            Leaving::Failed => self.follow_states.fail(run, Instant::now()),
        }
    }

    /// A run to watch: one that goes on, or one that has ended. One that has only just been started is waited for.
    ///
    /// # Errors
    /// When there is none, or the index cannot be asked.
    pub async fn feed(&self, run: &str) -> Result<Arc<RunFeed>, FeedError> {
        let no_such_run = || NoSuchRun(run.to_owned());
        let late = Instant::now() + APPEARANCE;
        loop {
            if let Some(feed) = self.feeds().get(run) {
                return Ok(feed.clone());
            }
            let directory = self.home.run(run).ok_or_else(no_such_run)?;
            let progress = self.store.progress(run).await?;
            let length = directory
                .journal()
                .metadata()
                .map_or(0, |metadata| metadata.len());
            let is_late = Instant::now() > late;
            match progress {
                // There may be more than the index has: then it is followed, to its end if it has ended.
                Some(progress) if is_late || progress.offset >= length => {
                    return Ok(self.feed_of(&directory, &progress));
                }
                None if is_late => return Err(no_such_run().into()),
                Some(_) | None => {}
            }
            self.request_follow(run);
            tokio::time::sleep(APPEARANCE_LOOK).await;
        }
    }

    fn request_follow(&self, run: &str) {
        self.wanted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(run.to_owned());
        self.notice();
    }

    fn feed_of(&self, run: &RunDirectory, progress: &Progress) -> Arc<RunFeed> {
        let head = Position {
            seq: progress.summary.head_seq,
            offset: progress.offset,
        };
        let mut feeds = self.feeds();
        let feed = feeds.entry(run.id().to_owned()).or_insert_with(|| {
            let epoch = &progress.summary.epoch;
            Arc::new(RunFeed::new(run.id().to_owned(), run.journal(), epoch, head))
        });
        feed.clone()
    }

    /// A place in the journal where reading what is behind a record can begin.
    pub async fn position(&self, feed: &RunFeed, after: u64) -> Position {
        if let Some(position) = feed.position_after(after) {
            return position;
        }
        let query = RecordQuery {
            before: Some(after + 1),
            limit: 1,
            ..RecordQuery::default()
        };
        // Without the index it is read from its start, or told to be too much.
        let asked = timeout(INDEX_PATIENCE, self.store.records(feed.run(), &query)).await;
        let rows = asked.ok().and_then(Result::ok).unwrap_or_default();
        let row = rows.into_iter().next_back();
        Position {
            seq: after,
            offset: row.map_or(0, |row| row.offset),
        }
    }

    fn feeds(&self) -> MutexGuard<'_, HashMap<String, Arc<RunFeed>>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something for ever, whatever happens.
pub(crate) async fn restarted<F: Future<Output = ()> + Send + 'static>(
    what: &'static str,
    make: impl Fn() -> F + Send + 'static,
) {
    loop {
        // Dropping the set ends what is in it.
        let mut one = JoinSet::new();
        one.spawn(make());
        if let Some(Err(error)) = one.join_next().await {
            tracing::error!(%error, what, "a service has failed; it is started again");
        }
        tokio::time::sleep(RESTART).await;
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
