//! `wrap()`: breaks a line into rows. Works on what a terminal shows as one character, so that none is split.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// How many columns sanitised text takes in a buffer.
pub(super) fn columns(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        clusters(text).map(|(_, cluster)| cluster.width()).sum()
    }
}

/// What a terminal shows as one character each, and where it starts.
pub(super) fn clusters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.grapheme_indices(true)
}

/// Where rows may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    BetweenWords,
    Anywhere,
}

/// The rows of a line, each at most `width` columns wide. Spaces at which a row ends belong to none.
pub(super) fn wrap(text: &str, width: usize, breaks: Break, mut push: impl FnMut(Range<usize>)) {
    let mut rows = Rows {
        width: width.max(1),
        breaks,
        start: 0,
        used: 0,
        space: None,
        has_word: false,
    };
    if text.is_ascii() {
        if text.len() <= rows.width {
            push(0..text.len());
            return;
        }
        for (offset, byte) in text.bytes().enumerate() {
            rows.take(offset, 1, 1, byte == b' ', &mut push);
        }
    } else {
        for (offset, cluster) in clusters(text) {
            rows.take(offset, cluster.len(), cluster.width(), cluster == " ", &mut push);
        }
    }
    push(rows.start..text.len());
}

/// The part of a text that fits into `width` columns, and whether it is all of it.
pub(super) fn cut(text: &str, width: usize) -> (usize, bool) {
    if text.is_ascii() && text.len() <= width {
        return (text.len(), true);
    }
    let (mut used, mut end_before_last) = (0, 0);
    for (offset, cluster) in clusters(text) {
        used += cluster.width();
        if used > width {
            return (end_before_last, false);
        }
        // The end of what leaves room for an ellipsis.
        if used < width {
            end_before_last = offset + cluster.len();
        }
    }
    (text.len(), true)
}

/// Where a text goes on after this many columns. A wide character is not cut in half.
pub(super) fn skip_columns(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (offset, cluster) in clusters(text) {
        if used >= columns {
            return offset;
        }
        used += cluster.width();
    }
    text.len()
}

struct Rows {
    width: usize,
    breaks: Break,
    /// Where the current row starts, and its columns so far.
    start: usize,
    used: usize,
    /// The last spaces in the row after a word: where they start and end, and the columns up to there.
    space: Option<(usize, usize, usize)>,
    has_word: bool,
}

impl Rows {
    fn take(
        &mut self,
        offset: usize,
        length: usize,
        width: usize,
        is_space: bool,
        push: &mut impl FnMut(Range<usize>),
    ) {
        if is_space && self.breaks == Break::BetweenWords {
            self.used += width;
            if self.has_word {
                let start = match self.space {
                    Some((start, end, _)) if end == offset => start,
                    _ => offset,
                };
                self.space = Some((start, offset + length, self.used));
            }
            return;
        }
        if self.used + width > self.width && offset > self.start {
            match self.space.take() {
                Some((end, next, used)) => {
                    push(self.start..end);
                    self.start = next;
                    self.used -= used;
                }
                None => {
                    push(self.start..offset);
                    self.start = offset;
                    self.used = 0;
                }
            }
            // A word that is longer than a row is broken again.
            if self.used + width > self.width && offset > self.start {
                push(self.start..offset);
                self.start = offset;
                self.used = 0;
            }
        }
        self.used += width;
        self.has_word = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{Break, columns, cut, wrap};

    fn rows(text: &str, width: usize, breaks: Break) -> Vec<&str> {
        let mut rows = Vec::new();
        wrap(text, width, breaks, |row| rows.push(&text[row]));
        rows
    }

    #[test]
    fn rows_end_between_words_and_long_words_are_broken() {
        let of = |text, width| rows(text, width, Break::BetweenWords);
        assert_eq!(of("", 4), [""]);
        assert_eq!(of("one two three", 7), ["one two", "three"]);
        assert_eq!(of("one  two", 4), ["one", "two"]);
        assert_eq!(of("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(of("a bcdefghij", 4), ["a", "bcde", "fghi", "j"]);
        assert_eq!(of("    indented text", 10), ["    indent", "ed text"]);
        assert_eq!(of("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(
            of("e\u{301}e\u{301}e\u{301}", 2),
            ["e\u{301}e\u{301}", "e\u{301}"]
        );
        assert_eq!(rows("ab cd", 3, Break::Anywhere), ["ab ", "cd"]);
    }

    #[test]
    fn a_picture_of_several_characters_stays_whole() {
        let family = "👩\u{200d}👩\u{200d}👧";
        assert_eq!(columns(family), 2);
        assert_eq!(rows(&family.repeat(2), 3, Break::Anywhere), [family, family]);
    }

    #[test]
    fn a_cut_leaves_room_for_an_ellipsis() {
        assert_eq!(cut("abcd", 4), (4, true));
        assert_eq!(cut("abcde", 4), (3, false));
        assert_eq!(cut("漢字漢", 5), (6, false));
        assert_eq!(cut("漢字漢", 4), (3, false));
    }

    proptest! {
        #[test]
        fn every_row_fits_and_nothing_but_spaces_is_lost(text in "[a-zA-Z漢é😀 ]{0,80}", width in 2_usize..12) {
            for breaks in [Break::BetweenWords, Break::Anywhere] {
                let rows = rows(&text, width, breaks);
                let last = rows.len() - 1;
                for (number, row) in rows.iter().enumerate() {
                    let shown = if number == last { row.trim_end() } else { row };
                    prop_assert!(columns(shown) <= width || shown.trim_start().is_empty(), "{rows:?}");
                }
                prop_assert_eq!(rows.concat().replace(' ', ""), text.replace(' ', ""));
            }
        }
    }
}
