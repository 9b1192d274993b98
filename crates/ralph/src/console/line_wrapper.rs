//! `LineWrapper`: breaks streamed text between words at the width of the terminal. `Page` owns it.

use unicode_width::UnicodeWidthChar as _;

use super::style::{Style, paint};

/// Emoji are joined from up to four pictures of two columns, and which of them form one is known only after the last.
const EMOJI_COLUMNS: usize = 8;
const TAB_COLUMNS: usize = 8;

/// Words appear as they are written. One that outgrows its row is erased there and moves to the next row, so the text
/// never reaches the last column.
#[derive(Debug)]
pub(super) struct LineWrapper {
    /// The width of the terminal.
    width: usize,
    /// The column of the cursor.
    column: usize,
    /// How far rows are indented that continue a line.
    indent: usize,
    /// The last word of the row, with its styles, and its columns.
    word: String,
    word_columns: usize,
    /// White space that is dropped if the line breaks here.
    spaces: String,
    /// Whether every terminal agrees on the columns of this row.
    is_certain: bool,
}

impl LineWrapper {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            column: 0,
            indent: 0,
            word: String::new(),
            word_columns: 0,
            spaces: String::new(),
            is_certain: true,
        }
    }

    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// The terminal has another width: it may have moved the current row.
    pub(super) fn set_width(&mut self, width: usize) {
        if self.width != width {
            self.width = width;
            self.column = self.column.min(self.room());
            self.is_certain = false;
        }
    }

    pub(super) fn set_indent(&mut self, columns: usize) {
        self.indent = columns.min(self.room() / 2);
    }

    /// A line begins.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.width);
    }

    pub(super) fn push_newline(&mut self, out: &mut String) {
        out.push('\n');
        self.reset();
    }

    /// Trusted text that may have styles and stays together.
    pub(super) fn push_label(&mut self, label: &str, out: &mut String) {
        out.push_str(label);
        self.column += width_of_painted(label);
        self.end_word();
    }

    /// Text without line ends. White space is where it may break.
    pub(super) fn push_words(&mut self, text: &str, style: Option<Style>, out: &mut String) {
        for part in text.split_inclusive(char::is_whitespace) {
            let word = part.trim_end_matches(char::is_whitespace);
            self.push_word(word, style, out);
            if word.len() < part.len() {
                self.end_word();
                self.push_space(&part[word.len()..]);
            }
        }
    }

    fn push_space(&mut self, space: &str) {
        let column = self.column + columns_of(&self.spaces);
        match space {
            "\t" => self
                .spaces
                .push_str(&" ".repeat(TAB_COLUMNS - column % TAB_COLUMNS)),
            _ => self.spaces.push_str(space),
        }
    }

    /// Text without line ends that breaks only at the edge.
    pub(super) fn push_verbatim(&mut self, text: &str, style: Option<Style>, out: &mut String) {
        for (number, part) in text.split('\t').enumerate() {
            if number > 0 {
                let next = (self.column / TAB_COLUMNS + 1) * TAB_COLUMNS;
                out.push_str(&" ".repeat(next.min(self.room()).saturating_sub(self.column)));
                self.column = next.min(self.room());
            }
            let rest = self.push_continuation(part, style, out);
            self.push_broken(rest, style, out);
        }
        self.end_word();
    }

    /// A word, or another part of the last one.
    fn push_word(&mut self, text: &str, style: Option<Style>, out: &mut String) {
        let mut rest = self.push_continuation(text, style, out);
        while let Some(first) = rest.chars().next() {
            // Scripts without spaces break between any two characters, and so do emoji.
            let is_wide = |character: char| character.width() == Some(2);
            let length = if is_wide(first) {
                self.end_word_unless_joined(rest);
                cluster_length(rest)
            } else {
                rest.find(is_wide).unwrap_or(rest.len())
            };
            let (part, other) = rest.split_at(length);
            self.push_part(part, style, out);
            if is_wide(first) && other.chars().next().is_some_and(|next| !is_continuation(next)) {
                self.end_word();
            }
            rest = other;
        }
    }

    /// Writes what belongs to the last character of the piece before, which never begins a row. Gives the rest.
    fn push_continuation<'a>(&mut self, text: &'a str, style: Option<Style>, out: &mut String) -> &'a str {
        if self.column <= self.indent || !self.spaces.is_empty() {
            return text;
        }
        let length = text
            .find(|character| !is_continuation(character))
            .unwrap_or(text.len());
        let (continuation, rest) = text.split_at(length);
        if continuation.is_empty() {
            return text;
        }
        let columns = columns_of(continuation);
        self.column += columns;
        self.is_certain = false;
        if self.word.is_empty() {
            paint_some(out, style, continuation);
        } else {
            let before = self.word.len();
            paint_some(&mut self.word, style, continuation);
            out.push_str(&self.word[before..]);
            self.word_columns += columns;
        }
        rest
    }

    fn push_part(&mut self, part: &str, style: Option<Style>, out: &mut String) {
        let columns = columns_of(part);
        let needed = if is_emoji(part) {
            columns.max(EMOJI_COLUMNS)
        } else {
            columns
        };
        let spaces = columns_of(&self.spaces);
        let is_at_start = self.column <= self.indent;
        if self.column + spaces + needed > self.room() && !is_at_start {
            let whole = self.word_columns + columns;
            let can_move = self.word.is_empty() || self.is_certain || out.ends_with(&self.word);
            if whole + self.indent <= self.room() && can_move && self.word_start() > self.indent {
                self.move_word(out);
            } else if self.word.is_empty() {
                self.break_row(out);
            }
        }
        let spaces = std::mem::take(&mut self.spaces);
        self.column += columns_of(&spaces);
        out.push_str(&spaces);
        if self.column + columns > self.room() {
            self.push_broken(part, style, out);
            return;
        }
        let before = self.word.len();
        paint_some(&mut self.word, style, part);
        out.push_str(&self.word[before..]);
        self.word_columns += columns;
        self.column += columns;
        self.is_certain &= !part.chars().any(is_uncertain);
    }

    /// Moves the last word to a new row.
    fn move_word(&mut self, out: &mut String) {
        let (word, columns) = (std::mem::take(&mut self.word), self.word_columns);
        if out.ends_with(&word) {
            out.truncate(out.len() - word.len());
        } else {
            out.push_str(&format!("\u{1b}[{}G\u{1b}[K", self.word_start() + 1));
        }
        self.break_row(out);
        out.push_str(&word);
        self.column += columns;
        (self.word, self.word_columns) = (word, columns);
    }

    fn break_row(&mut self, out: &mut String) {
        out.push('\n');
        out.push_str(&" ".repeat(self.indent));
        self.column = self.indent;
        self.is_certain = true;
        self.spaces.clear();
        self.end_word();
    }

    fn push_broken(&mut self, text: &str, style: Option<Style>, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            let (mut fitting, mut columns) = (0, 0);
            while fitting < rest.len() {
                let length = cluster_length(&rest[fitting..]);
                let cluster = columns_of(&rest[fitting..fitting + length]);
                if self.column + columns + cluster > self.room() && self.column + columns > self.indent {
                    break;
                }
                (fitting, columns) = (fitting + length, columns + cluster);
            }
            let (part, other) = rest.split_at(fitting);
            paint_some(out, style, part);
            self.column += columns;
            self.is_certain &= !part.chars().any(is_uncertain);
            rest = other;
            if !rest.is_empty() {
                self.break_row(out);
            }
        }
        self.end_word();
    }

    /// The text must stay left of the last column.
    fn room(&self) -> usize {
        self.width.saturating_sub(1).max(2)
    }

    fn word_start(&self) -> usize {
        self.column.saturating_sub(self.word_columns)
    }

    fn end_word(&mut self) {
        self.word.clear();
        self.word_columns = 0;
    }

    /// A picture after a joiner belongs to the picture before it.
    fn end_word_unless_joined(&mut self, rest: &str) {
        let is_joined = self.word.ends_with('\u{200d}') || rest.starts_with(is_continuation);
        if !is_joined {
            self.end_word();
        }
    }
}

