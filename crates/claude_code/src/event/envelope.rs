//! `Event`: one line, with its kind, the members that all lines have, and its bytes.

use json_lines::reader::{Cursor, Failed, Fault, StringSpan, UnknownMembers};
use json_lines::{FromObject, RawJson};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::event::kind::{Kind, Tag};
use crate::event::system::System;

/// One event of Claude Code's output. Cheap to clone and to send.
///
/// Nothing is lost: [`Event::raw`] has the line byte for byte, and [`Event::field`] reads any of its members, also those
/// that this version does not know.
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

/// Members that lines of all types have. Kept as positions in the line, because few callers need them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Envelope {
    type_name: Option<StringSpan>,
    subtype: Option<StringSpan>,
    session_id: Option<StringSpan>,
    uuid: Option<StringSpan>,
    parent_tool_use_id: Option<StringSpan>,
    timestamp: Option<StringSpan>,
}

impl UnknownMembers for Envelope {
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
        let subtype = self.subtype.map_or(&b""[..], |subtype| subtype.written(source));
        let tag = Tag::of(type_name.written(source), subtype);
        (tag == guessed).then_some(tag)
    }
}

impl FromObject for Event {
    fn from_object(source: &Bytes, line_number: u64, offset: u64) -> Result<(Self, usize), Fault> {
        if let Some(guessed) = Tag::guess(source) {
            let (kind, envelope, end) = read_as(guessed, source)?;
            if envelope.tag(source, guessed).is_some() {
                let event = Self::new(kind, envelope, source, end, line_number, offset);
                return Ok((event, end));
            }
        }
        let mut cursor = Cursor::new(source);
        let found = Tag::find(&mut cursor).map_err(|Failed| cursor.fault())?;
        let (kind, envelope, end) = read_as(found, source)?;
        let event = Self::new(kind, envelope, source, end, line_number, offset);
        Ok((event, end))
    }
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

    /// The number of the line from 1, counting blank and broken ones. Objects that share a line share its number.
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

    /// The session's id. In all events except `control_*`.
    #[must_use]
    pub fn session_id(&self) -> Option<Cow<'_, str>> {
        self.member(self.inner.envelope.session_id)
    }

    /// Identifies this event.
    #[must_use]
    pub fn uuid(&self) -> Option<Cow<'_, str>> {
        self.member(self.inner.envelope.uuid)
    }

    /// The call that started the subagent of this event; `None` in the main conversation.
    #[must_use]
    pub fn parent_tool_use_id(&self) -> Option<Cow<'_, str>> {
        self.member(self.inner.envelope.parent_tool_use_id)
    }

    /// When it happened (ISO 8601), if the CLI wrote it.
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
