//! Words as PostgreSQL's text search has them. They are made here and not by the database, so that both engines find
//! the same, whatever the database's language is.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::search::{Clause, Expression};

/// Where the words of a text stand is kept up to here, and for each word so many times.
const LAST_POSITION: usize = 16_383;
const MAX_POSITIONS: usize = 255;
/// A text of which not all places are kept has this word, which no search can contain.
const LONG: &str = "\u{e000}l";

/// The words of a text, separated by spaces, as a `tsvector` is written.
pub(super) fn vector(words: &str) -> String {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut is_long = false;
    for (index, word) in words.split(' ').filter(|word| !word.is_empty()).enumerate() {
        let known = places.entry(word).or_default();
        let position = index + 1;
        if position < LAST_POSITION && known.len() < MAX_POSITIONS {
            known.push(position);
        } else {
            is_long = true;
        }
    }
    let mut out = String::with_capacity(words.len() * 2);
    if is_long {
        out.push_str(LONG);
    }
    for (word, places) in places {
        if !out.is_empty() {
            out.push(' ');
        }
        // There is nothing to escape: a word has letters and digits only.
        let _ = write!(out, "'{word}'");
        for (index, place) in places.iter().enumerate() {
            let _ = write!(out, "{}{place}", if index == 0 { ':' } else { ',' });
        }
    }
    out
}

/// What is asked for, as a `tsquery` is written.
pub(super) fn query(expression: &Expression) -> String {
    let clauses: Vec<String> = expression.clauses.iter().map(clause).collect();
    clauses.join(" & ")
}

/// In a long text it is enough to have the words: when it is read it is seen whether they follow each other.
fn clause(clause: &Clause) -> String {
    let last = clause.words.len().saturating_sub(1);
    let words: Vec<String> = clause
        .words
        .iter()
        .enumerate()
        .map(|(index, word)| {
            let star = if clause.is_prefix && index == last {
                ":*"
            } else {
                ""
            };
            format!("'{word}'{star}")
        })
        .collect();
    if last == 0 {
        return words.concat();
    }
    format!("({} | '{LONG}' & {})", words.join(" <-> "), words.join(" & "))
}

#[cfg(test)]
mod tests {
    use super::{query, vector};
    use crate::search::Expression;

    #[test]
    fn a_text_has_each_word_once_with_its_places() {
        assert_eq!(vector("b a b"), "'a':2 'b':1,3");
        assert_eq!(vector(""), "");
    }

    #[test]
    fn a_text_that_is_too_long_for_all_places_says_so() {
        let long = vector(&"x ".repeat(300));
        assert!(long.starts_with("\u{e000}l 'x':1,2"), "{long}");
        assert!(long.ends_with(",255"), "{long}");
        let words: Vec<String> = (0..16_400).map(|number| format!("w{number}")).collect();
        let long = vector(&words.join(" "));
        assert!(long.starts_with('\u{e000}') && long.contains("'w16399'"));
    }

    #[test]
    fn words_phrases_and_beginnings_are_told_apart() {
        let asked = |text: &str| query(&Expression::parse(text).unwrap());
        assert_eq!(asked("Hello wor*"), "'hello' & 'wor':*");
        assert_eq!(
            asked(r#"a "b c*""#),
            "'a' & ('b' <-> 'c' | '\u{e000}l' & 'b' & 'c')"
        );
        assert_eq!(
            asked(r#""b cd*""#),
            "('b' <-> 'cd':* | '\u{e000}l' & 'b' & 'cd':*)"
        );
    }
}
