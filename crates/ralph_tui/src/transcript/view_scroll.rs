//! The part of `TranscriptView` that scrolls and selects.

use super::fold::Transcript;
use super::view::{Anchor, TranscriptView};

/// A cell and a row of it.
type Position = (usize, usize);

impl TranscriptView {
    /// Scrolls by rows: down if positive. At the end, the view follows what is new.
    pub(crate) fn scroll(&mut self, transcript: &Transcript, rows: isize) {
        if self.rows == 0 || rows == 0 {
            return;
        }
        let before = self.position(transcript);
        let after = match rows.is_negative() {
            true => self.up_from(transcript, before, rows.unsigned_abs()),
            false => self.down_from(transcript, before, rows.unsigned_abs()),
        };
        let bottom = self.bottom(transcript, transcript.len());
        if after >= bottom {
            self.is_following = rows.is_positive() || self.is_following;
            self.set_position(transcript, bottom);
        } else {
            self.is_following = false;
            self.set_position(transcript, after);
        }
    }

    /// Scrolls by half pages: ±1 is half a page, ±2 a page.
    pub(crate) fn page(&mut self, transcript: &Transcript, halves: isize) {
        // A row of the last page stays visible.
        let page = isize::try_from(self.rows.saturating_sub(1))
            .unwrap_or(isize::MAX)
            .max(1);
        let rows = match halves {
            -1 | 1 => (page / 2).max(1).saturating_mul(halves),
            _ => page.saturating_mul(halves / 2),
        };
        self.scroll(transcript, rows);
    }

    #[expect(clippy::wrong_self_convention, reason = "it goes there, it converts nothing")]
    pub(crate) fn to_top(&mut self, transcript: &Transcript) {
        self.is_following = self.bottom(transcript, transcript.len()) == (0, 0) && self.is_following;
        self.anchor = Anchor::default();
    }

    #[expect(clippy::wrong_self_convention, reason = "it goes there, it converts nothing")]
    pub(crate) fn to_bottom(&mut self) {
        self.is_following = true;
    }

    pub(crate) fn is_following(&self) -> bool {
        self.is_following
    }

    pub(crate) fn set_following(&mut self, is_following: bool) {
        self.is_following = is_following;
    }

    /// How many cells were added since the end was last visible.
    pub(crate) fn new_cells_below(&self, transcript: &Transcript) -> usize {
        match self.is_following {
            true => 0,
            false => transcript.len().saturating_sub(self.seen),
        }
    }

    pub(crate) fn selected(&self) -> Option<usize> {
        self.selected
    }

    pub(crate) fn select_next(&mut self, transcript: &Transcript) {
        let from = match self.selected {
            Some(selected) => selected + 1,
            None => self.shown.first().copied().unwrap_or(self.anchor.cell),
        };
        if let Some(index) = self.visible_from(transcript, from) {
            self.select(transcript, index);
        }
    }

    pub(crate) fn select_previous(&mut self, transcript: &Transcript) {
        let before = match self.selected {
            Some(selected) => selected,
            None => self.shown.last().map_or(transcript.len(), |last| last + 1),
        };
        if let Some(index) = self.visible_before(transcript, before) {
            self.select(transcript, index);
        }
    }

    /// Selects a cell and makes it visible.
    fn select(&mut self, transcript: &Transcript, index: usize) {
        self.selected = Some(index);
        self.is_following = false;
        let (first, height) = (self.position(transcript), self.height(transcript, index));
        if index < first.0 || (index == first.0 && first.1 > 0 && height <= self.rows) {
            self.set_position(transcript, (index, 0));
            return;
        }
        // The first position from which the end of the cell is visible, unless it is taller than the screen.
        let lowest = match height > self.rows {
            true => (index, 0),
            false => self.bottom(transcript, index + 1),
        };
        if lowest > first {
            self.set_position(transcript, lowest);
        }
    }

    /// A click into a row of the transcript selects its cell, a second one folds or unfolds it.
    pub(crate) fn click(&mut self, transcript: &Transcript, row: u16) {
        let Some(index) = self.shown.get(usize::from(row)).copied() else {
            return;
        };
        if self.selected == Some(index) {
            self.toggle_fold(transcript, super::view::FoldTarget::Selected);
        } else {
            self.selected = Some(index);
        }
        // What was clicked stays where it is.
        self.is_following = false;
    }

    /// The anchor as a row of its cell.
    pub(super) fn position(&mut self, transcript: &Transcript) -> Position {
        let (index, place) = (self.anchor.cell, self.anchor.place);
        let row = self
            .layout(transcript, index)
            .map_or(0, |layout| layout.sheet.row_of(place));
        (index, row)
    }

    pub(super) fn set_position(&mut self, transcript: &Transcript, (cell, row): Position) {
        let place = self.layout(transcript, cell);
        let place = place.map(|layout| layout.sheet.place_of(row)).unwrap_or_default();
        self.anchor = Anchor { cell, place };
    }

    pub(super) fn up_from(&mut self, transcript: &Transcript, from: Position, rows: usize) -> Position {
        let (mut index, mut row) = from;
        let mut left = rows;
        while left > row {
            left -= row;
            let Some(before) = self.visible_before(transcript, index) else {
                return (0, 0);
            };
            index = before;
            row = self.height(transcript, index);
        }
        (index, row - left)
    }

    fn down_from(&mut self, transcript: &Transcript, from: Position, rows: usize) -> Position {
        let (mut index, mut row) = (from.0, from.1 + rows);
        while index < transcript.len() {
            let height = self.height(transcript, index);
            if row < height {
                return (index, row);
            }
            row -= height;
            index = self
                .visible_from(transcript, index + 1)
                .unwrap_or(transcript.len());
        }
        (index, 0)
    }

    /// The position from which the cells before `end` fill the screen.
    pub(super) fn bottom(&mut self, transcript: &Transcript, end: usize) -> Position {
        let position = self.up_from(transcript, (end, 0), self.rows);
        // A cell without rows has no place.
        let mut index = position.0;
        if position.1 == 0 {
            while index < end && self.height(transcript, index) == 0 {
                index = self.visible_from(transcript, index + 1).unwrap_or(end);
            }
        }
        (index.min(end), position.1)
    }

    /// Before drawing: follows the end, and does not leave rows empty that could show something.
    pub(super) fn settle_anchor(&mut self, transcript: &Transcript) {
        if self.is_following {
            let bottom = self.bottom(transcript, transcript.len());
            self.set_position(transcript, bottom);
            return;
        }
        let position = self.position(transcript);
        let is_full = {
            let last = self.down_from(transcript, position, self.rows.saturating_sub(1));
            last.0 < transcript.len()
        };
        if !is_full {
            let bottom = self.bottom(transcript, transcript.len());
            if bottom < position {
                self.set_position(transcript, bottom);
            }
        }
    }
}
