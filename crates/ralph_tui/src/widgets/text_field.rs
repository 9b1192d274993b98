//! `TextField`: a labelled text that is being typed, drawn with its cursor. Around `LineEditor`.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::{escape_hidden, width};
use terminal_input::{Edit, Key, LineEditor, Piece};

use super::text::put;
use crate::theme::{Role, Theme};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FieldKind {
    #[default]
    OneLine,
    /// Alt-Enter breaks the line.
    Lines,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct TextField {
    kind: FieldKind,
    editor: LineEditor,
}

fn joined_lines(text: &str) -> String {
    text.lines().collect::<Vec<&str>>().join(" ")
}

impl TextField {
    pub(crate) fn new(kind: FieldKind, text: &str) -> Self {
        let mut field = Self {
            kind,
            editor: LineEditor::default(),
        };
        field.set_text(text);
        field
    }

    pub(crate) fn text(&self) -> String {
        self.editor.text()
    }

    pub(crate) fn editor_mut(&mut self) -> &mut LineEditor {
        &mut self.editor
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.editor.is_empty()
    }

    pub(crate) fn set_text(&mut self, text: &str) {
        self.editor = match self.kind {
            FieldKind::OneLine => LineEditor::from_text(&joined_lines(text)),
            FieldKind::Lines => LineEditor::from_text(text),
        };
    }

    /// Takes a key. A field of one line has no line breaks, also not pasted ones.
    pub(crate) fn key(&mut self, key: &Key) -> Edit {
        match (self.kind, key) {
            (FieldKind::OneLine, Key::LineBreak) => Edit::Done,
            (FieldKind::OneLine, Key::Enter) => Edit::Complete,
            (FieldKind::OneLine, Key::Paste(text)) => self.editor.apply(&Key::Paste(joined_lines(text))),
            (FieldKind::OneLine | FieldKind::Lines, _) => self.editor.apply(key),
        }
    }

    /// Draws the part of the text around the cursor, and says where the cursor stands.
    pub(crate) fn render(&self, area: Rect, buffer: &mut Buffer, theme: Theme) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        let layout = self.layout(usize::from(area.width));
        let rows = usize::from(area.height);
        let first = layout.cursor_row.saturating_sub(rows.saturating_sub(1));
        for (index, row) in layout.rows.iter().skip(first).take(rows).enumerate() {
            let row_number = u16::try_from(index).unwrap_or(u16::MAX);
            put(buffer, area, row_number, row, theme.style(Role::Message));
        }
        let row = u16::try_from(layout.cursor_row - first).unwrap_or(0);
        let column = u16::try_from(layout.cursor_column).unwrap_or(u16::MAX);
        Some(Position::new(
            area.x + column.min(area.width - 1),
            area.y + row.min(area.height - 1),
        ))
    }

    fn layout(&self, columns: usize) -> Layout {
        // The cursor may stand after the last character.
        let columns = columns.saturating_sub(1).max(1);
        let mut layout = Layout {
            rows: vec![String::new()],
            cursor_row: 0,
            cursor_column: 0,
        };
        let mut used = 0;
        for (index, piece) in self.editor.pieces().iter().enumerate() {
            if index == self.editor.cursor() {
                (layout.cursor_row, layout.cursor_column) = (layout.rows.len() - 1, used);
            }
            if piece.is_line_end() {
                layout.rows.push(String::new());
                used = 0;
                continue;
            }
            let shown = match piece {
                Piece::Character(character) => {
                    escape_hidden(character.encode_utf8(&mut [0; 4])).replace('\t', " ")
                }
                Piece::Paste { label, .. } => label.clone(),
            };
            let shown_width = width(&shown);
            if used + shown_width > columns && used > 0 {
                layout.rows.push(String::new());
                used = 0;
                if index == self.editor.cursor() {
                    (layout.cursor_row, layout.cursor_column) = (layout.rows.len() - 1, 0);
                }
            }
            if let Some(row) = layout.rows.last_mut() {
                row.push_str(&shown);
            }
            used += shown_width;
        }
        if self.editor.cursor() == self.editor.pieces().len() {
            (layout.cursor_row, layout.cursor_column) = (layout.rows.len() - 1, used);
        }
        layout
    }
}

struct Layout {
    rows: Vec<String>,
    cursor_row: usize,
    cursor_column: usize,
}

#[cfg(test)]
mod tests {
    use super::{FieldKind, TextField};
    use crate::theme::Theme;
    use ratatui::buffer::Buffer;
    use ratatui::layout::{Position, Rect};
    use terminal_input::{Edit, Key};

    fn drawn(field: &TextField, columns: u16, rows: u16) -> (Vec<String>, Option<Position>) {
        let area = Rect::new(0, 0, columns, rows);
        let mut buffer = Buffer::empty(area);
        let cursor = field.render(area, &mut buffer, Theme::default());
        let rows = buffer.content.chunks(usize::from(columns));
        let text = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect());
        (text.collect(), cursor)
    }

    #[test]
    fn a_text_that_is_put_into_a_field_is_shown_in_full() {
        let lines: Vec<String> = (1..=12).map(|number| format!("line {number}")).collect();
        let mut field = TextField::new(FieldKind::Lines, &lines.join("\n"));
        assert_eq!(field.layout(20).rows, lines);
        field.key(&Key::Backspace);
        assert!(field.text().ends_with("line 11\nline 1"));
    }

    #[test]
    fn a_long_text_is_shown_around_its_cursor() {
        let mut field = TextField::new(FieldKind::OneLine, "abcdefghij");
        assert_eq!(
            drawn(&field, 6, 1),
            (vec!["fghij ".into()], Some(Position::new(5, 0)))
        );
        field.key(&Key::Home);
        assert_eq!(
            drawn(&field, 6, 1),
            (vec!["abcde ".into()], Some(Position::new(0, 0)))
        );
    }

    #[test]
    fn a_field_of_one_line_keeps_to_it() {
        let mut field = TextField::new(FieldKind::OneLine, "a\nb");
        assert_eq!(field.key(&Key::LineBreak), Edit::Done);
        assert_eq!(field.key(&Key::Enter), Edit::Complete);
        assert_eq!(field.text(), "a b");
    }

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        let field = TextField::new(FieldKind::Lines, "a\u{1b}]\n\u{202e}b");
        let (rows, _) = drawn(&field, 20, 2);
        assert_eq!(rows, ["a\\u{1b}]            ", "\\u{202e}b           "]);
    }
}
