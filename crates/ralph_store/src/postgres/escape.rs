//! `escape`, `escape_all`, `unescape`: text without the NUL that PostgreSQL does not store.

use std::borrow::Cow;

/// PostgreSQL keeps every character but the first one of all. It is written as this one and a `0`, and this one, which
/// nobody uses, as itself and a `1`.
const MARK: char = '\u{1a}';

/// A text as a column can keep it.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(0, MARK as u8, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => out.extend([MARK, '0']),
            MARK => out.extend([MARK, '1']),
            character => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Texts for `ANY`.
pub(super) fn escape_all(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| escape(text).into_owned()).collect()
}

/// A text as it was.
pub(super) fn unescape(text: String) -> String {
    if !text.contains(MARK) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            MARK if characters.next() == Some('0') => '\0',
            character => character,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{escape, unescape};

    #[test]
    fn an_ordinary_text_stays_as_it_is() {
        assert_eq!(escape("Zwölf\n"), "Zwölf\n");
    }

    proptest! {
        #[test]
        fn every_text_comes_back_as_it_was(text in "[a0-1\u{0}\u{1a}é]{0,20}") {
            let kept = escape(&text).into_owned();
            assert!(!kept.contains('\0'));
            assert_eq!(unescape(kept), text);
        }
    }
}
