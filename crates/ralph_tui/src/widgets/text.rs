//! Safe text into a buffer: cut at the width, padded, wrapped at any character.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use run_view::{cut_line, width};
use unicode_width::UnicodeWidthChar as _;

/// Writes safe text into a row of an area. What does not fit is cut.
pub(crate) fn put(buffer: &mut Buffer, area: Rect, row: u16, text: &str, style: Style) {
    put_spans(buffer, area, row, &Line::from(Span::styled(text, style)));
}

/// The same for several styles.
pub(crate) fn put_spans(buffer: &mut Buffer, area: Rect, row: u16, line: &Line<'_>) {
    if row < area.height {
        buffer.set_line(area.x, area.y + row, line, area.width);
    }
}

/// Safe text in exactly `columns` columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let mut text = match width(text) > columns {
        true if columns == 0 => String::new(),
        true => cut_line(text, columns),
        false => text.to_owned(),
    };
    // A wide character that is cut leaves a column.
    text.push_str(&" ".repeat(columns.saturating_sub(width(&text))));
    text
}

/// Safe text in rows of at most `columns` columns, split anywhere, so that nothing of it is moved or hidden.
pub(crate) fn rows_of(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let mut row = String::new();
        let mut used = 0;
        for character in line.replace('\t', "    ").chars() {
            let width = character.width().unwrap_or(0);
            if used + width > columns && used > 0 {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push(character);
            used += width;
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{pad, rows_of};

    #[test]
    fn text_is_padded_and_cut_to_its_columns() {
        assert_eq!(pad("ab", 4), "ab  ");
        assert_eq!(pad("abcdef", 4), "abc…");
        assert_eq!(pad("漢字漢", 4), "漢… ");
        assert_eq!(pad("ab", 0), "");
    }

    #[test]
    fn rows_keep_every_character() {
        assert_eq!(rows_of("abcdef\n\ng", 4), ["abcd", "ef", "", "g"]);
        assert_eq!(rows_of("漢字漢", 5), ["漢字", "漢"]);
        assert_eq!(rows_of("", 5), [""]);
    }
}
