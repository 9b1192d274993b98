//! `Json`: a JSON value inside an event, kept as text.

use std::{fmt, io};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::bounds::JSON_BYTES;

/// A JSON value, kept as text. At most [`bounds::JSON_BYTES`](crate::bounds::JSON_BYTES) long: a longer one is
/// replaced by [`Json::oversize`], and the event's [`RawRef`](super::RawRef) says where the whole is.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(type = "unknown"))]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// A value as text.
    ///
    /// # Errors
    /// If the text is not JSON.
    pub fn from_text(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    /// Serializes a value; `None` if it cannot be written as JSON.
    #[must_use]
    pub fn of(value: &impl Serialize) -> Option<Self> {
        serde_json::value::to_raw_value(value).ok().map(Self)
    }

    /// A value as text, or [`Json::oversize`] if that would be too long. The text of a long one is never built.
    pub(crate) fn within_bounds(value: &impl Serialize) -> Self {
        let mut text = BoundedText(Vec::new());
        let is_whole = serde_json::to_writer(&mut text, value).is_ok();
        let text = String::from_utf8(text.0).ok().filter(|_| is_whole);
        text.and_then(|text| Self::from_text(text).ok())
            .unwrap_or_else(Self::oversize)
    }

    /// The placeholder for a value that was too long.
    #[must_use]
    pub fn oversize() -> Self {
        Self(fixed(r#"{"dropped":{"reason":"oversize"}}"#))
    }

    /// Whether the value was dropped because it was too long.
    #[must_use]
    pub fn is_oversize(&self) -> bool {
        self.as_str() == r#"{"dropped":{"reason":"oversize"}}"#
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Deserializes the value.
    ///
    /// # Errors
    /// If the value does not have that shape.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }
}

/// Refuses to grow over the bound.
struct BoundedText(Vec<u8>);

impl io::Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > JSON_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<Box<RawValue>> for Json {
    fn from(value: Box<RawValue>) -> Self {
        Self(value)
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        Self::of(value).unwrap_or_else(|| Self(fixed("null")))
    }
}

impl From<&json_lines::Value<'_>> for Json {
    fn from(value: &json_lines::Value<'_>) -> Self {
        Self::of(value).unwrap_or_else(|| Self(fixed("null")))
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl PartialEq for Json {
    /// The same text.
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

fn fixed(text: &'static str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
