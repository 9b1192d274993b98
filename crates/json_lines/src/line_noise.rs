//! `skip_blank`: passes blanks and terminal escape sequences around JSON.

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// The position of the first meaningful byte: blanks, NUL bytes (holes in a file), byte order marks and terminal
/// escape sequences are skipped. An unfinished sequence is skipped only if it cannot hide an object.
#[inline]
pub(crate) fn skip_blank(bytes: &[u8], mut position: usize) -> usize {
    loop {
        position = match bytes.get(position) {
            Some(b'{') => return position,
            Some(b' ' | b'\t' | b'\r' | b'\n' | 0) => position + 1,
            Some(&ESCAPE) => match skip_escape(bytes, position + 1) {
                Some(end) => end,
                None => return position,
            },
            Some(0xef) if bytes[position..].starts_with(b"\xef\xbb\xbf") => position + 3,
            _ => return position,
        };
    }
}

/// `position` is after the escape character. An unfinished sequence is passed whole, unless an object may have begun
/// in it, which the caller has to report.
fn skip_escape(bytes: &[u8], position: usize) -> Option<usize> {
    let Some(first) = bytes.get(position) else {
        return Some(bytes.len());
    };
    let start = position + 1;
    let rest = &bytes[start..];
    let length = match first {
        // Control sequence: parameters, then one final byte.
        b'[' => rest
            .iter()
            .position(|byte| (0x40..=0x7e).contains(byte))
            .map(|end| end + 1),
        // Operating system command and other strings: up to a bell or `ESC \`. Any other sequence breaks them off.
        b']' | b'P' | b'X' | b'^' | b'_' => match memchr::memchr2(BELL, ESCAPE, rest) {
            Some(end) if rest[end] == BELL => Some(end + 1),
            Some(end) if rest.get(end + 1) == Some(&b'\\') => Some(end + 2),
            broken_off => return skip_unfinished(bytes, start, broken_off),
        },
        // Character sets: intermediate bytes, then one final byte.
        0x20..=0x2f => rest
            .iter()
            .position(|byte| !(0x20..=0x2f).contains(byte))
            .map(|end| end + 1),
        _ => Some(0),
    };
    match length {
        Some(length) => Some(start + length),
        None => skip_unfinished(bytes, start, None),
    }
}

fn skip_unfinished(bytes: &[u8], start: usize, length: Option<usize>) -> Option<usize> {
    let end = length.map_or(bytes.len(), |length| start + length);
    memchr::memchr(b'{', &bytes[start..end]).is_none().then_some(end)
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
    fn unfinished_sequences_that_may_hide_an_object_are_not_blank() {
        for line in ["\x1b]0;title{}", "\x1bPq{}\x1b[0m", "\x1b]0;{}\x1b]0;title\x07"] {
            assert_eq!(skip_blank(line.as_bytes(), 0), 0, "{line:?}");
        }
        let broken_off = "\x1b]0;title\x1b[0m";
        assert_eq!(skip_blank(broken_off.as_bytes(), 0), broken_off.len());
    }

    #[test]
    fn many_sequences_are_passed_in_one_go() {
        // Looking for another end of each one in the whole rest would take minutes.
        let line = "\x1b]\x07".repeat(1_000_000);
        assert_eq!(skip_blank(line.as_bytes(), 0), line.len());
        let line = "\x1b]".repeat(1_000_000);
        assert_eq!(skip_blank(line.as_bytes(), 0), line.len());
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
