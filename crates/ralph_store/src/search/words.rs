//! Splits text into normalized words, in the same way for the index, for queries and for marks in snippets.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Longer words are cut here: they are not typed into a search, and would only make the index larger.
pub(super) const WORD_BYTES: usize = 64;

const IS_WORD: [bool; 128] = {
    let mut table = [false; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Calls `take` with each word of a text: where it stands, and how it is compared. Words are runs of letters and
/// digits, in lower case, without accents. Names of code are taken apart at `_`, so that each part is found. A
/// character of a script that has no spaces is a word.
pub(super) fn each_word(text: &str, mut take: impl FnMut(Range<usize>, &str)) {
    let bytes = text.as_bytes();
    let mut folded = String::with_capacity(WORD_BYTES * 2);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte < 128 && !IS_WORD[usize::from(byte)] {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().position(|byte| !is_ascii_word(*byte));
        let end = length.map_or(bytes.len(), |length| at + length);
        folded.clear();
        if bytes.get(end).is_none_or(u8::is_ascii) {
            folded.push_str(&text[at..end.min(at + WORD_BYTES)]);
            folded.make_ascii_lowercase();
            take(at..end, &folded);
            at = end;
        } else {
            at = foreign_word(text, at, &mut folded, &mut take);
        }
    }
}

fn is_ascii_word(byte: u8) -> bool {
    byte < 128 && IS_WORD[usize::from(byte)]
}

/// A word with something else than ASCII in it, or none. Says where it ends.
fn foreign_word(
    text: &str,
    start: usize,
    folded: &mut String,
    take: &mut impl FnMut(Range<usize>, &str),
) -> usize {
    for (offset, character) in text[start..].char_indices() {
        let at = start + offset;
        let end = at + character.len_utf8();
        if character.is_ascii() {
            if !is_ascii_word(character as u8) {
                return finish(start..at, folded, take);
            }
            folded.push(character.to_ascii_lowercase());
        } else if is_ideograph(character) && character.is_alphanumeric() {
            if offset == 0 {
                folded.push(character);
                take(start..end, folded);
                return end;
            }
            return finish(start..at, folded, take);
        } else if character.is_alphanumeric() {
            let parts = character
                .to_lowercase()
                .nfd()
                .filter(|part| !is_combining_mark(*part));
            folded.extend(parts);
        } else if !is_combining_mark(character) || folded.is_empty() {
            // A sign that stands alone is left out, whatever it is.
            return finish(start..at, folded, take).max(if offset == 0 { end } else { at });
        }
    }
    finish(start..text.len(), folded, take)
}

fn finish(place: Range<usize>, folded: &str, take: &mut impl FnMut(Range<usize>, &str)) -> usize {
    let end = place.end;
    if !folded.is_empty() {
        let cut = folded.floor_char_boundary(WORD_BYTES.min(folded.len()));
        take(place, &folded[..cut]);
    }
    end
}

/// Scripts that are written without spaces.
fn is_ideograph(character: char) -> bool {
    matches!(character,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::each_word;

    fn words(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        each_word(text, |_, word| all.push(word.to_owned()));
        all
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(words("Run `cargo test`, now!"), ["run", "cargo", "test", "now"]);
        assert_eq!(words("a_long_name x2"), ["a", "long", "name", "x2"]);
        assert_eq!(words(" …—. "), Vec::<String>::new());
    }

    #[test]
    fn accents_do_not_matter() {
        assert_eq!(words("Café ÄRGER cafe\u{301}s"), ["cafe", "arger", "cafes"]);
        assert_eq!(words("\u{301}x"), ["x"]);
    }

    #[test]
    fn scripts_without_spaces_have_a_word_in_every_character() {
        assert_eq!(words("abc日本語x が"), ["abc", "日", "本", "語", "x", "が"]);
        // Signs of theirs are none.
        assert_eq!(words("ア・イ゠ー か\u{3099}"), ["ア", "イ", "ー", "か"]);
    }

    #[test]
    fn a_very_long_word_is_cut() {
        assert_eq!(words(&"Z".repeat(500)), ["z".repeat(64)]);
        assert_eq!(words(&"é".repeat(500)), ["e".repeat(64)]);
    }

    proptest! {
        #[test]
        fn places_are_whole_characters_in_order(text in "\\PC*") {
            let mut last = 0;
            each_word(&text, |place, word| {
                assert!(place.start >= last && !place.is_empty() && !word.is_empty());
                assert!(text.get(place.clone()).is_some());
                assert!(word.chars().all(char::is_alphanumeric), "{word:?}");
                last = place.end;
            });
        }
    }
}
