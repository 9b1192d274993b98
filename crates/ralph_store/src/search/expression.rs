//! `Expression`: a parsed search query that can be matched against a text.

use std::ops::Range;

use super::words::each_word;
use crate::error::StoreError;

/// More words are rejected: they slow a search down without making it more precise.
const MAX_WORDS: usize = 32;
/// Shorter prefixes match too many words to search for all of them in time.
const SHORTEST_PREFIX: usize = 2;

/// Words and phrases that must all be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expression {
    pub(crate) clauses: Vec<Clause>,
}

/// Words that must follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) words: Vec<String>,
    /// Whether the last one is the beginning of a word.
    pub(crate) is_prefix: bool,
}

impl Expression {
    /// Reads what a person typed: words, "phrases", and beginnings with a `*`. Nothing that is typed is wrong; signs
    /// between words are left out, and a quote that is not closed ends with the text.
    ///
    /// # Errors
    /// When there is no word in it, or there are too many.
    pub(crate) fn parse(typed: &str) -> Result<Self, StoreError> {
        let mut clauses = Vec::new();
        for (index, part) in typed.split('"').enumerate() {
            if index % 2 == 1 {
                clauses.extend(Clause::of(part));
            } else {
                clauses.extend(part.split_whitespace().filter_map(Clause::of));
            }
        }
        let words: usize = clauses.iter().map(|clause: &Clause| clause.words.len()).sum();
        match words {
            0 => Err(StoreError::BadSearch("there is no word in it".to_owned())),
            1..=MAX_WORDS => Ok(Self { clauses }),
            _ => Err(StoreError::BadSearch(format!(
                "it has more than {MAX_WORDS} words"
            ))),
        }
    }

    /// Whether it has to look for all words with some beginning.
    pub(crate) fn has_prefix(&self) -> bool {
        self.clauses.iter().any(|clause| clause.is_prefix)
    }

    /// The same for the index. There is nothing to escape: a word has letters and digits only.
    pub(super) fn to_fts(&self) -> String {
        let clauses: Vec<_> = self.clauses.iter().map(Clause::to_fts).collect();
        clauses.join(" AND ")
    }

    /// Where a text has what is asked for; none if it has not all of it.
    pub(super) fn find_in(&self, text: &str) -> Option<Matches> {
        let mut terms: Vec<(&str, bool)> = Vec::new();
        let mut codes: Vec<Vec<usize>> = Vec::new();
        for clause in &self.clauses {
            codes.push(clause.terms().map(|term| code_of(&mut terms, term)).collect());
        }
        let mut found = Vec::new();
        let mut number = 0_usize;
        each_word(text, |place, word| {
            let is = |(term, is_prefix): &(&str, bool)| match is_prefix {
                true => word.starts_with(term),
                false => word == *term,
            };
            let mask = terms
                .iter()
                .enumerate()
                .filter(|(_, term)| is(term))
                .fold(0_u32, |mask, (code, _)| mask | 1 << code);
            if mask != 0 {
                found.push(Found { number, place, mask });
            }
            number += 1;
        });
        let mut matches = Matches::default();
        for codes in &codes {
            let before = matches.count;
            for start in places(&found, codes) {
                matches.count += 1;
                matches.marks.extend(
                    found[start..start + codes.len()]
                        .iter()
                        .map(|found| found.place.clone()),
                );
            }
            if matches.count == before {
                return None;
            }
        }
        let all: Vec<usize> = codes.concat();
        let together = places(&found, &all).next();
        matches.is_together = codes.len() > 1 && together.is_some();
        matches.marks.sort_unstable_by_key(|mark| mark.start);
        matches.marks.dedup();
        let first = together.map(|start| found[start].place.start);
        matches.first = first
            .or_else(|| matches.marks.first().map(|mark| mark.start))
            .unwrap_or(0);
        Some(matches)
    }
}

impl Clause {
    fn of(part: &str) -> Option<Self> {
        let mut words = Vec::new();
        let mut end = 0;
        each_word(part, |place, word| {
            words.push(word.to_owned());
            end = place.end;
        });
        let is_prefix = part[end..].starts_with('*')
            && words
                .last()
                .is_some_and(|word| word.chars().count() >= SHORTEST_PREFIX);
        (!words.is_empty()).then_some(Self { words, is_prefix })
    }

