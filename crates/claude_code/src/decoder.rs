//! Bytes to events, without input or output.

use agent_process::LineFramer;
use bytes::Bytes;

use crate::event::Event;
use crate::line_error::LineError;
use crate::parse::LineEvents;

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Turns a stream of bytes, cut anywhere, into events in order. Blank lines are skipped, broken ones are errors in
/// their place; nothing ends the stream but its end.
#[derive(Debug, Default)]
pub struct Decoder {
    framer: LineFramer,
    /// The line whose events are being handed out; given up after its last one, so that nothing is kept while the
    /// stream is idle.
    line: Option<LineEvents>,
    line_number: u64,
    is_finished: bool,
    pushed_bytes: u64,
    /// The stream's first bytes, to know whether a byte order mark precedes the first line.
    start: Vec<u8>,
}

impl Decoder {
    /// A decoder for lines up to `max_line_bytes`; the default is [`agent_process::DEFAULT_MAX_LINE_BYTES`].
    #[must_use]
    pub fn new(max_line_bytes: usize) -> Self {
        Self {
            framer: LineFramer::new(max_line_bytes),
            ..Self::default()
        }
    }

    /// Hands over the next bytes of the stream.
    pub fn push(&mut self, chunk: Bytes) {
        if self.start.len() < BYTE_ORDER_MARK.len() {
            let missing = BYTE_ORDER_MARK.len() - self.start.len();
            self.start.extend(chunk.iter().take(missing));
        }
        self.pushed_bytes += chunk.len() as u64;
        self.framer.push(chunk);
    }

    /// The stream has ended: an unterminated last line counts too.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// The next event or error. `None` asks for more bytes or, after [`Decoder::finish`], is the end.
    pub fn next_event(&mut self) -> Option<Result<Event, LineError>> {
        loop {
            if let Some(item) = self.line.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            self.line = None;
            let framed = match self.framer.next_line() {
                Some(framed) => framed,
                None if self.is_finished => self.framer.finish()?,
                None => return None,
            };
            let events = LineEvents::of(framed);
            self.line_number = events.line_number();
            let is_marked = self.line_number == 1 && self.start == BYTE_ORDER_MARK;
            self.line = Some(if is_marked {
                events.moved_by(BYTE_ORDER_MARK.len() as u64)
            } else {
                events
            });
        }
    }

    /// How far the decoder has come: the number of the last line, and the bytes it was given.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.line_number, self.pushed_bytes)
    }
}
