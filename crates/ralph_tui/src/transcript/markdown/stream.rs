//! `MarkdownStream`: shows a text that grows. Finished blocks are kept, only the last one is rendered again.

use run_view::sanitise;

use super::super::line::{Line, Look, Overflow};
use super::super::sheet::Sheet;
use super::super::syntax::Highlighter;
use super::render::render_markdown;
use crate::theme::Role;

/// A block that is longer than this is ended at its next line, or in the middle of a line that is as long.
const MAX_BLOCK_BYTES: usize = 8 << 10;
pub(super) const CODE_LEAD: &str = "│ ";

/// How much of a text is on a sheet, and what it is in the middle of.
#[derive(Debug)]
pub(in crate::transcript) struct MarkdownStream {
    epoch: u32,
    /// How all of it looks, and what stands before each row.
    base: Look,
    lead: &'static str,
    /// The finished part of the text, and the lines that show it.
    bytes: usize,
    lines: usize,
    fence: Option<Fence>,
    /// Whether the next block is separated from the one before by a blank row.
    needs_gap: bool,
}

/// An open block of code.
#[derive(Debug, Clone)]
struct Fence {
    marker: char,
    length: usize,
    indent: usize,
    highlighter: Option<Highlighter>,
}

impl MarkdownStream {
    /// Starts after the lines that the sheet has.
    pub(in crate::transcript) fn new(epoch: u32, base: Look, lead: &'static str, sheet: &Sheet) -> Self {
        Self {
            epoch,
            base,
            lead,
            bytes: 0,
            lines: sheet.line_count(),
            fence: None,
            needs_gap: false,
        }
    }

    pub(in crate::transcript) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Shows the text as it is now. The part that was finished before must not have changed.
    pub(in crate::transcript) fn update(&mut self, text: &str, sheet: &mut Sheet) {
        sheet.truncate(self.lines);
        while let Some(rest) = text.get(self.bytes..).filter(|rest| !rest.is_empty()) {
            let Some((length, end)) = self.next_block(rest) else {
                break;
            };
            self.show(&rest[..length], end, sheet);
            self.bytes += length;
            self.lines = sheet.line_count();
        }
        let rest = text.get(self.bytes..).unwrap_or_default();
        if !rest.is_empty() {
            let (fence, needs_gap) = (self.fence.clone(), self.needs_gap);
            self.show(rest, End::Open, sheet);
            (self.fence, self.needs_gap) = (fence, needs_gap);
        }
    }

