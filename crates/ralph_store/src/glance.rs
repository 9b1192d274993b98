//! A journal's line at a glance, without the detours of a general reader.
//!
//! Our own writer's lines have one shape: compact, the stamp first, the data last. Such a line is read by hand and its
//! data is only checked; any other line is left to [`Skim`], which decides whether it is a record. So a line is taken
//! for a record here only if it is one there, too.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

use crate::skim::Skim;

/// A record, of which only the stamp and the kind are read.
#[derive(Debug, PartialEq)]
pub(crate) struct Glance<'a> {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) iteration: u32,
    pub(crate) attempt: u32,
    pub(crate) kind: Cow<'a, str>,
    /// The item of the call it happened in.
    pub(crate) parent: Option<Cow<'a, str>>,
    /// The rest, as JSON.
    pub(crate) data: Option<&'a str>,
}

impl<'a> Glance<'a> {
    /// Reads a line; none if it is no record.
    pub(crate) fn of(line: &'a [u8], clock: &mut Clock) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        if let Some(glance) = Self::by_hand(text, clock) {
            return Some(glance);
        }
        let skim = Skim::of(line)?;
        Some(Self {
            seq: skim.seq,
            at: skim.at(),
            iteration: skim.iteration,
            attempt: skim.attempt,
            parent: skim
                .event
                .parent
                .as_ref()
                .map(|parent| Cow::Owned(parent.to_string())),
            data: skim.event.data.map(serde_json::value::RawValue::get),
            kind: skim.event.kind,
        })
    }

    fn by_hand(text: &'a str, clock: &mut Clock) -> Option<Self> {
        let lowest = text.bytes().fold(u8::MAX, u8::min);
        if lowest < b' ' {
            return None;
        }
        let mut rest = Rest(text.strip_suffix("}}")?);
        rest.skip(r#"{"seq":"#)?;
        let seq = rest.number()?;
        rest.skip(r#","at":""#)?;
        let at = rest.word()?;
        rest.skip(r#","iteration":"#)?;
        let iteration = rest.number()?.try_into().ok()?;
        rest.skip(r#","attempt":"#)?;
        let attempt = rest.number()?.try_into().ok()?;
        rest.skip(r#","event":{"#)?;
        if rest.skip(r#""agent_kind":""#).is_some() {
            rest.word()?;
            rest.skip(",")?;
        }
        let mut parent = None;
        if rest.skip(r#""parent":""#).is_some() {
            parent = Some(Cow::Borrowed(rest.word()?));
            rest.skip(",")?;
        }
        if rest.skip(r#""raw":"#).is_some() {
            rest.value()?;
            rest.skip(",")?;
        }
        rest.skip(r#""type":""#)?;
        let kind = Cow::Borrowed(rest.word()?);
        let data = if rest.0.is_empty() {
            None
        } else {
            rest.skip(r#","data":"#)?;
            Some(rest.0).filter(|data| is_value(data.as_bytes()))
        };
        if data.is_none() && !rest.0.is_empty() {
            return None;
        }
        Some(Self {
            seq,
            at: clock.read(at)?,
            iteration,
            attempt,
            kind,
            parent,
            data,
        })
    }

    /// Which part of an item a piece of text is of.
    pub(crate) fn part(&self) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        struct Piece<'a> {
            #[serde(borrow)]
            part: Cow<'a, str>,
        }
        // As we write it, it stands before the text.
        let mut rest = Rest(self.data?);
        let by_hand = rest
            .skip(r#"{"item":""#)
            .and_then(|()| rest.word())
            .and_then(|_| rest.skip(r#","part":""#))
            .and_then(|()| rest.word());
        by_hand
            .map(Cow::Borrowed)
            .or_else(|| self.data::<Piece<'a>>().map(|piece| piece.part))
    }

    /// The data as this type; none if it is of another shape.
    pub(crate) fn data<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.data?).ok()
    }
}

struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn skip(&mut self, expected: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let length = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(length)?;
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        self.0 = rest;
        digits.parse().ok()
    }

    /// One JSON value, which is skipped.
    fn value(&mut self) -> Option<()> {
        let mut check = Check::new(self.0.as_bytes());
        check.value()?;
        self.0 = self.0.get(check.position..)?;
        Some(())
    }

    /// Up to the next quote, which is skipped. Nothing that would have to be decoded.
    fn word(&mut self) -> Option<&'a str> {
        let end = self.0.bytes().position(|byte| byte == b'"' || byte == b'\\')?;
        let (word, rest) = self.0.split_at_checked(end)?;
        self.0 = rest.strip_prefix('"')?;
        Some(word)
    }
}

/// Deeper ones are left to the general reader.
const MOST_DEPTH: u32 = 60;

/// Whether these bytes are one compact JSON value. They are UTF-8 and have no control characters.
fn is_value(bytes: &[u8]) -> bool {
    let mut check = Check::new(bytes);
    check.value().is_some() && check.position == bytes.len()
}

struct Check<'a> {
    bytes: &'a [u8],
    position: usize,
    /// A bit for each open bracket: whether it is an object's.
    objects: u64,
    depth: u32,
}

impl<'a> Check<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            position: 0,
            objects: 0,
            depth: 0,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.position += 1;
        Some(byte)
    }

    fn expect(&mut self, expected: u8) -> Option<()> {
        (self.next()? == expected).then_some(())
    }

    fn value(&mut self) -> Option<()> {
        loop {
            let is_open = match self.next()? {
                b'{' => {
                    self.open(true)?;
                    if self.peek()? == b'}' {
                        false
                    } else {
                        self.key().map(|()| true)?
                    }
                }
                b'[' => {
                    self.open(false)?;
                    self.peek()? != b']'
                }
                b'"' => self.string().map(|()| false)?,
                b't' => self.literal(b"rue").map(|()| false)?,
                b'f' => self.literal(b"alse").map(|()| false)?,
                b'n' => self.literal(b"ull").map(|()| false)?,
                b'-' => {
                    let first = self.next()?;
                    self.number(first).map(|()| false)?
                }
                first => self.number(first).map(|()| false)?,
            };
            if !is_open && !self.after_value()? {
                return Some(());
            }
        }
    }

    /// Closes what ends here. Says whether another value follows.
    fn after_value(&mut self) -> Option<bool> {
        while self.depth > 0 {
            let is_object = self.objects & 1 == 1;
            match self.next()? {
                b',' if is_object => return self.key().map(|()| true),
                b',' => return Some(true),
                b'}' if is_object => {}
                b']' if !is_object => {}
                _ => return None,
            }
            self.objects >>= 1;
            self.depth -= 1;
        }
        Some(false)
    }

    fn open(&mut self, is_object: bool) -> Option<()> {
        self.depth += 1;
        self.objects = self.objects << 1 | u64::from(is_object);
        (self.depth <= MOST_DEPTH).then_some(())
    }

    fn key(&mut self) -> Option<()> {
        self.expect(b'"')?;
        self.string()?;
        self.expect(b':')
    }

    /// What follows an opening quote.
    fn string(&mut self) -> Option<()> {
        loop {
            self.position += next_mark(self.bytes.get(self.position..)?)?;
            if self.next()? == b'"' {
                return Some(());
            }
            match self.next()? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                b'u' => {
                    let digits = self.bytes.get(self.position..self.position + 4)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    self.position += 4;
                }
                _ => return None,
            }
        }
    }

    fn literal(&mut self, rest: &[u8]) -> Option<()> {
        let found = self.bytes.get(self.position..self.position + rest.len())?;
        self.position += rest.len();
        (found == rest).then_some(())
    }

    fn number(&mut self, first: u8) -> Option<()> {
        match first {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.some_digits()?;
        }
        Some(())
    }

    fn some_digits(&mut self) -> Option<()> {
        let before = self.position;
        self.digits();
        (self.position > before).then_some(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
    }
}

/// Where the next quote or backslash is, by eight bytes at a time: strings of code have one every few words, and for so
/// little a call of a vectorised search costs more than it saves.
fn next_mark(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const QUOTES: u64 = ONES * b'"' as u64;
    const BACKSLASHES: u64 = ONES * b'\\' as u64;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let (quotes, backslashes) = (word ^ QUOTES, word ^ BACKSLASHES);
        // The lowest byte that is zero in one of them has its highest bit set here; bytes above it may have it, too.
        let marks = (quotes.wrapping_sub(ONES) & !quotes | backslashes.wrapping_sub(ONES) & !backslashes)
            & (ONES << 7);
        if marks != 0 {
            return Some(index * 8 + (marks.trailing_zeros() / 8) as usize);
        }
    }
    let in_rest = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(chunks.len() * 8 + in_rest)
}

