//! `Cursor`: walks one JSON value front to back and reads what the caller asks for.

use std::borrow::Cow;

use bytes::Bytes;

use super::fault::{Failed, Fault, FaultKind};
use super::number::{parse_f64, parse_u64};
use super::scan::{colon_end, skip_space, string_end, value_end};
use super::{MAX_DEPTH, MAX_ELEMENTS, number, string};
use crate::raw_json::RawJson;
use crate::text::Text;

/// Members of the outermost objects of a line, and how deep these may be: a message, its parameters, and what they hold.
const MAX_OUTER_MEMBERS: u32 = 1_024;
const OUTER_DEPTH: u32 = 4;

/// The position of a string in its line. Cheap to keep; becomes text on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StringSpan {
    // Half the size of `usize`: events keep several spans. Longer lines are refused before they are read.
    start: u32,
    end: u32,
    may_be_escaped: bool,
}

impl StringSpan {
    /// The bytes between the quotes, as written.
    #[inline]
    #[must_use]
    pub fn written<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }

    /// Whether the written bytes are the text, without decoding.
    #[inline]
    #[must_use]
    pub fn is_literal(&self, bytes: &[u8]) -> bool {
        !self.may_be_escaped || memchr::memchr(b'\\', self.written(bytes)).is_none()
    }

    /// The bytes of the text, decoded only if there is an escape in them.
    #[inline]
    #[must_use]
    pub fn decoded<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.is_literal(bytes) {
            Cow::Borrowed(self.written(bytes))
        } else {
            Cow::Owned(string::decode(self.written(bytes)).into_bytes())
        }
    }

    /// The text, sharing the memory of `source` where nothing had to be decoded.
    #[inline(never)]
    #[must_use]
    pub fn text(&self, source: &Bytes) -> Text {
        if !self.is_literal(source) {
            return Text::from(string::decode(self.written(source)));
        }
        let shared = source.slice(self.start as usize..self.end as usize);
        Text::try_from(shared)
            .unwrap_or_else(|_| Text::from(String::from_utf8_lossy(self.written(source)).into_owned()))
    }

    /// The text, borrowed where nothing had to be decoded. `line` is the same as `bytes`, if that is UTF-8.
    #[inline]
    pub(crate) fn borrowed<'a>(&self, bytes: &'a [u8], line: Option<&'a str>) -> Cow<'a, str> {
        if !self.is_literal(bytes) {
            return Cow::Owned(string::decode(self.written(bytes)));
        }
        match line.and_then(|line| line.get(self.start as usize..self.end as usize)) {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(self.written(bytes)),
        }
    }
}

/// Where [`Cursor::enter`] leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// To the first member or element.
    Inside,
    /// Past a container without any.
    Empty,
    /// Past a value of another type.
    Other,
}

