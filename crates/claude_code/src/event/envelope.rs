//! A line as a whole: what it says, what all lines have, and the line itself.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::event::field::Rest;
use crate::event::kind::Kind;
use crate::event::system::System;
use crate::event::tag::Tag;
use crate::json::{Cursor, Failed, Fault, RawJson, StringSpan};

/// One event of Claude Code's output. Cheap to clone and to send.
///
/// Everything that was written stays: [`Event::raw`] is the line byte for byte, [`Event::field`] reaches any of its
/// members, also those that this version does not know.
#[derive(Clone)]
pub struct Event {
    inner: Arc<Inner>,
}

struct Inner {
    kind: Kind,
    raw: Bytes,
    envelope: Envelope,
    line_number: u64,
    offset: u64,
}

/// What lines of all types have. Kept as places in the line: few readers ask for them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Envelope {
    type_name: Option<StringSpan>,
    subtype: Option<StringSpan>,
    session_id: Option<StringSpan>,
    uuid: Option<StringSpan>,
    parent_tool_use_id: Option<StringSpan>,
    timestamp: Option<StringSpan>,
}

impl Rest for Envelope {
    #[inline(always)]
    fn take(&mut self, cursor: &mut Cursor<'_>, key: &[u8]) -> Result<(), Failed> {
        match key {
            b"type" => self.type_name = cursor.string()?,
            b"subtype" => self.subtype = cursor.string()?,
            b"session_id" => self.session_id = cursor.string()?,
            b"uuid" => self.uuid = cursor.string()?,
            b"parent_tool_use_id" => self.parent_tool_use_id = cursor.string()?,
            b"timestamp" => self.timestamp = cursor.string()?,
            _ => cursor.skip()?,
        }
        Ok(())
    }
}

impl Envelope {
    fn tag(&self, source: &Bytes, guessed: Tag) -> Option<Tag> {
        // A result's subtype is read by its own type; only `system` needs it here.
        let type_name = self.type_name?;
        if !type_name.is_literal(source) || self.subtype.is_some_and(|subtype| !subtype.is_literal(source)) {
            return None;
        }
        let subtype = self.subtype.map(|subtype| subtype.written(source));
        let tag = Tag::of(Some(type_name.written(source)), subtype);
        (tag == guessed).then_some(tag)
    }
}

/// Reads the object at the start of `source`, which starts at `offset` in the stream.
pub(crate) fn read_event(source: &Bytes, line_number: u64, offset: u64) -> Result<Event, Fault> {
    if let Some(guessed) = Tag::guess(source) {
        let (kind, envelope, end) = read_as(guessed, source)?;
        if envelope.tag(source, guessed).is_some() {
            return Ok(Event::new(kind, envelope, source, end, line_number, offset));
        }
    }
    let mut cursor = Cursor::new(source);
    let found = Tag::find(&mut cursor).map_err(|Failed| cursor.fault())?;
    let (kind, envelope, end) = read_as(found, source)?;
    Ok(Event::new(kind, envelope, source, end, line_number, offset))
}

#[inline]
fn read_as(tag: Tag, source: &Bytes) -> Result<(Kind, Envelope, usize), Fault> {
    let mut envelope = Envelope::default();
    let mut cursor = Cursor::new(source);
    match Kind::read(&mut cursor, tag, &mut envelope) {
        Ok(kind) => Ok((kind, envelope, cursor.position())),
        Err(Failed) => Err(cursor.fault()),
    }
}

impl Event {
    fn new(
        mut kind: Kind,
        envelope: Envelope,
        source: &Bytes,
        end: usize,
        line_number: u64,
        offset: u64,
    ) -> Self {
        match &mut kind {
            Kind::Unknown { type_name } => *type_name = envelope.type_name.map(|span| span.text(source)),
            Kind::System(System::Unknown { subtype }) => {
                *subtype = envelope.subtype.map(|span| span.text(source));
            }
            _ => {}
        }
        let raw = source.slice(..end);
        Self {
            inner: Arc::new(Inner {
                kind,
                raw,
                envelope,
                line_number,
                offset,
            }),
        }
    }

    /// What the line says.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.inner.kind
    }

    /// The JSON object byte for byte, without its line end and without white space around it.
    #[must_use]
    pub fn raw(&self) -> &Bytes {
        &self.inner.raw
    }

    /// The whole object as a JSON value.
    #[must_use]
    pub fn raw_json(&self) -> RawJson {
        RawJson::from_validated(self.inner.raw.clone())
    }

    /// Any member of the object, also one that has no type here.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<RawJson> {
        self.raw_json().get(key)
    }

    /// Counts the lines of the stream from 1, blank and broken ones too. Objects that share a line share its number.
    #[must_use]
    pub fn line_number(&self) -> u64 {
        self.inner.line_number
    }

    /// Where [`Event::raw`] starts in the stream, and so in the raw log.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.inner.offset
    }

    /// The line's `type`.
    #[must_use]
    pub fn type_name(&self) -> Option<Cow<'_, str>> {
        self.member(self.inner.envelope.type_name)
    }

    /// The session. In all events except `control_*`.
    #[must_use]
    pub fn session_id(&self) -> Option<Cow<'_, str>> {
        self.member(self.inner.envelope.session_id)
    }

    /// Names this event.
    #[must_use]
    pub fn uuid(&self) -> Option<Cow<'_, str>> {
        self.member(self.inner.envelope.uuid)
    }

    /// The call of the subagent that this belongs to; `None` in the main conversation.
    #[must_use]
    pub fn parent_tool_use_id(&self) -> Option<Cow<'_, str>> {
        self.member(self.inner.envelope.parent_tool_use_id)
    }

    /// When it happened, as the CLI wrote it (ISO 8601), where it did.
    #[must_use]
    pub fn timestamp(&self) -> Option<Cow<'_, str>> {
        self.member(self.inner.envelope.timestamp)
    }

    fn member(&self, span: Option<StringSpan>) -> Option<Cow<'_, str>> {
        let span = span?;
        if span.is_literal(&self.inner.raw) {
            return Some(String::from_utf8_lossy(span.written(&self.inner.raw)));
        }
        Some(Cow::Owned(span.text(&self.inner.raw).to_string()))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Event")
            .field("line_number", &self.inner.line_number)
            .field("offset", &self.inner.offset)
            .field("kind", &self.inner.kind)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Event {
    /// The same bytes at the same place.
    fn eq(&self, other: &Self) -> bool {
        self.inner.raw == other.inner.raw
            && self.inner.line_number == other.inner.line_number
            && self.inner.offset == other.inner.offset
    }
}
