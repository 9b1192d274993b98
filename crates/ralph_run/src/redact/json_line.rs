//! Which parts of a JSON line `Redactor` may replace: values, and names that are not ours.

use std::ops::Range;

/// Follows a line of JSON from left to right: what is in a string, and what is only half an escape.
#[derive(Debug)]
pub(super) struct Strings<'a> {
    line: &'a [u8],
    at: usize,
    is_in_string: bool,
}

impl<'a> Strings<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self {
            line,
            at: 0,
            is_in_string: false,
        }
    }

    /// Whether a character of a string begins at `target`. Cheap as long as targets grow.
    pub(super) fn has_character_at(&mut self, target: usize) -> bool {
        if target < self.at {
            *self = Self::new(self.line);
        }
        while self.at < target {
            match self.line.get(self.at) {
                Some(b'\\') if self.is_in_string => self.at += 2,
                Some(b'"') => {
                    self.is_in_string = !self.is_in_string;
                    self.at += 1;
                }
                Some(_) => self.at += 1,
                None => return false,
            }
        }
        // Past the target: it is the second half of an escape.
        self.is_in_string && self.at == target && self.line.get(target) != Some(&b'"')
    }
}

/// The strings of a line of JSON, with their quotes.
pub(super) fn string_literals(line: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + memchr::memchr(b'"', bytes.get(at..)?)?;
        let mut end = start + 1;
        loop {
            end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
            if bytes[end] == b'"' {
                at = end + 1;
                return Some(start..at);
            }
            // An escaped character.
            end += 2;
        }
    })
}

/// Whether the end of one of our own names follows: it is not replaced, even if it equals a secret.
pub(super) fn is_within_name(line: &[u8], found: &[u8], end: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'_';
    let rest = line.get(end..).unwrap_or_default();
    let word = rest.iter().take_while(|byte| is_word(byte)).count();
    found.iter().all(is_word) && rest[word..].starts_with(b"\":")
}

#[cfg(test)]
mod tests {
    use super::{Strings, is_within_name, string_literals};

    #[test]
    fn only_characters_of_strings_count() {
        let line = r#"{"a":12,"b":"x\ny\\z"}"#;
        let marks = r#"..^......^...^^.^^.^.."#;
        let mut strings = Strings::new(line.as_bytes());
        let found: String = (0..line.len())
            .map(|at| if strings.has_character_at(at) { '^' } else { '.' })
            .collect();
        assert_eq!(found, marks);
        // Backwards, too.
        assert!(strings.has_character_at(2));
    }

    #[test]
    fn strings_are_found_with_their_escapes() {
        let line = r#"{"a\"b":["","\\"],"c":1}"#;
        let found: Vec<&str> = string_literals(line).map(|range| &line[range]).collect();
        assert_eq!(found, [r#""a\"b""#, r#""""#, r#""\\""#, r#""c""#]);
        assert_eq!(string_literals(r#""open \"#).count(), 0);
    }

    #[test]
    fn a_word_in_a_name_of_ours_is_no_secret() {
        let line = br#"{"iteration_number":1,"text":"iteration"}"#;
        assert!(is_within_name(line, b"iteration", 11));
        assert!(!is_within_name(line, b"iteration", 39));
        assert!(!is_within_name(br#"{"a1b2c3d4":1}"#, b"a1b2c3d4", 10));
    }
}
