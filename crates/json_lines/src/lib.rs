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
mod text_list;
mod value;
mod wrong_shape;

pub use bytes::Bytes;
pub use decoder::Decoder;
pub use line_error::{LineError, LineErrorCode};
pub use line_framer::{DEFAULT_MAX_LINE_BYTES, Framed, Line, LineEnding, LineFramer};
pub use line_objects::{FromObject, LineObjects, RawObject, parse_line};
pub use raw_json::RawJson;
pub use text::Text;
pub use text_list::TextList;
pub use value::Value;
pub use wrong_shape::WrongShape;
