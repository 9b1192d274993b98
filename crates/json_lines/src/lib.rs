#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod decoder;
mod line_error;
mod line_framer;
mod line_noise;
mod line_objects;
mod raw_json;
pub mod reader;
mod text;
mod value;

pub use bytes::Bytes;
pub use decoder::Decoder;
pub use line_error::{LineError, LineErrorCode};
pub use line_framer::{DEFAULT_MAX_LINE_BYTES, Framed, Line, LineEnding, LineFramer};
pub use line_objects::{FromObject, LineObjects, RawObject, parse_line};
pub use raw_json::{RawJson, WrongShape};
pub use text::{Text, TextList};
pub use value::Value;
