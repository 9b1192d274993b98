//! `render_input()`: a `LineEditor` as lines of a terminal, with the place of the cursor. `Keyboard` shows messages and
//! answers with it.

use unicode_width::UnicodeWidthChar as _;

use crate::console::InputArea;
use run_view::is_forbidden;
use terminal_input::{LineEditor, Piece};

/// More rows than these are scrolled, so that a long message leaves room for the agent's text.
const MAX_ROWS: usize = 6;

/// Breaks the text into rows of at most `columns`. The first begins with `prompt`, the others are indented like it.
pub(super) fn render_input(prompt: &str, editor: &LineEditor, columns: usize) -> InputArea {
    let indent = prompt
        .chars()
        .map(|character| character.width().unwrap_or(0))
        .sum();
    let mut layout = Layout {
        rows: vec![prompt.to_owned()],
        used: indent,
        indent,
        // Room for the cursor behind the last character.
        columns: columns.saturating_sub(1).max(indent + 2),
    };
    let mut cursor = (0, indent);
    for (place, piece) in editor.pieces().iter().enumerate() {
        if place == editor.cursor() {
            cursor = layout.place();
        }
        match piece {
            Piece::Character('\n') => layout.break_row(),
            Piece::Character('\t') => layout.push_text("    "),
            Piece::Character(character) if is_forbidden(*character) => {
                layout.push(char::REPLACEMENT_CHARACTER);
            }
            Piece::Character(character) => layout.push(*character),
            Piece::Paste { label, .. } => layout.push_text(label),
        }
    }
    if editor.cursor() >= editor.pieces().len() {
        cursor = layout.place();
    }
    let area = InputArea {
        lines: layout.rows,
        cursor: Some(cursor),
    };
    window(area, MAX_ROWS)
}

/// At most this many of the lines: those around the cursor, or the last ones.
pub(super) fn window(mut area: InputArea, max_lines: usize) -> InputArea {
    let Some(excess @ 1..) = area.lines.len().checked_sub(max_lines) else {
        return area;
    };
    let row = area.cursor.map_or(area.lines.len(), |(row, _)| row);
    let first = row.saturating_sub(max_lines / 2).min(excess);
    area.lines.drain(..first);
    area.lines.truncate(max_lines);
    let cursor = area.cursor.map(|(row, column)| (row - first, column));
    area.cursor = cursor.filter(|(row, _)| *row < max_lines);
    area
}

struct Layout {
    rows: Vec<String>,
    used: usize,
    indent: usize,
    columns: usize,
}

impl Layout {
    fn place(&self) -> (usize, usize) {
        (self.rows.len() - 1, self.used)
    }

    fn break_row(&mut self) {
        self.rows.push(" ".repeat(self.indent));
        self.used = self.indent;
    }

    fn push_text(&mut self, text: &str) {
        text.chars().for_each(|character| self.push(character));
    }

    fn push(&mut self, character: char) {
        let width = character.width().unwrap_or(0);
        if self.used + width > self.columns {
            self.break_row();
        }
        self.used += width;
        if let Some(row) = self.rows.last_mut() {
            row.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{InputArea, MAX_ROWS, render_input};
    use terminal_input::Key;
    use terminal_input::LineEditor;

    fn rendered(keys: &[Key], columns: usize) -> InputArea {
        let mut editor = LineEditor::default();
        for key in keys {
            editor.apply(key);
        }
        render_input("> ", &editor, columns)
    }

    fn paste(text: &str) -> Key {
        Key::Paste(text.to_owned())
    }

    #[test]
    fn lines_are_wrapped_and_the_cursor_is_where_the_next_character_appears() {
        let input = rendered(&[paste("abcdefgh\nij"), Key::Home], 8);
        assert_eq!(input.lines, ["> abcde", "  fgh", "  ij"]);
        assert_eq!(input.cursor, Some((2, 2)));
        let wide = rendered(&[paste("漢字漢")], 7);
        assert_eq!(
            (wide.lines, wide.cursor),
            (vec!["> 漢字".to_owned(), "  漢".to_owned()], Some((1, 4)))
        );
        // Narrower than the prompt: one character in each row.
        assert_eq!(rendered(&[paste("ab")], 1).lines, ["> ab"]);
    }

    #[test]
    fn a_long_paste_takes_one_row_however_long_it_is() {
        let input = rendered(&[paste(&"x\n".repeat(12)), Key::Character('!')], 80);
        assert_eq!(input.lines, ["> [pasted 12 lines]!"]);
        let input = rendered(&[paste(&"x".repeat(1_000_000))], 80);
        assert_eq!(input.lines, ["> [pasted 1000000 characters]"]);
    }

    #[test]
    fn the_rows_around_the_cursor_are_shown() {
        let mut keys: Vec<Key> = Vec::new();
        for number in 0..20 {
            keys.push(paste(&number.to_string()));
            keys.push(Key::LineBreak);
        }
        let input = rendered(&keys, 80);
        assert_eq!(input.lines.len(), MAX_ROWS);
        assert_eq!(input.lines.last().map(String::as_str), Some("  "));
        assert_eq!(input.cursor, Some((MAX_ROWS - 1, 2)));
    }

    #[test]
    fn nothing_in_a_text_moves_the_cursor_of_the_terminal() {
        let input = rendered(
            &[
                Key::Character('\u{202e}'),
                Key::Character('\u{9b}'),
                paste("a\tb"),
            ],
            80,
        );
        assert_eq!(input.lines, ["> \u{fffd}\u{fffd}a    b"]);
    }
}
