//! `Page`: text that the view has rendered and the console has not written yet.

use super::line_wrapper::LineWrapper;
use super::style::Style;

/// Text to be written, and the position of the cursor after it.
#[derive(Debug)]
pub(super) struct Page {
    /// For stdout.
    pub(super) out: String,
    /// For stderr.
    pub(super) err: String,
    /// The last line on stdout.
    line: LineWrapper,
}

impl Page {
    pub(super) fn new(width: usize) -> Self {
        Self {
            out: String::new(),
            err: String::new(),
            line: LineWrapper::new(width),
        }
    }

    pub(super) fn set_width(&mut self, width: usize) {
        self.line.set_width(width);
    }

    /// Whether the last line is incomplete.
    pub(super) fn is_line_open(&self) -> bool {
        self.line.column() > 0
    }

    /// Whole lines, on lines of their own.
    pub(super) fn push_rows(&mut self, rows: &str) {
        if !rows.is_empty() {
            self.end_line();
            self.out.push_str(rows);
        }
    }

    pub(super) fn end_line(&mut self) {
        if self.is_line_open() {
            self.push_newline();
        }
    }

    pub(super) fn push_newline(&mut self) {
        self.line.push_newline(&mut self.out);
    }

    /// Trusted text with our own styles, at the beginning of a line.
    pub(super) fn push_label(&mut self, label: &str) {
        self.line.push_label(label, &mut self.out);
    }

    /// Continues the line, and breaks it between words.
    pub(super) fn push_words(&mut self, text: &str, style: Option<Style>) {
        self.line.push_words(text, style, &mut self.out);
    }

    /// Continues the line, and breaks it only at the edge.
    pub(super) fn push_verbatim(&mut self, text: &str, style: Option<Style>) {
        self.line.push_verbatim(text, style, &mut self.out);
    }

    pub(super) fn set_indent(&mut self, columns: usize) {
        self.line.set_indent(columns);
    }
}
