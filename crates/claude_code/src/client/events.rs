//! The stream of events of one process.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agent_process::Output;
use futures_core::Stream;

use super::launch::PromptFiles;
use super::queue::EventQueue;
use crate::decoder::Decoder;
use crate::event::Event;
use crate::line_error::{LineError, LineErrorCode};

/// What the CLI says, in order and as it comes. Dropping it before its end stops the process and everything it
/// started.
///
/// Lines that are no events are errors in their place; nothing but the end of the output ends the stream. It is a
/// [`Stream`], and [`Events::next`] needs no further crate.
#[derive(Debug)]
pub struct Events {
    source: Source,
    _files: PromptFiles,
}

#[derive(Debug)]
enum Source {
    /// Read by whoever asks for the next event.
    Direct(Box<Reader>),
    /// Read by a task, because answers to control requests must be seen even while nobody asks for events.
    Queued(EventQueue),
}

impl Events {
    pub(crate) fn direct(reader: Reader, files: PromptFiles) -> Self {
        Self {
            source: Source::Direct(Box::new(reader)),
            _files: files,
        }
    }

    pub(crate) fn queued(queue: EventQueue, files: PromptFiles) -> Self {
        Self {
            source: Source::Queued(queue),
            _files: files,
        }
    }

    /// The next event; `None` at the end. Cancelling the wait loses nothing.
    pub async fn next(&mut self) -> Option<Result<Event, LineError>> {
        std::future::poll_fn(|context| self.poll_event(context)).await
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, LineError>>> {
        match &mut self.source {
            Source::Direct(reader) => reader.poll_event(context),
            Source::Queued(queue) => queue.poll_event(context),
        }
    }
}

impl Stream for Events {
    type Item = Result<Event, LineError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(context)
    }
}

/// A process's output, decoded.
#[derive(Debug)]
pub(crate) struct Reader {
    output: Output,
    decoder: Decoder,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Reading,
    Failed(std::io::ErrorKind),
    Ended,
}

impl Reader {
    pub(crate) fn new(output: Output, max_line_bytes: usize) -> Self {
        Self {
            output,
            decoder: Decoder::new(max_line_bytes),
            state: State::Reading,
        }
    }

    pub(crate) fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, LineError>>> {
        loop {
            if let Some(item) = self.decoder.next_event() {
                return Poll::Ready(Some(item));
            }
            match self.state {
                State::Reading => {}
                State::Ended => return Poll::Ready(None),
                State::Failed(kind) => {
                    self.state = State::Ended;
                    let (line_number, offset) = self.decoder.progress();
                    let code = LineErrorCode::ReadFailed(kind);
                    return Poll::Ready(Some(Err(LineError {
                        code,
                        line_number,
                        offset,
                        length_bytes: 0,
                        column: 1,
                    })));
                }
            }
            match ready!(self.output.poll_chunk(context)) {
                Some(Ok(chunk)) => self.decoder.push(chunk),
                Some(Err(error)) => {
                    self.state = State::Failed(error.kind());
                    self.decoder.finish();
                }
                None => {
                    self.state = State::Ended;
                    self.decoder.finish();
                }
            }
        }
    }

    /// [`Self::poll_event`] for tasks. Cancelling the wait loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Result<Event, LineError>> {
        std::future::poll_fn(|context| self.poll_event(context)).await
    }
}
