//! `CellLayout`: the rows of one cell at one width, made again only if something about them has changed. A text that
//! grows keeps the rows of what is finished.

use jiff::Timestamp;

use super::cell::{Cell, CellKind};
use super::cells;
use super::markdown::MarkdownStream;
use super::sheet::Sheet;

/// How far cells of a subagent are indented, and the deepest indentation.
const INDENT: usize = 2;
const MAX_DEPTH: usize = 4;
/// From this width of the window on, diffs can be side by side.
pub(super) const SIDE_BY_SIDE_COLUMNS: usize = 120;

/// What the reader chose for all cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) side_by_side: bool,
    pub(super) wraps_code: bool,
}

/// Everything that the rows of a cell depend on besides the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    /// Columns of the transcript, without its margin.
    pub(super) columns: usize,
    pub(super) is_folded: bool,
    pub(super) options: Options,
    /// Whether a blank row stands before the cell.
    pub(super) has_gap: bool,
}

impl Setting {
    /// Whether diffs are shown side by side.
    pub(super) fn is_side_by_side(&self) -> bool {
        self.options.side_by_side && self.columns >= SIDE_BY_SIDE_COLUMNS - super::view::MARGIN
    }
}

#[derive(Debug)]
pub(super) struct CellLayout {
    setting: Setting,
    version: u32,
    /// The second for which clocks were drawn; 0 if there is none.
    clock: i64,
    pub(super) sheet: Sheet,
    stream: Option<MarkdownStream>,
    /// When it was last needed, in frames.
    pub(super) used_at: u64,
}

pub(super) fn indent_of(cell: &Cell) -> usize {
    usize::from(cell.depth).min(MAX_DEPTH) * INDENT
}

impl CellLayout {
    pub(super) fn new(cell: &Cell, setting: Setting, now: Timestamp) -> Self {
        let width = setting.columns.saturating_sub(indent_of(cell)).max(1);
        let mut layout = Self {
            setting,
            version: cell.version,
            clock: clock_of(cell, now),
            sheet: Sheet::new(width, setting.options.wraps_code),
            stream: None,
            used_at: 0,
        };
        layout.build(cell, now);
        layout
    }

    /// Whether the first row is blank.
    pub(super) fn has_gap(&self) -> bool {
        self.setting.has_gap
    }

    /// Makes the rows again if they are not those of the cell as it is now.
    pub(super) fn update(&mut self, cell: &Cell, setting: Setting, now: Timestamp) {
        let clock = clock_of(cell, now);
        if self.setting == setting && self.version == cell.version && self.clock == clock {
            return;
        }
        let old = std::mem::replace(&mut self.setting, setting);
        self.version = cell.version;
        self.clock = clock;
        let width = setting.columns.saturating_sub(indent_of(cell)).max(1);
        let is_same_width = self.sheet.width == width;
        // Lines of a text are the same at every width.
        let can_extend = Setting {
            columns: setting.columns,
            ..old
        } == setting
            && (is_same_width || !self.sheet.is_fitted);
        match (&cell.kind, &mut self.stream) {
            (CellKind::Text(text) | CellKind::Thinking(text), Some(stream))
                if can_extend && stream.epoch() == text.body.epoch() =>
            {
                if !is_same_width {
                    self.sheet.rewrap(width);
                }
                stream.update(text.body.as_str(), &mut self.sheet);
                cells::text::end(text, &mut self.sheet);
            }
            _ => {
                let work = self.sheet.work;
                self.sheet = Sheet::new(width, setting.options.wraps_code);
                self.sheet.work = work;
                self.stream = None;
                self.build(cell, now);
            }
        }
    }

    fn build(&mut self, cell: &Cell, now: Timestamp) {
        let (sheet, setting) = (&mut self.sheet, &self.setting);
        if matches!(cell.kind, CellKind::Gone) {
            return;
        }
        if setting.has_gap {
            sheet.push_blank();
        }
        match &cell.kind {
            CellKind::Text(text) if setting.is_folded => cells::text::folded(text, sheet),
            CellKind::Text(text) => self.stream = Some(cells::text::build(text, sheet)),
            CellKind::Thinking(text) if setting.is_folded => cells::thinking::folded(text, sheet),
            CellKind::Thinking(text) => self.stream = Some(cells::thinking::build(text, sheet)),
            CellKind::Tool(tool) => cells::tool::build(tool, sheet, setting, now),
            CellKind::Todo(todo) => cells::todo::build(todo, sheet, setting),
            CellKind::Request(request) => cells::request::build(request, sheet),
            CellKind::Message(message) => cells::message::build(message, sheet, setting),
            CellKind::Iteration(iteration) => cells::iteration::build(iteration, sheet, setting),
            CellKind::Verify(verify) => cells::verify::build(verify, sheet, setting, now),
            CellKind::Warning(warned) => cells::warning::build(warned, sheet, setting),
            CellKind::Wait(wait) => cells::wait::build(wait, sheet, now),
            CellKind::Notice(notice) => cells::notice::build(notice, sheet),
            CellKind::End(end) => cells::run_end::build(end, sheet),
            CellKind::Gone => {}
        }
    }
}

fn clock_of(cell: &Cell, now: Timestamp) -> i64 {
    if cell.is_ticking() { now.as_second() } else { 0 }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{CellLayout, Options, Setting};
    use crate::transcript::cell::{Cell, CellKind, TextCell};
    use crate::transcript::sheet::{Place, Sheet};

    fn rows(sheet: &Sheet) -> (Vec<Place>, Vec<&str>) {
        let places = (0..sheet.row_count()).map(|row| sheet.place_of(row));
        let lines = sheet.lines().iter().map(|line| line.text.as_str());
        (places.collect(), lines.collect())
    }

    #[test]
    fn a_text_at_another_width_is_as_if_it_was_laid_out_for_it() {
        let prose = "Some *words* that need several rows at most widths.\n\n- one item of a list\n\n```\nlet code = 1;\n```\nand more of";
        let table = "| first | second |\n|---|---|\n| a cell with words | another one |\n\nand more of";
        for text in [prose, table] {
            let mut content = TextCell::default();
            content.body.push(text);
            let cell = Cell {
                seq: 1,
                iteration: 1,
                raw_log: 1,
                depth: 0,
                raw: None,
                kind: CellKind::Text(content),
                version: 0,
            };
            let setting = |columns| Setting {
                columns,
                is_folded: false,
                options: Options {
                    side_by_side: false,
                    wraps_code: true,
                },
                has_gap: true,
            };
            let now = Timestamp::UNIX_EPOCH;
            let mut layout = CellLayout::new(&cell, setting(80), now);
            for columns in [20, 200, 33, 12] {
                layout.update(&cell, setting(columns), now);
                let fresh = CellLayout::new(&cell, setting(columns), now);
                assert_eq!(rows(&layout.sheet), rows(&fresh.sheet), "{columns} columns");
            }
        }
    }
}
