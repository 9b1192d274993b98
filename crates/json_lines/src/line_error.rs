//! `LineError`: where a line could not be read, and why. Never quotes the line.

use std::fmt;
use std::io;

/// A line, or a part of one, that could not be read as an object.
///
/// It has the position of the line but never its content: output may hold secrets, and errors end up in logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number} at byte {offset} ({length_bytes} bytes), column {column}: {code}")]
pub struct LineError {
    /// What is wrong with the line.
    pub code: LineErrorCode,
    /// Counts from 1.
    pub line_number: u64,
    /// Where the line starts in the stream.
    pub offset: u64,
    /// Length of the line without its line end.
    pub length_bytes: u64,
    /// The byte of the line at which reading failed, from 1.
    pub column: u64,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineErrorCode {
    /// Starts as JSON and continues as something else.
    NotJson,
    /// Ends inside a JSON value: the writer died, or two writers share the stream.
    Truncated,
    /// Nested deeper than 128 levels.
    TooDeep,
    /// Longer than the reader's limit; the next line is not affected.
    Overlong,
    /// Text that is not JSON, for example a banner. An object behind it may still be read; see
    /// [`LineObjects`](crate::LineObjects).
    Noise,
    /// JSON, but not an object.
    NotAnObject,
    /// Only blanks or terminal escape sequences. Reported by [`crate::parse_line`]; streams skip such lines.
    Blank,
    /// More than one value. Reported by [`crate::parse_line`]; streams deliver all of them.
    SeveralValues,
    /// The stream could not be read any further; nothing follows.
    ReadFailed(io::ErrorKind),
}

impl fmt::Display for LineErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotJson => "not valid JSON",
            Self::Truncated => "the line ends inside a JSON value; the writer may have died",
            Self::TooDeep => "nested deeper than 128 levels",
            Self::Overlong => "longer than the line limit; raise the limit to read it",
            Self::Noise => "text instead of JSON; another program may write to the same stream",
            Self::NotAnObject => "JSON, but not an object",
            Self::Blank => "the line is blank",
            Self::SeveralValues => "more than one value on the line",
            Self::ReadFailed(kind) => return write!(formatter, "cannot read the stream: {kind}"),
        })
    }
}
