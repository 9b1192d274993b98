//! A journal's line at a glance, without the detours of a general reader.
//!
//! Our own writer's lines have one shape: compact, the stamp first, the data last. Such a line is read by hand and its
//! data is only checked; any other line is left to [`Skim`], which decides whether it is a record. So a line is taken
//! for a record here only if it is one there, too.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;

use crate::compact_json::{Quotes, Walk};
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
    pub(crate) fn of(line: &'a [u8], memory: &mut Memory) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        if let Some(glance) = Self::by_hand(text, memory) {
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

    fn by_hand(text: &'a str, Memory { clock, quotes }: &mut Memory) -> Option<Self> {
        let text = text.strip_suffix("}}")?;
        if !quotes.find(text.as_bytes()) {
            return None;
        }
        let mut rest = Rest(text);
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
            let end = Walk::over(text.as_bytes(), quotes, text.len() - rest.0.len())?;
            rest = Rest(text.get(end..)?);
            rest.skip(",")?;
        }
        rest.skip(r#""type":""#)?;
        let kind = Cow::Borrowed(rest.word()?);
        let mut data = None;
        if !rest.0.is_empty() {
            rest.skip(r#","data":"#)?;
            let end = Walk::over(text.as_bytes(), quotes, text.len() - rest.0.len())?;
            data = Some(rest.0).filter(|_| end == text.len());
            data?;
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

    /// A call's name, what it is used on, and how far it is, if these are as we write them: the last at the end, the
    /// others near the beginning. What comes between can be long.
    pub(crate) fn tool(&self) -> Option<(&'a str, Option<String>, &'a str)> {
        let mut rest = Rest(self.data?);
        rest.skip(r#"{"item":""#)?;
        rest.word()?;
        rest.skip(r#","name":""#)?;
        let name = rest.word()?;
        rest.skip(r#","kind":""#)?;
        rest.word()?;
        // The data is JSON, so such a quote begins a string, and the bracket ends the whole.
        let (before, state) = rest.0.strip_suffix(r#""}"#)?.rsplit_once('"')?;
        if !before.ends_with(r#","state":"#) || state.contains('\\') {
            return None;
        }
        let subject = match rest.skip(r#","subject":"#) {
            Some(()) => Some(rest.string()?),
            None => None,
        };
        Some((name, subject, state))
    }

    /// The data as this type; none if it is of another shape.
    pub(crate) fn data<T: Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.data?).ok()
    }
}

/// What reading a line needs of those before it.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    clock: Clock,
    quotes: Quotes,
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

    /// Up to the next quote, which is skipped. Nothing that would have to be decoded.
    fn word(&mut self) -> Option<&'a str> {
        let end = self.0.bytes().position(|byte| byte == b'"' || byte == b'\\')?;
        let (word, rest) = self.0.split_at_checked(end)?;
        self.0 = rest.strip_prefix('"')?;
        Some(word)
    }

    /// A string at the beginning, decoded.
    fn string(&self) -> Option<String> {
        serde_json::Deserializer::from_str(self.0)
            .into_iter()
            .next()?
            .ok()
    }
}

/// Reads times. Those of lines that follow each other mostly differ in the fraction of a second only.
#[derive(Debug, Default)]
struct Clock {
    /// `2026-11-16T02:35:20`, and what it is.
    last: String,
    second: i64,
}

impl Clock {
    fn read(&mut self, at: &str) -> Option<Timestamp> {
        let (whole, fraction) = at.strip_suffix('Z')?.split_at_checked(19)?;
        if whole != self.last {
            // Other forms may have a fraction in their first nineteen characters.
            let marks = [4, 7, 10, 13, 16].map(|index| whole.as_bytes().get(index).copied());
            if marks != [b'-', b'-', b'T', b':', b':'].map(Some) {
                return None;
            }
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
    use proptest::prelude::{any, prop, proptest};

    use super::{Clock, Glance, Memory};
    use crate::skim::Skim;

    const LINES: [&str; 4] = [
        r#"{"seq":7,"at":"2026-11-16T02:35:20.690978133Z","iteration":1,"attempt":2,"event":{"agent_kind":"custom","parent":"t/1","raw":{"line":2,"offset":400,"length":703},"type":"text_block","data":{"item":"a/0","text":"x \" \\ \u00e9 é\n","l":[1,-2.5e+3,{}],"n":null,"t":true}}}"#,
        r#"{"seq":1,"at":"1969-12-31T23:59:59.5Z","iteration":0,"attempt":0,"event":{"type":"run_started","data":{"a":[[],{"b":0}]}}}"#,
        r#"{"seq":2,"at":"2026-11-16T02:35:20Z","iteration":0,"attempt":0,"event":{"type":"x"}}"#,
        r#"{"seq":3,"at":"2026-11-16T02:35:20.1Z","iteration":0,"attempt":0,"event":{"type":"x","data":"{}}}"}}"#,
    ];

    fn compare(line: &[u8]) {
        let glance = Glance::of(line, &mut Memory::default());
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
            assert!(Glance::by_hand(line, &mut Memory::default()).is_some(), "{line}");
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
            "20261116T023520.123Z",
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
    }
}