    /// The length of the next finished block, and what ends it.
    fn next_block(&self, rest: &str) -> Option<(usize, End)> {
        if let Some(fence) = &self.fence {
            let start = &rest[..rest.floor_char_boundary(MAX_BLOCK_BYTES)];
            let end = match start.find('\n') {
                Some(end) => end + 1,
                None if start.len() < rest.len() => return Some((start.len(), End::Line)),
                None => return None,
            };
            return Some(match fence.is_closed_by(&rest[..end]) {
                true => (end, End::FenceClosed),
                false => (end, End::Line),
            });
        }
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            let is_whole = line.ends_with('\n');
            if is_whole && Fence::opened_by(line).is_some() {
                return Some(match length {
                    0 => (line.len(), End::FenceOpened),
                    _ => (length, End::Block),
                });
            }
            if is_whole && line.trim().is_empty() {
                // An indented line continues the block, as in an item of a list.
                let next = rest[length + line.len()..].chars().next()?;
                if !matches!(next, ' ' | '\t') {
                    return Some((length + line.len(), End::Block));
                }
            }
            if length > 0 && length + line.len() > MAX_BLOCK_BYTES {
                return Some((length, End::Line));
            }
            if line.len() > MAX_BLOCK_BYTES {
                let piece = &line[..line.floor_char_boundary(MAX_BLOCK_BYTES)];
                let word_end = piece.rfind(' ').map_or(piece.len(), |space| space + 1);
                return Some((word_end, End::Line));
            }
            length += line.len();
        }
        None
    }

    fn show(&mut self, block: &str, end: End, sheet: &mut Sheet) {
        match (&mut self.fence, end) {
            (Some(_), End::FenceClosed) => {
                self.fence = None;
                self.needs_gap = true;
            }
            (Some(fence), _) => {
                let closes = end == End::Open && fence.is_closed_by(block);
                if !closes {
                    let line = fence.code_line(block, self.lead, self.base);
                    sheet.push(line);
                }
            }
            (None, End::FenceOpened) => {
                self.gap(sheet);
                self.fence = Fence::opened_by(block);
            }
            (None, _) => {
                let clean = sanitise(block);
                if clean.trim().is_empty() {
                    return;
                }
                self.gap(sheet);
                render_markdown(&clean, self.base, self.lead, sheet);
                self.needs_gap = end != End::Line;
            }
        }
    }

    fn gap(&mut self, sheet: &mut Sheet) {
        if std::mem::take(&mut self.needs_gap) {
            sheet.push(Line::default().led_by(self.lead, Look::of(Role::Frame)));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// More of it may follow.
    Open,
    /// A blank line.
    Block,
    /// The end of a line, or the limit of a block.
    Line,
    FenceOpened,
    FenceClosed,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        const MAX_INDENT: usize = 12;
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let marker = text.chars().next().filter(|marker| matches!(marker, '`' | '~'))?;
        let info = text.trim_start_matches(marker);
        let length = text.len() - info.len();
        let is_fence = length >= 3 && indent <= MAX_INDENT && !(marker == '`' && info.contains('`'));
        is_fence.then(|| Self {
            marker,
            length,
            indent,
            highlighter: Highlighter::for_language(info.trim()),
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        let rest = text.trim_start_matches(self.marker);
        rest.is_empty() && text.len() >= self.length
    }

    fn code_line(&mut self, line: &str, lead: &str, base: Look) -> Line {
        let line = line.trim_end_matches(['\n', '\r']);
        let spaces = line.len() - line.trim_start_matches(' ').len();
        let code = &line[spaces.min(self.indent)..];
        let lead = format!("{lead}{:indent$}{CODE_LEAD}", "", indent = self.indent);
        let mut shown = Line::default()
            .led_by(&lead, Look::of(Role::Frame))
            .overflowing(Overflow::Anywhere);
        let code = sanitise(code);
        match &mut self.highlighter {
            Some(highlighter) => highlighter.push(&code, base, &mut shown),
            None => shown.push(&code, base),
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::MarkdownStream;
    use crate::transcript::line::Look;
    use crate::transcript::sheet::Sheet;

    fn shown(sheet: &Sheet) -> Vec<String> {
        let lines = sheet.lines().iter();
        lines
            .map(|line| format!("{}{}", line.first_lead, line.text))
            .collect()
    }

    fn whole(text: &str) -> Vec<String> {
        let mut sheet = Sheet::new(60, true);
        MarkdownStream::new(0, Look::PLAIN, "", &sheet).update(text, &mut sheet);
        shown(&sheet)
    }

    #[test]
    fn blocks_are_separated_and_code_keeps_its_shape() {
        let text = "# Title\nSome *text*\nwith `code`.\n\n- one\n- two\n  more\n\n  still two\n1. first\n\n> said\n\n```rust\nfn main() {\n    1\n}\n```\nAfter [it](http://a.b).\n";
        assert_eq!(
            whole(text).join("\n"),
            "# Title\n\nSome text\nwith code.\n\n• one\n• two\n  more\n\n  still two\n\n1. first\n\n│ said\n\n│ fn main() {\n│     1\n│ }\n\nAfter it (http://a.b)."
        );
    }

    #[test]
    fn deeply_nested_quotes_and_lists_are_indented_only_so_far() {
        for mark in [">", "> ", "- ", "1. "] {
            let text = format!("{}{}", mark.repeat(2_000), "a\n".repeat(2_000));
            let mut sheet = Sheet::new(60, true);
            MarkdownStream::new(0, Look::PLAIN, "", &sheet).update(&text, &mut sheet);
            let lines = sheet.lines().iter();
            let longest = lines.map(|line| line.first_lead.len().max(line.rest_lead.len()));
            assert!(longest.max().unwrap() <= 64, "{mark:?}");
        }
        assert_eq!(
            whole(&format!("{}a", ">".repeat(8)))[0],
            format!("{}a", "│ ".repeat(8))
        );
    }

    #[test]
    fn a_long_stream_is_laid_out_once() {
        let mut sheet = Sheet::new(60, true);
        let mut stream = MarkdownStream::new(0, Look::PLAIN, "", &sheet);
        let mut text = String::from("```\n");
        for number in 0..10_000 {
            text.push_str(&format!("line {number}\n"));
            if number % 100 == 0 {
                stream.update(&text, &mut sheet);
            }
        }
        stream.update(&text, &mut sheet);
        assert_eq!(sheet.row_count(), 10_000);
        assert!(sheet.work < 10_200, "{}", sheet.work);
        // One line without an end.
        let mut sheet = Sheet::new(60, true);
        let mut stream = MarkdownStream::new(0, Look::PLAIN, "", &sheet);
        let mut text = String::new();
        for _ in 0..1_000 {
            text.push_str(&"word ".repeat(100));
            stream.update(&text, &mut sheet);
        }
        assert!(
            sheet.row_count() > 8_000 && sheet.work < 3_000,
            "{} {}",
            sheet.row_count(),
            sheet.work
        );
    }

    #[test]
    fn a_long_line_of_code_is_shown_in_pieces_that_do_not_depend_on_how_it_came() {
        let line = "code\t".repeat(20_000);
        let text = format!("```\n{line}\n```\nAfter.\n");
        let mut sheet = Sheet::new(60, true);
        let mut stream = MarkdownStream::new(0, Look::PLAIN, "", &sheet);
        for end in (0..text.len()).step_by(1_000) {
            stream.update(&text[..end], &mut sheet);
        }
        stream.update(&text, &mut sheet);
        let lines = shown(&sheet);
        assert_eq!(lines, whole(&text));
        assert_eq!(lines.last().map(String::as_str), Some("After."));
        assert!(
            lines.len() > 10 && sheet.work < 150,
            "{} {}",
            lines.len(),
            sheet.work
        );
    }

    proptest! {
        #[test]
        fn a_text_that_grows_looks_like_the_whole_text(
            parts in prop::collection::vec("(\n|\n\n|```|```rust\n|- a|  b|# c|> d|e f|\\| x \\|\n|--|1\\. g|\\*h\\*){1,3}", 0..12),
        ) {
            let mut sheet = Sheet::new(20, true);
            let mut stream = MarkdownStream::new(0, Look::PLAIN, "", &sheet);
            let mut text = String::new();
            for part in parts {
                text.push_str(&part);
                stream.update(&text, &mut sheet);
                prop_assert_eq!(shown(&sheet), whole(&text), "{:?}", text);
            }
        }
    }
}
