//! `Page`: text that the view has rendered and the console has not written yet.

use unicode_width::UnicodeWidthChar as _;

/// Text to be written, and the position of the cursor after it.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// For stdout.
    pub(super) out: String,
    /// For stderr.
    pub(super) err: String,
    /// The width of the last line on stdout, if it is incomplete.
    open_columns: usize,
}

impl Page {
    pub(super) fn open_columns(&self) -> usize {
        self.open_columns
    }

    /// Continues the current line.
    pub(super) fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push_str(text);
            let (before, line) = match text.rsplit_once('\n') {
                Some((_, line)) => (0, line),
                None => (self.open_columns, text),
            };
            self.open_columns = width_after(before, line);
        }
    }

    /// Whole lines, on lines of their own.
    pub(super) fn push_rows(&mut self, rows: &str) {
        if !rows.is_empty() {
            self.end_line();
            self.out.push_str(rows);
        }
    }

    pub(super) fn end_line(&mut self) {
        if self.open_columns > 0 {
            self.out.push('\n');
            self.open_columns = 0;
        }
    }
}

/// The column after `line`, which may contain our own colors, and tabs.
fn width_after(before: usize, line: &str) -> usize {
    const TAB: usize = 8;
    let mut columns = before;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            // A color: sanitised text has no other sequences.
            '\u{1b}' => while characters.next().is_some_and(|next| next != 'm') {},
            '\t' => columns += TAB - columns % TAB,
            _ => columns += character.width().unwrap_or(0),
        }
    }
    columns
}
