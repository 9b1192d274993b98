//! The part of `TranscriptView` that searches. Cells from the reader's place on come first, a slice at a time, so that a
//! key never waits for a long transcript. Hits are counted in the lines of the unfolded cell: what is counted can be shown.

use super::cell::CellKind;
use super::fold::Transcript;
use super::layout::CellLayout;
use super::logical_text::for_each_text;
use super::search::Query;
use super::sheet::{LineHits, Place, Sheet};
use super::view::TranscriptView;

/// How much of a transcript is searched at once: a few milliseconds.
const SLICE_COST: usize = 1 << 20;
/// What a byte costs whose cell has to be laid out, if reading it costs 1, and what each such cell costs at least.
const LAYOUT_COST: usize = 8;
const MIN_LAYOUT_COST: usize = 2 << 10;
/// Cells with no more text than this are always laid out to be searched. Longer ones only if the query can be in their
/// text, or in what is shown of them when they are folded: their heading with its labels and figures.
const SHORT_BYTES: usize = 4 << 10;

#[derive(Debug)]
pub(super) struct Search {
    query: Query,
    /// Where it began. Cells from here on are searched first, then those before.
    start: usize,
    /// The cells with hits, in order.
    behind: Vec<Found>,
    ahead: Vec<Found>,
    /// The next cells to be searched.
    next_behind: usize,
    next_ahead: usize,
    /// How many changes of cells are known.
    known_changes: u64,
    current: Option<Hit>,
    /// Whether the view goes to the first hit as soon as there is one.
    goes_to_first: bool,
    /// Where the current hit is drawn: cell, line, and where it starts in the line.
    marked: Option<(usize, usize, usize)>,
}

/// A cell with hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    cell: usize,
    count: usize,
}

/// A hit: the cell, and which of the hits in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    cell: usize,
    number: usize,
}

impl Search {
    fn new(query: Query, start: usize, known_changes: u64) -> Self {
        Self {
            query,
            start,
            behind: Vec::new(),
            ahead: Vec::new(),
            next_behind: 0,
            next_ahead: start,
            known_changes,
            current: None,
            goes_to_first: false,
            marked: None,
        }
    }

    /// What is to be marked in a row of a cell. Only the row and what may begin before it or end after it is searched.
    pub(super) fn hits_in(&self, cell: usize, row: usize, sheet: &Sheet) -> LineHits {
        let Some((line, text, shown)) = sheet.text_of(row) else {
            return Vec::new();
        };
        // In another case, a letter can take up to three times as many bytes.
        let margin = 3 * self.query.as_str().len();
        let start = text.floor_char_boundary(shown.start.saturating_sub(margin));
        let end = text.ceil_char_boundary(text.len().min(shown.end + margin));
        let is_current = |start: usize| self.marked == Some((cell, line, start));
        // Of hits that could overlap, the current one is one.
        let current = match self.marked {
            Some((marked, of, at)) if (marked, of) == (cell, line) && (start..end).contains(&at) => at,
            _ => start,
        };
        let hits = [start..current, current..end].into_iter().flat_map(|part| {
            let hits = self.query.find_all(text.get(part.clone()).unwrap_or_default());
            hits.into_iter()
                .map(move |hit| hit.start + part.start..hit.end + part.start)
        });
        hits.filter(|hit| hit.start < shown.end && shown.start < hit.end)
            .map(|hit| (hit.clone(), is_current(hit.start)))
            .collect()
    }

    fn next_cell(&mut self, len: usize) -> Option<usize> {
        let next = if self.next_ahead < len {
            &mut self.next_ahead
        } else if self.next_behind < self.start.min(len) {
            &mut self.next_behind
        } else {
            return None;
        };
        *next += 1;
        Some(*next - 1)
    }

    fn is_searched(&self, cell: usize) -> bool {
        cell < self.next_behind || (self.start..self.next_ahead).contains(&cell)
    }

    /// Replaces what is known about a cell.
    fn set_count(&mut self, cell: usize, count: usize) {
        let found = match cell < self.start {
            true => &mut self.behind,
            false => &mut self.ahead,
        };
        let place = found.partition_point(|found| found.cell < cell);
        match found.get_mut(place).filter(|found| found.cell == cell) {
            Some(_) if count == 0 => drop(found.remove(place)),
            Some(found) => found.count = count,
            None if count == 0 => {}
            None => found.insert(place, Found { cell, count }),
        }
    }

