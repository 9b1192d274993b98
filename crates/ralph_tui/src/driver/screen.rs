//! `FrameWriter`: turns buffers into the bytes that change the screen from one to the next.

use std::hash::{Hash as _, Hasher};
use std::io;
use std::ops::Range;

use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use unicode_width::UnicodeWidthStr as _;

/// Less than this is not worth a scroll.
const MIN_SCROLLED_ROWS: usize = 3;
/// Cells that stay are written again if there are at most so many between others: a move of the cursor is longer.
const MAX_BRIDGED_CELLS: u16 = 6;

/// What the backend writes after each frame. The last of it is enough, and after plain text nothing is needed.
const BACKEND_RESET: &[u8] = b"\x1b[39m\x1b[49m\x1b[59m\x1b[0m";

/// Knows what is on the screen.
#[derive(Debug)]
pub(super) struct FrameWriter {
    shown: Buffer,
    cursor: Option<Position>,
    title: String,
    /// The screen may show anything: everything is written.
    is_unknown: bool,
}

impl FrameWriter {
    pub(super) fn new() -> Self {
        Self {
            shown: Buffer::empty(Rect::ZERO),
            cursor: None,
            title: String::new(),
            is_unknown: true,
        }
    }

    /// Forgets what is on the screen: the next frame is written as a whole.
    pub(super) fn forget(&mut self) {
        self.is_unknown = true;
        self.title.clear();
    }

    /// The bytes that show `next`, with the cursor at this place or hidden. Empty if nothing changes.
    pub(super) fn render(
        &mut self,
        next: Buffer,
        cursor: Option<Position>,
        title: &str,
    ) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let is_new = std::mem::take(&mut self.is_unknown) || self.shown.area != next.area;
        if title != self.title {
            self.title = title.to_owned();
            bytes.extend_from_slice(format!("\u{1b}]2;{title}\u{7}").as_bytes());
        }
        if is_new {
            self.shown = Buffer::empty(next.area);
            // Without attributes, or the terminal fills the screen with a background.
            bytes.extend_from_slice(b"\x1b[?25l\x1b[r\x1b[0m\x1b[H\x1b[2J");
            self.cursor = None;
        } else if let Some(scroll) = Scroll::find(&self.shown, &next) {
            bytes.extend_from_slice(scroll.sequence().as_bytes());
            scroll.apply(&mut self.shown);
        }
        let changes = self.shown.diff(&next);
        let has_changes = !changes.is_empty();
        if has_changes {
            if self.cursor.take().is_some() {
                bytes.extend_from_slice(b"\x1b[?25l");
            }
            let is_plain_at_end = changes
                .last()
                .is_some_and(|(_, _, cell)| has_look_of(cell, &Cell::EMPTY));
            CrosstermBackend::new(&mut bytes).draw(bridge(changes, &next).into_iter())?;
            if let Some(kept) = bytes.strip_suffix(BACKEND_RESET) {
                bytes.truncate(kept.len());
                if !is_plain_at_end {
                    bytes.extend_from_slice(b"\x1b[0m");
                }
            }
        }
        if cursor != self.cursor || (has_changes && cursor.is_some()) {
            match cursor {
                Some(place) => {
                    let (row, column) = (u32::from(place.y) + 1, u32::from(place.x) + 1);
                    bytes.extend_from_slice(format!("\u{1b}[{row};{column}H\u{1b}[?25h").as_bytes());
                }
                None => bytes.extend_from_slice(b"\x1b[?25l"),
            }
            self.cursor = cursor;
        }
        self.shown = next;
        Ok(bytes)
    }
}

type Change<'a> = (u16, u16, &'a Cell);

/// Adds the cells of short gaps between changes, such as the spaces between new words.
fn bridge<'a>(changes: Vec<Change<'a>>, next: &'a Buffer) -> Vec<Change<'a>> {
    let mut bridged: Vec<Change<'a>> = Vec::with_capacity(changes.len() * 2);
    for (x, y, cell) in changes {
        if let Some((last_x, last_y, last)) = bridged.last().copied()
            && last_y == y
            && x.checked_sub(last_x)
                .is_some_and(|step| (2..=MAX_BRIDGED_CELLS + 1).contains(&step))
        {
            let gap = (last_x + 1..x).filter_map(|x| Some((x, y, next.cell((x, y))?)));
            // No wide characters, whose second half may not be written, and no further colors.
            let is_plain = |between: &Cell| {
                between.symbol().len() == 1 && (has_look_of(between, last) || has_look_of(between, cell))
            };
            if last.symbol().width() == 1 && gap.clone().all(|(_, _, between)| is_plain(between)) {
                bridged.extend(gap);
            }
        }
        bridged.push((x, y, cell));
    }
    bridged
}

