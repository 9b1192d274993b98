//! Claude Code from Rust: tolerant typed events from its streaming JSON, live streams, two-way sessions.
#![warn(missing_docs)]

mod blank;
mod decoder;
pub mod event;
mod json;
mod line_error;
mod money;
mod parse;
mod read;
mod text;

pub use decoder::Decoder;
pub use event::{Event, Kind};
pub use json::RawJson;
pub use line_error::{LineError, LineErrorCode};
pub use money::MicroUsd;
pub use parse::{LineEvents, parse_bytes, parse_line};
pub use read::{EventStream, events_from};
pub use text::Text;
