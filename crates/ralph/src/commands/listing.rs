//! Lists for people and for programs.

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::console::{is_forbidden, one_line, terminal_width};

/// What lies between two columns.
const GAP: &str = "  ";

/// How long a line may get where nobody says how wide the terminal is.
const PIPE_COLUMNS: usize = 240;

/// How many columns a line of a list may have.
pub(super) fn columns() -> usize {
    terminal_width().unwrap_or(PIPE_COLUMNS)
}

/// As JSON, in several lines. What a terminal would obey or hide is escaped.
pub(super) fn render_json(value: &impl Serialize) -> serde_json::Result<String> {
    let json = serde_json::to_string_pretty(value)?;
    let mut harmless = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        // Outside of strings there is nothing but ASCII.
        if character != '\n' && is_forbidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                harmless.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            harmless.push(character);
        }
    }
    harmless.push('\n');
    Ok(harmless)
}

/// A table whose last column takes what is left of each line. Cells may hold anything.
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
    use super::{render_json, render_table};

    #[test]
    fn columns_line_up_and_the_last_one_is_cut() {
        let rows = [
            ["a".to_owned(), "one".to_owned(), "first\nline".to_owned()],
            ["bcd".to_owned(), "日本".to_owned(), "x".repeat(50)],
        ];
        assert_eq!(
            render_table(["", "B", "C"], &rows, 20),
            "     B     C\na    one   first lin…\nbcd  日本  xxxxxxxxx…\n"
                .replace("first lin…", "first li…")
                .replace("xxxxxxxxx…", "xxxxxxxx…")
        );
    }

    #[test]
    fn json_is_harmless_in_a_terminal_and_says_the_same() {
        let hostile = "a\u{9b}31m\u{202e}\u{1b}[2J";
        let json = render_json(&[hostile]).unwrap();
        assert!(json.is_ascii(), "{json}");
        let read: Vec<String> = serde_json::from_str(&json).unwrap();
        assert_eq!(read, [hostile]);
    }
}