fn has_look_of(cell: &Cell, other: &Cell) -> bool {
    cell.style() == other.style()
}

/// Rows that moved up, as those of a list that follows its end.
#[derive(Debug, PartialEq, Eq)]
struct Scroll {
    region: Range<usize>,
    rows: usize,
}

impl Scroll {
    /// The move that saves the most rows, if it saves enough.
    fn find(shown: &Buffer, next: &Buffer) -> Option<Self> {
        let is_other = |row: &usize| row_of(shown, *row) != row_of(next, *row);
        let mut rows = 0..usize::from(next.area.height);
        let first = rows.find(is_other)?;
        let last = rows.rfind(is_other).unwrap_or(first);
        // Rows at the top and at the bottom that stay are not looked at again.
        let (old, new) = (
            RowHashes::of(shown, first, last),
            RowHashes::of(next, first, last),
        );
        let mut best: Option<(usize, Self)> = None;
        for rows in 1..=last.saturating_sub(first) {
            // The longest stretch of rows that are where others were, `rows` above.
            let mut row = first;
            while row + rows <= last {
                let is_moved = |row: usize| row + rows <= last && old.get(row + rows) == new.get(row);
                let length = (row..).take_while(|row| is_moved(*row)).count();
                let region = row..row + rows + length;
                let is_blank = |row: usize| new.get(row).is_some_and(|hash| hash.is_blank);
                let saved = (row..row + length).filter(|row| !is_blank(*row)).count();
                if saved >= MIN_SCROLLED_ROWS.max(rows) && best.as_ref().is_none_or(|(most, _)| saved > *most)
                {
                    best = Some((saved, Self { region, rows }));
                }
                row += length + 1;
            }
        }
        let (_, mut scroll) = best?;
        // A last row that is still being written moves too, and goes on above.
        let is_other = |row: usize| row <= last && old.get(row) != new.get(row);
        while is_other(scroll.region.end) && scroll.is_continued(shown, next) {
            scroll.region.end += 1;
        }
        Some(scroll)
    }

    /// Whether the row below is more like the one that it would become than like the one that is there next.
    fn is_continued(&self, shown: &Buffer, next: &Buffer) -> bool {
        let below = row_of(shown, self.region.end);
        let moved = row_of(next, self.region.end - self.rows);
        let stays = row_of(next, self.region.end);
        same_cells(below, moved) > same_cells(below, stays)
    }

    /// Sets the region, scrolls, and frees it again. The cursor is placed by whatever follows.
    fn sequence(&self) -> String {
        let (top, bottom) = (self.region.start + 1, self.region.end);
        format!("\u{1b}[{top};{bottom}r\u{1b}[{}S\u{1b}[r", self.rows)
    }

    fn apply(&self, shown: &mut Buffer) {
        let width = usize::from(shown.area.width);
        let cells = self.region.start * width..self.region.end * width;
        let by = self.rows * width;
        if let Some(cells) = shown.content.get_mut(cells)
            && by <= cells.len()
        {
            cells.rotate_left(by);
            let kept = cells.len() - by;
            if let Some(freed) = cells.get_mut(kept..) {
                freed.fill(Cell::EMPTY);
            }
        }
    }
}

fn row_of(buffer: &Buffer, row: usize) -> &[Cell] {
    let width = usize::from(buffer.area.width);
    buffer
        .content
        .get(row * width..(row + 1) * width)
        .unwrap_or_default()
}

