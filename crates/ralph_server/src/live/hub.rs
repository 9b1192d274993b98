//! `Hub`: follows all runs of a user, for everyone who watches them and for the index.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ralph_run::ports::{Journals, Place};
use ralph_store::{RunFold, Store, StoreError, resume_point};
use tokio::sync::{Notify, watch};
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
/// How long a client waits for a run that was started a moment ago. It is woken when the run is followed, and looks for
/// itself now and then.
const APPEARANCE_TIMEOUT: Duration = Duration::from_secs(2);
const APPEARANCE_INTERVAL: Duration = Duration::from_millis(100);
/// How soon a service that has failed is started again.
const RESTART: Duration = Duration::from_secs(1);
/// How often lists are told.
const TELL: Duration = Duration::from_millis(250);
/// How long the index may take to say how far it has a run. Without it, the journal is read from its start.
const INDEX_PATIENCE: Duration = Duration::from_secs(2);

/// Follows all runs of a user, tells those who watch, and keeps the index up to date.
pub struct Hub {
    journals: Arc<dyn Journals>,
    store: Arc<dyn Store>,
    feeds: Mutex<HashMap<String, Arc<RunFeed>>>,
    follow_states: FollowStates,
    /// Runs that somebody asks for: they are followed even if they seem to have ended.
    wanted: Mutex<BTreeSet<String>>,
    /// Runs to be followed at once.
    noticed: Notify,
    /// Changes when a run begins to be followed.
    followed: watch::Sender<()>,
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
    pub fn new(journals: Arc<dyn Journals>, store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            journals,
            store,
            feeds: Mutex::default(),
            follow_states: FollowStates::default(),
            wanted: Mutex::default(),
            noticed: Notify::new(),
            followed: watch::Sender::new(()),
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

    /// The runs and their records.
    pub(crate) fn journals(&self) -> &Arc<dyn Journals> {
        &self.journals
    }

    pub(super) fn ingest(&self) -> &Ingest {
        &self.ingest
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
                    .work(live.journals.as_ref(), &live.store, &live.follow_states)
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
            self.follow_new(&mut tasks).await;
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

    async fn follow_new(self: &Arc<Self>, tasks: &mut JoinSet<()>) {
        let wanted = std::mem::take(&mut *self.wanted.lock().unwrap_or_else(PoisonError::into_inner));
        let active = self.journals.active().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the runs cannot be listed");
            Vec::new()
        });
        // One that could not be followed may have ended since: only its journal says so.
        let failed = self.follow_states.failed();
        for run in active.into_iter().chain(wanted).chain(failed) {
            // The disk is asked only about runs that are not followed. One that has only just been made has no journal.
            if !self.follow_states.may_begin(&run, Instant::now()) {
                continue;
            }
            match self.journals.presence(&run).await {
                Some(presence) if presence.has_journal && self.follow_states.begin(&run, Instant::now()) => {
                    tasks.spawn(follow(self.clone(), run));
                }
                Some(_) => {}
                None if self.follow_states.give_up(&run) => {
                    self.remove(&run, None);
                }
                None => {}
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
            for (run, is_indexed) in ended {
                let presence = self.journals.presence(&run).await;
                let is_settled = presence.is_none_or(|presence| is_indexed && !presence.is_active);
                if is_settled && self.board.forget(&run) {
                    self.follow_states.forget(&run);
                }
            }
        }
    }

    /// What the index knows of a run, to go on from there; else from the start.
    pub(super) async fn known(&self, run: &str) -> RunFold {
        let asked = resume_point(self.store.as_ref(), self.journals.as_ref(), run);
        let Ok(Ok(Some(progress))) = timeout(INDEX_PATIENCE, asked).await else {
            return RunFold::named(run).keeping_lines(self.store.keeps_lines());
        };
        for approval in &progress.approvals {
            self.inbox.update(approval);
        }
        self.follow_states.set_indexed(run, progress.summary.head_seq);
        RunFold::resume(progress).keeping_lines(self.store.keeps_lines())
    }

    /// A run's journal is followed from here on.
    pub(super) fn begin(&self, run: &str, epoch: &str, head: Position) -> Arc<RunFeed> {
        let feed = self.feed_at(run, epoch, head);
        let (known, reached) = feed.head();
        if *known != *epoch || reached != head {
            feed.reset(epoch, head);
        }
        self.followed.send_replace(());
        feed
    }

    /// A run is not followed any more.
    pub(super) fn on_left(&self, run: &str, leaving: Leaving) {
        match leaving {
            Leaving::Ended { head } => {
                self.inbox.forget(run);
                self.follow_states.end(run, head);
            }
            Leaving::Gone => {
                self.remove(run, None);
                self.follow_states.forget(run);
            }
            Leaving::Failed => {
                self.follow_states.fail(run, Instant::now());
                // What was read and not handed over is read again.
                self.ingest.mark_behind(run);
            }
        }
    }

    /// A run to watch: one that is active, or one that has ended. One that was started a moment ago is waited for.
    ///
    /// # Errors
    /// When there is no such run, or its journal cannot be read.
    pub async fn feed(&self, run: &str) -> Result<Arc<RunFeed>, FeedError> {
        let no_such_run = || NoSuchRun(run.to_owned());
        let mut followed = self.followed.subscribe();
        let deadline = Instant::now() + APPEARANCE_TIMEOUT;
        loop {
            followed.mark_unchanged();
            if let Some(feed) = self.feeds().get(run) {
                return Ok(feed.clone());
            }
            let presence = self.journals.presence(run).await.ok_or_else(no_such_run)?;
            let is_late = Instant::now() > deadline;
            // An active run is followed in a moment. What has ended, or cannot be followed, is read from the journal.
            if !presence.is_active || is_late {
                let head = self.journals.head(run).await?;
                if let Some(head) = head {
                    let position = Position {
                        seq: head.seq,
                        place: head.end,
                    };
                    return Ok(self.feed_at(run, &head.epoch, position));
                }
            }
            if is_late {
                return Err(no_such_run().into());
            }
            self.request_follow(run);
            let _ = timeout(APPEARANCE_INTERVAL, followed.changed()).await;
        }
    }

    /// Waits until a run that was started a moment ago is followed, but not for long.
    pub(crate) async fn wait_for(&self, run: &str) {
        let _ = self.feed(run).await;
    }

    /// A run was deleted: whoever watches it is told so, and the lists lose it. `workspace` is where it was, if known.
    pub fn remove(&self, run: &str, workspace: Option<&str>) {
        if let Some(feed) = self.feeds().remove(run) {
            feed.remove();
        }
        self.inbox.forget(run);
        self.board.remove(run, workspace);
    }

    /// Where a run works; none if there is no such run.
    ///
    /// # Errors
    /// When the index has to be asked and fails.
    pub(crate) async fn workspace_of(&self, run: &str) -> Result<Option<String>, StoreError> {
        if let Some(summary) = self.board.get(run) {
            return Ok(Some(summary.workspace.clone()));
        }
        Ok(self.store.run(run).await?.map(|summary| summary.workspace))
    }

    fn request_follow(&self, run: &str) {
        self.wanted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(run.to_owned());
        self.notice();
    }

    fn feed_at(&self, run: &str, epoch: &str, head: Position) -> Arc<RunFeed> {
        let mut feeds = self.feeds();
        let feed = feeds
            .entry(run.to_owned())
            .or_insert_with(|| Arc::new(RunFeed::new(run.to_owned(), epoch, head)));
        feed.clone()
    }

    /// A place in the journal where reading what is behind a record can begin.
    pub async fn position(&self, feed: &RunFeed, after: u64) -> Position {
        if let Some(position) = feed.position_after(after) {
            return position;
        }
        let found = self.journals.find_after(feed.run(), after).await;
        Position {
            seq: after,
            // Whoever cannot find it cannot read it either, and is told so then.
            place: found.unwrap_or(Place::START),
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
    /// Its journal cannot be read.
    #[error("the journal cannot be read")]
    Journal(#[from] io::Error),
}

#[cfg(test)]
mod tests;
