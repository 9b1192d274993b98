//! The output of a program below its call or its verify command, in its colors.

use super::super::ansi::colored_lines;
use super::super::line::Look;
use super::super::sheet::Sheet;
use super::labeled::{INDENT, push_more};

/// How many lines are shown of what is folded.
pub(super) const FOLDED_LINES: usize = 12;
/// How many lines are shown of what is still being written, unfolded. All of it would be laid out again for every piece.
pub(super) const LIVE_LINES: usize = 200;
/// A part of an output has at most this many bytes.
const PART_BYTES: usize = 16 << 10;

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
            let head = &text[..text.floor_char_boundary(PART_BYTES)];
            let end = head.match_indices('\n').nth(lines.saturating_sub(1));
            end.map_or(head, |(end, _)| &head[..end])
        }
        Part::Tail(lines) => {
            let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(PART_BYTES))..];
            let start = tail.rmatch_indices('\n').nth(lines.saturating_sub(1));
            start.map_or(tail, |(start, _)| &tail[start + 1..])
        }
    };
    // Shown text is trimmed: its last line has no end.
    let count = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() + 1;
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
