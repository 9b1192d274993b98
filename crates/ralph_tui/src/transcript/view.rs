//! `TranscriptView`: where the reader is in a transcript, and what is folded, filtered and searched. Draws the rows that
//! are visible, and lays out no other cells than those.

use std::collections::HashMap;

use agent_api::ToolKind;
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::cell::{Cell, CellKind};
use super::fold::Transcript;
use super::layout::{CellLayout, Options, SIDE_BY_SIDE_COLUMNS, Setting, indent_of};
use super::sheet::Place;
use super::view_search::Search;
use super::visible_cells::VisibleCells;
use crate::theme::{Role, Theme};

/// Columns at the left that no text reaches. They mark the selected cell, and every cell that is not text of the agent: a
/// text that imitates a call or an answer has no mark.
pub(super) const MARGIN: usize = 2;
const CELL_MARK: &str = "•";
const SELECTION_MARK: &str = "│";
/// Layouts that were not needed for this many frames are dropped, if there are more than these.
const KEPT_FRAMES: u64 = 100;
const KEPT_LAYOUTS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jump {
    NextError,
    PreviousError,
    NextEdit,
    PreviousEdit,
    NextRequest,
    PreviousRequest,
    NextIteration,
    PreviousIteration,
    Iteration(u32),
}

/// What to fold, or to unfold if it is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoldTarget {
    Selected,
    All,
    Thinking,
    Tools,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Filter {
    #[default]
    All,
    /// Texts, messages and requests.
    Conversation,
    Tools,
    Edits,
    Errors,
}

/// A place in the transcript that new output, typing and another width do not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Anchor {
    pub(super) cell: usize,
    pub(super) place: Place,
}

/// Whether cells of a kind are folded, where the reader said so.
#[derive(Debug, Default)]
struct KindFolds {
    thinking: Option<bool>,
    tools: Option<bool>,
    others: Option<bool>,
}

/// Columns that one key scrolls to the side.
const SIDEWAYS_COLUMNS: usize = 16;
/// No line is longer.
const MAX_SKIPPED_COLUMNS: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct TranscriptView {
    /// What the first visible row shows.
    pub(super) anchor: Anchor,
    pub(super) is_following: bool,
    /// How many cells there were when the end was last visible.
    pub(super) seen: usize,
    pub(super) selected: Option<usize>,
    filter: Filter,
    visible: VisibleCells,
    folds: HashMap<usize, bool>,
    kind_folds: KindFolds,
    options: Options,
    /// How many columns of code that is cut are left out at the start.
    skipped_columns: usize,
    pub(super) columns: usize,
    pub(super) rows: usize,
    now: Timestamp,
    layouts: HashMap<usize, CellLayout>,
    frame: u64,
    /// The cell of each visible row.
    pub(super) shown: Vec<usize>,
    pub(super) search: Option<Search>,
    /// Where the reader was when he began to type a query.
    pub(super) search_origin: Option<(Anchor, bool)>,
    /// The folded cell that was opened to show a hit.
    pub(super) opened_by_search: Option<usize>,
    is_ticking: bool,
}

impl Default for TranscriptView {
    fn default() -> Self {
        Self {
            anchor: Anchor::default(),
            is_following: true,
            seen: 0,
            selected: None,
            filter: Filter::All,
            visible: VisibleCells::default(),
            folds: HashMap::new(),
            kind_folds: KindFolds::default(),
            options: Options {
                side_by_side: false,
                wraps_code: true,
            },
            skipped_columns: 0,
            columns: 0,
            rows: 0,
            now: Timestamp::UNIX_EPOCH,
            layouts: HashMap::new(),
            frame: 0,
            shown: Vec::new(),
            search: None,
            search_origin: None,
            opened_by_search: None,
            is_ticking: false,
        }
    }
}

impl TranscriptView {
    pub(crate) fn filter(&self) -> Filter {
        self.filter
    }

