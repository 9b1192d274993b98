//! JSON inside events.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

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
    /// When the text is no JSON.
    pub fn from_text(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    /// Any value that can be written as JSON; nothing if it cannot.
    #[must_use]
    pub fn of(value: &impl Serialize) -> Option<Self> {
        serde_json::value::to_raw_value(value).ok().map(Self)
    }

    /// Stands for a value that was too long.
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

    /// Reads the value into a type of the caller's choice.
    ///
    /// # Errors
    /// When the value does not have that shape.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
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
