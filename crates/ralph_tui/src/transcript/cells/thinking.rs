//! Thinking of the model: one line, or all of it.

use ratatui::style::Modifier;

use super::super::cell::TextCell;
use super::super::line::{Line, Look, Overflow};
use super::super::markdown::MarkdownStream;
use super::super::sheet::Sheet;
use crate::theme::Role;

const LABEL: &str = "Thinking";
/// More of the end than a row can show.
const TAIL_BYTES: usize = 2_048;

pub(in crate::transcript) fn build(text: &TextCell, sheet: &mut Sheet) -> MarkdownStream {
    push_label(text, sheet);
    let look = Look::of(Role::Faint).with(Modifier::ITALIC);
    let mut stream = MarkdownStream::new(text.body.epoch(), look, super::labeled::INDENT, sheet);
    stream.update(text.body.as_str(), sheet);
    stream
}

fn push_label(text: &TextCell, sheet: &mut Sheet) {
    let label = if text.is_withheld {
        "Thinking (not shown by the vendor)"
    } else {
        LABEL
    };
    sheet.push(Line::of(label, Look::of(Role::Faint)));
}

/// The first line; while it is written, the last one.
pub(in crate::transcript) fn folded(text: &TextCell, sheet: &mut Sheet) {
    let all = text.body.as_str();
    if text.is_withheld && all.trim().is_empty() {
        push_label(text, sheet);
        return;
    }
    let faint = Look::of(Role::Faint);
    let mut line = Line::of(LABEL, faint).overflowing(Overflow::Cut);
    line.push(": ", faint);
    let look = faint.with(Modifier::ITALIC);
    if text.body.is_complete() {
        let (first, more) = super::text::first_line(all);
        line.push(first, look);
        if more > 0 {
            line.push(&format!("  … {more} more lines"), faint);
        }
    } else {
        let tail = &all[all.ceil_char_boundary(all.len().saturating_sub(TAIL_BYTES))..];
        let last = tail.trim_end().rsplit('\n').next().unwrap_or_default();
        line.push(last, look);
    }
    sheet.push(line);
}
