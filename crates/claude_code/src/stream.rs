//! Lines and bytes to events: `parse_line`, `LineEvents` and `Decoder`. No process needed.

use bytes::Bytes;
use json_lines::{LineError, LineObjects};

use crate::event::Event;

/// The events of one line: usually one, none for a blank line, several if objects share a line or are the elements of
/// one array (`--output-format json --verbose`).
pub type LineEvents = LineObjects<Event>;

/// Turns a stream of bytes, cut anywhere, into events in order.
pub type Decoder = json_lines::Decoder<Event>;

/// Reads a line that holds exactly one event.
///
/// A line end, blanks and terminal escape sequences around the object are ignored. The line is copied once; use
/// [`parse_bytes`] to avoid that, and for lines with several objects.
///
/// # Errors
/// When the line holds no event, or more than one.
pub fn parse_line(line: &[u8]) -> Result<Event, LineError> {
    json_lines::parse_line(line)
}

/// Reads a line without copying it, as line 1 of a stream. For lines of a real stream see [`LineObjects::of`].
#[must_use]
pub fn parse_bytes(line: Bytes) -> LineEvents {
    LineEvents::new(line, 1, 0)
}
