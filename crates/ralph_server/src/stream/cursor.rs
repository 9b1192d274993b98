//! Where a client is in a run.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;

use super::protocol::ToClient;
use crate::live::{FeedError, Live, Next, Position, RunFeed, read_back};

/// A client's place in a run.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) feed: Arc<RunFeed>,
    pub(super) epoch: Arc<str>,
    pub(super) position: Position,
}

/// What came of a step.
#[derive(Debug)]
pub(super) struct Step {
    /// What the client is to be sent, with the number of the last record after each.
    pub(super) texts: Vec<(u64, Utf8Bytes)>,
    /// Whether there is more at once.
    pub(super) has_more: bool,
}

impl Cursor {
    /// Behind a record, or at the end. A record of another journal means nothing: then it is the end as well, and the
    /// client sees that by the epoch.
    pub(super) async fn open(
        live: &Live,
        run: &str,
        after: Option<u64>,
        epoch: Option<&str>,
    ) -> Result<Self, FeedError> {
        let feed = live.feed(run).await?;
        let (current, head) = feed.head();
        let is_same = epoch.is_none_or(|epoch| *epoch == *current);
        let position = match after.filter(|_| is_same) {
            Some(after) => live.position(&feed, after.min(head.seq)).await?,
            None => head,
        };
        Ok(Self {
            feed,
            epoch: current,
            position,
        })
    }

    /// Takes what comes next, but not too much of it.
    pub(super) async fn step(&mut self) -> std::io::Result<Step> {
        let mut step = Step {
            texts: Vec::new(),
            has_more: false,
        };
        match self.feed.after(&self.epoch, self.position) {
            Next::Nothing => {}
            Next::Frames(frames) => {
                for frame in frames {
                    self.position = Position {
                        seq: frame.to,
                        offset: frame.end,
                    };
                    step.texts.push((frame.to, frame.text.clone()));
                }
            }
            Next::ReadBack { end } => {
                let (feed, epoch, position) = (self.feed.clone(), self.epoch.clone(), self.position);
                let read = tokio::task::spawn_blocking(move || {
                    read_back(feed.journal(), (feed.run(), &epoch), position, end)
                });
                let (frames, reached) = read.await.map_err(std::io::Error::other)??;
                self.position = reached;
                step.texts = frames.into_iter().map(|frame| (frame.to, frame.text)).collect();
                step.has_more = true;
            }
            Next::Reset { epoch, head } => {
                self.epoch = epoch;
                self.position = head;
                let text = ToClient::Reset {
                    run: self.feed.run(),
                    epoch: &self.epoch,
                    after: head.seq,
                };
                step.texts.push((head.seq, text.encode().into()));
            }
            Next::Lagged { end } => {
                let text = ToClient::Lagged {
                    run: self.feed.run(),
                    from: self.position.seq + 1,
                    to: end.seq,
                };
                step.texts.push((end.seq, text.encode().into()));
                self.position = end;
                step.has_more = true;
            }
        }
        Ok(step)
    }
}
