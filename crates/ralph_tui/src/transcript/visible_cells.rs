//! `VisibleCells`: the cells that the filter shows, in order. `TranscriptView` steps through them, so that a filter that
//! shows few of many cells costs nothing.

use super::cell::Cell;
use super::fold::Transcript;

#[derive(Debug, Default)]
pub(super) struct VisibleCells {
    indices: Vec<usize>,
    /// How many cells and how many changes of the transcript are known.
    cells: usize,
    changes: u64,
}

impl VisibleCells {
    /// Takes what is new in the transcript.
    pub(super) fn update(&mut self, transcript: &Transcript, is_visible: impl Fn(&Cell) -> bool) {
        let changes = transcript.changes().count();
        if self.changes != changes {
            match transcript.changes().since(self.changes) {
                Some(changed) => {
                    let known = self.cells;
                    for index in changed.into_iter().filter(|index| *index < known) {
                        self.set(index, transcript.cell(index).is_some_and(&is_visible));
                    }
                }
                // Too much has happened.
                None => *self = Self::default(),
            }
            self.changes = changes;
        }
        let new = transcript.cells().iter().enumerate().skip(self.cells);
        let visible = new.filter(|(_, cell)| is_visible(cell));
        self.indices.extend(visible.map(|(index, _)| index));
        self.cells = transcript.len();
    }

    fn set(&mut self, index: usize, is_visible: bool) {
        match (self.indices.binary_search(&index), is_visible) {
            (Ok(place), false) => drop(self.indices.remove(place)),
            (Err(place), true) => self.indices.insert(place, index),
            (Ok(_), true) | (Err(_), false) => {}
        }
    }

    /// The first visible cell at this index or after it.
    pub(super) fn from(&self, index: usize) -> Option<usize> {
        let place = self.indices.partition_point(|visible| *visible < index);
        self.indices.get(place).copied()
    }

    /// The last visible cell before this index.
    pub(super) fn before(&self, index: usize) -> Option<usize> {
        let place = self.indices.partition_point(|visible| *visible < index);
        self.indices.get(place.checked_sub(1)?).copied()
    }
}
