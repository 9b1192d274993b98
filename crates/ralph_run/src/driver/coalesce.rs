//! Pieces of text, joined before they are recorded.

use std::time::Duration;

use agent_api::{Body, Delta, DeltaMode, Event, ItemId};
use tokio::time::Instant;

/// How often pieces are recorded at most. The first ones after a pause do not wait: whoever watches sees them at once.
const WINDOW: Duration = Duration::from_millis(33);
/// A joined piece does not get longer than the bound of a text.
const MOST_BYTES: usize = agent_api::bounds::TEXT_BYTES;

/// Joins pieces of the same item that come within a short time. Their block makes them superfluous.
#[derive(Debug, Default)]
pub(super) struct Coalescer {
    waiting: Vec<Event>,
    /// When pieces were recorded last.
    recorded_at: Option<Instant>,
    /// Since when the first of them waits.
    since: Option<Instant>,
}

impl Coalescer {
    /// Takes an event; what is to be recorded now is added to `ready`, in order.
    pub(super) fn push(&mut self, event: Event, now: Instant, ready: &mut Vec<Event>) {
        match &event.body {
            Body::Delta(delta) => {
                if self.join(delta) {
                    return;
                }
                self.since.get_or_insert(now);
                self.waiting.push(event);
            }
            Body::TextBlock(block) => self.end_item(&block.item.clone(), event, now, ready),
            Body::ThinkingBlock(block) => self.end_item(&block.item.clone(), event, now, ready),
            _ => {
                self.flush(now, ready);
                ready.push(event);
            }
        }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the pieces are to be recorded: at once, unless others were a moment ago.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let soonest = self.recorded_at.map(|at| at + WINDOW);
        self.since.map(|since| soonest.map_or(since, |at| at.max(since)))
    }

    /// All that waits.
    pub(super) fn flush(&mut self, now: Instant, ready: &mut Vec<Event>) {
        if self.since.take().is_some() {
            self.recorded_at = Some(now);
        }
        ready.append(&mut self.waiting);
    }

    fn join(&mut self, delta: &Delta) -> bool {
        let known = self.waiting.last_mut().and_then(|event| match &mut event.body {
            Body::Delta(known) => Some(known),
            _ => None,
        });
        let Some(known) = known.filter(|known| known.item == delta.item && known.part == delta.part) else {
            return false;
        };
        if delta.mode == DeltaMode::Snapshot {
            known.mode = DeltaMode::Snapshot;
            known.text.clone_from(&delta.text);
        } else if known.text.len() + delta.text.len() <= MOST_BYTES {
            known.text.push_str(&delta.text);
        } else {
            return false;
        }
        true
    }

    /// The block of an item replaces its pieces.
    fn end_item(&mut self, item: &ItemId, event: Event, now: Instant, ready: &mut Vec<Event>) {
        self.waiting
            .retain(|waiting| !matches!(&waiting.body, Body::Delta(delta) if delta.item == *item));
        self.flush(now, ready);
        ready.push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::{Coalescer, WINDOW};
    use agent_api::{AgentKind, Body, Delta, DeltaMode, Event, ItemId, Part, Piece, TextBlock};
    use tokio::time::Instant;

    fn event(body: Body) -> Event {
        Event::new(AgentKind::DEMO, body)
    }

    fn piece(item: &str, text: &str, mode: DeltaMode) -> Event {
        event(Body::Delta(Delta {
            item: ItemId::new(item),
            part: Part::Text,
            mode,
            text: text.to_owned(),
        }))
    }

    fn texts(events: &[Event]) -> Vec<String> {
        let text = |event: &Event| match &event.body {
            Body::Delta(delta) => format!("{}+{}", delta.item, delta.text),
            Body::TextBlock(block) => format!("{}={}", block.item, block.text),
            other => other.name().to_owned(),
        };
        events.iter().map(text).collect()
    }

    #[test]
    fn pieces_of_one_item_become_one_and_order_is_kept() {
        let mut coalescer = Coalescer::default();
        let mut ready = Vec::new();
        let now = Instant::now();
        for (item, text) in [("a", "1"), ("a", "2"), ("b", "3"), ("a", "4")] {
            coalescer.push(piece(item, text, DeltaMode::Append), now, &mut ready);
        }
        assert!(ready.is_empty() && coalescer.deadline().is_some());
        coalescer.flush(now, &mut ready);
        assert_eq!(texts(&ready), ["a+12", "b+3", "a+4"]);
        assert_eq!(coalescer.deadline(), None);
    }

    #[test]
    fn the_first_pieces_after_a_pause_are_due_at_once_and_the_next_ones_wait() {
        let mut coalescer = Coalescer::default();
        let mut ready = Vec::new();
        let now = Instant::now();
        coalescer.push(piece("a", "1", DeltaMode::Append), now, &mut ready);
        assert_eq!(coalescer.deadline(), Some(now));
        coalescer.flush(now, &mut ready);
        let soon = now + WINDOW / 2;
        coalescer.push(piece("a", "2", DeltaMode::Append), soon, &mut ready);
        assert_eq!(coalescer.deadline(), Some(now + WINDOW));
        coalescer.flush(now + WINDOW, &mut ready);
        let later = now + 3 * WINDOW;
        coalescer.push(piece("a", "3", DeltaMode::Append), later, &mut ready);
        assert_eq!(coalescer.deadline(), Some(later));
    }

    #[test]
    fn a_snapshot_replaces_what_waits() {
        let mut coalescer = Coalescer::default();
        let mut ready = Vec::new();
        let now = Instant::now();
        coalescer.push(piece("a", "old", DeltaMode::Append), now, &mut ready);
        coalescer.push(piece("a", "new", DeltaMode::Snapshot), now, &mut ready);
        coalescer.push(piece("a", "er", DeltaMode::Append), now, &mut ready);
        coalescer.flush(now, &mut ready);
        assert_eq!(texts(&ready), ["a+newer"]);
    }

    #[test]
    fn a_block_makes_its_waiting_pieces_superfluous() {
        let mut coalescer = Coalescer::default();
        let mut ready = Vec::new();
        let now = Instant::now();
        coalescer.push(piece("b", "other", DeltaMode::Append), now, &mut ready);
        coalescer.push(piece("a", "he", DeltaMode::Append), now, &mut ready);
        let block = TextBlock {
            item: ItemId::new("a"),
            text: "hello".to_owned(),
            piece: Piece::WHOLE,
            is_aborted: false,
        };
        coalescer.push(event(Body::TextBlock(block)), now, &mut ready);
        assert_eq!(texts(&ready), ["b+other", "a=hello"]);
    }
}
