//! `Flow`: shows the streamed texts of the main conversation one after the other, each once.

use std::collections::VecDeque;

use agent_api::{Delta, DeltaMode, ItemId, Part, Piece};

use super::page::Page;
use super::paragraph::{Pace, Paragraph};

/// How many shown texts are remembered, in case the agent discards one.
const MAX_REMEMBERED: usize = 32;

/// How a piece of text reaches the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Before it is recorded.
    Live,
    /// As a record, which may repeat live pieces.
    Recorded,
}

/// The texts of the main conversation. Each is shown once, whether it arrives in pieces, as a whole or both; and one
/// after the other, even if they are written at the same time.
#[derive(Debug)]
pub(super) struct Flow {
    pace: Pace,
    /// Incomplete texts in the order of their start. Only the first is shown.
    open: VecDeque<Text>,
    shown: VecDeque<ItemId>,
    /// Lines to be shown when no text is open.
    held: String,
}

#[derive(Debug)]
struct Text {
    item: ItemId,
    part: Part,
    prefix: String,
    paragraph: Paragraph,
    /// The text so far.
    known: String,
    /// How much of it the paragraph has.
    given: usize,
    /// How much of it was recorded.
    recorded: usize,
    is_live: bool,
    /// How much of it the final block has confirmed.
    confirmed: usize,
    is_complete: bool,
}

impl Flow {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            pace,
            open: VecDeque::new(),
            shown: VecDeque::new(),
            held: String::new(),
        }
    }

    /// Whether an incomplete text is shown.
    pub(super) fn is_open(&self) -> bool {
        self.open.front().is_some_and(|text| text.paragraph.has_begun())
    }

    /// Shows whole lines, but not between those of a text.
    pub(super) fn push_aside(&mut self, rows: &str, page: &mut Page) {
        if self.is_open() {
            self.held.push_str(rows);
        } else {
            page.push_rows(rows);
        }
    }

    /// A piece of a text that is being written.
    pub(super) fn push_delta(&mut self, delta: &Delta, arrival: Arrival, prefix: &str, page: &mut Page) {
        let pace = self.pace;
        let text = self.text(&delta.item, delta.part, prefix);
        text.is_live |= arrival == Arrival::Live;
        let said = &delta.text;
        match (delta.mode, arrival) {
            (DeltaMode::Append, Arrival::Live) => text.known.push_str(said),
            (DeltaMode::Append, Arrival::Recorded) => {
                let shown = text.known.len().saturating_sub(text.recorded);
                text.recorded += said.len();
                text.known.push_str(said.get(shown..).unwrap_or_default());
            }
            // Its live pieces may be ahead of it.
            (DeltaMode::Snapshot, Arrival::Recorded) if text.is_live => text.recorded = said.len(),
            (DeltaMode::Snapshot, _) => {
                text.replace_from(0, said, pace, page);
                text.truncate(said.len());
                if arrival == Arrival::Recorded {
                    text.recorded = said.len();
                }
            }
        }
        self.advance(page);
    }

    /// A text that is complete, or a piece of one.
    pub(super) fn push_block(
        &mut self,
        item: &ItemId,
        part: Part,
        block: (Piece, &str),
        prefix: &str,
        page: &mut Page,
    ) {
        let (piece, whole) = block;
        if self.open.is_empty() && piece == Piece::WHOLE {
            // The usual case without deltas.
            let mut paragraph = Paragraph::new(prefix.to_owned(), self.pace);
            paragraph.push(whole, page);
            self.end(item.clone(), &mut paragraph, page);
            return;
        }
        let pace = self.pace;
        let text = self.text(item, part, prefix);
        if piece.index == 0 {
            text.confirmed = 0;
        }
        let confirmed = text.confirmed;
        text.replace_from(confirmed, whole, pace, page);
        text.confirmed = confirmed + whole.len();
        if piece.is_last {
            let confirmed = text.confirmed;
            text.truncate(confirmed);
            text.is_complete = true;
        }
        self.advance(page);
    }

    /// Discards an item. Whether any of it was shown.
    pub(super) fn discard(&mut self, item: &ItemId, page: &mut Page) -> bool {
        let mut was_shown = self.shown.contains(item);
        while let Some(place) = self.open.iter().position(|text| text.item == *item) {
            if let Some(mut text) = self.open.remove(place)
                && text.paragraph.has_begun()
            {
                text.paragraph.end(page);
                was_shown = true;
            }
        }
        self.shown.retain(|shown| shown != item);
        self.advance(page);
        was_shown
    }

    /// Shows incomplete texts as they are.
    pub(super) fn finish(&mut self, page: &mut Page) {
        for text in &mut self.open {
            text.is_complete = true;
        }
        self.advance(page);
        self.shown.clear();
    }

    fn text(&mut self, item: &ItemId, part: Part, prefix: &str) -> &mut Text {
        let known = self
            .open
            .iter()
            .position(|text| text.item == *item && text.part == part);
        let place = known.unwrap_or_else(|| {
            self.open.push_back(Text {
                item: item.clone(),
                part,
                prefix: prefix.to_owned(),
                paragraph: Paragraph::new(prefix.to_owned(), self.pace),
                known: String::new(),
                given: 0,
                recorded: 0,
                is_live: false,
                confirmed: 0,
                is_complete: false,
            });
            self.open.len() - 1
        });
        &mut self.open[place]
    }

    fn advance(&mut self, page: &mut Page) {
        while let Some(first) = self.open.front_mut() {
            let news = first.known.get(first.given..).unwrap_or_default();
            first.paragraph.push(news, page);
            first.given = first.known.len();
            if !first.is_complete {
                return;
            }
            if let Some(mut done) = self.open.pop_front() {
                self.end(done.item, &mut done.paragraph, page);
            }
        }
        page.push_rows(&self.held);
        self.held.clear();
    }

    fn end(&mut self, item: ItemId, paragraph: &mut Paragraph, page: &mut Page) {
        if paragraph.has_begun() {
            paragraph.end(page);
            self.shown.push_back(item);
            if self.shown.len() > MAX_REMEMBERED {
                self.shown.pop_front();
            }
        }
    }
}

impl Text {
    /// Replaces the text from `start` on. If that contradicts what was shown, the text is shown again.
    fn replace_from(&mut self, start: usize, news: &str, pace: Pace, page: &mut Page) {
        let known = self.known.as_bytes().get(start..).unwrap_or_default();
        if let Some(more) = news.as_bytes().strip_prefix(known) {
            self.known.push_str(&news[news.len() - more.len()..]);
        } else if !known.starts_with(news.as_bytes()) {
            if self.paragraph.has_begun() {
                self.paragraph.end(page);
            }
            self.paragraph = Paragraph::new(self.prefix.clone(), pace);
            self.known.truncate(start);
            self.known.push_str(news);
            self.given = start.min(self.given);
        }
        // Otherwise it is known already.
    }

    fn truncate(&mut self, length: usize) {
        self.known.truncate(length);
        self.given = self.given.min(length);
    }
}
