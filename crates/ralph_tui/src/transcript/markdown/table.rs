//! `Table`: a Markdown table with aligned columns, or as it was written if it is too wide or too long.

use pulldown_cmark::Alignment;

use super::super::line::{Line, Look, Overflow};
use super::super::sheet::Sheet;
use super::super::wrap::columns;
use crate::theme::Role;

const MAX_ROWS: usize = 200;
const GAP: usize = 2;

pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Line>>,
    /// How it was written.
    source: String,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>, source: String) -> Self {
        Self {
            alignments,
            rows: Vec::new(),
            source,
        }
    }

    pub(super) fn start_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn push_cell(&mut self, cell: Line) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    pub(super) fn render(self, lead: &str, sheet: &mut Sheet) {
        sheet.is_fitted = true;
        let count = self.alignments.len();
        let width_of = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| columns(&cell.text)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(width_of).collect();
        let total = widths.iter().sum::<usize>() + GAP * count.saturating_sub(1) + columns(lead);
        if total > sheet.width || self.rows.len() > MAX_ROWS {
            self.render_source(lead, sheet);
            return;
        }
        for (number, row) in self.rows.into_iter().enumerate() {
            let mut line = Line::default()
                .led_by(lead, Look::of(Role::Frame))
                .overflowing(Overflow::Cut);
            let mut start = 0;
            for ((cell, width), alignment) in row.iter().zip(&widths).zip(&self.alignments) {
                let room = width.saturating_sub(columns(&cell.text));
                let before = match alignment {
                    Alignment::Right => room,
                    Alignment::Center => room / 2,
                    Alignment::None | Alignment::Left => 0,
                };
                line.pad_to(start + before, Look::PLAIN);
                append(&mut line, cell, number == 0);
                start += width + GAP;
            }
            sheet.push(line);
            if number == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                let rule = Line::of(&rule.join("  "), Look::of(Role::Frame));
                sheet.push(
                    rule.led_by(lead, Look::of(Role::Frame))
                        .overflowing(Overflow::Cut),
                );
            }
        }
    }

    fn render_source(&self, lead: &str, sheet: &mut Sheet) {
        for line in self.source.lines() {
            let line = Line::of(line, Look::PLAIN).led_by(lead, Look::of(Role::Frame));
            sheet.push(line.overflowing(Overflow::Anywhere));
        }
    }
}

fn append(line: &mut Line, cell: &Line, is_head: bool) {
    let mut start = 0;
    for span in &cell.spans {
        let look = match is_head {
            true => Look::of(Role::Strong),
            false => span.look,
        };
        line.push(cell.text.get(start..span.end).unwrap_or_default(), look);
        start = span.end;
    }
}
