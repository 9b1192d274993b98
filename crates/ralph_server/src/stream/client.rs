//! What one client watches.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;

use super::cursor::Cursor;
use super::protocol::{FeedName, Problem, ToClient, Topic};
use crate::live::{Live, Signal};
use crate::problem::ProblemCode;

/// More than any page shows.
const MOST_TOPICS: usize = 256;

/// What a client watches, and how far it has been told.
pub(super) struct Client {
    live: Arc<Live>,
    pub(super) signal: Arc<Signal>,
    watched: HashMap<usize, Watched>,
    next_number: usize,
}

enum Watched {
    Run(Cursor),
    Runs(Option<u64>),
    Inbox(Option<u64>),
}

impl Client {
    pub(super) fn new(live: Arc<Live>) -> Self {
        Self {
            live,
            signal: Arc::new(Signal::default()),
            watched: HashMap::new(),
            next_number: 0,
        }
    }

    /// Watches something. Gives what the client is told.
    pub(super) async fn subscribe(
        &mut self,
        id: Option<&str>,
        topic: &Topic,
        after: Option<u64>,
        epoch: Option<&str>,
    ) -> Result<String, Problem> {
        self.unsubscribe(topic);
        if self.watched.len() >= MOST_TOPICS {
            return Err(Problem {
                code: ProblemCode::TooMany,
                message: format!("at most {MOST_TOPICS} things can be watched at once"),
            });
        }
        let number = self.next_number;
        self.next_number += 1;
        let (watched, told) = match topic {
            Topic::Run(run) => {
                let cursor = Cursor::open(&self.live, run, after, epoch).await?;
                let (_, head) = cursor.feed.head();
                let told = ToClient::Subscribed {
                    id,
                    topic,
                    epoch: Some(&cursor.epoch),
                    after: Some(cursor.position.seq),
                    head: Some(head.seq),
                };
                let told = told.encode();
                cursor.feed.watch(&self.signal, number);
                (Watched::Run(cursor), told)
            }
            Topic::Feed(name) => {
                let watched = match name {
                    FeedName::Runs => {
                        self.live.board().watch(&self.signal, number);
                        Watched::Runs(None)
                    }
                    FeedName::Inbox => {
                        self.live.inbox().watch(&self.signal, number);
                        Watched::Inbox(None)
                    }
                };
                let told = ToClient::Subscribed {
                    id,
                    topic,
                    epoch: None,
                    after: None,
                    head: None,
                };
                (watched, told.encode())
            }
        };
        self.watched.insert(number, watched);
        // It is told what is there already.
        self.signal.set(number);
        Ok(told)
    }

    /// Watches something no more.
    pub(super) fn unsubscribe(&mut self, topic: &Topic) {
        let signal = &self.signal;
        let live = &self.live;
        self.watched.retain(|_, watched| match (watched, topic) {
            (Watched::Run(cursor), Topic::Run(run)) if cursor.feed.run() == run => {
                cursor.feed.unwatch(signal);
                false
            }
            (Watched::Runs(_), Topic::Feed(FeedName::Runs)) => {
                live.board().unwatch(signal);
                false
            }
            (Watched::Inbox(_), Topic::Feed(FeedName::Inbox)) => {
                live.inbox().unwatch(signal);
                false
            }
            _ => true,
        });
    }

    /// What is new of one thing, one step of it: a run with much to tell does not keep the others waiting.
    pub(super) async fn news(&mut self, number: usize) -> Vec<Utf8Bytes> {
        match self.watched.get_mut(&number) {
            Some(Watched::Run(cursor)) => match cursor.step().await {
                Ok(step) => {
                    if step.has_more {
                        self.signal.set(number);
                    }
                    step.texts.into_iter().map(|(_, text)| text).collect()
                }
                Err(error) => {
                    tracing::warn!(%error, run = cursor.feed.run(), "a journal cannot be read");
                    let problem = Problem {
                        code: ProblemCode::Unreadable,
                        message: format!("the records of run `{}` cannot be read", cursor.feed.run()),
                    };
                    cursor.feed.unwatch(&self.signal);
                    self.watched.remove(&number);
                    vec![ToClient::Error { id: None, problem }.encode().into()]
                }
            },
            Some(Watched::Runs(version)) => {
                let (texts, now) = self.live.board().since(*version);
                *version = Some(now);
                texts
            }
            Some(Watched::Inbox(version)) => {
                let (text, now) = self.live.inbox().since(*version);
                *version = Some(now);
                text.into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    /// The last records of the runs that are watched: whoever has less has missed something.
    pub(super) fn heartbeat(&self) -> String {
        let heads = self.watched.values().filter_map(|watched| match watched {
            Watched::Run(cursor) => Some((cursor.feed.run(), cursor.position.seq)),
            Watched::Runs(_) | Watched::Inbox(_) => None,
        });
        ToClient::Heartbeat {
            heads: heads.collect(),
        }
        .encode()
    }
}
