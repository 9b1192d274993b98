//! `Value`: a whole JSON value in memory that borrows its line, for lines whose shape is looked up member by member.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use crate::raw_json::RawJson;
use crate::reader::{Cursor, Entry, Failed};

/// Any JSON value. Like `serde_json::Value`, but strings and keys are borrowed from the line where nothing had to be
/// decoded, and nothing that the tolerant reader accepts is refused.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value<'line> {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written.
    Number(Cow<'line, str>),
    /// A string, decoded.
    Text(Cow<'line, str>),
    /// An array. If a line has more elements and members than [`MAX_ELEMENTS`](crate::reader::MAX_ELEMENTS), only the
    /// first ones are here.
    List(Vec<Value<'line>>),
    /// The members of an object as they were written, within the same limit. Of duplicate keys the last one counts.
    Object(Vec<(Cow<'line, str>, Value<'line>)>),
}

impl<'line> Value<'line> {
    /// Reads a value that was cut out of a line. Bytes that are not JSON read as `null`.
    #[must_use]
    pub fn of(json: &'line RawJson) -> Self {
        let line = std::str::from_utf8(json.as_bytes()).ok();
        read(&mut Cursor::new(json.as_bytes()), line).unwrap_or_default()
    }

    /// The member `key` of an object; `None` for other values.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let mut members = self.members().iter().rev();
        members.find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The member at the end of a path of keys.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// `true` or `false`.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// An integer that fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.number()?.parse().ok()
    }

    /// An integer that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.number()?.parse().ok()
    }

    /// A finite number.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.number()?
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The members of an object; none for other values.
    #[must_use]
    pub fn members(&self) -> &[(Cow<'line, str>, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of an array; none for other values.
    #[must_use]
    pub fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// The text of the member `key`; `None` if it is absent or of another type.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The member `key` as a non-negative integer.
    #[must_use]
    pub fn count(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    /// The member `key` as `true` or `false`.
    #[must_use]
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// The elements of the member `key`; none if it is absent or of another type.
    #[must_use]
    pub fn list(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::elements)
    }

    /// A copy that keeps nothing of the line.
    #[must_use]
    pub fn to_static(&self) -> Value<'static> {
        let text = |text: &Cow<'_, str>| Cow::Owned(text.clone().into_owned());
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(digits) => Value::Number(text(digits)),
            Self::Text(content) => Value::Text(text(content)),
            Self::List(elements) => Value::List(elements.iter().map(Self::to_static).collect()),
            Self::Object(members) => {
                let member = |(key, value): &(Cow<'_, str>, Self)| (text(key), value.to_static());
                Value::Object(members.iter().map(member).collect())
            }
        }
    }

    /// The same value for `serde_json`, which keeps nothing of the line. A number that is out of range becomes `null`.
    #[must_use]
    pub fn to_owned_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn number(&self) -> Option<&str> {
        match self {
            Self::Number(digits) => Some(digits),
            _ => None,
        }
    }
}

/// Values nest at most [`MAX_DEPTH`](crate::reader::MAX_DEPTH) deep, so recursion is bounded. `line` is the source, if
/// that is UTF-8: checking it once is cheaper than checking every string.
fn read<'line>(cursor: &mut Cursor<'line>, line: Option<&'line str>) -> Result<Value<'line>, Failed> {
    let source = cursor.source();
    match cursor.peek() {
        Some(b'"') => {
            let text = cursor.string()?.map(|span| span.borrowed(source, line));
            Ok(Value::Text(text.unwrap_or_default()))
        }
        Some(b'{') => {
            let mut members = Vec::new();
            if cursor.enter(b'{', b'}')? == Entry::Inside {
                members.reserve(8);
                loop {
                    let key = cursor.key_span()?.borrowed(source, line);
                    if cursor.allows_member() {
                        members.push((key, read(cursor, line)?));
                    } else {
                        cursor.skip()?;
                    }
                    if !cursor.next_member()? {
                        break;
                    }
                }
            }
            Ok(Value::Object(members))
        }
        Some(b'[') => {
            let mut elements = Vec::new();
            cursor.array(|cursor| {
                if !cursor.allows_element() {
                    return cursor.skip();
                }
                elements.push(read(cursor, line)?);
                Ok(())
            })?;
            Ok(Value::List(elements))
        }
        first => {
            let start = cursor.position();
            cursor.skip()?;
            Ok(match first {
                Some(b'n') => Value::Null,
                Some(b't') => Value::Bool(true),
                Some(b'f') => Value::Bool(false),
                _ => Value::Number(String::from_utf8_lossy(&source[start..cursor.position()])),
            })
        }
    }
}

impl<'value> From<&'value serde_json::Value> for Value<'value> {
    fn from(value: &'value serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => Self::Number(number.to_string().into()),
            serde_json::Value::String(text) => Self::Text(text.into()),
            serde_json::Value::Array(elements) => Self::List(elements.iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => {
                let member = |(key, value): (&'value String, _)| (key.into(), Self::from(value));
                Self::Object(members.iter().map(member).collect())
            }
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(_) => match (self.as_u64(), self.as_i64()) {
                (Some(number), _) => serializer.serialize_u64(number),
                (None, Some(number)) => serializer.serialize_i64(number),
                (None, None) => self.as_f64().serialize(serializer),
            },
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(elements) => {
                let mut list = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    list.serialize_element(element)?;
                }
                list.end()
            }
            Self::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    object.serialize_entry(key, value)?;
                }
                object.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::Value;
    use crate::raw_json::RawJson;

    fn raw(text: &'static [u8]) -> RawJson {
        RawJson::parse(Bytes::from_static(text)).unwrap()
    }

    #[test]
    fn members_are_looked_up_by_key_and_type() {
        let line = raw(
            br#"{"type":"x","n":{"count":3,"minus":-2,"half":0.5},"list":[1,"two",{}],"is":true,"no":null}"#,
        );
        let value = Value::of(&line);
        assert_eq!(
            (value.text("type"), value.text("n"), value.text("missing")),
            (Some("x"), None, None)
        );
        let numbers = value.get("n").unwrap();
        assert_eq!(
            (
                numbers.count("count"),
                numbers.count("minus"),
                numbers.count("half")
            ),
            (Some(3), None, None)
        );
        assert_eq!(numbers.get("minus").unwrap().as_i64(), Some(-2));
        assert_eq!(value.at(&["n", "half"]).unwrap().as_f64(), Some(0.5));
        assert_eq!(value.at(&["n", "count", "deeper"]), None);
        assert_eq!((value.list("list").len(), value.list("n").len()), (3, 0));
        assert_eq!((value.flag("is"), value.flag("no")), (Some(true), None));
        assert!(value.get("no").unwrap().is_null() && numbers.is_object());
    }

    #[test]
    fn what_strict_readers_refuse_is_kept() {
        let line =
            raw(b"{\"a\":\"x\\ud83c\x01\xff\",\"\\u0062\":1e400,\"c\":99999999999999999999,\"a\":\"last\"}");
        let value = Value::of(&line);
        assert_eq!(
            value.text("a"),
            Some("last"),
            "of duplicate keys the last one counts"
        );
        assert_eq!(value.members()[0].1.as_str(), Some("x\u{fffd}\u{1}\u{fffd}"));
        assert_eq!((value.get("b").unwrap().as_f64(), value.count("c")), (None, None));
        assert_eq!(value.to_owned_json(), json!({"a": "last", "b": null, "c": 1e20}));
    }

    #[test]
    fn a_value_survives_the_way_to_serde_and_back() {
        let json = json!({"a": [1, -1, 2.5, "x", null, true, {}], "b": {"c": []}});
        assert_eq!(Value::from(&json).to_owned_json(), json);
        let text = serde_json::to_string(&Value::from(&json)).unwrap();
        assert_eq!(text, json.to_string());
    }

    #[test]
    fn deep_and_long_values_are_bounded() {
        let deepest = format!("{}{}", "[".repeat(128), "]".repeat(128));
        let line = RawJson::parse(Bytes::from(deepest)).unwrap();
        assert_eq!(Value::of(&line).elements().len(), 1);
        let long = RawJson::parse(Bytes::from(format!("[{}0]", "0,".repeat(70_000)))).unwrap();
        assert_eq!(Value::of(&long).elements().len(), 65_536);
        let wide = format!(
            r#"{{"wide":[[[[{{{}"z":0}}]]]],"last":{{"word":"x"}}}}"#,
            r#""a":{"b":0},"#.repeat(70_000)
        );
        let wide = RawJson::parse(Bytes::from(wide)).unwrap();
        let wide = Value::of(&wide);
        let mut inner = wide.get("wide").unwrap();
        while let [only] = inner.elements() {
            inner = only;
        }
        assert!(inner.members().len() < 65_536);
        assert_eq!(
            wide.at(&["last", "word"]).and_then(Value::as_str),
            Some("x"),
            "what comes after a long value is still read"
        );
    }
}
