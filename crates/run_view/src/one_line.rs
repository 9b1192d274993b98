//! `one_line()`: untrusted text as one line of limited width; `wrap()`: trusted text in lines of limited width.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::sanitise::Sanitiser;

/// Texts are sanitised in pieces, because most are cut long before their end.
const PIECE_BYTES: usize = 1_024;

/// Untrusted text as one line of at most `columns` columns: sanitised, white space joined, cut with `…`.
pub fn one_line(text: &str, columns: usize) -> String {
    let mut line = Line {
        text: String::new(),
        width: 0,
        columns,
        has_gap: false,
    };
    let (mut sanitiser, mut clean, mut rest) = (Sanitiser::default(), String::new(), text);
    while !rest.is_empty() {
        let (piece, other) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES).max(first_length(rest)));
        clean.clear();
        sanitiser.push(piece, &mut clean);
        if clean.chars().any(|character| !line.push(character)) {
            return start_of(&line.text, columns);
        }
        rest = other;
    }
    // A selector can make the character before it wider.
    match width(&line.text) > columns {
        true => start_of(&line.text, columns),
        false => line.text,
    }
}

/// Trusted or sanitised text in lines of at most `columns`, split between words. The caller writes the first `indent`
/// columns; the other lines begin with as many spaces.
pub fn wrap(text: &str, indent: usize, columns: usize) -> String {
    let mut wrapped = String::new();
    let mut used = indent;
    for word in text.split_whitespace() {
        let length = width(word);
        if used > indent && used + 1 + length > columns {
            wrapped.push_str(&format!("\n{:indent$}", ""));
            used = indent;
        } else if used > indent {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped
}

/// Sanitised text without line ends, cut with `…`. Unlike [`one_line`], it keeps its indentation.
pub fn cut_line(line: &str, columns: usize) -> String {
    let line = line.trim_end().replace('\t', "    ");
    if width(&line) <= columns {
        return line;
    }
    start_of(&line, columns)
}

/// As much of a text as leaves room for the `…` behind it.
fn start_of(text: &str, columns: usize) -> String {
    if columns == 0 {
        return String::new();
    }
    let mut used = 0;
    let fits = |cluster: &&str| {
        used += cluster_width(cluster);
        used < columns
    };
    let mut start: String = text.graphemes(true).take_while(fits).collect();
    start.push('…');
    start
}

/// The end of an untrusted path in at most `columns` columns, if possible from the beginning of a name: it says more than
/// the beginning.
pub fn end_of_path(path: &str, columns: usize) -> String {
    let path = one_line(path, usize::MAX);
    if width(&path) <= columns {
        return path;
    }
    let mut used = 1;
    let fits = |(_, cluster): &(usize, &str)| {
        used += cluster_width(cluster);
        used <= columns
    };
    let start = path.grapheme_indices(true).rev().take_while(fits).last();
    let end = start.and_then(|(start, _)| path.get(start..)).unwrap_or_default();
    let from = end.find('/').filter(|place| *place + 1 < end.len()).unwrap_or(0);
    match columns {
        0 => String::new(),
        _ => format!("…{}", end.get(from..).unwrap_or_default()),
    }
}

/// How many columns trusted or sanitised text takes. Counts what a terminal shows as one character: `❤` followed by the
/// selector of pictures is two columns wide.
pub fn width(text: &str) -> usize {
    match text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        true => text.len(),
        false => text.graphemes(true).map(cluster_width).sum(),
    }
}

fn cluster_width(cluster: &str) -> usize {
    match cluster.starts_with(char::is_control) {
        true => 0,
        false => cluster.width(),
    }
}

fn first_length(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

struct Line {
    text: String,
    width: usize,
    columns: usize,
    has_gap: bool,
}

impl Line {
    /// Whether the character still fits.
    fn push(&mut self, character: char) -> bool {
        if character.is_whitespace() {
            self.has_gap = !self.text.is_empty();
            return true;
        }
        let gap = usize::from(self.has_gap);
        let width = character.width().unwrap_or(0);
        if self.width + gap + width > self.columns {
            return false;
        }
        if std::mem::take(&mut self.has_gap) {
            self.text.push(' ');
        }
        self.text.push(character);
        self.width += gap + width;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{cut_line, end_of_path, one_line, width};
    use crate::sanitise;

    #[test]
    fn a_long_path_is_known_by_its_end() {
        assert_eq!(end_of_path("/a/b", 10), "/a/b");
        assert_eq!(
            end_of_path("/home/somebody/projects/ralph", 16),
            "…/projects/ralph"
        );
        assert_eq!(end_of_path("/home/somebody/projects/ralph", 12), "…/ralph");
        assert_eq!(end_of_path("/aaaaaaaaaaaaaaaaaaaaaaaa", 6), "…aaaaa");
        assert_eq!(end_of_path("/漢字漢字", 6), "…漢字");
        assert_eq!(end_of_path("/ab", 0), "");
    }

    #[test]
    fn lines_are_joined_and_cut_at_the_limit() {
        assert_eq!(
            one_line("  fn main() {\n\t println!();\n}\n", 80),
            "fn main() { println!(); }"
        );
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
        assert_eq!(one_line("漢字漢字", 7), "漢字漢…");
        assert_eq!(one_line("漢字漢字", 6), "漢字…");
        assert_eq!(one_line("ab", 1), "…");
        assert_eq!(one_line("ab", 0), "");
        assert_eq!(one_line("", 5), "");
        assert_eq!(one_line("\u{1b}]0;title\u{7}a\u{1b}[31m b", 9), "a b");
    }

    #[test]
    fn a_line_is_never_wider_than_its_limit() {
        let text = "漢a字 \u{301}é😀 \u{1b}[1mb\u{202e}".repeat(200);
        let hearts = "a❤\u{fe0f}".repeat(40);
        for columns in 0..60 {
            for text in [&text, &hearts] {
                assert!(width(&one_line(text, columns)) <= columns, "{columns}");
                assert!(width(&cut_line(&sanitise(text), columns)) <= columns, "{columns}");
                assert!(width(&end_of_path(text, columns)) <= columns, "{columns}");
            }
        }
    }

    #[test]
    fn a_picture_is_as_wide_as_it_is_drawn() {
        assert_eq!(width("❤"), 1);
        assert_eq!(width("❤\u{fe0f}"), 2);
        assert_eq!(width("e\u{301}\n漢"), 3);
    }
}
