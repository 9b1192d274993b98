//! Text of the model, in Markdown.

use super::super::cell::TextCell;
use super::super::line::{Line, Look};
use super::super::markdown::MarkdownStream;
use super::super::sheet::Sheet;
use crate::theme::Role;

pub(in crate::transcript) fn build(text: &TextCell, sheet: &mut Sheet) -> MarkdownStream {
    let mut stream = MarkdownStream::new(text.body.epoch(), Look::PLAIN, "", sheet);
    stream.update(text.body.as_str(), sheet);
    end(text, sheet);
    stream
}

/// What stands below the text.
pub(in crate::transcript) fn end(text: &TextCell, sheet: &mut Sheet) {
    if text.is_aborted {
        sheet.push(Line::of(run_view::INTERRUPTED, Look::of(Role::Faint)));
    }
}

/// Its first line.
pub(in crate::transcript) fn folded(text: &TextCell, sheet: &mut Sheet) {
    let (first, more) = first_line(text.body.as_str());
    let mut line = Line::of(first, Look::PLAIN).overflowing(super::super::line::Overflow::Cut);
    if more > 0 {
        line.push(&format!("  … {more} more lines"), Look::of(Role::Faint));
    }
    sheet.push(line);
}

/// The first line that says something, and how many follow.
pub(super) fn first_line(text: &str) -> (&str, usize) {
    let text = text.trim();
    match text.split_once('\n') {
        Some((first, rest)) => (first, rest.lines().count()),
        None => (text, 0),
    }
}