/// Reads a value front to back. Every method consumes exactly one value; a value of another type than asked for is
/// validated, skipped and reported as absent.
///
/// Every method fails with [`Failed`] when the bytes are not JSON; the cursor cannot be used further then.
// The methods that typed fields call are deliberately not inlined: with dozens of fields per line the reader's code
// would outgrow the instruction cache, which costs more than the calls.
#[derive(Debug)]
pub struct Cursor<'a> {
    source: &'a Bytes,
    bytes: &'a [u8],
    position: usize,
    depth: u32,
    elements_left: u32,
    outer_members_left: u32,
    fault: Option<Fault>,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `source` that is not white space.
    #[must_use]
    pub fn new(source: &'a Bytes) -> Self {
        let bytes: &[u8] = source;
        Self {
            source,
            bytes,
            position: skip_space(bytes, 0),
            depth: 0,
            elements_left: MAX_ELEMENTS,
            outer_members_left: MAX_OUTER_MEMBERS,
            fault: None,
        }
    }

    /// Index of the next byte.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The bytes that spans refer to.
    #[must_use]
    pub fn source(&self) -> &'a Bytes {
        self.source
    }

    /// The reason, after a method returned [`Failed`].
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault.unwrap_or_else(|| Fault::at(self.bytes, self.position))
    }

    /// First byte of the next value.
    #[inline(always)]
    #[must_use]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// Calls `field` for every member with the cursor on its value, which it must consume. Returns whether the value
    /// was an object.
    #[inline(always)]
    pub fn object(
        &mut self,
        field: impl FnMut(&mut Self, &[u8]) -> Result<(), Failed>,
    ) -> Result<bool, Failed> {
        let entry = self.enter(b'{', b'}')?;
        if entry == Entry::Inside {
            self.members(field)?;
        }
        Ok(entry != Entry::Other)
    }

    /// Steps into an object or array, to its first member or element.
    #[inline(never)]
    pub fn enter(&mut self, opening: u8, closing: u8) -> Result<Entry, Failed> {
        if self.peek() != Some(opening) {
            self.skip()?;
            return Ok(Entry::Other);
        }
        if self.depth >= MAX_DEPTH {
            return Err(self.fail(Fault {
                kind: FaultKind::TooDeep,
                position: self.position,
            }));
        }
        let inside = skip_space(self.bytes, self.position + 1);
        if self.bytes.get(inside) == Some(&closing) {
            self.position = inside + 1;
            return Ok(Entry::Empty);
        }
        self.depth += 1;
        self.position = inside;
        Ok(Entry::Inside)
    }

    /// Whether the next member is `quoted_key`, given with its quotes and its colon; if so, moves to its value.
    #[inline(always)]
    pub fn is_at_key(&mut self, quoted_key: &'static [u8]) -> bool {
        let is_it = self
            .bytes
            .get(self.position..)
            .is_some_and(|rest| rest.starts_with(quoted_key));
        if is_it {
            self.position = skip_space(self.bytes, self.position + quoted_key.len());
        }
        is_it
    }

    /// After a member: moves on to the next one, or out of the object.
    #[inline(never)]
    pub fn next_member(&mut self) -> Result<bool, Failed> {
        self.another(b'}')
    }

    /// Calls `field` for the member at the cursor and all that follow, and steps out of the object.
    #[inline(always)]
    pub fn members(
        &mut self,
        mut field: impl FnMut(&mut Self, &[u8]) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        loop {
            let (start, end, may_be_escaped) = self.key()?;
            let decoded;
            let mut key = &self.bytes[start..end];
            if may_be_escaped {
                decoded = string::decode(key);
                key = decoded.as_bytes();
            }
            field(self, key)?;
            if !self.next_member()? {
                return Ok(());
            }
        }
    }

    #[inline(never)]
    fn key(&mut self) -> Result<(usize, usize, bool), Failed> {
        let start = self.position + 1;
        let end = match self.peek() {
            Some(b'"') => string_end(self.bytes, start),
            _ => Err(Fault::at(self.bytes, self.position)),
        };
        let end = end.map_err(|fault| self.fail(fault))?;
        self.position = colon_end(self.bytes, end.quote + 1).map_err(|fault| self.fail(fault))?;
        Ok((start, end.quote, end.may_be_escaped))
    }

    /// The position of the key at the cursor, which moves to the value.
    #[inline]
    pub(crate) fn key_span(&mut self) -> Result<StringSpan, Failed> {
        let (start, end, may_be_escaped) = self.key()?;
        Ok(StringSpan {
            start: start as u32,
            end: end as u32,
            may_be_escaped,
        })
    }

    /// Calls `element` for every element with the cursor on it, which it must consume. Returns whether the value was
    /// an array.
    #[inline(always)]
    pub fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Failed>,
    ) -> Result<bool, Failed> {
        let entry = self.enter(b'[', b']')?;
        if entry != Entry::Inside {
            return Ok(entry == Entry::Empty);
        }
        loop {
            element(self)?;
            if !self.another(b']')? {
                return Ok(true);
            }
        }
    }

    /// Whether one more list element may become a value of its own. A few bytes of JSON become a hundred bytes of
    /// memory, so all lists of one line share a limit of [`MAX_ELEMENTS`].
    #[inline(always)]
    pub fn allows_element(&mut self) -> bool {
        let is_allowed = self.elements_left > 0;
        self.elements_left = self.elements_left.saturating_sub(1);
        is_allowed
    }

    /// Whether one more member of an object may become a value of its own. Those of the outermost objects have room of
    /// their own, so that a long value before them does not hide them.
    #[inline(always)]
    pub fn allows_member(&mut self) -> bool {
        if self.depth <= OUTER_DEPTH && self.outer_members_left > 0 {
            self.outer_members_left -= 1;
            return true;
        }
        self.allows_element()
    }

    /// Skips a value of any type.
    #[inline(never)]
    pub fn skip(&mut self) -> Result<(), Failed> {
        match value_end(self.bytes, self.position, self.depth) {
            Ok(end) => {
                self.position = end;
                Ok(())
            }
            Err(fault) => Err(self.fail(fault)),
        }
    }

    /// The position of a string.
    #[inline(never)]
    pub fn string(&mut self) -> Result<Option<StringSpan>, Failed> {
        if self.peek() != Some(b'"') {
            self.skip()?;
            return Ok(None);
        }
        let start = self.position + 1;
        let end = string_end(self.bytes, start).map_err(|fault| self.fail(fault))?;
        self.position = end.quote + 1;
        Ok(Some(StringSpan {
            start: start as u32,
            end: end.quote as u32,
            may_be_escaped: end.may_be_escaped,
        }))
    }

    /// The text of a string.
    #[inline(never)]
    pub fn text(&mut self) -> Result<Option<Text>, Failed> {
        Ok(self.string()?.map(|span| span.text(self.source)))
    }

    /// A non-negative integer that fits into 64 bits.
    #[inline(never)]
    pub fn u64(&mut self) -> Result<Option<u64>, Failed> {
        // Counts are short: read and skipped in one pass, unless they turn out to be something else.
        let mut value: u64 = 0;
        let mut end = self.position;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(end)
            && end - self.position < 18
        {
            value = value * 10 + u64::from(digit - b'0');
            end += 1;
        }
        let is_whole = matches!(self.bytes.get(end), Some(b',' | b'}' | b']'));
        let has_leading_zero = self.peek() == Some(b'0') && end - self.position > 1;
        if is_whole && end > self.position && !has_leading_zero {
            self.position = end;
            return Ok(Some(value));
        }
        Ok(self.number()?.and_then(parse_u64))
    }

    /// A finite number.
    pub fn f64(&mut self) -> Result<Option<f64>, Failed> {
        Ok(self.number()?.and_then(parse_f64))
    }

    /// A number in millionths, rounded.
    pub fn micro_units(&mut self) -> Result<Option<u64>, Failed> {
        Ok(self.number()?.and_then(number::parse_micro_units))
    }

    /// `true` or `false`.
    #[inline(never)]
    pub fn bool(&mut self) -> Result<Option<bool>, Failed> {
        let first = self.peek();
        self.skip()?;
        Ok(match first {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            _ => None,
        })
    }

    /// Any value but `null`, as written.
    #[inline(never)]
    pub fn raw(&mut self) -> Result<Option<RawJson>, Failed> {
        let start = self.position;
        self.skip()?;
        if self.bytes[start] == b'n' {
            return Ok(None);
        }
        Ok(Some(self.raw_since(start)))
    }

    /// The value that was consumed since `start`, as written.
    #[must_use]
    pub fn raw_since(&self, start: usize) -> RawJson {
        RawJson::from_validated(self.source.slice(start..self.position))
    }

    /// Returns to an earlier position at the same nesting, to read a value once more.
    pub fn back_to(&mut self, position: usize) {
        self.position = position;
    }

    /// Checks that only white space follows.
    pub(crate) fn expect_end(&self) -> Result<(), Fault> {
        match skip_space(self.bytes, self.position) {
            end if end == self.bytes.len() => Ok(()),
            end => Err(Fault::at(self.bytes, end)),
        }
    }

    fn number(&mut self) -> Result<Option<&'a [u8]>, Failed> {
        let start = self.position;
        self.skip()?;
        Ok(match self.bytes[start] {
            b'-' | b'0'..=b'9' => Some(&self.bytes[start..self.position]),
            _ => None,
        })
    }

    /// After a member or element: moves on to the next one, or past the `closing` byte.
    #[inline(always)]
    fn another(&mut self, closing: u8) -> Result<bool, Failed> {
        let position = skip_space(self.bytes, self.position);
        self.position = position + 1;
        match self.bytes.get(position) {
            Some(b',') => {
                self.position = skip_space(self.bytes, position + 1);
                Ok(true)
            }
            Some(byte) if *byte == closing => {
                self.depth -= 1;
                Ok(false)
            }
            _ => Err(self.fail(Fault::at(self.bytes, position))),
        }
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, fault: Fault) -> Failed {
        self.fault = Some(fault);
        Failed
    }
}