    pub(crate) fn set_filter(&mut self, transcript: &Transcript, filter: Filter) {
        self.filter = filter;
        self.visible = VisibleCells::default();
        self.search_again(transcript);
    }

    /// `Err` with the columns that the transcript needs for it, if it has fewer.
    pub(crate) fn toggle_side_by_side(&mut self) -> Result<(), usize> {
        self.options.side_by_side = !self.options.side_by_side;
        match self.options.side_by_side && self.columns + MARGIN < SIDE_BY_SIDE_COLUMNS {
            true => Err(SIDE_BY_SIDE_COLUMNS),
            false => Ok(()),
        }
    }

    /// Whether code that is too wide is broken into rows, or cut.
    pub(crate) fn toggle_wrap(&mut self) {
        self.options.wraps_code = !self.options.wraps_code;
        self.skipped_columns = 0;
    }

    /// Shows more of code that is cut. Code that is wrapped is cut first.
    pub(crate) fn scroll_sideways(&mut self, is_right: bool) {
        self.skipped_columns = match is_right {
            _ if self.options.wraps_code => 0,
            true => (self.skipped_columns + SIDEWAYS_COLUMNS).min(MAX_SKIPPED_COLUMNS),
            false => self.skipped_columns.saturating_sub(SIDEWAYS_COLUMNS),
        };
        if is_right {
            self.options.wraps_code = false;
        }
    }

    pub(crate) fn toggle_fold(&mut self, transcript: &Transcript, target: FoldTarget) {
        let all = |folded: Option<bool>, default: bool| Some(!folded.unwrap_or(default));
        match target {
            FoldTarget::Selected => {
                let index = self.selected.unwrap_or(self.anchor.cell);
                if let Some(cell) = transcript.cell(index) {
                    let folded = self.is_folded(index, cell);
                    self.folds.insert(index, !folded);
                }
            }
            FoldTarget::All => {
                let folded = all(self.kind_folds.others, true);
                self.kind_folds = KindFolds {
                    thinking: folded,
                    tools: folded,
                    others: folded,
                };
                self.folds.clear();
            }
            FoldTarget::Thinking => {
                self.kind_folds.thinking = all(self.kind_folds.thinking, true);
                self.forget_folds(transcript, |kind| matches!(kind, CellKind::Thinking(_)));
            }
            FoldTarget::Tools => {
                self.kind_folds.tools = all(self.kind_folds.tools, true);
                self.forget_folds(transcript, |kind| matches!(kind, CellKind::Tool(_)));
            }
        }
    }

    fn forget_folds(&mut self, transcript: &Transcript, is_kind: impl Fn(&CellKind) -> bool) {
        self.folds
            .retain(|index, _| transcript.cell(*index).is_none_or(|cell| !is_kind(&cell.kind)));
    }

    /// Unfolds a cell to show a hit in it.
    pub(super) fn open_for_search(&mut self, index: usize) {
        self.folds.insert(index, false);
        self.opened_by_search = Some(index);
    }

    /// Folds the cell that was opened for an earlier hit.
    pub(super) fn close_for_search(&mut self, hit: Option<usize>) {
        if let Some(index) = self.opened_by_search.take_if(|index| Some(*index) != hit) {
            self.folds.remove(&index);
        }
    }

    pub(super) fn is_folded(&self, index: usize, cell: &Cell) -> bool {
        let of_kind = match &cell.kind {
            CellKind::Thinking(_) => self.kind_folds.thinking,
            CellKind::Tool(_) | CellKind::Verify(_) => self.kind_folds.tools,
            CellKind::Text(_)
            | CellKind::Todo(_)
            | CellKind::Request(_)
            | CellKind::Message(_)
            | CellKind::Iteration(_)
            | CellKind::Warning(_)
            | CellKind::Wait(_)
            | CellKind::Notice(_)
            | CellKind::End(_)
            | CellKind::Gone => self.kind_folds.others,
        };
        let of_cell = self.folds.get(&index).copied();
        of_cell.or(of_kind).unwrap_or_else(|| cell.is_folded_by_default())
    }