    fn found(&self) -> impl DoubleEndedIterator<Item = Found> + Clone + '_ {
        self.behind.iter().chain(&self.ahead).copied()
    }

    fn count_of(&self, cell: usize) -> usize {
        let found = self.found().find(|found| found.cell == cell);
        found.map_or(0, |found| found.count)
    }

    /// The first hit in this cell or later; after the last one comes the first.
    fn first_from(&self, cell: usize) -> Option<Hit> {
        let mut found = self.found();
        let later = found.clone().find(|found| found.cell >= cell);
        let cell = later.or_else(|| found.next())?.cell;
        Some(Hit { cell, number: 0 })
    }

    fn next(&self, hit: Hit) -> Option<Hit> {
        if hit.number + 1 < self.count_of(hit.cell) {
            let number = hit.number + 1;
            return Some(Hit { number, ..hit });
        }
        self.first_from(hit.cell + 1)
    }

    fn previous(&self, hit: Hit) -> Option<Hit> {
        if let Some(number) = hit.number.checked_sub(1) {
            return Some(Hit { number, ..hit });
        }
        let mut found = self.found().rev();
        let earlier = found.clone().find(|found| found.cell < hit.cell);
        let Found { cell, count } = earlier.or_else(|| found.next())?;
        let number = count.saturating_sub(1);
        Some(Hit { cell, number })
    }
}

impl TranscriptView {
    /// The reader begins to type a query. Every character of it is searched for from here on.
    pub(crate) fn begin_typing(&mut self) {
        self.search_origin = Some((self.anchor, self.is_following));
    }

    /// The query is complete: the reader stays at its hit.
    pub(crate) fn end_typing(&mut self) {
        self.search_origin = None;
    }

    /// No query after all: back to where the reader was.
    pub(crate) fn cancel_typing(&mut self) {
        self.return_to_origin();
        self.search_origin = None;
        self.search = None;
    }

    fn return_to_origin(&mut self) {
        self.close_for_search(None);
        if let Some((anchor, is_following)) = self.search_origin {
            (self.anchor, self.is_following) = (anchor, is_following);
        }
    }

    /// Searches the visible cells, and goes to the first hit from here on. How many hits there are so far.
    pub(crate) fn search(&mut self, transcript: &Transcript, query: &str) -> usize {
        self.return_to_origin();
        self.begin_search(transcript, query);
        if let Some(search) = &mut self.search {
            search.goes_to_first = true;
        }
        self.search_more(transcript);
        self.hits().map_or(0, |(_, count)| count)
    }

    fn begin_search(&mut self, transcript: &Transcript, query: &str) {
        let start = self.anchor.cell.min(transcript.len());
        self.search = Query::new(query).map(|query| Search::new(query, start, transcript.changes().count()));
    }

    /// Searches everything again, because other cells are visible or there is more of them. The reader stays.
    pub(super) fn search_again(&mut self, transcript: &Transcript) {
        if let Some(search) = self.search.take() {
            self.begin_search(transcript, search.query.as_str());
            self.search_more(transcript);
        }
    }

    /// Whether the first pass over the transcript is not finished.
    pub(crate) fn is_searching(&self, transcript: &Transcript) -> bool {
        self.search.as_ref().is_some_and(|search| {
            search.next_ahead < transcript.len() || search.next_behind < search.start.min(transcript.len())
        })
    }

    /// Whether cells have changed that were searched before.
    pub(crate) fn has_stale_hits(&self, transcript: &Transcript) -> bool {
        let count = transcript.changes().count();
        let search = self.search.as_ref();
        search.is_some_and(|search| search.known_changes != count)
    }

    /// The reader went somewhere else: no hit takes him away.
    pub(crate) fn stay(&mut self) {
        if let Some(search) = &mut self.search {
            search.goes_to_first = false;
        }
    }

    /// Searches the next slice.
    pub(crate) fn search_more(&mut self, transcript: &Transcript) {
        let Some(mut search) = self.search.take() else {
            return;
        };
        match transcript.changes().since(search.known_changes) {
            Some(changed) => {
                for cell in changed {
                    if search.is_searched(cell) {
                        let (count, _) = self.count_hits(transcript, cell, &search.query);
                        search.set_count(cell, count);
                    }
                }
            }
            // Too much has happened.
            None => (search.next_behind, search.next_ahead) = (0, search.start),
        }
        search.known_changes = transcript.changes().count();
        let mut cost = 0;
        while cost < SLICE_COST {
            let Some(cell) = search.next_cell(transcript.len()) else {
                break;
            };
            let (count, cell_cost) = self.count_hits(transcript, cell, &search.query);
            search.set_count(cell, count);
            cost += cell_cost;
        }
        let first = match search.goes_to_first {
            true => search.first_from(search.start),
            false => None,
        };
        if let Some(first) = first {
            search.current = Some(first);
            search.goes_to_first = false;
        }
        self.search = Some(search);
        if first.is_some() {
            self.show_hit(transcript);
        }
    }

