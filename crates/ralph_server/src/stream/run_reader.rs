//! `RunReader`: a client's position in a run, for WebSocket and server-sent events.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use ralph_run::ports::Journals;

use super::protocol::ToClient;
use crate::live::{FeedError, Frame, Hub, Next, Position, RunFeed, backfill};

/// A longer message is not sent.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// A WebSocket client that is further behind than this fetches pages instead.
pub(super) const MAX_BEHIND_BYTES: u64 = 4 << 20;

/// A client's place in a run.
#[derive(Debug)]
pub(super) struct RunReader {
    pub(super) feed: Arc<RunFeed>,
    journals: Arc<dyn Journals>,
    pub(super) epoch: Arc<str>,
    pub(super) position: Position,
    /// How much of the journal the client is sent; none if it takes everything, in messages of any length.
    max_behind_bytes: Option<u64>,
}

/// What came of a step.
#[derive(Debug)]
pub(super) struct Step {
    /// What the client is to be sent, with the number of the last record after each.
    pub(super) texts: Vec<(u64, Utf8Bytes)>,
    /// Whether there is more at once.
    pub(super) has_more: bool,
    /// Whether the run was deleted: nothing comes any more.
    pub(super) is_removed: bool,
}

impl RunReader {
    /// Behind a record, or at the end. A record of another journal means nothing: then it is the end as well, and the
    /// client sees that by the epoch.
    pub(super) async fn open(
        live: &Hub,
        run: &str,
        after: Option<u64>,
        epoch: Option<&str>,
        max_behind_bytes: Option<u64>,
    ) -> Result<Self, FeedError> {
        let feed = live.feed(run).await?;
        let (current, head) = feed.head();
        let is_same = epoch.is_none_or(|epoch| *epoch == *current);
        let position = match after.filter(|_| is_same) {
            Some(after) if after > head.seq && has_record(live, run, after).await => Position {
                seq: after,
                place: head.place,
            },
            Some(after) => live.position(&feed, after.min(head.seq)).await,
            None => head,
        };
        Ok(Self {
            feed,
            journals: Arc::clone(live.journals()),
            epoch: current,
            position,
            max_behind_bytes,
        })
    }

    /// Takes what comes next, but not too much of it.
    pub(super) async fn step(&mut self) -> std::io::Result<Step> {
        let mut step = Step {
            texts: Vec::new(),
            has_more: false,
            is_removed: false,
        };
        let max_behind_bytes = self.max_behind_bytes.unwrap_or(u64::MAX);
        match self.feed.after(&self.epoch, self.position, max_behind_bytes) {
            Next::Nothing => {}
            Next::Removed => step.is_removed = true,
            Next::Frames(frames) => {
                for frame in frames {
                    self.position = Position {
                        seq: frame.to,
                        place: frame.end,
                    };
                    step.texts.push(self.message(&frame));
                }
            }
            Next::Backfill { end } => {
                let run = (self.feed.run(), &*self.epoch);
                let read = backfill(self.journals.as_ref(), run, self.position, end).await;
                if read.is_err() && self.journals.presence(self.feed.run()).await.is_none() {
                    step.is_removed = true;
                    return Ok(step);
                }
                let (frames, reached) = read?;
                self.position = reached;
                step.texts = frames.iter().map(|frame| self.message(frame)).collect();
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

    /// What is sent of a frame. One that no client could be expected to take in one piece is to be fetched.
    fn message(&self, frame: &Frame) -> (u64, Utf8Bytes) {
        if frame.text.len() <= MAX_MESSAGE_BYTES || self.max_behind_bytes.is_none() {
            return (frame.to, frame.text.clone());
        }
        let lagged = ToClient::Lagged {
            run: self.feed.run(),
            from: frame.from,
            to: frame.to,
        };
        (frame.to, lagged.encode().into())
    }
}

/// Whether the journal has this record although it was not followed that far: a server that has just started may know
/// less than the one before it has sent.
async fn has_record(live: &Hub, run: &str, seq: u64) -> bool {
    let head = live.journals().head(run).await.ok().flatten();
    head.is_some_and(|head| seq <= head.seq)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use ralph_run::Home;
    use ralph_run::ports::LocalJournals;
    use ralph_store::{SqliteOptions, SqliteStore, Store, catch_up};

    use super::RunReader;
    use crate::live::Hub;

    fn line(seq: u64, kind: &str, data: &str) -> String {
        format!(
            r#"{{"seq":{seq},"at":"2026-01-01T00:00:00Z","iteration":1,"attempt":1,"event":{{"type":"{kind}","data":{data}}}}}"#
        ) + "\n"
    }

    #[tokio::test]
    async fn whoever_was_told_more_than_this_server_has_read_is_not_told_it_again() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let run = home.create_run(jiff::Timestamp::now()).unwrap();
        let started = format!(
            r#"{{"format_version":1,"run_id":"{}","ralph_version":"0.1.0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":1}}"#,
            run.id()
        );
        let mut journal = std::fs::File::create(run.journal()).unwrap();
        journal
            .write_all(line(1, "run_started", &started).as_bytes())
            .unwrap();
        let options = SqliteOptions {
            data_directory: directory.path().join("data"),
            runs_directory: home.runs_directory(),
            home: None,
        };
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(options).await.unwrap().store);
        catch_up(store.as_ref(), &home.runs_directory(), |_| {})
            .await
            .unwrap();
        let live = Hub::new(Arc::new(LocalJournals::new(home)), store);
        let opened = async |after| {
            let reader = RunReader::open(&live, run.id(), Some(after), None, None)
                .await
                .unwrap();
            reader.position.seq
        };
        // Nothing is behind it: the client is mistaken.
        assert_eq!(opened(3).await, 1);
        for seq in 2..=3 {
            let warned = line(seq, "warned", r#"{"kind":"degraded","message":"m"}"#);
            journal.write_all(warned.as_bytes()).unwrap();
        }
        assert_eq!(opened(3).await, 3);
        assert_eq!(opened(1000).await, 1);
    }
}
