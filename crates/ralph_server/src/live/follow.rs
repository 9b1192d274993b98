//! Following one run's journal; the [`Hub`] starts it for each run.

use std::io::ErrorKind;
use std::sync::Arc;

use agent_process::FileFollower;
use ralph_run::RunDirectory;
use ralph_store::{Folded, RunFold};
use tokio::time::{Instant, sleep_until};

use super::backfill::with_text;
use super::feed::{Position, RunFeed};
use super::frame_builder::FrameBuilder;
use super::hub::Hub;
use super::tail::{Read, Tail};
use super::tool_times::ToolTimes;

const START: Position = Position { seq: 0, offset: 0 };

/// Follows a run to its end: shows what happens to everybody who watches. One that cannot be followed, or whose
/// following fails in any way, is tried again later.
pub(super) async fn follow(live: Arc<Hub>, run: RunDirectory) {
    let mut following = Following {
        live,
        run,
        leaving: Leaving::Failed,
    };
    let Following { live, run, leaving } = &mut following;
    let mut fold = live.known(run).await.without_rows();
    loop {
        match follow_journal(live, run, fold).await {
            Ok(Some(head)) => {
                *leaving = Leaving::Ended { head };
                return;
            }
            // Another journal: from the start.
            Ok(None) => {
                live.inbox().forget(run.id());
                fold = RunFold::named(run.id()).without_rows();
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                *leaving = Leaving::Gone;
                return;
            }
            Err(error) => {
                tracing::warn!(%error, run = run.id(), "a journal cannot be followed; it is tried again");
                return;
            }
        }
    }
}

/// Why a run is not followed any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It has ended with this record.
    Ended { head: u64 },
    /// Its journal is not there: nobody would know of it but for us.
    Gone,
    /// Something else; it is tried again.
    Failed,
}

/// A run that is followed for as long as this is kept.
struct Following {
    live: Arc<Hub>,
    run: RunDirectory,
    leaving: Leaving,
}

impl Drop for Following {
    fn drop(&mut self) {
        self.live.on_left(self.run.id(), self.leaving);
    }
}

/// Gives the last record of the run that has ended; none if its journal was replaced.
async fn follow_journal(
    live: &Arc<Hub>,
    run: &RunDirectory,
    mut fold: RunFold,
) -> std::io::Result<Option<u64>> {
    // Before the first read, so that nothing written in between goes unnoticed.
    let watch = FileFollower::open(&run.journal(), fold.offset())?;
    let mut tail = Tail::open(&run.journal(), fold.offset())?;
    let journal = tail.file();
    let mut builder = FrameBuilder::default();
    let mut tool_times = ToolTimes::default();
    let mut feed: Option<Arc<RunFeed>> = fold.summary().map(|summary| {
        let head = Position {
            seq: summary.head_seq,
            offset: fold.offset(),
        };
        live.board().update(summary);
        live.begin(run, &summary.epoch, head)
    });
    loop {
        let mut count = 0;
        let more = tail.read(|read| {
            count += 1;
            match read {
                Read::Line(line, end) => {
                    // What is no record of this run, or comes again, is nobody's business.
                    if fold.push(line) != Folded::Damaged {
                        tool_times.observe(line, live);
                        let start = end - line.len() as u64 - 1;
                        builder.push(&with_text(line, start, &journal), (start, end), Instant::now());
                    }
                }
                Read::Skipped(bytes) => fold.skip(bytes),
            }
        })?;
        if count > 0 {
            if feed.is_none() {
                feed = fold
                    .summary()
                    .map(|summary| live.begin(run, &summary.epoch, START));
            }
            live.changed(run.id(), fold.is_urgent());
            note(live, &mut fold);
        }
        let has_ended = fold.summary().is_some_and(|summary| summary.activity.has_ended());
        let now = Instant::now();
        let is_due = builder.due().is_some_and(|due| due <= now);
        if (is_due || has_ended)
            && let (Some(feed), Some(summary)) = (&feed, fold.summary())
            && let Some(frame) = builder.take(run.id(), &summary.epoch, now)
        {
            feed.publish(frame);
        }
        if has_ended && !more {
            return Ok(fold.summary().map(|summary| summary.head_seq));
        }
        if more {
            tokio::task::yield_now().await;
            continue;
        }
        if count == 0 && tail.was_replaced() {
            return Ok(None);
        }
        match builder.due() {
            Some(due) => tokio::select! {
                () = watch.changed() => {}
                () = sleep_until(due) => {}
            },
            None => watch.changed().await,
        }
    }
}

fn note(live: &Arc<Hub>, fold: &mut RunFold) {
    let Some(batch) = fold.take() else { return };
    for approval in &batch.approvals {
        live.inbox().update(approval);
    }
    live.board().update(&batch.summary);
}
