//! A journal's line at a glance: only what every reader needs is read, the rest stays as it is.

use std::borrow::Cow;

use agent_api::ItemId;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A record, of which only the stamp and the kind are read.
#[derive(Debug, Clone, Deserialize)]
pub struct Skim<'a> {
    /// Counts from 1 in each run.
    pub seq: u64,
    /// When, as it is written.
    #[serde(borrow)]
    at: Cow<'a, str>,
    /// Which prompt of the loop.
    pub iteration: u32,
    /// Which process of the iteration.
    pub attempt: u32,
    /// What happened.
    #[serde(borrow)]
    pub event: SkimEvent<'a>,
}

/// What happened, of which only the kind is read.
#[derive(Debug, Clone, Deserialize)]
pub struct SkimEvent<'a> {
    /// The kind, such as `text_block` or `run_ended`.
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    /// The item of the call it happened in, for a subagent's events.
    #[serde(default)]
    pub parent: Option<ItemId>,
    /// The rest.
    #[serde(borrow, default)]
    pub data: Option<&'a RawValue>,
}

impl<'a> Skim<'a> {
    /// Reads a line; none if it is no record.
    #[must_use]
    pub fn of(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// When it happened.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at.parse().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Whether it is a piece of a text that is being written.
    #[must_use]
    pub fn is_delta(&self) -> bool {
        self.event.kind == "delta"
    }

    /// The data as this type; none if it is of another shape.
    #[must_use]
    pub fn data<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.event.data?.get()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Skim;

    #[test]
    fn the_stamp_is_read_and_the_words_are_not() {
        let line = br#"{"seq":7,"at":"2026-11-16T02:35:20.690978133Z","iteration":1,"attempt":2,"event":{"agent_kind":"custom","raw":{"line":2,"offset":400,"length":703},"type":"text_block","data":{"item":"a/0","text":"x"}}}"#;
        let skim = Skim::of(line).unwrap();
        assert_eq!((skim.seq, skim.iteration, skim.attempt), (7, 1, 2));
        assert_eq!(skim.at().as_second(), 1_794_796_520);
        assert_eq!(skim.event.data.unwrap().get(), r#"{"item":"a/0","text":"x"}"#);
        assert!(!skim.is_delta());
        assert!(Skim::of(b"{}").is_none());
    }
}
