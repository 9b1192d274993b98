//! A line that is no event.

use std::fmt;
use std::io;

/// A line, or a part of one, that could not be read as an event.
///
/// It says where the line is, never what is in it: output may hold secrets, and errors end up in logs. The bytes are
/// in the raw log at `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number} at byte {offset} ({length_bytes} bytes), column {column}: {code}")]
pub struct LineError {
    /// What is wrong.
    pub code: LineErrorCode,
    /// Counts from 1.
    pub line_number: u64,
    /// Where the line starts in the stream, and so in the raw log.
    pub offset: u64,
    /// Length of the line without its line end.
    pub length_bytes: u64,
    /// Byte of the line where it goes wrong, from 1.
    pub column: u64,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineErrorCode {
    /// Begins like JSON and then is not.
    NotJson,
    /// Ends inside a JSON value: the writer died, or two writers share the stream.
    Truncated,
    /// Nested deeper than 128 levels.
    TooDeep,
    /// Longer than the reader's limit; the next line is not affected.
    Overlong,
    /// Text that is not JSON at all, for example a banner, or text before JSON on the same line.
    Noise,
    /// JSON, but not an object: no event has this shape.
    NotAnObject,
    /// Nothing but blanks or terminal escape sequences. Streams skip such lines; only [`crate::parse_line`] says so.
    Blank,
    /// More than one value. Streams deliver all of them; only [`crate::parse_line`], which gives one event, says so.
    SeveralValues,
    /// The stream could not be read any further; nothing follows.
    ReadFailed(io::ErrorKind),
}

impl fmt::Display for LineErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotJson => "not valid JSON from here on; look at the raw log",
            Self::Truncated => "the line ends inside a JSON value; the writer probably died",
            Self::TooDeep => "nested deeper than 128 levels",
            Self::Overlong => "longer than the line limit; raise the limit to read it",
            Self::Noise => "text instead of JSON; the program or a hook writes to standard output",
            Self::NotAnObject => "JSON but not an object; is the output format stream-json?",
            Self::Blank => "a blank line holds no event",
            Self::SeveralValues => "more than one value on the line; use `parse_bytes` to get all",
            Self::ReadFailed(kind) => {
                return write!(formatter, "the stream could not be read any further: {kind}");
            }
        })
    }
}
