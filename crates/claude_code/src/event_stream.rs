//! `events_from`: reads events from any async reader, such as a process's output, a file or a socket.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use json_lines::LineError;
use tokio::io::{AsyncRead, ReadBuf};

use crate::event::Event;
use crate::stream::Decoder;

const READ_BYTES: usize = 64 * 1024;

/// Reads events from a stream of bytes: a process's output, a file, a socket.
///
/// Events come in order and as soon as their line is complete. A read error is one last
/// [`LineErrorCode::ReadFailed`](json_lines::LineErrorCode::ReadFailed), after everything that was read before it.
pub fn events_from<R: AsyncRead + Unpin>(reader: R) -> EventStream<R> {
    EventStream {
        reader,
        decoder: Decoder::default(),
        buffer: vec![0; READ_BYTES].into_boxed_slice(),
    }
}

/// The stream behind [`events_from`].
#[derive(Debug)]
pub struct EventStream<R> {
    reader: R,
    decoder: Decoder,
    buffer: Box<[u8]>,
}

impl<R: AsyncRead + Unpin> Stream for EventStream<R> {
    type Item = Result<Event, LineError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        loop {
            if let Some(item) = stream.decoder.next() {
                return Poll::Ready(Some(item));
            }
            if stream.decoder.is_finished() {
                return Poll::Ready(None);
            }
            let mut buffer = ReadBuf::new(&mut stream.buffer);
            match ready!(Pin::new(&mut stream.reader).poll_read(context, &mut buffer)) {
                Ok(()) if buffer.filled().is_empty() => stream.decoder.finish(),
                Ok(()) => stream.decoder.push(Bytes::copy_from_slice(buffer.filled())),
                Err(error) => stream.decoder.fail(&error),
            }
        }
    }
}
