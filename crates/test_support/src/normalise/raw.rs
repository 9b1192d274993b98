use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A JSON value one level deep, its parts as they were written.
pub(super) enum Raw<'a> {
    Object(Vec<(String, &'a str)>),
    Array(Vec<&'a str>),
    String(Cow<'a, str>),
    Scalar,
}

/// `None` where it is not JSON.
pub(super) fn open(json: &str) -> Option<Raw<'_>> {
    match json.trim_start().bytes().next()? {
        b'{' => {
            let mut reader = serde_json::Deserializer::from_str(json);
            let members = reader.deserialize_map(Members).ok()?;
            reader.end().ok()?;
            Some(Raw::Object(members))
        }
        b'[' => {
            let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            Some(Raw::Array(elements.into_iter().map(RawValue::get).collect()))
        }
        b'"' => serde_json::from_str::<String>(json)
            .ok()
            .map(|text| Raw::String(Cow::Owned(text))),
        _ => serde_json::from_str::<&RawValue>(json).ok().map(|_| Raw::Scalar),
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            members.push((key, value.get()));
        }
        Ok(members)
    }
}
