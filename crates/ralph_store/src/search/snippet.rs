//! `snippet`: cuts a few words around a hit, as plain text.

use std::ops::Range;

/// How many characters a snippet has, without the signs that something is missing.
const MAX_CHARACTERS: usize = 200;
/// How many of them are before the place.
const CHARACTERS_BEFORE_HIT: usize = 60;
/// How far a snippet is moved to begin at a word.
const MAX_SHIFT: usize = 20;

/// Cuts a snippet from a text around `first`. Gives it with those marks that are in it, in characters. Line ends and
/// other white space are single spaces, and what could steer a terminal or turn the text around is a replacement
/// character.
pub(super) fn snippet(text: &str, first: usize, marks: &[Range<usize>]) -> (String, Vec<(u32, u32)>) {
    let first = text.floor_char_boundary(first.min(text.len()));
    let start = start_of(text, first);
    let mut out = String::with_capacity(MAX_CHARACTERS * 2);
    let mut length = 0_u32;
    let mut is_space = true;
    if start > 0 {
        out.push('…');
        length += 1;
    }
    let begin = marks.partition_point(|mark| mark.start < start);
    let mut open = marks[begin..].iter().peekable();
    let mut current: Option<(u32, usize)> = None;
    let mut found = Vec::new();
    let mut end = text.len();
    for (offset, character) in text[start..].char_indices() {
        let at = start + offset;
        if let Some((from, until)) = current
            && at >= until
        {
            found.push((from, length));
            current = None;
        }
        if length as usize >= MAX_CHARACTERS {
            end = at;
            break;
        }
        let shown = if character.is_whitespace() {
            ' '
        } else {
            harmless(character)
        };
        let is_repeated = shown == ' ' && is_space;
        is_space = shown == ' ';
        while let Some(mark) = open.next_if(|mark| mark.start <= at) {
            current = current.or(Some((length, mark.end)));
        }
        if !is_repeated {
            out.push(shown);
            length += 1;
        }
    }
    if let Some((from, _)) = current {
        found.push((from, length));
    }
    if end < text.len() {
        out.push('…');
    } else {
        out.truncate(out.trim_end().len());
    }
    found.retain(|(from, until)| from < until);
    (out, found)
}

/// A little before the place, at the beginning of a word if there is one near.
fn start_of(text: &str, first: usize) -> usize {
    let before = text[..first].char_indices().rev();
    let Some((earliest, _)) = before.clone().nth(CHARACTERS_BEFORE_HIT - 1) else {
        return 0;
    };
    let near = text[earliest..first].char_indices().take(MAX_SHIFT);
    near.filter(|(_, character)| character.is_whitespace())
        .map(|(offset, character)| earliest + offset + character.len_utf8())
        .next()
        .unwrap_or(earliest)
}

fn harmless(character: char) -> char {
    match character {
        '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{61c}'
        | '\u{feff}' => char::REPLACEMENT_CHARACTER,
        character if character.is_control() => char::REPLACEMENT_CHARACTER,
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::snippet;
    use crate::search::expression::Expression;

    fn marked(text: &str, asked: &str) -> (String, Vec<String>) {
        let matches = Expression::parse(asked).unwrap().find_in(text).unwrap();
        let (shown, marks) = snippet(text, matches.first, &matches.marks);
        let characters: Vec<char> = shown.chars().collect();
        let words = marks
            .iter()
            .map(|(from, until)| characters[*from as usize..*until as usize].iter().collect());
        (shown.clone(), words.collect())
    }

    #[test]
    fn a_short_text_is_shown_whole_with_every_mark() {
        let (shown, words) = marked("Ünï\tcode:\n\n  thé end of the end", "the end");
        assert_eq!(shown, "Ünï code: thé end of the end");
        assert_eq!(words, ["thé", "end", "the", "end"]);
    }

    #[test]
    fn a_long_text_is_cut_around_the_first_place() {
        let text = format!("{} needle {}", "häy ".repeat(500), "straw ".repeat(500));
        let (shown, words) = marked(&text, "needle");
        assert!(
            shown.starts_with("…häy") && shown.ends_with('…') && shown.chars().count() <= 201,
            "{shown}"
        );
        assert_eq!(words, ["needle"]);
    }

    #[test]
    fn control_characters_are_made_harmless() {
        let (shown, words) = marked("a\u{1b}[31mred\u{7}\u{202e}x", "31mred");
        assert_eq!(shown, "a\u{fffd}[31mred\u{fffd}\u{fffd}x");
        assert_eq!(words, ["31mred"]);
    }

    proptest! {
        #[test]
        fn marks_are_in_the_snippet(text in "(\\PC|[ \n\t]|needle ){0,300}", asked in "[a-z]{1,2}") {
            let expression = Expression::parse(&asked).unwrap();
            if let Some(matches) = expression.find_in(&text) {
                let (shown, marks) = snippet(&text, matches.first, &matches.marks);
                let length = shown.chars().count();
                assert!(length <= 202 && !marks.is_empty());
                for (from, until) in marks {
                    let word: String = shown.chars().skip(from as usize).take((until - from) as usize).collect();
                    assert!(expression.find_in(&word).is_some(), "{word:?} in {shown:?}");
                }
            }
        }
    }
}
