//! `render_table()`: a table that fits the terminal.

use unicode_width::UnicodeWidthStr as _;

use crate::console::terminal_width;
use run_view::one_line;

const GAP: &str = "  ";

/// The width without a terminal.
const PIPE_COLUMNS: usize = 240;

/// The width of the terminal.
pub(super) fn columns() -> usize {
    terminal_width().unwrap_or(PIPE_COLUMNS)
}

/// A table whose last column takes the rest of each line. Cells may contain untrusted text.
pub(super) fn render_table<const N: usize>(head: [&str; N], rows: &[[String; N]], columns: usize) -> String {
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(
        rows.iter()
            .map(|row| row.each_ref().map(|cell| one_line(cell, columns))),
    );
    let mut widths = [0; N];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.width().max(*width);
        }
    }
    let mut table = String::new();
    for line in &lines {
        let mut row = String::new();
        let mut used = 0;
        for (place, (cell, width)) in line.iter().zip(widths).enumerate() {
            if place + 1 == N {
                row.push_str(&one_line(cell, columns.saturating_sub(used)));
            } else {
                row.push_str(cell);
                row.push_str(&" ".repeat(width - cell.width()));
                row.push_str(GAP);
                used += width + GAP.len();
            }
        }
        table.push_str(row.trim_end());
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::render_table;

    #[test]
    fn columns_line_up_and_the_last_one_is_cut() {
        let rows = [
            ["a".to_owned(), "one".to_owned(), "first\nline".to_owned()],
            ["bcd".to_owned(), "日本".to_owned(), "x".repeat(50)],
        ];
        assert_eq!(
            render_table(["", "B", "C"], &rows, 20),
            "     B     C\na    one   first li…\nbcd  日本  xxxxxxxx…\n"
        );
    }
}