/// Reads times. Those of lines that follow each other mostly differ in the fraction of a second only.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// `2026-11-16T02:35:20`, and what it is.
    last: String,
    second: i64,
}

impl Clock {
    fn read(&mut self, at: &str) -> Option<Timestamp> {
        let (whole, fraction) = at.strip_suffix('Z')?.split_at_checked(19)?;
        if whole != self.last {
            let known: Timestamp = format!("{whole}Z").parse().ok()?;
            self.second = known.as_second();
            whole.clone_into(&mut self.last);
        }
        let nanoseconds = match fraction.strip_prefix('.') {
            Some(digits)
                if (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                let missing = 9 - u32::try_from(digits.len()).ok()?;
                digits.parse::<i32>().ok()? * 10_i32.pow(missing)
            }
            None if fraction.is_empty() => 0,
            _ => return None,
        };
        Timestamp::new(self.second, nanoseconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    use super::{Clock, Glance, is_value};
    use crate::skim::Skim;

    const LINES: [&str; 4] = [
        r#"{"seq":7,"at":"2026-11-16T02:35:20.690978133Z","iteration":1,"attempt":2,"event":{"agent_kind":"custom","parent":"t/1","raw":{"line":2,"offset":400,"length":703},"type":"text_block","data":{"item":"a/0","text":"x \" \\ \u00e9 é\n","l":[1,-2.5e+3,{}],"n":null,"t":true}}}"#,
        r#"{"seq":1,"at":"1969-12-31T23:59:59.5Z","iteration":0,"attempt":0,"event":{"type":"run_started","data":{"a":[[],{"b":0}]}}}"#,
        r#"{"seq":2,"at":"2026-11-16T02:35:20Z","iteration":0,"attempt":0,"event":{"type":"x"}}"#,
        r#"{"seq":3,"at":"2026-11-16T02:35:20.1Z","iteration":0,"attempt":0,"event":{"type":"x","data":"{}}}"}}"#,
    ];

    fn compare(line: &[u8]) {
        let glance = Glance::of(line, &mut Clock::default());
        // The general reader does not look at text that it leaves out.
        let skim = std::str::from_utf8(line).ok().and_then(|_| Skim::of(line));
        assert_eq!(
            glance.is_some(),
            skim.is_some(),
            "{}",
            String::from_utf8_lossy(line)
        );
        if let (Some(glance), Some(skim)) = (glance, skim) {
            assert_eq!((glance.seq, glance.at), (skim.seq, skim.at()));
            assert_eq!((glance.iteration, glance.attempt), (skim.iteration, skim.attempt));
            assert_eq!(glance.kind, skim.event.kind);
            assert_eq!(
                glance.parent.as_deref(),
                skim.event.parent.as_ref().map(agent_api::ItemId::as_str)
            );
            assert_eq!(glance.data, skim.event.data.map(serde_json::value::RawValue::get));
        }
    }

    #[test]
    fn lines_as_we_write_them_are_read_by_hand() {
        for line in LINES {
            assert!(Glance::by_hand(line, &mut Clock::default()).is_some(), "{line}");
            compare(line.as_bytes());
        }
    }

    #[test]
    fn two_halves_of_lines_are_no_record() {
        let line = LINES[0];
        for cut in 0..line.len() {
            let Some((half, _)) = line.split_at_checked(cut) else {
                continue;
            };
            compare(half.as_bytes());
            compare(format!("{half}{}", LINES[1]).as_bytes());
        }
    }

    #[test]
    fn times_are_read_one_after_the_other() {
        let mut clock = Clock::default();
        for at in [
            "2026-11-16T02:35:20.5Z",
            "2026-11-16T02:35:20.000000001Z",
            "2026-11-16T02:35:21Z",
            "1969-12-31T23:59:59.25Z",
        ] {
            assert_eq!(clock.read(at), at.parse().ok(), "{at}");
        }
        for at in [
            "",
            "Z",
            "2026-11-16T02:35:21.Z",
            "2026-11-16T02:35:21.0000000001Z",
            "2026-13-16T02:35:21Z",
        ] {
            assert_eq!(clock.read(at), None, "{at}");
        }
    }

    proptest! {
        #[test]
        fn a_changed_byte_changes_nothing_about_who_is_right(
            which in 0..LINES.len(), place in any::<prop::sample::Index>(), byte in any::<u8>(), inserts in any::<bool>()
        ) {
            let mut line = LINES[which].as_bytes().to_vec();
            let place = place.index(line.len());
            if inserts {
                line.insert(place, byte);
            } else {
                line[place] = byte;
            }
            compare(&line);
        }

        #[test]
        fn what_is_taken_for_json_is_json(text in r#"[\[\]{}",:\\ue0-9.+\-tfnrasl ]{0,24}"#) {
            if is_value(text.as_bytes()) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
        }

        #[test]
        fn compact_json_is_taken_for_json(texts in prop::collection::vec(".{0,40}", 0..6), number in any::<f64>()) {
            let value = serde_json::json!({"texts": texts, "number": number, "deep": [[{"x": texts}]]});
            prop_assert_eq!(is_value(value.to_string().as_bytes()), true);
        }
    }
}
