//! Runs a coding agent as a supervised child process and hands over its output without losing a byte.

mod lines;

pub use lines::{DEFAULT_MAX_LINE_BYTES, Framed, Line, LineEnding, LineFramer};