    pub(super) fn is_visible(&self, cell: &Cell) -> bool {
        let is_request = matches!(cell.kind, CellKind::Request(_));
        match self.filter {
            Filter::All => !matches!(cell.kind, CellKind::Gone),
            Filter::Conversation => {
                is_request || matches!(cell.kind, CellKind::Text(_) | CellKind::Message(_))
            }
            Filter::Tools => match &cell.kind {
                CellKind::Tool(tool) => tool.kind != ToolKind::Question,
                CellKind::Verify(_) => true,
                _ => false,
            },
            Filter::Edits => cell.is_edit(),
            Filter::Errors => cell.is_error(),
        }
    }

    /// The first visible cell from this index on.
    pub(super) fn visible_from(&mut self, transcript: &Transcript, index: usize) -> Option<usize> {
        self.find_visible(transcript);
        self.visible.from(index)
    }

    /// The last visible cell before this index.
    pub(super) fn visible_before(&mut self, transcript: &Transcript, index: usize) -> Option<usize> {
        self.find_visible(transcript);
        self.visible.before(index)
    }

    fn find_visible(&mut self, transcript: &Transcript) {
        let mut visible = std::mem::take(&mut self.visible);
        visible.update(transcript, |cell| self.is_visible(cell));
        self.visible = visible;
    }

    /// The rows of a visible cell; none if it is not visible.
    pub(super) fn layout(&mut self, transcript: &Transcript, index: usize) -> Option<&CellLayout> {
        self.find_visible(transcript);
        let cell = transcript.cell(index).filter(|cell| self.is_visible(cell))?;
        let setting = self.setting(transcript, index, cell, self.is_folded(index, cell));
        let now = self.now;
        let layout = self
            .layouts
            .entry(index)
            .or_insert_with(|| CellLayout::new(cell, setting, now));
        layout.update(cell, setting, now);
        layout.used_at = self.frame;
        Some(layout)
    }

    pub(super) fn setting(
        &self,
        transcript: &Transcript,
        index: usize,
        cell: &Cell,
        is_folded: bool,
    ) -> Setting {
        Setting {
            columns: self.columns,
            is_folded,
            options: self.options,
            has_gap: self.has_gap(transcript, index, cell),
        }
    }

    /// Whether a blank row stands before a cell: between all but compact ones.
    fn has_gap(&self, transcript: &Transcript, index: usize, cell: &Cell) -> bool {
        let before = self
            .visible
            .before(index)
            .and_then(|before| transcript.cell(before));
        before.is_some_and(|before| !(cell.is_compact() && before.is_compact()))
    }

