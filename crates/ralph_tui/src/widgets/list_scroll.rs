//! `ListScroll`: which rows of a list are in view.

use std::ops::Range;

/// The first row in view. Content is counted in `usize`; only the view is as small as a terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ListScroll {
    first: usize,
}

impl ListScroll {
    /// The rows in view, with the selected one among them, and no gap at the end of a list that is long enough.
    pub(crate) fn view(&mut self, count: usize, selected: Option<usize>, rows: usize) -> Range<usize> {
        if let Some(selected) = selected {
            self.first = self
                .first
                .clamp(selected.saturating_sub(rows.saturating_sub(1)), selected);
        }
        self.first = self.first.min(count.saturating_sub(rows));
        self.first..count.min(self.first + rows)
    }

    /// Moves the view.
    pub(crate) fn scroll(&mut self, rows: isize) {
        self.first = self.first.saturating_add_signed(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::ListScroll;

    #[test]
    fn the_selected_row_is_in_view() {
        let mut scroll = ListScroll::default();
        assert_eq!(scroll.view(100, Some(0), 10), 0..10);
        assert_eq!(scroll.view(100, Some(10), 10), 1..11);
        assert_eq!(scroll.view(100, Some(5), 10), 1..11);
        assert_eq!(scroll.view(100, Some(99), 10), 90..100);
        assert_eq!(scroll.view(4, Some(3), 10), 0..4);
        assert_eq!(scroll.view(0, None, 10), 0..0);
    }

    #[test]
    fn a_list_without_a_selection_scrolls_to_its_ends() {
        let mut scroll = ListScroll::default();
        scroll.scroll(1_000);
        assert_eq!(scroll.view(100, None, 10), 90..100);
        scroll.scroll(-3);
        assert_eq!(scroll.view(100, None, 10), 87..97);
        scroll.scroll(-1_000);
        assert_eq!(scroll.view(100, None, 10), 0..10);
    }
}
