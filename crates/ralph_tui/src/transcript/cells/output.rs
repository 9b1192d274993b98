//! The output of a program below its call or its verify command, in its colors.

use super::super::ansi::colored_lines;
use super::super::line::Look;
use super::super::sheet::Sheet;
use super::labeled::{INDENT, push_more};

/// How many lines are shown of what is folded.
pub(super) const FOLDED_LINES: usize = 12;
/// Output is looked at in this many bytes at most for what is shown folded.
const FOLDED_BYTES: usize = 16 << 10;

/// Which part of an output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    Head(usize),
    Tail(usize),
}

pub(super) fn push_output(text: &str, part: Part, sheet: &mut Sheet) {
    let text = text.trim_end().trim_start_matches(['\n', '\r']);
    if text.is_empty() {
        return;
    }
    let shown = match part {
        Part::All => text,
        Part::Head(lines) => {
            let head = &text[..text.floor_char_boundary(FOLDED_BYTES)];
            let end = head.match_indices('\n').nth(lines.saturating_sub(1));
            end.map_or(head, |(end, _)| &head[..end])
        }
        Part::Tail(lines) => {
            let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(FOLDED_BYTES))..];
            let start = tail.rmatch_indices('\n').nth(lines.saturating_sub(1));
            start.map_or(tail, |(start, _)| &tail[start + 1..])
        }
    };
    let count = |text: &str| text.lines().count();
    let hidden = if shown.len() < text.len() {
        count(text) - count(shown).min(count(text))
    } else {
        0
    };
    if let (Part::Tail(_), 1..) = (part, hidden) {
        push_more(sheet, hidden, "earlier");
    }
    for line in colored_lines(shown) {
        sheet.push(line.led_by(INDENT, Look::PLAIN));
    }
    if let (Part::Head(_), 1..) = (part, hidden) {
        push_more(sheet, hidden, "more");
    }
}
