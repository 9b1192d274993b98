//! Server-sent events: the records of one run, for scripts.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use ralph_store::Store;
use serde::Deserialize;
use tokio::time::timeout;

use super::protocol::{ErrorMessage, ToClient};
use super::run_reader::RunReader;
use super::websocket::{StreamContext, is_over, is_true};
use crate::auth::SessionGuard;
use crate::live::{ClientWaker, FeedError};
use crate::problem::ProblemCode;

const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How often is looked whether a run has ended of which nothing comes.
const LOOK: Duration = Duration::from_secs(5);

/// The name of an event: which journal, and its last record. `EPOCH:SEQ`, or the number alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventId {
    epoch: Option<String>,
    seq: u64,
}

impl EventId {
    /// Reads a name; none if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (epoch, seq) = match text.split_once(':') {
            Some((epoch, seq)) => (Some(epoch.to_owned()), seq),
            None => (None, text),
        };
        let seq = seq.parse().ok()?;
        Some(Self { epoch, seq })
    }
}

impl From<u64> for EventId {
    fn from(seq: u64) -> Self {
        Self { epoch: None, seq }
    }
}

struct Watching {
    reader: RunReader,
    waker: Arc<ClientWaker>,
    guard: Option<SessionGuard>,
    context: StreamContext,
    store: Arc<dyn Store>,
    waiting: std::vec::IntoIter<(u64, Utf8Bytes)>,
    has_more: bool,
    is_last: bool,
}

/// The records of a run after `after`, as they come, until it has ended; none if there are none and it has. The id of
/// an event says which journal it is and which was the last record, so that a client that lost its connection goes on
/// where it was.
///
/// # Errors
/// When there is no such run.
pub async fn events(
    context: StreamContext,
    store: Arc<dyn Store>,
    run: &str,
    after: Option<EventId>,
) -> Result<Option<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>>, FeedError> {
    let epoch = after.as_ref().and_then(|after| after.epoch.as_deref());
    let seq = after.as_ref().map(|after| after.seq);
    let reader = RunReader::open(&context.live, run, seq, epoch, None).await?;
    let mut waiting = Vec::new();
    if epoch.is_some_and(|epoch| *epoch != *reader.epoch) {
        let after = reader.position.seq;
        let reset = ToClient::Reset {
            run,
            epoch: &reader.epoch,
            after,
        };
        waiting.push((after, reset.encode().into()));
    }
    let waker = Arc::new(ClientWaker::default());
    reader.feed.watch(&waker, 0);
    let watching = Watching {
        reader,
        waker,
        guard: context.guard(),
        context,
        store,
        has_more: true,
        is_last: false,
        waiting: waiting.into_iter(),
    };
    if watching.waiting.len() == 0 && watching.has_ended().await {
        return Ok(None);
    }
    let stream = unfold(Some(watching), |watching| async move {
        let mut watching = watching?;
        let event = watching.next().await?;
        let goes_on = !matches!(event, Told::Fault(_));
        Some((Ok(event.into()), goes_on.then_some(watching)))
    });
    Ok(Some(
        Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)),
    ))
}

/// What a client is told.
enum Told {
    /// Something of the run, with the name of the event.
    News(String, Utf8Bytes),
    /// What is wrong, and nothing more.
    Fault(ErrorMessage),
}

impl From<Told> for Event {
    fn from(told: Told) -> Self {
        match told {
            Told::News(id, text) => Event::default().id(id).data(text.as_str()),
            Told::Fault(problem) => {
                let text = ToClient::Error { id: None, problem }.encode();
                // An `EventSource` has an event `error` of its own.
                Event::default().event("problem").data(text)
            }
        }
    }
}

impl Watching {
    /// What comes next; none at the end.
    async fn next(&mut self) -> Option<Told> {
        loop {
            if self.guard.as_ref().is_some_and(SessionGuard::is_over) {
                return Some(session_ended());
            }
            if let Some((seq, text)) = self.waiting.next() {
                self.is_last |= ends_run(&text);
                let id = format!("{}:{seq}", self.reader.epoch);
                return Some(Told::News(id, text));
            }
            if self.is_last || (!self.has_more && self.has_ended().await) {
                return None;
            }
            if !self.has_more {
                let (ending, guard) = (&mut self.context.ending, &mut self.guard);
                tokio::select! {
                    _ = timeout(LOOK, self.waker.wait()) => {}
                    () = is_true(ending) => return None,
                    () = is_over(guard) => return Some(session_ended()),
                }
            }
            match self.reader.step().await {
                Ok(step) if step.is_removed => {
                    return Some(Told::Fault(ErrorMessage::run_deleted(self.reader.feed.run())));
                }
                Ok(step) => {
                    self.has_more = step.has_more;
                    self.waiting = step.texts.into_iter();
                }
                Err(error) => {
                    let run = self.reader.feed.run();
                    tracing::warn!(%error, run, "a journal cannot be read");
                    return Some(Told::Fault(ErrorMessage {
                        code: ProblemCode::Unreadable,
                        message: format!("the records of run `{run}` cannot be read"),
                    }));
                }
            }
        }
    }

    /// Whether the run has ended and its last record was told.
    async fn has_ended(&self) -> bool {
        let run = self.reader.feed.run();
        let summary = match self.context.live.board().get(run) {
            Some(summary) => Some(summary.as_ref().clone()),
            // Without the index it is looked at again later.
            None => self.store.run(run).await.ok().flatten(),
        };
        summary.is_some_and(|summary| {
            summary.activity.has_ended()
                && *summary.epoch == *self.reader.epoch
                && self.reader.position.seq >= summary.head_seq
        })
    }
}

fn session_ended() -> Told {
    Told::Fault(ErrorMessage {
        code: ProblemCode::SessionEnded,
        message: "the token or login session has ended: log in again".to_owned(),
    })
}

/// Whether the end of the run is among these records.
fn ends_run(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Records {
        records: Vec<Record>,
    }
    #[derive(Deserialize)]
    struct Record {
        event: Kind,
    }
    #[derive(Deserialize)]
    struct Kind {
        agent_kind: Option<serde::de::IgnoredAny>,
        r#type: String,
    }
    // Few texts have the word at all.
    text.contains("\"run_ended\"")
        && serde_json::from_str::<Records>(text).is_ok_and(|told| {
            let last = told.records.last();
            last.is_some_and(|record| record.event.agent_kind.is_none() && record.event.r#type == "run_ended")
        })
}

#[cfg(test)]
mod tests {
    use super::{EventId, ends_run};

    #[test]
    fn an_event_is_named_by_its_journal_and_record_or_by_the_record_alone() {
        let named = |text| EventId::parse(text).map(|id| (id.epoch, id.seq));
        assert_eq!(named("17"), Some((None, 17)));
        assert_eq!(named("a1b2:17"), Some((Some("a1b2".to_owned()), 17)));
        for wrong in ["", "a1b2", "a1b2:", "a:b:1", "-1"] {
            assert_eq!(named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_the_run_itself_says_that_it_has_ended() {
        let told = |event: &str| format!(r#"{{"type":"records","records":[{{"seq":1,"event":{event}}}]}}"#);
        assert!(ends_run(&told(r#"{"type":"run_ended","data":{}}"#)));
        assert!(!ends_run(&told(
            r#"{"agent_kind":"x","type":"run_ended","data":{}}"#
        )));
        assert!(!ends_run(&told(
            r#"{"agent_kind":"x","type":"tool_started","data":{"input":{"type":"run_ended"}}}"#
        )));
    }
}
