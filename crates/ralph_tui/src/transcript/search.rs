//! `Query`: a text that is searched for. Matches are places in the text itself, never in a copy with other letters.

use std::ops::Range;

/// A search. Without capital letters in it, it finds letters of any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    text: String,
    folded: Vec<char>,
    is_exact: bool,
    /// Its longest word. Marks of Markdown rarely stand within a word.
    word: String,
}

impl Query {
    pub(super) fn new(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let words = text.split(|character: char| !character.is_alphanumeric());
        let word = words
            .max_by_key(|word| word.len())
            .filter(|word| !word.is_empty());
        Some(Self {
            word: word.unwrap_or(text).to_owned(),
            text: text.to_owned(),
            folded: text.chars().flat_map(char::to_lowercase).collect(),
            is_exact: text.chars().any(char::is_uppercase),
        })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a text can contain it, once it is shown. Fast. It says yes too often, and misses words with marks of
    /// Markdown in them.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        let word = self.word.as_bytes();
        if !self.word.is_ascii() {
            // Letters of other scripts can have other lengths in the other case.
            return true;
        }
        let Some(first) = word.first() else { return true };
        let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
        let text = text.as_bytes();
        let mut from = 0;
        while let Some(rest) = text.get(from..).filter(|rest| rest.len() >= word.len()) {
            let is_start = |byte: &u8| *byte == lower || *byte == upper;
            let Some(start) = rest.iter().position(is_start) else {
                return false;
            };
            let found = rest.get(start..start + word.len());
            if found.is_some_and(|found| found.eq_ignore_ascii_case(word)) {
                return true;
            }
            from += start + 1;
        }
        false
    }

    /// Where it is, in bytes. Matches do not overlap.
    pub(super) fn find_all(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_exact {
            let matches = text.match_indices(self.text.as_str());
            return matches.map(|(start, found)| start..start + found.len()).collect();
        }
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(hit) = self.find_from(text, from) {
            from = hit.end;
            found.push(hit);
        }
        found
    }

    fn find_from(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let first = *self.folded.first()?;
        let rest = text.get(from..)?;
        let starts = rest.char_indices().filter(|(_, character)| {
            *character == first
                || (!character.is_ascii_lowercase() && character.to_lowercase().next() == Some(first))
        });
        starts
            .map(|(start, _)| from + start)
            .find_map(|start| self.match_at(&text[start..]).map(|length| start..start + length))
    }

    /// The length of the match at the start of a text.
    fn match_at(&self, text: &str) -> Option<usize> {
        let mut wanted = self.folded.iter();
        let mut length = 0;
        for character in text.chars() {
            if wanted.as_slice().is_empty() {
                break;
            }
            for lower in character.to_lowercase() {
                if wanted.next() != Some(&lower) {
                    return None;
                }
            }
            length += character.len_utf8();
        }
        wanted.as_slice().is_empty().then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use super::Query;

    fn found<'a>(query: &str, text: &'a str) -> Vec<&'a str> {
        let query = Query::new(query).unwrap();
        query
            .find_all(text)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn small_letters_find_any_case_and_capitals_only_themselves() {
        assert_eq!(found("error", "Error: ERROR, error"), ["Error", "ERROR", "error"]);
        assert_eq!(found("Error", "Error: ERROR, error"), ["Error"]);
        assert_eq!(found("aa", "aaaaa"), ["aa", "aa"]);
        assert!(Query::new("").is_none());
    }

    #[test]
    fn a_text_without_the_longest_word_is_left_out() {
        let query = Query::new("the **Failing** test").unwrap();
        assert!(query.may_be_in("a FAILING one"));
        for text in ["", "fail", "the test", "failin", "xfailinx failin"] {
            assert!(!query.may_be_in(text), "{text}");
        }
        assert!(Query::new("=>").unwrap().may_be_in("a => b"));
        assert!(!Query::new("=>").unwrap().may_be_in("a = b"));
    }

    #[test]
    fn letters_that_become_longer_or_shorter_do_not_move_the_place() {
        assert_eq!(found("straße", "İİ STRAßE Straße"), ["STRAßE", "Straße"]);
        assert_eq!(found("x", "İx"), ["x"]);
        assert_eq!(found("ä", "ÄäÄ"), ["Ä", "ä", "Ä"]);
    }
}
