//! `RecordHead`: the fields of a journal line that every reader needs. The data of the event stays JSON text until it
//! is asked for.
//!
//! This is strict JSON (serde), unlike the tolerant reader for agents' streams: the journal is our own format, and its
//! lines are passed on in HTTP pages and WebSocket frames, where one malformed line would break the others.

use std::borrow::Cow;

use super::text_once::restored_kind;
use agent_api::ItemId;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The head of a record: position, time and kind of its event.
#[derive(Debug, Clone, Deserialize)]
pub struct RecordHead<'a> {
    /// Counts from 1 in each run.
    pub seq: u64,
    /// The time as written.
    #[serde(borrow)]
    at: Cow<'a, str>,
    /// The iteration of the loop; 0 before the first one.
    pub iteration: u32,
    /// The process of the iteration; 0 before the first one.
    pub attempt: u32,
    /// The event.
    #[serde(borrow)]
    pub event: EventHead<'a>,
}

/// The head of an event.
#[derive(Debug, Clone, Deserialize)]
pub struct EventHead<'a> {
    /// The kind, such as `text_block` or `run_ended`. The kind that the event has with all its text, even if the line
    /// leaves out a part ([`restore_text`](super::restore_text)).
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    /// The tool call that the event belongs to, for events of a subagent.
    #[serde(default)]
    pub parent: Option<ItemId>,
    /// The data of the event as JSON.
    #[serde(borrow, default)]
    pub data: Option<&'a RawValue>,
}

impl<'a> RecordHead<'a> {
    /// Reads a line. Returns `None` if it is not a record.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        // Checks the whole line once. `from_slice` would not check the members that are ignored.
        let text = std::str::from_utf8(line).ok()?;
        let mut head: Self = serde_json::from_str(text).ok()?;
        if let Cow::Borrowed(kind) = head.event.kind {
            head.event.kind = Cow::Borrowed(restored_kind(kind));
        }
        Some(head)
    }

    /// The time of the record; 1970 if it cannot be read.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at.parse().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Whether the event is a fragment of a text that is still being written.
    #[must_use]
    pub fn is_delta(&self) -> bool {
        self.event.kind == "delta"
    }

    /// Deserializes the data of the event. Returns `None` if there is none or it has another shape.
    #[must_use]
    pub fn data<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.event.data?.get()).ok()
    }
}

/// The kind of a record, from its first bytes, without checking the rest of the line. None if it is written in another
/// way than ours.
pub(super) fn leading_kind(line: &[u8]) -> Option<&str> {
    const MARK: &[u8] = br#""type":""#;
    let head = line.get(..line.len().min(512)).unwrap_or_default();
    let start = memchr::memmem::find(head, MARK)?;
    // A `type` inside of the data is not the event's. Quotes in names before it are escaped.
    if memchr::memmem::find(head.get(..start)?, br#""data":"#).is_some() {
        return None;
    }
    let rest = head.get(start + MARK.len()..)?;
    let kind = rest.get(..memchr::memchr2(b'"', b'\\', rest)?)?;
    str::from_utf8(kind).ok().map(restored_kind)
}

#[cfg(test)]
mod tests {
    use super::{RecordHead, leading_kind};

    #[test]
    fn the_kind_is_told_by_the_first_bytes_if_it_stands_before_the_data() {
        assert_eq!(leading_kind(LINES[0].as_bytes()), Some("text_block"));
        assert_eq!(leading_kind(LINES[1].as_bytes()), Some("delta"));
        let other = r#"{"seq":1,"event":{"data":{"type":"delta"},"type":"x"}}"#;
        assert_eq!(leading_kind(other.as_bytes()), None);
    }

    const LINES: [&str; 2] = [
        r#"{"seq":7,"at":"2026-11-16T02:35:20.690978133Z","iteration":1,"attempt":2,"event":{"agent_kind":"custom","parent":"t/1","raw":{"line":2,"offset":400,"length":703},"type":"text_block","data":{"item":"a/0","text":"x \" \\ \u00e9 é\n","l":[1,-2.5e+3,{}],"n":null,"t":true}}}"#,
        r#"{"seq":1,"at":"1969-12-31T23:59:59.5Z","iteration":0,"attempt":0,"event":{"type":"delta"}}"#,
    ];

    #[test]
    fn the_head_is_read_and_the_data_is_kept_as_written() {
        let head = RecordHead::parse(LINES[0].as_bytes()).unwrap();
        assert_eq!((head.seq, head.iteration, head.attempt), (7, 1, 2));
        assert_eq!(head.at(), "2026-11-16T02:35:20.690978133Z".parse().unwrap());
        assert_eq!(head.event.kind, "text_block");
        assert_eq!(
            head.event.parent.as_ref().map(agent_api::ItemId::as_str),
            Some("t/1")
        );
        assert_eq!(
            head.event.data.unwrap().get(),
            r#"{"item":"a/0","text":"x \" \\ \u00e9 é\n","l":[1,-2.5e+3,{}],"n":null,"t":true}"#
        );
        assert!(!head.is_delta());

        let head = RecordHead::parse(LINES[1].as_bytes()).unwrap();
        assert_eq!(head.at(), "1969-12-31T23:59:59.5Z".parse().unwrap());
        assert!(head.event.data.is_none() && head.event.parent.is_none() && head.is_delta());
    }

    #[test]
    fn a_truncated_line_is_not_a_record_even_if_another_one_follows_on_it() {
        let [line, next] = LINES;
        for cut in (1..line.len()).filter(|cut| line.is_char_boundary(*cut)) {
            let half = &line[..cut];
            assert!(RecordHead::parse(half.as_bytes()).is_none(), "{half}");
            assert!(
                RecordHead::parse(format!("{half}{next}").as_bytes()).is_none(),
                "{half}"
            );
        }
    }

    #[test]
    fn a_line_that_a_strict_reader_would_refuse_is_not_a_record() {
        let line = |agent_kind: &[u8], text: &[u8]| {
            let parts: [&[u8]; 5] = [
                br#"{"seq":1,"at":"2026-11-16T02:35:20Z","iteration":0,"attempt":0,"event":{"agent_kind":""#,
                agent_kind,
                br#"","type":"t","data":""#,
                text,
                br#""}}"#,
            ];
            parts.concat()
        };
        assert!(RecordHead::parse(&line(b"a", br"\u00e9\n")).is_some());
        for broken in [&b"\xff"[..], b"\x01", br"\x", br"\u00g0"] {
            assert!(
                RecordHead::parse(&line(b"a", broken)).is_none(),
                "{broken:?} in the data"
            );
            assert!(
                RecordHead::parse(&line(broken, b"x")).is_none(),
                "{broken:?} in a member that is ignored"
            );
        }
        assert!(RecordHead::parse(b"{}").is_none());
    }
}