    pub(super) fn is_laid_out(&self, index: usize) -> bool {
        self.layouts.contains_key(&index)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    pub(super) fn height(&mut self, transcript: &Transcript, index: usize) -> usize {
        self.layout(transcript, index)
            .map_or(0, |layout| layout.sheet.row_count())
    }

    /// The transcript was read again from its beginning, in place of one that began later. The reader stays where he is.
    pub(crate) fn replace(&mut self, old: &Transcript, new: &Transcript) {
        let same = |index: usize| {
            let cell = old.cell(index)?;
            // Several cells can come from one record.
            let place = index
                - old
                    .cells()
                    .partition_point(|other| other.seq < cell.seq)
                    .min(index);
            let start = new.cells().partition_point(|other| other.seq < cell.seq);
            let found = new.cell(start + place).filter(|found| found.seq == cell.seq);
            found.map(|_| start + place)
        };
        self.layouts.clear();
        self.visible = VisibleCells::default();
        self.folds = self
            .folds
            .drain()
            .filter_map(|(index, fold)| Some((same(index)?, fold)))
            .collect();
        self.selected = self.selected.and_then(same);
        self.opened_by_search = self.opened_by_search.and_then(same);
        self.search_origin = None;
        match same(self.anchor.cell) {
            Some(cell) => self.anchor.cell = cell,
            None => self.anchor = Anchor::default(),
        }
        let unseen = old.len().saturating_sub(self.seen);
        self.seen = new.len().saturating_sub(unseen);
        self.search_again(new);
    }

    /// Draws the transcript. Call it before the other methods have a use: they need to know the size.
    pub(crate) fn render(
        &mut self,
        transcript: &Transcript,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
        now: Timestamp,
    ) {
        let area = area.intersection(buffer.area);
        self.frame += 1;
        self.now = now;
        self.columns = usize::from(area.width).saturating_sub(MARGIN).max(1);
        self.rows = usize::from(area.height);
        self.shown.clear();
        self.is_ticking = false;
        if area.is_empty() {
            return;
        }
        self.settle_anchor(transcript);
        self.draw(transcript, area, buffer, theme);
        if self.is_following {
            self.seen = transcript.len();
        }
        if self.layouts.len() > KEPT_LAYOUTS {
            let oldest = self.frame.saturating_sub(KEPT_FRAMES);
            let frame = self.frame;
            let is_many = self.layouts.len() > KEPT_LAYOUTS * 4;
            self.layouts
                .retain(|_, layout| layout.used_at >= if is_many { frame } else { oldest });
        }
    }

    fn draw(&mut self, transcript: &Transcript, area: Rect, buffer: &mut Buffer, theme: Theme) {
        let skipped = self.skipped_columns;
        let (mut index, mut row) = self.position(transcript);
        let mut y = area.y;
        while y < area.bottom() && index < transcript.len() {
            let is_selected = self.selected == Some(index);
            let search = self.search.take();
            if let Some(cell) = transcript.cell(index)
                && let Some(layout) = self.layout(transcript, index)
            {
                let sheet = &layout.sheet;
                let count = sheet.row_count();
                let indent = u16::try_from(MARGIN + indent_of(cell)).unwrap_or(u16::MAX);
                let first = usize::from(layout.has_gap());
                let mut drawn = 0;
                while row < count && y < area.bottom() {
                    let mark = if is_selected && row >= first {
                        Some((SELECTION_MARK, Role::NeedsPerson))
                    } else if row == first {
                        cell.mark_role().map(|role| (CELL_MARK, role))
                    } else {
                        None
                    };
                    if let Some((mark, role)) = mark {
                        buffer.set_stringn(area.x, y, mark, usize::from(area.width), theme.style(role));
                    }
                    let search = search.as_ref();
                    let hits = search.map_or_else(Vec::new, |search| search.hits_in(index, row, sheet));
                    let left = area.x.saturating_add(indent).min(area.right());
                    let room = Rect::new(left, y, area.right() - left, 1);
                    sheet.draw(row, skipped, room, buffer, theme, &hits);
                    (row, y, drawn) = (row + 1, y + 1, drawn + 1);
                }
                self.is_ticking |= drawn > 0 && cell.is_ticking();
                self.shown.extend(std::iter::repeat_n(index, drawn));
                if drawn > 0 {
                    // What was on the screen is not new any more.
                    self.seen = self.seen.max(index + 1);
                }
            }
            self.search = search;
            index = self
                .visible_from(transcript, index + 1)
                .unwrap_or(transcript.len());
            row = 0;
        }
    }

    /// Lines that were laid out so far.
    #[cfg(test)]
    pub(super) fn work(&self) -> usize {
        self.layouts.values().map(|layout| layout.sheet.work).sum()
    }

    #[cfg(test)]
    pub(super) fn is_at_top(&self) -> bool {
        self.anchor == Anchor::default()
    }

    #[cfg(test)]
    pub(super) fn layout_count(&self) -> usize {
        self.layouts.len()
    }
}
