//! `decode`: decodes JSON strings. Never fails: broken parts become U+FFFD.

use super::scan::first_equal;

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Decodes the bytes between the quotes of a string. Lone surrogates, broken escapes and invalid UTF-8 become U+FFFD.
pub(super) fn decode(escaped: &[u8]) -> String {
    let mut text = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    loop {
        let run = plain_run(rest);
        text.extend_from_slice(&rest[..run]);
        let Some(escape) = rest.get(run + 1..) else { break };
        rest = decode_escape(escape, &mut text);
    }
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// How many bytes come before the next backslash. Source code has one every few words, so short runs are searched
/// without the cost of a call.
#[inline(always)]
fn plain_run(bytes: &[u8]) -> usize {
    let mut run = 0;
    for _ in 0..4 {
        let Some(word) = bytes.get(run..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        let marks = first_equal(u64::from_le_bytes(*word), b'\\');
        if marks != 0 {
            return run + (marks.trailing_zeros() / 8) as usize;
        }
        run += 8;
    }
    memchr::memchr(b'\\', &bytes[run..]).map_or(bytes.len(), |found| run + found)
}

/// `escape` starts after the backslash; returns the bytes behind it.
fn decode_escape<'a>(escape: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
    let Some((letter, rest)) = escape.split_first() else {
        return escape;
    };
    let plain = match letter {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => return decode_unicode(rest, text),
        other => *other,
    };
    text.push(plain);
    rest
}

/// `escape` starts after `\u`.
fn decode_unicode<'a>(escape: &'a [u8], text: &mut Vec<u8>) -> &'a [u8] {
    let Some((first, rest)) = code_unit(escape) else {
        push(REPLACEMENT, text);
        return escape;
    };
    let mut after = rest;
    let character = match first {
        0xd800..=0xdbff => match rest.strip_prefix(b"\\u").and_then(code_unit) {
            Some((second @ 0xdc00..=0xdfff, rest)) => {
                after = rest;
                char::from_u32(0x1_0000 + ((u32::from(first) - 0xd800) << 10) + (u32::from(second) - 0xdc00))
            }
            _ => None,
        },
        other => char::from_u32(u32::from(other)),
    };
    push(character.unwrap_or(REPLACEMENT), text);
    after
}

fn push(character: char, text: &mut Vec<u8>) {
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

fn code_unit(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, rest) = bytes.split_first_chunk::<4>()?;
    let mut unit: u16 = 0;
    for digit in digits {
        unit = (unit << 4) | u16::try_from(char::from(*digit).to_digit(16)?).ok()?;
    }
    Some((unit, rest))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_become_characters() {
        assert_eq!(
            decode(br#"a\"b\\c\/d\b\f\n\r\t\u00e9\u2028"#),
            "a\"b\\c/d\u{8}\u{c}\n\r\té\u{2028}"
        );
        assert_eq!(decode(br"\ud83c\udf89 \uD83C\uDF89"), "🎉 🎉");
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        assert_eq!(decode(br"a\ud83cb"), "a\u{fffd}b");
        assert_eq!(decode(br"\udf89"), "\u{fffd}");
        assert_eq!(decode(br"\ud83c\ud83c\udf89"), "\u{fffd}🎉");
        assert_eq!(decode(br"\ud83c\n"), "\u{fffd}\n");
        assert_eq!(decode(br"\ud83c\u0041"), "\u{fffd}A");
    }

    #[test]
    fn broken_escapes_do_not_end_the_text() {
        assert_eq!(decode(br"a\qb"), "aqb");
        assert_eq!(decode(br"a\u12"), "a\u{fffd}12");
        assert_eq!(decode(br"a\u"), "a\u{fffd}");
        assert_eq!(decode(br"a\u00g0\n"), "a\u{fffd}00g0\n");
    }

    #[test]
    fn an_escape_is_found_at_every_distance() {
        for length in 0..100 {
            let plain = "x".repeat(length);
            assert_eq!(
                decode(format!("{plain}\\n{plain}\\t").as_bytes()),
                format!("{plain}\n{plain}\t")
            );
        }
    }

    #[test]
    fn invalid_utf8_becomes_replacement_characters() {
        assert_eq!(decode(b"a\xffb\\n\xc3"), "a\u{fffd}b\n\u{fffd}");
    }
}