    fn to_fts(&self) -> String {
        let star = if self.is_prefix { " *" } else { "" };
        format!("\"{}\"{star}", self.words.join(" "))
    }

    fn terms(&self) -> impl Iterator<Item = (&str, bool)> {
        let last = self.words.len().saturating_sub(1);
        let words = self.words.iter().enumerate();
        words.map(move |(index, word)| (word.as_str(), self.is_prefix && index == last))
    }
}

/// A word of a text that is asked for.
struct Found {
    /// Which word of the text.
    number: usize,
    place: Range<usize>,
    /// Which of the terms it is.
    mask: u32,
}

/// Where a text has what is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Matches {
    /// How often, all words and phrases together.
    pub(super) count: u32,
    /// Where to look first, in bytes.
    pub(super) first: usize,
    /// Whether all of it stands together in this order somewhere.
    pub(super) is_together: bool,
    /// The words, in bytes, in order.
    pub(super) marks: Vec<Range<usize>>,
}

fn code_of<'a>(terms: &mut Vec<(&'a str, bool)>, term: (&'a str, bool)) -> usize {
    terms.iter().position(|known| *known == term).unwrap_or_else(|| {
        terms.push(term);
        terms.len() - 1
    })
}

/// Where these terms follow each other.
fn places<'a>(found: &'a [Found], codes: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
    let windows = found.windows(codes.len().max(1)).enumerate();
    windows.filter_map(move |(start, window)| {
        let first = window.first()?.number;
        let fits = window
            .iter()
            .zip(codes)
            .enumerate()
            .all(|(index, (found, code))| found.number == first + index && found.mask & (1 << code) != 0);
        fits.then_some(start)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::Expression;

    fn fts(typed: &str) -> String {
        Expression::parse(typed).unwrap().to_fts()
    }

    #[test]
    fn words_phrases_and_beginnings_are_told_apart() {
        assert_eq!(fts("Hello world"), r#""hello" AND "world""#);
        assert_eq!(fts(r#"a "b C" d"#), r#""a" AND "b c" AND "d""#);
        assert_eq!(fts(r#"err* "out of mem*""#), r#""err" * AND "out of mem" *"#);
        assert_eq!(fts("src/main.rs snake_case"), r#""src main rs" AND "snake case""#);
        assert_eq!(fts(r#"open "ended phrase"#), r#""open" AND "ended phrase""#);
        assert_eq!(
            fts("e* a AND (b OR NOT c)"),
            r#""e" AND "a" AND "and" AND "b" AND "or" AND "not" AND "c""#
        );
    }

    #[test]
    fn what_has_no_word_cannot_be_searched() {
        for typed in ["", "  ", "-> ()", r#""""#, "*"] {
            assert!(Expression::parse(typed).is_err(), "{typed}");
        }
        assert!(Expression::parse(&"a ".repeat(33)).is_err());
    }

    #[test]
    fn a_text_is_found_with_all_places() {
        let expression = Expression::parse(r#"the "big dog" ru*"#).unwrap();
        let text = "Big cat. The BIG dog runs, the dog ran; a big dog";
        let matches = expression.find_in(text).unwrap();
        let marked: Vec<_> = matches.marks.iter().map(|mark| &text[mark.clone()]).collect();
        assert_eq!(marked, ["The", "BIG", "dog", "runs", "the", "big", "dog"]);
        assert_eq!((matches.count, matches.is_together, matches.first), (5, true, 9));
        assert_eq!(expression.find_in("the dog is big and runs"), None);
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_no_syntax_error(typed in "\\PC*") {
            let connection = rusqlite::Connection::open_in_memory().unwrap();
            connection.execute_batch("CREATE VIRTUAL TABLE t USING fts5(w, content='', tokenize='ascii')").unwrap();
            if let Ok(expression) = Expression::parse(&typed) {
                let count: i64 = connection
                    .query_row("SELECT count(*) FROM t WHERE t MATCH ?", [expression.to_fts()], |row| row.get(0))
                    .unwrap();
                assert_eq!(count, 0);
            }
        }

        #[test]
        fn every_word_of_a_text_is_found_in_it(text in "[a-zA-Zé_ .日\n]{1,80}") {
            if let Ok(expression) = Expression::parse(&text) {
                assert!(expression.find_in(&text).is_some());
            }
        }
    }
}
