//! The part of `TranscriptView` that searches. Hits are counted in the logical text of cells, so that no cell has to be
//! laid out for it; they are marked in lines before these are broken into rows.

use super::fold::Transcript;
use super::logical_text::for_each_text;
use super::search::Query;
use super::sheet::{LineHits, Sheet};
use super::view::TranscriptView;

#[derive(Debug)]
pub(super) struct Search {
    query: Query,
    hits: Vec<Hit>,
    current: usize,
    /// Where the current hit is drawn: cell, line, and where it starts in the line.
    marked: Option<(usize, usize, usize)>,
    /// Cells that were searched.
    searched: usize,
}

/// A hit: the cell, and which of the hits in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    cell: usize,
    number: usize,
}

impl Search {
    pub(super) fn hits_in(&self, cell: usize, line: usize, sheet: &Sheet) -> LineHits {
        let Some(text) = sheet.lines().get(line).map(|line| line.text.as_str()) else {
            return Vec::new();
        };
        let is_current = |start: usize| self.marked == Some((cell, line, start));
        let hits = self.query.find_all(text).into_iter();
        hits.map(|hit| (hit.clone(), is_current(hit.start))).collect()
    }
}

impl TranscriptView {
    /// Searches the visible cells, and goes to the first hit from here on. How many hits there are.
    pub(crate) fn search(&mut self, transcript: &Transcript, query: &str) -> usize {
        self.search = Query::new(query).map(|query| Search {
            query,
            hits: Vec::new(),
            current: 0,
            marked: None,
            searched: 0,
        });
        self.search_new(transcript);
        let from = self.anchor.cell;
        if let Some(search) = &mut self.search {
            let next = search.hits.partition_point(|hit| hit.cell < from);
            search.current = if next < search.hits.len() { next } else { 0 };
        }
        self.show_hit(transcript);
        self.hits().map_or(0, |(_, count)| count)
    }

    pub(super) fn search_again(&mut self, transcript: &Transcript) {
        if let Some(search) = self.search.take() {
            self.search(transcript, search.query.as_str());
        }
    }

    /// Searches cells that are new. The last one may still grow.
    pub(super) fn search_new(&mut self, transcript: &Transcript) {
        let Some(mut search) = self.search.take() else {
            return;
        };
        let len = transcript.len();
        let start = search.searched.min(len);
        for (index, cell) in transcript.cells().iter().enumerate().skip(start) {
            if self.is_visible(cell) {
                let mut count = 0;
                for_each_text(cell, |text| count += search.query.find_all(text).len());
                search
                    .hits
                    .extend((0..count).map(|number| Hit { cell: index, number }));
            }
        }
        search.searched = len;
        self.search = Some(search);
    }

    pub(crate) fn next_hit(&mut self, transcript: &Transcript) -> bool {
        self.step_hit(transcript, 1)
    }

    pub(crate) fn previous_hit(&mut self, transcript: &Transcript) -> bool {
        self.step_hit(transcript, -1)
    }

    /// After the last hit comes the first.
    fn step_hit(&mut self, transcript: &Transcript, step: isize) -> bool {
        self.search_new(transcript);
        let Some(search) = self.search.as_mut().filter(|search| !search.hits.is_empty()) else {
            return false;
        };
        let count = search.hits.len();
        search.current = (search.current + count).saturating_add_signed(step) % count;
        self.show_hit(transcript);
        true
    }

    pub(crate) fn clear_search(&mut self) {
        self.search = None;
    }

    /// The number of the current hit, from 1, and of all.
    pub(crate) fn hits(&self) -> Option<(usize, usize)> {
        let search = self.search.as_ref()?;
        let current = if search.hits.is_empty() {
            0
        } else {
            search.current + 1
        };
        Some((current, search.hits.len()))
    }

    /// Makes the current hit visible, and unfolds its cell if it is hidden in it.
    fn show_hit(&mut self, transcript: &Transcript) {
        let Some(search) = self.search.take() else {
            return;
        };
        let Some(hit) = search.hits.get(search.current).copied() else {
            self.search = Some(search);
            return;
        };
        let mut place = self.find_hit(transcript, &search.query, hit);
        if place.is_none() {
            self.unfold(hit.cell);
            place = self.find_hit(transcript, &search.query, hit);
        }
        // Marks of Markdown are searched but not shown: then the cell itself is the place.
        let (line, start) = place.unwrap_or((0, usize::MAX));
        let is_shown = place.is_some();
        self.search = Some(Search {
            marked: is_shown.then_some((hit.cell, line, start)),
            ..search
        });
        self.selected = Some(hit.cell);
        let place = super::sheet::Place {
            line,
            offset: if is_shown { start } else { 0 },
        };
        let Some(row) = self
            .layout(transcript, hit.cell)
            .map(|layout| layout.sheet.row_of(place))
        else {
            return;
        };
        let first = self.position(transcript);
        let position = (hit.cell, row);
        let last = self.up_from(transcript, position, self.rows.saturating_sub(1));
        if position < first || last > first {
            let third = self.up_from(transcript, position, self.rows / 3);
            let bottom = self.bottom(transcript, transcript.len());
            self.set_position(transcript, third.min(bottom));
        }
        self.is_following = false;
    }

    /// The line and the start of a hit in the rows of its cell.
    fn find_hit(&mut self, transcript: &Transcript, query: &Query, hit: Hit) -> Option<(usize, usize)> {
        let layout = self.layout(transcript, hit.cell)?;
        let mut before = 0;
        for (number, line) in layout.sheet.lines().iter().enumerate() {
            let found = query.find_all(&line.text);
            if let Some(range) = found.get(hit.number - before) {
                return Some((number, range.start));
            }
            before += found.len();
        }
        None
    }
}
