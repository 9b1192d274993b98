//! `FrameWriter`: turns buffers into the bytes that change the screen from one to the next.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::ops::Range;

use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};

/// Less than this is not worth a scroll.
const MIN_SCROLLED_ROWS: usize = 3;

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
            CrosstermBackend::new(&mut bytes).draw(changes.into_iter())?;
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

/// Rows that moved up, as those of a list that follows its end.
#[derive(Debug, PartialEq, Eq)]
struct Scroll {
    region: Range<usize>,
    rows: usize,
}

impl Scroll {
    /// The move that saves the most rows, if it saves enough.
    fn find(shown: &Buffer, next: &Buffer) -> Option<Self> {
        let (old, new) = (row_hashes(shown), row_hashes(next));
        let count = old.len().min(new.len());
        let first = (0..count).find(|row| old.get(*row) != new.get(*row))?;
        let last = (0..count).rev().find(|row| old.get(*row) != new.get(*row))?;
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
        best.map(|(_, scroll)| scroll)
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

#[derive(Debug, PartialEq, Eq)]
struct RowHash {
    hash: u64,
    is_blank: bool,
}

fn row_hashes(buffer: &Buffer) -> Vec<RowHash> {
    let width = usize::from(buffer.area.width).max(1);
    let rows = buffer.content.chunks(width);
    rows.map(|row| {
        let mut hasher = DefaultHasher::new();
        row.hash(&mut hasher);
        RowHash {
            hash: hasher.finish(),
            is_blank: row.iter().all(|cell| *cell == Cell::EMPTY),
        }
    })
    .collect()
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
}
