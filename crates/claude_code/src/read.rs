//! Events from anything that can be read.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use tokio::io::{AsyncRead, ReadBuf};

use crate::decoder::Decoder;
use crate::event::Event;
use crate::line_error::{LineError, LineErrorCode};

const READ_BYTES: usize = 64 * 1024;

/// Reads events from a stream of bytes: a process's output, a file, a socket.
///
/// Events come in order and as soon as their line is complete. A read error is one last
/// [`LineErrorCode::ReadFailed`]; what was read before it is delivered first.
pub fn events_from<R: AsyncRead + Unpin>(reader: R) -> EventStream<R> {
    EventStream {
        reader,
        decoder: Decoder::default(),
        buffer: vec![0; READ_BYTES].into_boxed_slice(),
        end: None,
    }
}

/// The stream behind [`events_from`].
#[derive(Debug)]
pub struct EventStream<R> {
    reader: R,
    decoder: Decoder,
    buffer: Box<[u8]>,
    end: Option<End>,
}

#[derive(Debug, Clone, Copy)]
enum End {
    Reached,
    Failed(std::io::ErrorKind),
}

impl<R: AsyncRead + Unpin> Stream for EventStream<R> {
    type Item = Result<Event, LineError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        loop {
            if let Some(item) = stream.decoder.next_event() {
                return Poll::Ready(Some(item));
            }
            match stream.end {
                Some(End::Reached) => return Poll::Ready(None),
                Some(End::Failed(kind)) => {
                    stream.end = Some(End::Reached);
                    let (line_number, offset) = stream.decoder.progress();
                    let code = LineErrorCode::ReadFailed(kind);
                    let error = LineError {
                        code,
                        line_number,
                        offset,
                        length_bytes: 0,
                        column: 1,
                    };
                    return Poll::Ready(Some(Err(error)));
                }
                None => {}
            }
            let mut buffer = ReadBuf::new(&mut stream.buffer);
            match ready!(Pin::new(&mut stream.reader).poll_read(context, &mut buffer)) {
                Ok(()) if buffer.filled().is_empty() => {
                    stream.end = Some(End::Reached);
                    stream.decoder.finish();
                }
                Ok(()) => stream.decoder.push(Bytes::copy_from_slice(buffer.filled())),
                Err(error) => {
                    stream.end = Some(End::Failed(error.kind()));
                    stream.decoder.finish();
                }
            }
        }
    }
}
