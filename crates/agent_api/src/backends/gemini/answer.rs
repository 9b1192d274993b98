//! `Answer`: the text that Gemini is writing, with repetitions after a broken answer removed.

use crate::emitter::Emitter;
use crate::event::{Body, DiscardReason, ItemDiscarded, ItemId, Part, RawRef};

/// Less text than this is never taken for a repetition.
const MIN_REPEATED_BYTES: usize = 16;

/// The text that is being written. A message has no id and no end of its own: it ends where something else begins.
///
/// When an answer breaks off, the CLI asks for it again and writes the new one behind the old, with nothing between.
/// That is recognised only where the very same pieces come again in the same order, from the first to the last that
/// there is, at least two and [`MIN_REPEATED_BYTES`] long. Meanwhile they are held back: a reader knows them already.
/// The first piece that differs sets them free, and from then on this text is taken as it comes, because its
/// beginning is a word that it repeats. A new answer in other words looks like the continuation of the old one.
#[derive(Debug, Default)]
pub(super) struct Answer {
    open: Option<Open>,
    count: u32,
    last_text: Option<String>,
}

#[derive(Debug)]
struct Open {
    item: ItemId,
    pieces: Vec<String>,
    /// Pieces that repeat the first ones, with their places.
    held: Vec<(Option<RawRef>, String)>,
    /// Whether a repetition would be recognised.
    is_watched: bool,
}

impl Answer {
    /// A further piece, found at `raw`.
    pub(super) fn push(&mut self, raw: Option<RawRef>, piece: &str, events: &mut Emitter) {
        let Some(open) = &mut self.open else {
            self.begin(raw, vec![(raw, piece.to_owned())], events);
            return;
        };
        let expected = open.pieces.get(open.held.len());
        let may_repeat = open.is_watched && expected.is_some_and(|expected| expected == piece);
        if !may_repeat {
            // Its beginning came again and it was no new answer.
            open.is_watched &= open.held.is_empty();
            open.release(events);
            open.append(raw, piece.to_owned(), events);
            return;
        }
        open.held.push((raw, piece.to_owned()));
        if open.held.len() < open.pieces.len() {
            return;
        }
        let length: usize = open.pieces.iter().map(String::len).sum();
        if open.pieces.len() < 2 || length < MIN_REPEATED_BYTES {
            open.is_watched = false;
            open.release(events);
            return;
        }
        let held = std::mem::take(&mut open.held);
        let item = open.item.clone();
        events.at(raw);
        events.emit(Body::ItemDiscarded(ItemDiscarded {
            item,
            reason: DiscardReason::Retry,
        }));
        self.begin(raw, held, events);
    }

    /// Something else begins, at `raw`: the text is complete.
    pub(super) fn end(&mut self, raw: Option<RawRef>, is_aborted: bool, events: &mut Emitter) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        open.release(events);
        events.at(raw);
        let text = open.pieces.concat();
        self.last_text = Some(text.clone());
        events.text_block(open.item, text, is_aborted);
    }

    /// The text that a turn ended with.
    pub(super) fn take_last_text(&mut self) -> Option<String> {
        self.last_text.take()
    }

    fn begin(&mut self, raw: Option<RawRef>, pieces: Vec<(Option<RawRef>, String)>, events: &mut Emitter) {
        self.count += 1;
        let mut open = Open {
            item: ItemId::new(&format!("message-{}", self.count)),
            pieces: Vec::new(),
            held: pieces,
            is_watched: true,
        };
        open.release(events);
        events.at(raw);
        self.open = Some(open);
    }
}

impl Open {
    fn release(&mut self, events: &mut Emitter) {
        for (raw, piece) in std::mem::take(&mut self.held) {
            self.append(raw, piece, events);
        }
    }

    fn append(&mut self, raw: Option<RawRef>, piece: String, events: &mut Emitter) {
        events.at(raw);
        events.append(&self.item, Part::Text, piece.as_str());
        self.pieces.push(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;
    use crate::emitter::Emitter;
    use crate::event::{AgentKind, Body};

    /// What remains of these pieces, and how many texts were discarded.
    fn written(pieces: &[&str]) -> (String, usize) {
        let mut events = Emitter::new(AgentKind::GEMINI);
        let mut answer = Answer::default();
        for piece in pieces {
            answer.push(None, piece, &mut events);
        }
        answer.end(None, false, &mut events);
        let bodies: Vec<Body> = std::iter::from_fn(|| events.next_event())
            .map(|event| event.body)
            .collect();
        let is_discarded = |body: &&Body| matches!(body, Body::ItemDiscarded(_));
        let text = match bodies.last() {
            Some(Body::TextBlock(block)) => block.text.clone(),
            other => unreachable!("{other:?}"),
        };
        (text, bodies.iter().filter(is_discarded).count())
    }

    #[test]
    fn the_same_pieces_once_more_are_a_new_answer() {
        let (text, discarded) = written(&[
            "This text ",
            "arrives",
            "This text ",
            "arrives",
            " at last",
            "This text ",
            "arrives",
            " at last",
        ]);
        assert_eq!((text.as_str(), discarded), ("This text arrives at last", 2));
    }

    #[test]
    fn words_that_are_said_twice_stay() {
        for pieces in [
            &[
                "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha",
            ][..],
            &[
                "We all live in a yellow submarine, ",
                "We all live in a yellow submarine",
            ],
            &["Row, row, ", "row your boat. ", "Row, row, ", "row it well."],
            &["a", "b", "a", "b"],
            &["One sentence. ", "Another one. ", "One sentence. "],
        ] {
            assert_eq!(written(pieces), (pieces.concat(), 0), "{pieces:?}");
        }
    }
}
