//! `RunFollower`: turns the lines of one run into frames, list entries and index rows. The [`Hub`] starts one for each
//! active run; a follower thread calls it.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ralph_run::JournalItem;
use ralph_run::ports::{FollowEnd, FollowStep, JournalSink, Place};
use ralph_store::{Folded, RunFold};

use super::feed::{Position, RunFeed};
use super::frame_builder::FrameBuilder;
use super::hub::Hub;
use super::tool_times::ToolTimes;
use crate::metrics::Metrics;

/// How long rows wait for more before they are handed to the indexer.
const HAND_OVER_INTERVAL: Duration = Duration::from_millis(500);
/// How many of them wait at most.
const MAX_WAITING_ROWS: usize = 500;
/// How many bytes of lines wait at most, if the index keeps lines.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// Follows a run to its end. One that cannot be followed is tried again later.
pub(super) async fn follow(live: Arc<Hub>, run: String) {
    let mut follower = RunFollower {
        live: Arc::downgrade(&live),
        metrics: Arc::clone(live.metrics()),
        fold: RunFold::named(&run),
        run,
        builder: FrameBuilder::default(),
        tool_times: ToolTimes::default(),
        feed: None,
        has_items: false,
        rows_since: None,
        leaving: Leaving::Failed,
    };
    follower.fold = live.known(&follower.run).await;
    let place = Place::from(follower.fold.offset());
    if let Some(summary) = follower.fold.summary() {
        let head = Position {
            seq: summary.head_seq,
            place,
        };
        live.board().update(summary);
        follower.feed = Some(live.begin(&follower.run, &summary.epoch, head));
    }
    let run = follower.run.clone();
    live.journals().follow(&run, place, Box::new(follower));
}

/// Why a run is not followed any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It has ended with this record.
    Ended { head: u64 },
    /// Its journal is gone.
    Gone,
    /// Anything else. It is tried again.
    Failed,
}

struct RunFollower {
    /// Following ends with the hub.
    live: Weak<Hub>,
    metrics: Arc<Metrics>,
    run: String,
    fold: RunFold,
    builder: FrameBuilder,
    tool_times: ToolTimes,
    feed: Option<Arc<RunFeed>>,
    /// Whether there were lines since the last batch.
    has_items: bool,
    /// Since when there are rows that the indexer lacks.
    rows_since: Option<Instant>,
    leaving: Leaving,
}

impl Drop for RunFollower {
    fn drop(&mut self) {
        if let Some(live) = self.live.upgrade() {
            live.on_left(&self.run, self.leaving);
        }
    }
}

impl JournalSink for RunFollower {
    fn on_item(&mut self, item: JournalItem<'_>) {
        self.has_items = true;
        // A line that is not a record of this run, or comes again, is not shown.
        if self.fold.push_item(&item) != Folded::Damaged
            && let JournalItem::Line(line) = item
        {
            self.tool_times.observe(line.bytes, &self.metrics);
            let places = (line.start.into(), line.end().into());
            self.builder.push(&line.restored(), places, Instant::now());
        }
    }

    fn on_batch(&mut self, now: Instant, has_more: bool) -> FollowStep {
        let Some(live) = self.live.upgrade() else {
            return FollowStep::Stop;
        };
        if std::mem::take(&mut self.has_items) {
            self.rows_since.get_or_insert(now);
            if let Some(summary) = self.fold.summary() {
                // First the list: whoever waits for the run is woken when its feed is there.
                live.board().update(summary);
                let start = Position::default();
                self.feed
                    .get_or_insert_with(|| live.begin(&self.run, &summary.epoch, start));
            }
        }
        let has_ended = self
            .fold
            .summary()
            .is_some_and(|summary| summary.activity.has_ended());
        let rows_due = self.rows_since.map(|since| since + HAND_OVER_INTERVAL);
        if self.fold.is_urgent()
            || self.fold.waiting() >= MAX_WAITING_ROWS
            || self.fold.waiting_bytes() >= MAX_WAITING_BYTES
            || rows_due.is_some_and(|due| due <= now)
        {
            self.hand_over(&live);
        }
        if (has_ended || self.builder.due().is_some_and(|due| due <= now))
            && let (Some(feed), Some(summary)) = (&self.feed, self.fold.summary())
            && let Some(frame) = self.builder.take(&self.run, &summary.epoch, now)
        {
            feed.publish(frame);
        }
        if has_ended && !has_more {
            self.hand_over(&live);
            let head = self.fold.summary().map_or(0, |summary| summary.head_seq);
            self.leaving = Leaving::Ended { head };
            return FollowStep::Stop;
        }
        let rows_due = self.rows_since.map(|since| since + HAND_OVER_INTERVAL);
        FollowStep::Wait(self.builder.due().into_iter().chain(rows_due).min())
    }

    fn on_replaced(&mut self) {
        if let Some(live) = self.live.upgrade() {
            live.inbox().forget(&self.run);
        }
        self.fold = RunFold::named(&self.run).keeping_lines(self.fold.keeps_lines());
        self.builder = FrameBuilder::default();
        self.tool_times = ToolTimes::default();
        self.feed = None;
        self.rows_since = None;
    }

    fn on_end(&mut self, end: FollowEnd) {
        match end {
            FollowEnd::Gone => self.leaving = Leaving::Gone,
            FollowEnd::Failed(error) => {
                tracing::warn!(%error, run = self.run, "a journal cannot be followed; it is tried again");
            }
        }
    }
}

impl RunFollower {
    /// Gives the indexer what it lacks.
    fn hand_over(&mut self, live: &Hub) {
        let is_urgent = self.fold.is_urgent();
        self.rows_since = None;
        let Some(batch) = self.fold.take() else { return };
        for approval in &batch.approvals {
            live.inbox().update(approval);
        }
        live.ingest().offer(batch, is_urgent);
    }
}