/// How many cells of two rows are the same, and not blank.
fn same_cells(one: &[Cell], other: &[Cell]) -> usize {
    let pairs = one.iter().zip(other);
    pairs
        .filter(|(one, other)| one == other && **one != Cell::EMPTY)
        .count()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RowHash {
    hash: u64,
    is_blank: bool,
}

/// The hashes of some rows of a buffer, by their number.
struct RowHashes {
    first: usize,
    hashes: Vec<RowHash>,
}

impl RowHashes {
    fn of(buffer: &Buffer, first: usize, last: usize) -> Self {
        let hash = |row: usize| {
            let cells = row_of(buffer, row);
            let mut hasher = QuickHasher::default();
            cells.hash(&mut hasher);
            RowHash {
                hash: hasher.finish(),
                is_blank: cells.iter().all(|cell| *cell == Cell::EMPTY),
            }
        };
        let hashes = (first..=last).map(hash).collect();
        Self { first, hashes }
    }

    fn get(&self, row: usize) -> Option<RowHash> {
        self.hashes.get(row.checked_sub(self.first)?).copied()
    }
}

/// A hash that costs little: two of a screen are made for each frame. Rows that are taken for the same by mistake only
/// cost bytes, because what they show is compared again.
#[derive(Default)]
struct QuickHasher(u64);

impl QuickHasher {
    fn add(&mut self, word: u64) {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            for (place, byte) in word.iter_mut().zip(chunk) {
                *place = *byte;
            }
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(byte.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.add(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Position;
    use ratatui::style::{Color, Style};

    use super::FrameWriter;

    fn screen(lines: &[String]) -> Buffer {
        Buffer::with_lines(lines.iter().map(String::as_str))
    }

    fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
        range
            .map(|number| format!("{:20}", format!("line {number} of the text")))
            .collect()
    }

    #[test]
    fn what_does_not_change_is_not_written() {
        let mut writer = FrameWriter::new();
        let first = screen(&numbered(0..5));
        assert!(!writer.render(first.clone(), None, "ralph").unwrap().is_empty());
        assert_eq!(writer.render(first.clone(), None, "ralph").unwrap(), b"");
        let moved = writer
            .render(first.clone(), Some(Position::new(2, 1)), "ralph")
            .unwrap();
        assert_eq!(moved, b"\x1b[2;3H\x1b[?25h");
        writer.forget();
        assert!(writer.render(first, None, "ralph").unwrap().len() > 100);
    }

    #[test]
    fn a_screen_after_any_frames_is_the_last_frame() {
        let mut writer = FrameWriter::new();
        let mut terminal = vt100::Parser::new(12, 20, 0);
        let mut frames: Vec<Vec<String>> = Vec::new();
        for start in [0, 1, 2, 5, 4, 30, 31, 33] {
            let mut lines = vec![format!("{:20}", "a header")];
            lines.extend(numbered(start..start + 10));
            lines.push(format!("{:20}", format!("footer {start}")));
            frames.push(lines);
        }
        frames.push(vec![" ".repeat(20); 12]);
        for lines in frames {
            let mut next = screen(&lines);
            next.set_style(
                ratatui::layout::Rect::new(3, 3, 4, 2),
                Style::new().fg(Color::Red),
            );
            let bytes = writer.render(next, None, "ralph").unwrap();
            terminal.process(&bytes);
            let shown: Vec<String> = terminal.screen().rows(0, 20).collect();
            let expected: Vec<String> = lines.iter().map(|line| line.trim_end().to_owned()).collect();
            let shown: Vec<String> = shown.iter().map(|line| line.trim_end().to_owned()).collect();
            assert_eq!(shown, expected);
        }
    }

    #[test]
    fn a_text_that_scrolls_costs_little_more_than_its_new_row() {
        let mut writer = FrameWriter::new();
        writer.render(screen(&numbered(0..24)), None, "").unwrap();
        let bytes = writer.render(screen(&numbered(1..25)), None, "").unwrap();
        assert!(bytes.len() < 100, "{} bytes", bytes.len());
    }

    #[test]
    fn new_words_are_written_without_moves_between_them() {
        let mut writer = FrameWriter::new();
        let blank = vec![" ".repeat(40); 3];
        writer.render(screen(&blank), None, "").unwrap();
        let words = format!("{:40}", "several words with spaces between them");
        let lines = [blank[0].clone(), words, blank[2].clone()];
        let bytes = writer.render(screen(&lines), None, "").unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains("several words with spaces between them"),
            "{text:?}"
        );
    }

    #[test]
    fn a_row_that_is_still_being_written_scrolls_with_the_others() {
        let mut writer = FrameWriter::new();
        let pad = |line: &str| format!("{line:40}");
        let mut lines: Vec<String> = (0..8).map(|number| pad(&format!("row {number} of it"))).collect();
        lines.push(pad("the last one is"));
        writer.render(screen(&lines), None, "").unwrap();
        lines.remove(0);
        lines.pop();
        lines.extend([pad("the last one is finished now"), pad("and")]);
        let bytes = writer.render(screen(&lines), None, "").unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains("[1;9r") && text.contains("finished now"),
            "{text:?}"
        );
        assert!(!text.contains("the last one"), "{text:?}");
    }
}
