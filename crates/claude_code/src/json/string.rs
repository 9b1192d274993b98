//! The text of a JSON string, whatever was done to it.

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Decodes the bytes between the quotes of a string whose escapes have been validated. Lone surrogates and
/// invalid UTF-8 become U+FFFD.
pub(super) fn decode(escaped: &[u8]) -> String {
    let mut text = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        text.extend_from_slice(&rest[..backslash]);
        rest = decode_escape(&rest[backslash + 1..], &mut text);
    }
    text.extend_from_slice(rest);
    String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// `escape` starts after the backslash; gives what follows it.
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
    let mut buffer = [0; 4];
    text.extend_from_slice(
        character
            .unwrap_or(REPLACEMENT)
            .encode_utf8(&mut buffer)
            .as_bytes(),
    );
    after
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
    fn invalid_utf8_becomes_replacement_characters() {
        assert_eq!(decode(b"a\xffb\\n\xc3"), "a\u{fffd}b\n\u{fffd}");
    }
}