fn paint_some(out: &mut String, style: Option<Style>, text: &str) {
    match style {
        Some(style) if !text.is_empty() => paint(out, true, style, text),
        _ => out.push_str(text),
    }
}

/// The bytes of the first character and of everything that is shown as one with it.
fn cluster_length(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    let Some((_, first)) = characters.next() else {
        return 0;
    };
    let mut is_joined = false;
    let mut is_half_flag = is_flag_letter(first);
    for (place, character) in characters {
        let is_second_half = std::mem::take(&mut is_half_flag) && is_flag_letter(character);
        if !(is_joined || is_second_half || is_continuation(character)) {
            return place;
        }
        is_joined = character == '\u{200d}';
    }
    text.len()
}

/// Whether a character changes the one before it and has no place of its own.
fn is_continuation(character: char) -> bool {
    matches!(character, '\u{200d}' | '\u{1f3fb}'..='\u{1f3ff}') || character.width() == Some(0)
}

fn is_flag_letter(character: char) -> bool {
    matches!(character, '\u{1f1e6}'..='\u{1f1ff}')
}

fn is_emoji(part: &str) -> bool {
    part.starts_with(|first| matches!(first, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}'))
}

/// Whether terminals disagree on the columns of a text with this character.
fn is_uncertain(character: char) -> bool {
    is_continuation(character) || is_flag_letter(character)
}

/// The most columns that a terminal may use for sanitised text.
fn columns_of(text: &str) -> usize {
    let column = |character: char| match character {
        // Asks for the wide form of the character before it.
        '\u{fe0f}' => 1,
        _ => character.width().unwrap_or(0),
    };
    text.chars().map(column).sum()
}

fn width_of_painted(text: &str) -> usize {
    let mut columns = 0;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            // A style: sanitised text has no other sequences.
            '\u{1b}' => while characters.next().is_some_and(|next| next != 'm') {},
            _ => columns += character.width().unwrap_or(0),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::LineWrapper;

    /// What a terminal shows of words that arrive in these pieces.
    fn shown(width: usize, pieces: &[&str]) -> Vec<String> {
        let mut wrapper = LineWrapper::new(width);
        let columns = u16::try_from(width).unwrap();
        let mut screen = vt100::Parser::new(40, columns, 0);
        for piece in pieces {
            let mut out = String::new();
            wrapper.push_words(piece, None, &mut out);
            screen.process(out.replace('\n', "\r\n").as_bytes());
        }
        let rows = screen
            .screen()
            .rows(0, columns)
            .map(|row| row.trim_end().to_owned());
        let mut rows: Vec<String> = rows.collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    #[test]
    fn words_stay_whole_however_they_arrive() {
        let expected = ["the quick", "brown", "foxes"];
        assert_eq!(shown(11, &["the quick brown foxes"]), expected);
        let each: Vec<String> = "the quick brown foxes".chars().map(String::from).collect();
        let each: Vec<&str> = each.iter().map(String::as_str).collect();
        assert_eq!(shown(11, &each), expected);
        assert_eq!(shown(11, &["the quick bro", "wn fo", "xes"]), expected);
    }

    #[test]
    fn a_word_that_is_wider_than_the_terminal_breaks_at_the_edge() {
        assert_eq!(shown(6, &["a bcdefghij k"]), ["a", "bcdef", "ghij", "k"]);
        // A word that was begun is not moved if that does not keep it whole.
        assert_eq!(shown(6, &["a bcd", "efghij k"]), ["a bcd", "efghi", "j k"]);
    }

    #[test]
    fn tabs_take_the_columns_that_they_show() {
        assert_eq!(shown(12, &["a\tb", " c\td"]), ["a       b c", "d"]);
    }

    #[test]
    fn wide_characters_break_between_any_two_and_never_in_the_middle() {
        assert_eq!(shown(8, &["漢字漢字漢字"]), ["漢字漢", "字漢字"]);
        assert_eq!(shown(8, &["ab漢", "字漢字"]), ["ab漢字", "漢字"]);
    }

    #[test]
    fn an_emoji_of_several_pictures_stays_on_one_row() {
        let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦";
        for before in 0..24 {
            let text = format!("{} {family} ok", "x".repeat(before));
            for pieces in [vec![text.as_str()], text.split_inclusive('\u{200d}').collect()] {
                let rows = shown(24, &pieces);
                assert_eq!(
                    rows.iter().filter(|row| row.contains(family)).count(),
                    1,
                    "{before}: {rows:?}"
                );
            }
        }
    }
}
