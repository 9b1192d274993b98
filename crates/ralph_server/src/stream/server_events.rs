//! Server-sent events: one run, for scripts.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;

use super::cursor::Cursor;
use super::websocket::{StreamContext, is_true};
use crate::live::{FeedError, Signal};

const KEEP_ALIVE: Duration = Duration::from_secs(15);

struct Watching {
    cursor: Cursor,
    signal: Arc<Signal>,
    context: StreamContext,
    waiting: std::vec::IntoIter<(u64, axum::extract::ws::Utf8Bytes)>,
    has_more: bool,
}

/// The records of a run after `after`, as they come. The id of an event is the number of its last record, so that a
/// client that lost its connection goes on where it was.
///
/// # Errors
/// When there is no such run.
pub async fn events(
    context: StreamContext,
    run: &str,
    after: Option<u64>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, FeedError> {
    let cursor = Cursor::open(&context.live, run, after, None).await?;
    let signal = Arc::new(Signal::default());
    cursor.feed.watch(&signal, 0);
    let watching = Watching {
        cursor,
        signal,
        context,
        waiting: Vec::new().into_iter(),
        has_more: true,
    };
    let stream = unfold(watching, |mut watching| async move {
        loop {
            if let Some((seq, text)) = watching.waiting.next() {
                let event = Event::default().id(seq.to_string()).data(text.as_str());
                return Some((Ok(event), watching));
            }
            if !watching.has_more {
                let mut ending = watching.context.ending.clone();
                tokio::select! {
                    _ = watching.signal.wait() => {}
                    () = is_true(&mut ending) => return None,
                }
            }
            let step = watching.cursor.step().await.ok()?;
            watching.has_more = step.has_more;
            watching.waiting = step.texts.into_iter();
        }
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}
