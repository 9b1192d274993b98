//! `Open`: a word of the journal that a newer version may have added to. Records and `run.json` use it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::reason::EndReason;
use crate::record::IterationOutcome;

/// A value of `T`, or one that only a newer version knows. The latter is kept and written as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum Open<T> {
    Known(T),
    Unknown(Value),
}

impl<T> Open<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

impl<T> From<T> for Open<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: Default> Default for Open<T> {
    fn default() -> Self {
        Self::Known(T::default())
    }
}

impl<T: PartialEq> PartialEq<T> for Open<T> {
    fn eq(&self, other: &T) -> bool {
        self.known() == Some(other)
    }
}

impl<'de, T: serde::de::DeserializeOwned> Deserialize<'de> for Open<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(match T::deserialize(&value) {
            Ok(known) => Self::Known(known),
            Err(_) => Self::Unknown(value),
        })
    }
}

/// Writes an unknown word for people: `"paused"` as `paused`, `{"limit":"energy"}` as `limit: energy`.
struct Word<'a>(&'a Value);

impl fmt::Display for Word<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::String(word) => formatter.write_str(word),
            Value::Object(members) => match members.iter().next() {
                Some((name, value)) if members.len() == 1 => write!(formatter, "{name}: {}", Word(value)),
                _ => write!(formatter, "{}", self.0),
            },
            other => write!(formatter, "{other}"),
        }
    }
}

impl Open<EndReason> {
    /// For people, after "the run ended: ".
    pub fn describe(&self) -> String {
        match self {
            Self::Known(reason) => reason.describe().to_owned(),
            Self::Unknown(word) => format!("unknown reason `{}`", Word(word)),
        }
    }

    /// Whether something went wrong; `exit_code` decides about a reason that this version does not know.
    pub fn is_failure(&self, exit_code: u8) -> bool {
        match self {
            Self::Known(reason) => reason.is_failure(),
            Self::Unknown(_) => exit_code != 0,
        }
    }
}

impl Open<IterationOutcome> {
    pub fn describe(&self) -> String {
        match self {
            Self::Known(outcome) => outcome.describe().to_owned(),
            Self::Unknown(word) => format!("unknown outcome `{}`", Word(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Open;
    use crate::reason::{EndReason, LimitKind};

    #[test]
    fn a_known_word_is_read_and_an_unknown_one_is_written_as_it_came() {
        for (text, words) in [
            (r#""completed""#, "completed"),
            (r#""paused""#, "unknown reason `paused`"),
            (r#"{"limit":"energy"}"#, "unknown reason `limit: energy`"),
            (r#"{"limit":{"energy":3}}"#, "unknown reason `limit: energy: 3`"),
            (r#"{"a":1,"b":[]}"#, r#"unknown reason `{"a":1,"b":[]}`"#),
            ("7", "unknown reason `7`"),
        ] {
            let read: Open<EndReason> = serde_json::from_str(text).unwrap();
            assert_eq!(read.describe(), words);
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
        let limit: Open<EndReason> = serde_json::from_str(r#"{"limit":"cost"}"#).unwrap();
        assert_eq!(limit, EndReason::Limit(LimitKind::Cost));
    }

    #[test]
    fn an_unknown_reason_is_a_failure_if_the_exit_code_says_so() {
        let read: Open<EndReason> = serde_json::from_str(r#""paused""#).unwrap();
        assert!(read.is_failure(1) && !read.is_failure(0));
        assert!(Open::from(EndReason::Lost).is_failure(0));
    }
}
