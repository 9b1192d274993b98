//! `Sheet`: the lines of a cell, broken into rows of one width. Rows are drawn one by one, so that a cell of any height
//! costs as much as what is visible of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use super::line::{Line, Look, Overflow};
use super::wrap::{Break, clusters, columns, cut, skip_columns, wrap};
use crate::theme::{Role, Theme};

/// More combining marks than a script needs are not drawn.
const MAX_CLUSTER_BYTES: usize = 64;

/// A row: a part of a line, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    line: u32,
    start: u32,
    end: u32,
}

/// A place in a sheet that stays where it is when rows are broken elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) offset: usize,
}

/// Search hits in a line: where they start and end, and whether it is the current one.
pub(super) type LineHits = Vec<(std::ops::Range<usize>, bool)>;

#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) width: usize,
    /// Whether code that is too wide is broken instead of cut.
    pub(super) wraps_code: bool,
    lines: Vec<Line>,
    rows: Vec<Row>,
    /// Whether other lines would stand here at another width, as those of a table.
    pub(super) is_fitted: bool,
    /// Lines that were broken into rows since the sheet exists, to test how much work a change is.
    pub(super) work: usize,
}

impl Sheet {
    pub(super) fn new(width: usize, wraps_code: bool) -> Self {
        Self {
            width,
            wraps_code,
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, line: Line) {
        self.break_line(&line, index(self.lines.len()));
        self.lines.push(line);
    }

    /// Breaks the same lines into rows of another width.
    pub(super) fn rewrap(&mut self, width: usize) {
        self.width = width;
        self.rows.clear();
        let lines = std::mem::take(&mut self.lines);
        for (number, line) in lines.iter().enumerate() {
            self.break_line(line, index(number));
        }
        self.lines = lines;
    }

    fn break_line(&mut self, line: &Line, number: u32) {
        self.work += 1;
        let lead = columns(&line.first_lead).max(columns(&line.rest_lead));
        let width = self.width.saturating_sub(lead).max(1);
        let breaks = match line.overflow {
            Overflow::Words => Some(Break::BetweenWords),
            Overflow::Anywhere if self.wraps_code => Some(Break::Anywhere),
            Overflow::Anywhere | Overflow::Cut => None,
        };
        let rows = &mut self.rows;
        let mut push = |range: std::ops::Range<usize>| {
            rows.push(Row {
                line: number,
                start: index(range.start),
                end: index(range.end),
            });
        };
        match breaks {
            Some(breaks) => wrap(&line.text, width, breaks, push),
            None => push(0..line.text.len()),
        }
    }

    pub(super) fn push_blank(&mut self) {
        self.push(Line::default());
    }

    /// Keeps the first `count` lines.
    pub(super) fn truncate(&mut self, count: usize) {
        self.lines.truncate(count);
        let kept = self.rows.partition_point(|row| (row.line as usize) < count);
        self.rows.truncate(kept);
    }

    pub(super) fn line_count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn row_count(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(super) fn place_of(&self, row: usize) -> Place {
        self.rows.get(row).map_or_else(Place::default, |row| Place {
            line: row.line as usize,
            offset: row.start as usize,
        })
    }

    /// The row that shows a place, or the last one.
    pub(super) fn row_of(&self, place: Place) -> usize {
        let is_before = |row: &Row| (row.line as usize, row.start as usize) <= (place.line, place.offset);
        self.rows.partition_point(is_before).saturating_sub(1)
    }

    /// The line that a row belongs to, its text, and the part of it that the row can show.
    pub(super) fn text_of(&self, row: usize) -> Option<(usize, &str, std::ops::Range<usize>)> {
        let row = self.rows.get(row)?;
        let text = self.lines.get(row.line as usize)?.text.as_str();
        Some((row.line as usize, text, row.start as usize..row.end as usize))
    }

    /// Draws one row into the first row of `area`. Of code that is cut, `skipped` columns are left out at the start.
    pub(super) fn draw(
        &self,
        row: usize,
        skipped: usize,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        hits: &LineHits,
    ) {
        let Some((row, line)) = self
            .rows
            .get(row)
            .and_then(|row| Some((row, self.lines.get(row.line as usize)?)))
        else {
            return;
        };
        let mut pen = Pen {
            x: area.x,
            end: area.right().min(buffer.area.right()),
            y: area.y,
            buffer,
        };
        let lead = if row.start == 0 {
            &line.first_lead
        } else {
            &line.rest_lead
        };
        pen.write(lead, line.lead_look.style(theme));
        let (mut start, mut end) = (row.start as usize, row.end as usize);
        let mut is_cut = false;
        let is_cut_code = line.overflow == Overflow::Anywhere && !self.wraps_code;
        if is_cut_code && skipped > 0 {
            start = skip_columns(&line.text, skipped);
        }
        if line.overflow == Overflow::Cut || is_cut_code {
            let rest = line.text.get(start..).unwrap_or_default();
            let (fitting, is_whole) = cut(rest, usize::from(pen.end.saturating_sub(pen.x)));
            (end, is_cut) = (start + fitting, !is_whole);
        }
        self.write_text(&mut pen, line, start..end, theme, hits);
        if is_cut {
            pen.write("…", line.look_at(end).style(theme));
        }
        if line.has_rule {
            pen.write(" ", Style::new());
            let rule = theme.style(Role::Frame);
            while pen.x < pen.end {
                pen.write("─", rule);
            }
        }
    }

    fn write_text(
        &self,
        pen: &mut Pen<'_>,
        line: &Line,
        range: std::ops::Range<usize>,
        theme: Theme,
        hits: &LineHits,
    ) {
        let mut at = range.start;
        while at < range.end {
            let span = line.spans.partition_point(|span| span.end <= at);
            let (look, mut until) = match line.spans.get(span) {
                Some(span) => (span.look, span.end.min(range.end)),
                None => (Look::PLAIN, range.end),
            };
            let mut style = look.style(theme);
            for (hit, is_current) in hits {
                if hit.contains(&at) {
                    until = until.min(hit.end);
                    style = style.patch(theme.style(if *is_current { Role::CurrentHit } else { Role::Hit }));
                } else if hit.start > at {
                    until = until.min(hit.start);
                }
            }
            // An end inside a character cannot be: spans and hits are made of whole ones. If it were, the rest is left.
            let Some(text) = line.text.get(at..until) else {
                return;
            };
            pen.write(text, style);
            at = until;
        }
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

struct Pen<'a> {
    x: u16,
    end: u16,
    y: u16,
    buffer: &'a mut Buffer,
}

impl Pen<'_> {
    /// Writes what fits. A wide character at the edge is left out.
    fn write(&mut self, text: &str, style: Style) {
        for (_, cluster) in clusters(text) {
            let width = u16::try_from(cluster.width()).unwrap_or(u16::MAX);
            if width == 0 {
                continue;
            }
            if width > self.end.saturating_sub(self.x) {
                self.x = self.end;
                return;
            }
            let symbol = &cluster[..cluster.floor_char_boundary(MAX_CLUSTER_BYTES)];
            let Some(cell) = self.buffer.cell_mut((self.x, self.y)) else {
                return;
            };
            cell.set_symbol(symbol).set_style(style);
            for hidden in 1..width {
                if let Some(cell) = self.buffer.cell_mut((self.x + hidden, self.y)) {
                    cell.reset();
                }
            }
            self.x += width;
        }
    }
}
