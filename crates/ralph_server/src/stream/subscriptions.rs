//! `Subscriptions`: what one WebSocket client watches and how far it has been sent each of them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;

use super::protocol::{ErrorMessage, FeedName, PROTOCOL_VERSION, ToClient, Topic};
use super::run_reader::{MAX_BEHIND_BYTES, RunReader};
use crate::auth::Principal;
use crate::live::{ClientWaker, ConfinedRuns, Hub, InboxReader, RunsForm};
use crate::problem::ProblemCode;

/// More than any page shows, and more than the runs that one machine is meant for.
const MAX_TOPICS: usize = 1024;

/// What a client watches, and how far it has been told.
pub(super) struct Subscriptions {
    live: Arc<Hub>,
    pub(super) waker: Arc<ClientWaker>,
    watched: HashMap<usize, Watched>,
    next_number: usize,
    /// Whose lists have only the runs of some workspaces.
    confined: Option<Principal>,
}

enum Watched {
    Run(RunReader),
    Runs(Option<u64>, RunsForm),
    ConfinedRuns(ConfinedRuns, RunsForm),
    Inbox(InboxReader),
}

impl Subscriptions {
    pub(super) fn new(live: Arc<Hub>, principal: Option<&Principal>) -> Self {
        let confined = principal.filter(|principal| principal.workspaces.is_some());
        Self {
            live,
            confined: confined.cloned(),
            waker: Arc::new(ClientWaker::default()),
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
        protocol: u32,
    ) -> Result<String, ErrorMessage> {
        if !(1..=PROTOCOL_VERSION).contains(&protocol) {
            return Err(ErrorMessage {
                code: ProblemCode::Malformed,
                message: format!(
                    "protocol {protocol} is not known to this server: use 1 to {PROTOCOL_VERSION}"
                ),
            });
        }
        self.unsubscribe(topic);
        if self.watched.len() >= MAX_TOPICS {
            return Err(ErrorMessage {
                code: ProblemCode::TooMany,
                message: format!("at most {MAX_TOPICS} things can be watched at once"),
            });
        }
        let number = self.next_number;
        self.next_number += 1;
        let (watched, told) = match topic {
            Topic::Run(run) => {
                let reader = RunReader::open(&self.live, run, after, epoch, Some(MAX_BEHIND_BYTES)).await?;
                let (_, head) = reader.feed.head();
                let told = ToClient::Subscribed {
                    id,
                    topic,
                    epoch: Some(&reader.epoch),
                    after: Some(reader.position.seq),
                    head: Some(head.seq),
                };
                let told = told.encode();
                reader.feed.watch(&self.waker, number);
                (Watched::Run(reader), told)
            }
            Topic::Feed(name) => {
                let watched = match name {
                    FeedName::Runs => {
                        self.live.board().watch(&self.waker, number);
                        let form = if protocol < 2 {
                            RunsForm::Whole
                        } else {
                            RunsForm::Patches
                        };
                        match self.confined {
                            Some(_) => Watched::ConfinedRuns(ConfinedRuns::default(), form),
                            None => Watched::Runs(None, form),
                        }
                    }
                    FeedName::Inbox => {
                        self.live.inbox().watch(&self.waker, number);
                        if self.confined.is_some() {
                            // A run may be on the board only after its request is in the inbox.
                            self.live.board().watch(&self.waker, number);
                        }
                        Watched::Inbox(InboxReader::default())
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
        self.waker.set(number);
        Ok(told)
    }

    /// Watches something no more.
    pub(super) fn unsubscribe(&mut self, topic: &Topic) {
        let waker = &self.waker;
        let live = &self.live;
        self.watched.retain(|number, watched| match (watched, topic) {
            (Watched::Run(reader), Topic::Run(run)) if reader.feed.run() == run => {
                reader.feed.unwatch(waker, *number);
                false
            }
            (Watched::Runs(..) | Watched::ConfinedRuns(..), Topic::Feed(FeedName::Runs)) => {
                live.board().unwatch(waker, *number);
                false
            }
            (Watched::Inbox(_), Topic::Feed(FeedName::Inbox)) => {
                live.inbox().unwatch(waker, *number);
                live.board().unwatch(waker, *number);
                false
            }
            _ => true,
        });
    }

    /// What is new of one thing, one step of it: a run with much to tell does not keep the others waiting.
    pub(super) async fn news(&mut self, number: usize) -> Vec<Utf8Bytes> {
        match self.watched.get_mut(&number) {
            Some(Watched::Run(reader)) => match reader.step().await {
                Ok(step) if step.is_removed => {
                    let run = reader.feed.run();
                    let problem = ErrorMessage::run_deleted(run);
                    let closed = ToClient::Closed { run, problem }.encode();
                    reader.feed.unwatch(&self.waker, number);
                    self.watched.remove(&number);
                    vec![closed.into()]
                }
                Ok(step) => {
                    if step.has_more {
                        self.waker.set(number);
                    }
                    step.texts.into_iter().map(|(_, text)| text).collect()
                }
                Err(error) => {
                    tracing::warn!(%error, run = reader.feed.run(), "a journal cannot be read");
                    let problem = ErrorMessage {
                        code: ProblemCode::Unreadable,
                        message: format!("the records of run `{}` cannot be read", reader.feed.run()),
                    };
                    reader.feed.unwatch(&self.waker, number);
                    self.watched.remove(&number);
                    vec![ToClient::Error { id: None, problem }.encode().into()]
                }
            },
            Some(Watched::Runs(version, form)) => {
                let (texts, now) = self.live.board().since(*version, *form);
                *version = Some(now);
                texts
            }
            Some(Watched::ConfinedRuns(runs, form)) => {
                let covers = |workspace: &str| covers(self.confined.as_ref(), workspace);
                runs.news(self.live.board(), *form, covers).into_iter().collect()
            }
            Some(Watched::Inbox(reader)) => {
                let board = self.live.board();
                let sees = |run: &str| {
                    let run = board.get(run);
                    run.is_some_and(|run| covers(self.confined.as_ref(), &run.workspace))
                };
                let sees: Option<&dyn Fn(&str) -> bool> = match self.confined {
                    Some(_) => Some(&sees),
                    None => None,
                };
                self.live.inbox().news(reader, sees).into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    /// The last records of the runs that are watched: whoever has less has missed something.
    pub(super) fn heartbeat(&self) -> String {
        let heads = self.watched.values().filter_map(|watched| match watched {
            Watched::Run(reader) => Some((reader.feed.run(), reader.position.seq)),
            Watched::Runs(..) | Watched::ConfinedRuns(..) | Watched::Inbox(_) => None,
        });
        ToClient::Heartbeat {
            heads: heads.collect(),
        }
        .encode()
    }
}

fn covers(principal: Option<&Principal>, workspace: &str) -> bool {
    principal.is_none_or(|principal| principal.covers(Path::new(workspace)))
}
