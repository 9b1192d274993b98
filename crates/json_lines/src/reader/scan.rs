//! The hot loops: finding the end of a value.
//!
//! Every function takes the position where a token starts and returns the position after it. They are free functions
//! so that the position stays in a register.

use super::MAX_DEPTH;
use super::fault::{Fault, FaultKind};
use super::number::number_end;

/// The end of a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct StringEnd {
    /// Position of the closing quote.
    pub(super) quote: usize,
    /// Whether there may be escapes. Certain for short strings; long ones are only searched for their end.
    pub(super) may_be_escaped: bool,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// After this many bytes without a quote the string is long, and the vectorised search pays for its call.
const SHORT_STRING_WORDS: usize = 6;

/// Marks (in its high bit) the first of the eight bytes that equals `byte`. Bytes above the first mark may be marked
/// wrongly, so only the lowest mark means anything.
#[inline(always)]
pub(super) fn first_equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & HIGH_BITS
}

/// `position` is the first byte after the opening quote.
///
/// Escapes are not checked: they are content, and content is never refused.
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], position: usize) -> Result<StringEnd, Fault> {
    let found = find_string_end(bytes, position);
    if found == usize::MAX {
        return Err(Fault::at(bytes, bytes.len()));
    }
    Ok(StringEnd {
        quote: found >> 1,
        may_be_escaped: found & 1 != 0,
    })
}

/// The position of the closing quote, doubled, plus one if the string may be escaped; or `usize::MAX`. Returns one
/// word and is not inlined: it is called for every typed field, and code that fits the cache is faster than no call.
#[inline(never)]
fn find_string_end(bytes: &[u8], position: usize) -> usize {
    let mut at = position;
    for _ in 0..SHORT_STRING_WORDS {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        let word = u64::from_le_bytes(*word);
        let marks = first_equal(word, b'"') | first_equal(word, b'\\');
        if marks != 0 {
            let found = at + (marks.trailing_zeros() / 8) as usize;
            if bytes[found] == b'"' {
                return found << 1;
            }
            break;
        }
        at += 8;
    }
    match long_string_end(bytes, position, at) {
        Ok(end) => end.quote << 1 | 1,
        Err(_) => usize::MAX,
    }
}

/// Like [`string_end`] for a string that is skipped: returns the position after it.
#[inline(always)]
fn skip_string(bytes: &[u8], position: usize) -> Result<usize, Fault> {
    let mut at = position;
    for _ in 0..SHORT_STRING_WORDS {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        let marks = first_equal(u64::from_le_bytes(*word), b'"');
        if marks != 0 {
            let found = at + (marks.trailing_zeros() / 8) as usize;
            if bytes[found - 1] == b'\\' {
                break;
            }
            return Ok(found + 1);
        }
        at += 8;
    }
    Ok(long_string_end(bytes, position, at)?.quote + 1)
}

/// The rest of a string that is long, escaped, or at the end of the line. `position` is its first byte; there is no
/// quote before `at`.
#[inline(never)]
fn long_string_end(bytes: &[u8], position: usize, mut at: usize) -> Result<StringEnd, Fault> {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(found) = memchr::memchr(b'"', rest) else {
            return Err(Fault::at(bytes, bytes.len()));
        };
        let quote = at + found;
        // An odd number of backslashes before a quote makes it part of the text.
        let before = &bytes[position..quote];
        let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Ok(StringEnd {
                quote,
                may_be_escaped: true,
            });
        }
        at = quote + 1;
    }
}

/// The next position that is not white space.
#[inline(always)]
pub(super) fn skip_space(bytes: &[u8], position: usize) -> usize {
    match bytes.get(position) {
        Some(&byte) if byte <= b' ' => skip_more_space(bytes, position),
        _ => position,
    }
}

#[inline(never)]
fn skip_more_space(bytes: &[u8], mut position: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(position) {
        position += 1;
    }
    position
}

#[inline(always)]
fn literal_end(bytes: &[u8], position: usize, literal: &[u8]) -> Result<usize, Fault> {
    let end = position + literal.len();
    if bytes.get(position..end) == Some(literal) {
        return Ok(end);
    }
    let rest = bytes.get(position..).unwrap_or_default();
    let same = rest
        .iter()
        .zip(literal)
        .take_while(|(byte, expected)| byte == expected)
        .count();
    Err(Fault::at(bytes, position + same))
}

/// The end of a string, number, `true`, `false` or `null`.
#[inline(always)]
fn scalar_end(bytes: &[u8], position: usize) -> Result<usize, Fault> {
    match bytes.get(position) {
        Some(b'"') => skip_string(bytes, position + 1),
        Some(b'-' | b'0'..=b'9') => number_end(bytes, position),
        Some(b't') => literal_end(bytes, position, b"true"),
        Some(b'f') => literal_end(bytes, position, b"false"),
        Some(b'n') => literal_end(bytes, position, b"null"),
        _ => Err(Fault::at(bytes, position)),
    }
}

/// Skips `"key":` and returns the position of the value.
#[inline(always)]
fn value_after_key(bytes: &[u8], position: usize) -> Result<usize, Fault> {
    if bytes.get(position) != Some(&b'"') {
        return Err(Fault::at(bytes, position));
    }
    colon_end(bytes, skip_string(bytes, position + 1)?)
}

