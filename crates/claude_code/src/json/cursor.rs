//! Walks one value and hands out what the caller asks for.

use bytes::Bytes;

use super::fault::{Fault, FaultKind};
use super::number::{parse_f64, parse_u64};
use super::raw::RawJson;
use super::scan::{colon_end, skip_space, string_end, value_end};
use super::{MAX_DEPTH, number, string};
use crate::text::Text;

/// Where a string stands in its line. Cheap to take; turned into text only when somebody wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StringSpan {
    // Half the size of `usize`: events keep several spans. Longer lines are refused before they are read.
    start: u32,
    end: u32,
    may_be_escaped: bool,
}

impl StringSpan {
    /// The bytes between the quotes, as written.
    #[inline]
    pub(crate) fn written<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }

    /// Whether the written bytes are the text, without decoding.
    #[inline]
    pub(crate) fn is_literal(&self, bytes: &[u8]) -> bool {
        !self.may_be_escaped || memchr::memchr(b'\\', self.written(bytes)).is_none()
    }

    /// The text, sharing the memory of `source` where nothing had to be decoded.
    #[inline]
    pub(crate) fn text(&self, source: &Bytes) -> Text {
        if !self.is_literal(source) {
            return Text::from(string::decode(self.written(source)));
        }
        let shared = source.slice(self.start as usize..self.end as usize);
        Text::try_from(shared)
            .unwrap_or_else(|_| Text::from(String::from_utf8_lossy(self.written(source)).into_owned()))
    }
}

/// Reads a value front to back. Every method consumes exactly one value; one of another type than asked for is
/// validated, passed and reported as absent.
pub(crate) struct Cursor<'a> {
    source: &'a Bytes,
    bytes: &'a [u8],
    position: usize,
    depth: u32,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `source` that is not white space.
    pub(crate) fn new(source: &'a Bytes) -> Self {
        let bytes: &[u8] = source;
        Self {
            source,
            bytes,
            position: skip_space(bytes, 0),
            depth: 0,
        }
    }

    /// Index of the next byte.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The bytes that spans refer to.
    pub(crate) fn source(&self) -> &'a Bytes {
        self.source
    }

    /// First byte of the next value.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// Calls `field` for every member with the cursor on its value, which it must consume. Says whether the value
    /// was an object.
    #[inline(always)]
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, &[u8]) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        if self.peek() != Some(b'{') {
            self.skip()?;
            return Ok(false);
        }
        self.open()?;
        if self.peek() == Some(b'}') {
            self.close();
            return Ok(true);
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.fault());
            }
            let start = self.position + 1;
            let end = string_end(self.bytes, start)?;
            let decoded;
            let mut key = &self.bytes[start..end.quote];
            if end.may_be_escaped {
                decoded = string::decode(key);
                key = decoded.as_bytes();
            }
            self.position = colon_end(self.bytes, end.quote + 1)?;
            field(self, key)?;
            if !self.another(b'}')? {
                return Ok(true);
            }
        }
    }

    /// Calls `element` for every element with the cursor on it, which it must consume. Says whether the value was
    /// an array.
    #[inline(always)]
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        if self.peek() != Some(b'[') {
            self.skip()?;
            return Ok(false);
        }
        self.open()?;
        if self.peek() == Some(b']') {
            self.close();
            return Ok(true);
        }
        loop {
            element(self)?;
            if !self.another(b']')? {
                return Ok(true);
            }
        }
    }

    /// Passes a value of any kind.
    #[inline(always)]
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        self.position = value_end(self.bytes, self.position, self.depth)?;
        Ok(())
    }

    /// A string's place.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<Option<StringSpan>, Fault> {
        if self.peek() != Some(b'"') {
            self.skip()?;
            return Ok(None);
        }
        let start = self.position + 1;
        let end = string_end(self.bytes, start)?;
        self.position = end.quote + 1;
        Ok(Some(StringSpan {
            start: start as u32,
            end: end.quote as u32,
            may_be_escaped: end.may_be_escaped,
        }))
    }

    /// A string's text.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<Option<Text>, Fault> {
        Ok(self.string()?.map(|span| span.text(self.source)))
    }

    /// An integer of 64 bits without sign.
    #[inline]
    pub(crate) fn u64(&mut self) -> Result<Option<u64>, Fault> {
        // Counts are short: read and passed in one go, unless they turn out to be something else.
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
    pub(crate) fn f64(&mut self) -> Result<Option<f64>, Fault> {
        Ok(self.number()?.and_then(parse_f64))
    }

    /// A number in millionths, rounded.
    pub(crate) fn micro_units(&mut self) -> Result<Option<u64>, Fault> {
        Ok(self.number()?.and_then(number::parse_micro_units))
    }

    /// `true` or `false`.
    #[inline]
    pub(crate) fn bool(&mut self) -> Result<Option<bool>, Fault> {
        let first = self.peek();
        self.skip()?;
        Ok(match first {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            _ => None,
        })
    }

    /// Any value but `null`, as written.
    #[inline]
    pub(crate) fn raw(&mut self) -> Result<Option<RawJson>, Fault> {
        let start = self.position;
        self.skip()?;
        if self.bytes[start] == b'n' {
            return Ok(None);
        }
        Ok(Some(self.raw_since(start)))
    }

    /// What was consumed since `start`, as written.
    #[inline]
    pub(crate) fn raw_since(&self, start: usize) -> RawJson {
        RawJson::from_validated(self.source.slice(start..self.position))
    }

    /// The same cursor, back at an earlier place of the same nesting.
    pub(crate) fn back_to(&mut self, position: usize) {
        self.position = position;
    }

    #[inline]
    fn number(&mut self) -> Result<Option<&'a [u8]>, Fault> {
        let start = self.position;
        self.skip()?;
        Ok(match self.bytes[start] {
            b'-' | b'0'..=b'9' => Some(&self.bytes[start..self.position]),
            _ => None,
        })
    }

    #[inline(always)]
    fn open(&mut self) -> Result<(), Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(Fault {
                kind: FaultKind::TooDeep,
                position: self.position,
            });
        }
        self.depth += 1;
        self.position = skip_space(self.bytes, self.position + 1);
        Ok(())
    }

    #[inline(always)]
    fn close(&mut self) {
        self.depth -= 1;
        self.position += 1;
    }

    /// After a member or element: moves on to the next one, or past the `closing` byte.
    #[inline(always)]
    fn another(&mut self, closing: u8) -> Result<bool, Fault> {
        self.position = skip_space(self.bytes, self.position);
        match self.peek() {
            Some(b',') => {
                self.position = skip_space(self.bytes, self.position + 1);
                Ok(true)
            }
            Some(byte) if byte == closing => {
                self.close();
                Ok(false)
            }
            _ => Err(self.fault()),
        }
    }

    #[cold]
    fn fault(&self) -> Fault {
        Fault::at(self.bytes, self.position)
    }
}
