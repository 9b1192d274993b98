//! What is to be written next.

/// What is to be written next, and where the cursor stands then.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// For stdout.
    pub(super) out: String,
    /// For stderr.
    pub(super) err: String,
    /// Whether the last line on stdout has no end yet.
    is_line_open: bool,
}

impl Page {
    pub(super) fn is_line_open(&self) -> bool {
        self.is_line_open
    }

    /// The text goes on where it stands.
    pub(super) fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push_str(text);
            self.is_line_open = !text.ends_with('\n');
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
        if self.is_line_open {
            self.out.push('\n');
            self.is_line_open = false;
        }
    }
}