/// Skips the colon after a key and returns the position of the value.
#[inline(always)]
pub(super) fn colon_end(bytes: &[u8], position: usize) -> Result<usize, Fault> {
    let colon = skip_space(bytes, position);
    if bytes.get(colon) != Some(&b':') {
        return Err(Fault::at(bytes, colon));
    }
    Ok(skip_space(bytes, colon + 1))
}

/// The end of any value. `position` is its first byte, `depth` the number of containers around it.
#[inline(never)]
pub(super) fn value_end(bytes: &[u8], position: usize, depth: u32) -> Result<usize, Fault> {
    match bytes.get(position) {
        Some(b'{' | b'[') => container_end(bytes, position, depth),
        _ => scalar_end(bytes, position),
    }
}

/// The end of an object or array, without recursion: one bit per open container says which kind it is.
#[inline(never)]
fn container_end(bytes: &[u8], mut position: usize, depth: u32) -> Result<usize, Fault> {
    const OBJECT: u128 = 1;
    let mut open: u128 = 0;
    let mut level: u32 = 0;
    loop {
        // `position` is the first byte of a value.
        match bytes.get(position) {
            Some(opening @ (b'{' | b'[')) => {
                if depth + level >= MAX_DEPTH {
                    return Err(Fault {
                        kind: FaultKind::TooDeep,
                        position,
                    });
                }
                level += 1;
                let is_object = *opening == b'{';
                open = (open << 1) | u128::from(is_object);
                position = skip_space(bytes, position + 1);
                let closing = if is_object { b'}' } else { b']' };
                if bytes.get(position) != Some(&closing) {
                    if is_object {
                        position = value_after_key(bytes, position)?;
                    }
                    continue;
                }
                position += 1;
                level -= 1;
                open >>= 1;
            }
            _ => position = scalar_end(bytes, position)?,
        }
        // A value has just ended: close containers until another value follows.
        loop {
            if level == 0 {
                return Ok(position);
            }
            position = skip_space(bytes, position);
            let in_object = open & OBJECT != 0;
            match bytes.get(position) {
                Some(b',') => {
                    position = skip_space(bytes, position + 1);
                    if in_object {
                        position = value_after_key(bytes, position)?;
                    }
                    break;
                }
                Some(b'}') if in_object => {}
                Some(b']') if !in_object => {}
                _ => return Err(Fault::at(bytes, position)),
            }
            position += 1;
            level -= 1;
            open >>= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fault::{Fault, FaultKind};
    use super::value_end;

    fn end(text: &str) -> Result<usize, Fault> {
        value_end(text.as_bytes(), 0, 0)
    }

    #[test]
    fn whole_values_are_passed() {
        for text in [
            "{}",
            "[]",
            "[[],{}]",
            r#"{"a":[1,-2.5e+10,true,false,null,"x\"\\\u00e9"],"b":{"c":{}}}"#,
            "{ \"a\" : [ 1 , 2 ] }",
            "0",
            "-0.0",
            "\"\"",
        ] {
            assert_eq!(end(text), Ok(text.len()), "{text}");
        }
    }

    #[test]
    fn what_follows_a_value_is_left_alone() {
        assert_eq!(end("{\"a\":1}{\"b\":2}"), Ok(7));
    }

    #[test]
    fn every_proper_prefix_of_a_container_is_truncated() {
        let text = r#"{"type":"x","list":[1.5e3,true,{"k":"\u00e9\n long enough to leave the short loop behind"}],"n":null}"#;
        for cut in 0..text.len() {
            assert_eq!(
                end(&text[..cut]),
                Err(Fault {
                    kind: FaultKind::Truncated,
                    position: cut
                }),
                "cut at byte {cut}"
            );
        }
    }

    #[test]
    fn wrong_structure_is_found_where_it_is() {
        for (text, position) in [
            ("{\"a\":1,}", 7),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("{\"a\" 1}", 5),
            ("{a:1}", 1),
            ("[1}", 2),
            ("{\"a\":1]", 6),
            ("[tru3]", 4),
            ("[01]", 2),
            ("[1.]", 3),
            ("[NaN]", 1),
        ] {
            assert_eq!(
                end(text),
                Err(Fault {
                    kind: FaultKind::Unexpected,
                    position
                }),
                "{text}"
            );
        }
    }

    #[test]
    fn nesting_is_limited_without_using_the_stack() {
        let deepest = format!("{}{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(end(&deepest), Ok(256));
        let bomb = "[".repeat(200_000);
        assert_eq!(
            end(&bomb),
            Err(Fault {
                kind: FaultKind::TooDeep,
                position: 128
            })
        );
        let bomb = "{\"a\":".repeat(200_000);
        assert_eq!(
            end(&bomb),
            Err(Fault {
                kind: FaultKind::TooDeep,
                position: 128 * 5
            })
        );
    }

    #[test]
    fn a_quote_is_found_at_every_distance() {
        for length in 0..200 {
            let text = format!("\"{}\" tail \" more", "x".repeat(length));
            assert_eq!(end(&text), Ok(length + 2));
            let text = format!("\"{}\\\"{}\" tail", "x".repeat(length), "é".repeat(length));
            assert_eq!(end(&text), Ok(text.len() - 5));
        }
    }
}
