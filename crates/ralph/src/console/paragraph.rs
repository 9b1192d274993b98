//! `Paragraph`: renders one block of streamed text.

use super::markdown::Markdown;
use super::page::Page;
use super::row_guard::RowGuard;
use super::sanitise::Sanitiser;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// At once, wrapped for a terminal and with its Markdown styled.
    Live { has_styles: bool },
    /// Whole lines.
    Lines,
}

/// One block of text, sanitised and trimmed, with its prefix before the first line.
#[derive(Debug)]
pub(super) struct Paragraph {
    prefix: String,
    pace: Pace,
    sanitiser: Sanitiser,
    guard: RowGuard,
    has_begun: bool,
    /// White space that is shown only if more text follows.
    blank: String,
    /// The incomplete line, with `Pace::Lines`.
    line: String,
    is_line_ended: bool,
    markdown: Markdown,
    scratch: String,
}

impl Paragraph {
    pub(super) fn new(prefix: String, pace: Pace) -> Self {
        Self {
            prefix,
            pace,
            sanitiser: Sanitiser::default(),
            guard: RowGuard::new(pace),
            has_begun: false,
            blank: String::new(),
            line: String::new(),
            is_line_ended: false,
            markdown: Markdown::new(pace == Pace::Live { has_styles: true }),
            scratch: String::new(),
        }
    }

    /// Whether it has any text.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub(super) fn push(&mut self, text: &str, page: &mut Page) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let clean = self.sanitiser.pass(text, &mut scratch);
        let shown = clean.trim_end();
        let after = &clean[shown.len()..];
        if self.has_begun && !shown.is_empty() {
            let blank = std::mem::take(&mut self.blank);
            self.show(&blank, page);
            self.show(shown, page);
        } else if !shown.is_empty() {
            self.has_begun = true;
            let prefix = std::mem::take(&mut self.prefix);
            page.end_line();
            match self.pace {
                Pace::Live { .. } => page.push_label(&prefix),
                Pace::Lines => self.line.push_str(&prefix),
            }
            self.show(shown.trim_start(), page);
        }
        if self.has_begun {
            self.blank.push_str(after);
            self.end_line(page);
        }
        self.scratch = scratch;
    }

    /// Ends a whole line at once instead of with the next one.
    fn end_line(&mut self, page: &mut Page) {
        if self.pace == Pace::Lines && !self.line.is_empty() && self.blank.starts_with('\n') {
            self.show("\n", page);
            self.blank.remove(0);
            self.is_line_ended = true;
        }
    }

    /// Ends the last line.
    pub(super) fn end(&mut self, page: &mut Page) {
        let mut rest = String::new();
        self.guard.flush(&mut rest);
        self.write(&rest, page);
        if self.is_line_ended {
            return;
        }
        match self.pace {
            Pace::Live { .. } => {
                self.markdown.end_line(page);
                page.end_line();
            }
            Pace::Lines if self.has_begun => {
                page.push_rows(&self.line);
                self.line.clear();
                page.out.push('\n');
            }
            Pace::Lines => page.end_line(),
        }
    }

    fn show(&mut self, text: &str, page: &mut Page) {
        let mut guarded = String::with_capacity(text.len());
        self.guard.pass(text, &mut guarded);
        self.write(&guarded, page);
    }

    fn write(&mut self, text: &str, page: &mut Page) {
        self.is_line_ended &= text.is_empty();
        if self.pace != Pace::Lines {
            self.markdown.push(text, page);
            return;
        }
        let whole = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |last| last + 1);
        if whole > 0 {
            page.push_rows(&self.line);
            self.line.clear();
            page.out.push_str(&text[..whole]);
        }
        self.line.push_str(&text[whole..]);
    }
}
