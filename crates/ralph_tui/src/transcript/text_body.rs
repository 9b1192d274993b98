//! `TextBody`: a text that arrives in pieces, as a whole, or both, and is kept once.

use agent_api::{Delta, DeltaMode, Piece};

/// How a piece of text reaches a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Before it is recorded.
    Live,
    /// As a record, which may repeat live pieces.
    Recorded,
}

/// A text of the model or of a running tool. Not sanitised.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextBody {
    text: String,
    /// Counts changes that were not only appended, after which nothing that is known about the text holds.
    epoch: u32,
    is_complete: bool,
    /// How much of it was recorded in deltas, and confirmed by the final block.
    recorded: usize,
    confirmed: usize,
    is_live: bool,
    /// How many bytes were cut out of it.
    dropped: usize,
}

impl TextBody {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether no more of it is expected.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn complete(&mut self) {
        self.is_complete = true;
        self.text.shrink_to_fit();
    }

    /// Takes a piece of a text that is being written. A complete text takes none.
    pub(super) fn push_delta(&mut self, delta: &Delta, arrival: Arrival) {
        if self.is_complete {
            return;
        }
        self.is_live |= arrival == Arrival::Live;
        let said = &delta.text;
        match (delta.mode, arrival) {
            (DeltaMode::Append, Arrival::Live) => self.text.push_str(said),
            (DeltaMode::Append, Arrival::Recorded) => {
                let shown = (self.text.len() + self.dropped).saturating_sub(self.recorded);
                self.recorded += said.len();
                self.text.push_str(said.get(shown..).unwrap_or_default());
            }
            // Its live pieces may be ahead of it.
            (DeltaMode::Snapshot, Arrival::Recorded) if self.is_live => self.recorded = said.len(),
            (DeltaMode::Snapshot, _) => {
                self.replace_from(0, said);
                self.truncate(said.len());
                if arrival == Arrival::Recorded {
                    self.recorded = said.len();
                }
            }
        }
    }

    /// Takes a block, or a piece of one. It replaces what deltas said.
    pub(super) fn push_block(&mut self, piece: Piece, text: &str) {
        if piece.index == 0 {
            self.confirmed = 0;
        }
        let start = self.confirmed;
        self.replace_from(start, text);
        self.confirmed = start + text.len();
        if piece.is_last {
            self.truncate(self.confirmed);
            self.complete();
        }
    }

    fn replace_from(&mut self, start: usize, news: &str) {
        let known = self.text.as_bytes().get(start..).unwrap_or_default();
        if let Some(more) = news.as_bytes().strip_prefix(known) {
            self.text.push_str(&news[news.len() - more.len()..]);
        } else if !known.starts_with(news.as_bytes()) {
            self.epoch += 1;
            self.text.truncate(start);
            self.text.push_str(news);
        }
        // Otherwise it is known already.
    }

    fn truncate(&mut self, length: usize) {
        if length < self.text.len() {
            self.epoch += 1;
            self.text.truncate(length);
        }
    }

    /// Replaces the text by a part of it.
    pub(super) fn shorten(&mut self, text: String) {
        self.epoch += 1;
        self.dropped += self.text.len().saturating_sub(text.len());
        self.text = text;
    }

    #[cfg(test)]
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use agent_api::{Delta, DeltaMode, ItemId, Part, Piece};
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    use super::{Arrival, TextBody};

    fn delta(mode: DeltaMode, text: &str) -> Delta {
        Delta {
            item: ItemId::new("1"),
            part: Part::Text,
            mode,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_block_that_contradicts_its_deltas_replaces_them() {
        let mut body = TextBody::default();
        body.push_delta(&delta(DeltaMode::Append, "Hello wrld"), Arrival::Live);
        body.push_block(Piece::WHOLE, "Hello world");
        assert_eq!(body.as_str(), "Hello world");
        assert!(body.is_complete() && body.epoch() == 1);
        body.push_delta(&delta(DeltaMode::Append, "late"), Arrival::Live);
        assert_eq!(body.as_str(), "Hello world");
    }

    proptest! {
        #[test]
        fn text_from_deltas_is_the_text_of_the_block(
            pieces in prop::collection::vec("[a-zé漢\n ]{0,8}", 0..12),
            live in any::<u16>(),
            is_snapshot in any::<u16>(),
            split in 0_usize..4,
        ) {
            let whole = pieces.concat();
            let mut body = TextBody::default();
            let mut said = String::new();
            for (number, piece) in pieces.iter().enumerate() {
                said.push_str(piece);
                let is_live = live & (1 << number) != 0;
                let arrivals: &[Arrival] =
                    if is_live { &[Arrival::Live, Arrival::Recorded] } else { &[Arrival::Recorded] };
                for arrival in arrivals {
                    // Live and recorded pieces are cut in the same way here; a snapshot says everything so far.
                    let is_snapshot = is_snapshot & (1 << number) != 0 && live == 0;
                    let delta = if is_snapshot { delta(DeltaMode::Snapshot, &said) } else { delta(DeltaMode::Append, piece) };
                    body.push_delta(&delta, *arrival);
                }
            }
            prop_assert_eq!(body.as_str(), &whole);
            let cut = whole.floor_char_boundary(whole.len() * split / 4);
            if cut > 0 {
                body.push_block(Piece { index: 0, is_last: false }, &whole[..cut]);
                body.push_block(Piece { index: 1, is_last: true }, &whole[cut..]);
            } else {
                body.push_block(Piece::WHOLE, &whole);
            }
            prop_assert_eq!(body.as_str(), &whole);
            prop_assert_eq!(body.epoch(), 0);
        }
    }
}
