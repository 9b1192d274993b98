//! What may stand around JSON on a line and means nothing.

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// The position of the first byte that means something: blanks, NUL bytes (holes in a file), byte order marks and
/// terminal escape sequences are passed.
#[inline]
pub(crate) fn skip_blank(bytes: &[u8], mut position: usize) -> usize {
    loop {
        position = match bytes.get(position) {
            Some(b'{') => return position,
            Some(b' ' | b'\t' | b'\r' | b'\n' | 0) => position + 1,
            Some(&ESCAPE) => skip_escape(bytes, position + 1),
            Some(0xef) if bytes[position..].starts_with(b"\xef\xbb\xbf") => position + 3,
            _ => return position,
        };
    }
}

/// `position` is after the escape character. An unfinished sequence is passed whole.
fn skip_escape(bytes: &[u8], position: usize) -> usize {
    let rest = bytes.get(position + 1..).unwrap_or_default();
    let length = match bytes.get(position) {
        // Control sequence: parameters, then one final byte.
        Some(b'[') => rest
            .iter()
            .position(|byte| (0x40..=0x7e).contains(byte))
            .map(|end| end + 1),
        // Operating system command and other strings: up to a bell or `ESC \`.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let bell = rest.iter().position(|byte| *byte == BELL).map(|end| end + 1);
            let terminator = rest
                .windows(2)
                .position(|pair| pair == [ESCAPE, b'\\'])
                .map(|end| end + 2);
            match (bell, terminator) {
                (Some(bell), Some(terminator)) => Some(bell.min(terminator)),
                (bell, terminator) => bell.or(terminator),
            }
        }
        // Character sets: intermediate bytes, then one final byte.
        Some(0x20..=0x2f) => rest
            .iter()
            .position(|byte| !(0x20..=0x2f).contains(byte))
            .map(|end| end + 1),
        Some(_) => Some(0),
        None => return bytes.len(),
    };
    length.map_or(bytes.len(), |length| position + 1 + length)
}

#[cfg(test)]
mod tests {
    use super::skip_blank;

    #[test]
    fn escape_sequences_are_passed() {
        for blank in [
            "\x1b[?25h",
            "\x1b[0m\x1b[38;5;12m",
            "\x1b]0;title\x07",
            "\x1b]0;title\x1b\\ ",
            "\x1b(B",
            "\x1b7",
            " \t\r\0\u{feff}",
            "",
        ] {
            assert_eq!(skip_blank(blank.as_bytes(), 0), blank.len(), "{blank:?}");
            let line = format!("{blank}{{}}");
            assert_eq!(skip_blank(line.as_bytes(), 0), blank.len(), "{blank:?}");
        }
    }

    #[test]
    fn unfinished_sequences_are_passed_whole() {
        for blank in ["\x1b", "\x1b[", "\x1b[?25", "\x1b]0;title", "\x1b("] {
            assert_eq!(skip_blank(blank.as_bytes(), 0), blank.len(), "{blank:?}");
        }
    }

    #[test]
    fn text_is_not_blank() {
        assert_eq!(skip_blank("  é".as_bytes(), 0), 2);
        assert_eq!(
            skip_blank("ï".as_bytes(), 0),
            0,
            "shares a byte with the byte order mark"
        );
    }
}
