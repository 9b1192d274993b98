//! Following one run.

use std::sync::Arc;

use ralph_run::RunDirectory;
use ralph_store::RunFold;
use tokio::time::{Instant, sleep_until};

use super::feed::{Position, RunFeed};
use super::gather::Gatherer;
use super::hub::Live;
use super::tail::Tail;

const START: Position = Position { seq: 0, offset: 0 };

/// Follows a run to its end: shows what happens to everybody who watches.
pub(super) async fn follow(live: Arc<Live>, run: RunDirectory) {
    let mut fold = live.known(run.id()).await.unwrap_or_default();
    loop {
        match follow_journal(&live, &run, fold).await {
            Ok(true) => break,
            // Another journal: from the start.
            Ok(false) => fold = RunFold::new(),
            Err(error) => {
                tracing::warn!(%error, run = run.id(), "a journal cannot be followed");
                break;
            }
        }
    }
    live.inbox().forget(run.id());
    live.ended(run.id());
}

/// Says whether the run has ended; otherwise its journal was replaced.
async fn follow_journal(live: &Arc<Live>, run: &RunDirectory, mut fold: RunFold) -> std::io::Result<bool> {
    let mut tail = Tail::open(&run.journal(), fold.offset())?;
    let mut gatherer = Gatherer::default();
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
        let more = tail.read(|line, end| {
            count += 1;
            fold.push(line);
            gatherer.push(line, end, Instant::now());
        })?;
        if count > 0 {
            if feed.is_none() {
                feed = fold
                    .summary()
                    .map(|summary| live.begin(run, &summary.epoch, START));
            }
            live.changed(run.id());
            note(live, &mut fold);
        }
        let has_ended = fold.summary().is_some_and(|summary| summary.activity.has_ended());
        let now = Instant::now();
        let is_due = gatherer.due().is_some_and(|due| due <= now);
        if (is_due || has_ended)
            && let (Some(feed), Some(summary)) = (&feed, fold.summary())
            && let Some(frame) = gatherer.take(run.id(), &summary.epoch, now)
        {
            feed.publish(frame);
        }
        if has_ended && !more {
            return Ok(true);
        }
        if more {
            tokio::task::yield_now().await;
            continue;
        }
        if tail.was_replaced() {
            return Ok(false);
        }
        match gatherer.due() {
            Some(due) => tokio::select! {
                () = tail.changed() => {}
                () = sleep_until(due) => {}
            },
            None => tail.changed().await,
        }
    }
}

fn note(live: &Arc<Live>, fold: &mut RunFold) {
    let Some(batch) = fold.take() else { return };
    for approval in &batch.approvals {
        live.inbox().update(approval);
    }
    live.board().update(&batch.summary);
}
