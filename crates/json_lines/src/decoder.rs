//! `Decoder`: chunks of bytes in, objects and line errors out. Does no I/O.

use std::io;

use bytes::Bytes;

use crate::line_error::{LineError, LineErrorCode};
use crate::line_framer::{DEFAULT_MAX_LINE_BYTES, LineFramer};
use crate::line_objects::{FromObject, LineObjects};

/// Turns a stream of bytes, cut anywhere, into objects in order. Blank lines are skipped and broken lines are errors
/// in their place; only the end of the stream ends the iteration.
///
/// It is an iterator over what has arrived so far: `None` asks for more bytes or, after [`Decoder::finish`], is the
/// end.
#[derive(Debug)]
pub struct Decoder<T> {
    framer: LineFramer,
    /// The line whose objects are being handed out. Dropped after its last object, so that an idle stream holds no
    /// memory.
    line: Option<LineObjects<T>>,
    line_number: u64,
    pushed_bytes: u64,
    is_finished: bool,
    read_error: Option<io::ErrorKind>,
}

impl<T> Default for Decoder<T> {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_LINE_BYTES)
    }
}

impl<T> Decoder<T> {
    /// A decoder that skips lines longer than `max_line_bytes`; the default is [`DEFAULT_MAX_LINE_BYTES`].
    #[must_use]
    pub fn new(max_line_bytes: usize) -> Self {
        Self {
            framer: LineFramer::new(max_line_bytes),
            line: None,
            line_number: 0,
            pushed_bytes: 0,
            is_finished: false,
            read_error: None,
        }
    }

    /// Adds the next bytes of the stream.
    pub fn push(&mut self, chunk: Bytes) {
        self.pushed_bytes += chunk.len() as u64;
        self.framer.push(chunk);
    }

    /// Ends the stream. An unterminated last line counts as a line.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Ends the stream because reading it failed: after everything that was read comes one
    /// [`LineErrorCode::ReadFailed`].
    pub fn fail(&mut self, error: &io::Error) {
        self.is_finished = true;
        self.read_error = Some(error.kind());
    }

    /// Whether the stream has ended, through [`Decoder::finish`] or [`Decoder::fail`].
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    fn read_failed(&mut self) -> Option<LineError> {
        Some(LineError {
            code: LineErrorCode::ReadFailed(self.read_error.take()?),
            line_number: self.line_number,
            offset: self.pushed_bytes,
            length_bytes: 0,
            column: 1,
        })
    }
}

impl<T: FromObject> Iterator for Decoder<T> {
    type Item = Result<T, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.line.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            self.line = None;
            let framed = match self.framer.next_line() {
                Some(framed) => framed,
                None if self.is_finished => match self.framer.finish() {
                    Some(framed) => framed,
                    None => return self.read_failed().map(Err),
                },
                None => return None,
            };
            let objects = LineObjects::of(framed);
            self.line_number = objects.line_number();
            self.line = Some(objects);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::Decoder;
    use crate::line_error::LineErrorCode;
    use crate::line_objects::RawObject;

    #[test]
    fn offsets_count_a_byte_order_mark_however_it_is_cut() {
        let stream = b"\xef\xbb\xbf{\"a\":1}\n{\"b\":2}\n";
        for cut in 0..=stream.len() {
            let mut decoder = Decoder::<RawObject>::default();
            decoder.push(stream[..cut].to_vec().into());
            decoder.push(stream[cut..].to_vec().into());
            let offsets: Vec<u64> = decoder.by_ref().map(|object| object.unwrap().offset()).collect();
            assert_eq!(offsets, [3, 11], "cut at byte {cut}");
        }
    }

    #[test]
    fn a_read_error_comes_once_and_after_everything_that_was_read() {
        let mut decoder = Decoder::<RawObject>::default();
        decoder.push("{}\n{}".into());
        assert!(decoder.next().unwrap().is_ok());
        assert!(decoder.next().is_none(), "the second line may go on");
        decoder.fail(&io::ErrorKind::ConnectionReset.into());
        assert!(decoder.next().unwrap().is_ok());
        let error = decoder.next().unwrap().unwrap_err();
        assert_eq!(
            error.code,
            LineErrorCode::ReadFailed(io::ErrorKind::ConnectionReset)
        );
        assert_eq!((error.line_number, error.offset), (2, 5));
        assert!(decoder.next().is_none());
    }
}
