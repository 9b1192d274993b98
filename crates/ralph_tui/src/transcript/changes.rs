//! `Changes`: which cells of a transcript changed after they were added.

use std::collections::VecDeque;

/// Changes that are remembered. Who missed more looks at everything again.
const KEPT: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Changes {
    count: u64,
    latest: VecDeque<usize>,
}

impl Changes {
    pub(super) fn note(&mut self, cell: usize) {
        self.count += 1;
        if self.latest.len() == KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(cell);
    }

    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The cells that changed since there were `known` changes, each once. `None` if that is not known any more.
    pub(super) fn since(&self, known: u64) -> Option<Vec<usize>> {
        let missed = usize::try_from(self.count.saturating_sub(known)).ok()?;
        let start = self.latest.len().checked_sub(missed)?;
        let mut cells: Vec<usize> = self.latest.range(start..).copied().collect();
        cells.sort_unstable();
        cells.dedup();
        Some(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::{Changes, KEPT};

    #[test]
    fn who_missed_too_much_is_told_so() {
        let mut changes = Changes::default();
        for cell in [3, 1, 3] {
            changes.note(cell);
        }
        assert_eq!(changes.since(3), Some(Vec::new()));
        assert_eq!(changes.since(0), Some(vec![1, 3]));
        (0..KEPT).for_each(|cell| changes.note(cell));
        assert_eq!(changes.since(2), None);
        assert_eq!(changes.since(3).map(|cells| cells.len()), Some(KEPT));
    }
}