    /// How many hits a cell has, and what it cost to know it.
    fn count_hits(&mut self, transcript: &Transcript, index: usize, query: &Query) -> (usize, usize) {
        let Some(cell) = transcript.cell(index).filter(|cell| self.is_visible(cell)) else {
            return (0, 1);
        };
        let (mut bytes, mut has_word) = (1, false);
        for_each_text(cell, |text| {
            bytes += text.len();
            has_word = has_word || query.may_be_in(text);
        });
        let mut cost = bytes;
        if !has_word && bytes > SHORT_BYTES {
            if matches!(cell.kind, CellKind::Text(_)) {
                return (0, cost);
            }
            let setting = self.setting(transcript, index, cell, true);
            let folded = CellLayout::new(cell, setting, self.now()).sheet;
            cost += MIN_LAYOUT_COST;
            if !folded.lines().iter().any(|line| query.may_be_in(&line.text)) {
                return (0, cost);
            }
        }
        let count_in = |sheet: &Sheet| {
            let lines = sheet.lines().iter();
            lines.map(|line| query.find_all(&line.text).len()).sum()
        };
        let count = match self.is_laid_out(index) && !self.is_folded(index, cell) {
            true => self
                .layout(transcript, index)
                .map_or(0, |layout| count_in(&layout.sheet)),
            false => {
                let setting = self.setting(transcript, index, cell, false);
                count_in(&CellLayout::new(cell, setting, self.now()).sheet)
            }
        };
        (count, cost + (bytes * LAYOUT_COST).max(MIN_LAYOUT_COST))
    }

    pub(crate) fn next_hit(&mut self, transcript: &Transcript) -> bool {
        self.step_hit(transcript, Search::next)
    }

    pub(crate) fn previous_hit(&mut self, transcript: &Transcript) -> bool {
        self.step_hit(transcript, Search::previous)
    }

    /// After the last hit comes the first.
    fn step_hit(&mut self, transcript: &Transcript, step: impl Fn(&Search, Hit) -> Option<Hit>) -> bool {
        let from = self.anchor.cell;
        let Some(search) = &mut self.search else {
            return false;
        };
        let current = match search.current {
            Some(hit) => step(search, hit),
            None => search.first_from(from),
        };
        search.current = current.or(search.current);
        search.goes_to_first = false;
        self.show_hit(transcript);
        current.is_some()
    }

    /// The cell of the last hit stays as it is.
    pub(crate) fn clear_search(&mut self) {
        self.opened_by_search = None;
        self.search = None;
    }

    /// The number of the current hit, from 1, and of all that are known.
    pub(crate) fn hits(&self) -> Option<(usize, usize)> {
        let search = self.search.as_ref()?;
        let all = search.found().map(|found| found.count).sum();
        let current = search.current.map_or(0, |hit| {
            let before = search.found().take_while(|found| found.cell < hit.cell);
            before.map(|found| found.count).sum::<usize>() + hit.number + 1
        });
        Some((current.min(all), all))
    }

    /// Makes the current hit visible, and unfolds its cell if some of its hits are hidden.
    fn show_hit(&mut self, transcript: &Transcript) {
        let Some(search) = self.search.take() else {
            return;
        };
        let Some(hit) = search.current else {
            self.search = Some(search);
            return;
        };
        self.close_for_search(Some(hit.cell));
        let (mut place, shown) = self.find_hit(transcript, &search.query, hit);
        if shown < search.count_of(hit.cell) {
            self.open_for_search(hit.cell);
            (place, _) = self.find_hit(transcript, &search.query, hit);
        }
        let (line, start) = place.unwrap_or((0, 0));
        self.search = Some(Search {
            marked: place.map(|(line, start)| (hit.cell, line, start)),
            ..search
        });
        self.selected = Some(hit.cell);
        let place = Place { line, offset: start };
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

    /// The line and the start of a hit in the rows of its cell, and how many hits they have.
    fn find_hit(
        &mut self,
        transcript: &Transcript,
        query: &Query,
        hit: Hit,
    ) -> (Option<(usize, usize)>, usize) {
        let Some(layout) = self.layout(transcript, hit.cell) else {
            return (None, 0);
        };
        let (mut place, mut count) = (None, 0);
        for (number, line) in layout.sheet.lines().iter().enumerate() {
            let found = query.find_all(&line.text);
            let wanted = hit.number.checked_sub(count).and_then(|index| found.get(index));
            place = place.or_else(|| wanted.map(|range| (number, range.start)));
            count += found.len();
        }
        (place, count)
    }
}
