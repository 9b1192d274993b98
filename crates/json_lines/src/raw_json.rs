//! `RawJson`: a JSON value kept as it was written, and read on demand.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::reader::{Cursor, Failed, Fault, repaired};
use crate::text::Text;

/// A JSON value, byte for byte as it was written.
///
/// Cloning is cheap. The value shares its line's memory and keeps it alive.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson {
    bytes: Bytes,
}

impl RawJson {
    /// The value `null`.
    pub const NULL: Self = Self {
        bytes: Bytes::from_static(b"null"),
    };

    /// The value `{}`.
    pub const EMPTY_OBJECT: Self = Self {
        bytes: Bytes::from_static(b"{}"),
    };

    /// Checks that `bytes` are one JSON value without anything around it but white space, and keeps them.
    ///
    /// # Errors
    /// When they are not.
    pub fn parse(bytes: Bytes) -> Result<Self, Fault> {
        let mut cursor = Cursor::new(&bytes);
        let start = cursor.position();
        cursor.skip().map_err(|Failed| cursor.fault())?;
        cursor.expect_end()?;
        Ok(cursor.raw_since(start))
    }

    /// Keeps bytes that were part of a value that a [`Cursor`] has passed. Bytes that are not JSON do no harm, but
    /// read as if they were absent.
    #[must_use]
    pub const fn from_validated(bytes: Bytes) -> Self {
        Self { bytes }
    }

    /// The bytes as written.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The JSON text as written; borrowed unless it holds invalid UTF-8, which becomes U+FFFD.
    #[must_use]
    pub fn as_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Reads the value into a serde type. Whatever serde refuses inside strings (lone surrogates, control characters,
    /// invalid UTF-8) is replaced by U+FFFD or escaped first.
    ///
    /// # Errors
    /// When the value does not have the shape of `T`, or holds a number that is out of range.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, WrongShape> {
        let read = serde_json::from_slice(&self.bytes).or_else(|error| {
            if error.is_data() {
                Err(error)
            } else {
                serde_json::from_slice(&repaired(&self.bytes))
            }
        });
        // The message of serde quotes the value.
        read.map_err(|error| WrongShape::from(&error))
    }

    /// The member `key` of an object; `None` for other values. Of duplicate keys the last one counts.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<RawJson> {
        let mut found = None;
        let walked = Cursor::new(&self.bytes).object(|cursor, name| {
            if name == key.as_bytes() {
                let start = cursor.position();
                cursor.skip()?;
                found = Some(cursor.raw_since(start));
                return Ok(());
            }
            cursor.skip()
        });
        // The bytes were validated when they were cut out of their line.
        walked.ok().and(found)
    }

    /// Several members of an object in one pass, each as [`RawJson::get`] finds it.
    #[must_use]
    pub fn get_each<const N: usize>(&self, keys: [&str; N]) -> [Option<RawJson>; N] {
        let mut found = [const { None }; N];
        let walked = Cursor::new(&self.bytes).object(|cursor, name| {
            let place = keys.iter().position(|key| key.as_bytes() == name);
            let start = cursor.position();
            cursor.skip()?;
            if let Some(place) = place {
                found[place] = Some(cursor.raw_since(start));
            }
            Ok(())
        });
        // The bytes were validated when they were cut out of their line.
        walked.map_or([const { None }; N], |_| found)
    }

    /// The text of a string; `None` for other values.
    #[must_use]
    pub fn text(&self) -> Option<Text> {
        Cursor::new(&self.bytes).text().ok().flatten()
    }

    /// The elements of an array; empty for other values.
    #[must_use]
    pub fn elements(&self) -> Vec<RawJson> {
        let mut elements = Vec::new();
        let walked = Cursor::new(&self.bytes).array(|cursor| {
            let start = cursor.position();
            cursor.skip()?;
            elements.push(cursor.raw_since(start));
            Ok(())
        });
        walked.map_or_else(|Failed| Vec::new(), |_| elements)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.as_str())
    }
}

/// A JSON value does not have the shape that it should be read into. It has the position of the mismatch and quotes
/// nothing, because the value may hold anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "unexpected type, missing member or number out of range at line {line}, column {column} of the value"
)]
#[non_exhaustive]
pub struct WrongShape {
    /// The line within the value, from 1.
    pub line: usize,
    /// The column, from 1; 0 stands for a whole line.
    pub column: usize,
}

impl From<&serde_json::Error> for WrongShape {
    fn from(error: &serde_json::Error) -> Self {
        Self {
            line: error.line(),
            column: error.column(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RawJson;
    use bytes::Bytes;

    fn raw(text: &'static str) -> RawJson {
        RawJson::from_validated(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn members_are_found_without_decoding_the_rest() {
        let value = raw(r#"{"a":{"b":[1, 2]},"c":"x\ny","\u0064":null,"a":{"b":3}}"#);
        assert_eq!(
            value.get("a").unwrap().as_str(),
            r#"{"b":3}"#,
            "the last duplicate counts"
        );
        assert_eq!(value.get("c").unwrap().text().unwrap(), "x\ny");
        assert_eq!(value.get("d").unwrap().as_str(), "null");
        assert_eq!(value.get("missing"), None);
        assert_eq!(raw("[1]").get("a"), None);
        let keys = ["d", "missing", "a"];
        assert_eq!(value.get_each(keys), keys.map(|key| value.get(key)));
        assert_eq!(raw("[1]").get_each(keys), [None, None, None]);
        assert_eq!(
            raw(r#"[1,"x",{}]"#).elements(),
            [raw("1"), raw("\"x\""), raw("{}")]
        );
    }

    #[test]
    fn bytes_that_are_no_json_read_as_absent() {
        for broken in ["[1,2", "[1,]", "{\"a\":[1", "", "x"] {
            let value = raw(broken);
            assert_eq!(value.elements(), [], "{broken}");
            assert_eq!((value.get("a"), value.text()), (None, None), "{broken}");
        }
    }

    #[test]
    fn strings_that_a_strict_reader_refuses_still_deserialize() {
        let value = RawJson::from_validated(Bytes::from_static(
            b"{\"a\":\"x\\ud83c\x01\xff\\ud83c\\udf89\\\\ud83c\"}",
        ));
        let read: serde_json::Value = value.deserialize().unwrap();
        assert_eq!(read["a"], "x\u{fffd}\u{1}\u{fffd}🎉\\ud83c");
    }

    #[test]
    fn a_wrong_shape_is_an_error() {
        assert!(raw("{\"a\":1}").deserialize::<Vec<u8>>().is_err());
        let error = raw(r#"{"a":"secret"}"#)
            .deserialize::<std::collections::BTreeMap<String, u8>>()
            .unwrap_err();
        assert_eq!((error.line, error.column), (1, 13));
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
}
