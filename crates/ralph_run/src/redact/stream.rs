//! Pieces of text without secrets, however they are cut.

use std::sync::Arc;
use std::time::Duration;

use agent_api::{AgentKind, Body, Delta, DeltaMode, Event, ItemId, Part, RawRef};
use tokio::time::Instant;

use super::Redactor;
use super::unfinished::Unfinished;

/// How long the line of a text waits for its end, where patterns have to see whole lines.
const PATIENCE: Duration = Duration::from_millis(300);
/// So many items that nobody ended are remembered. Of a forgotten one the next piece is looked at alone.
const MOST_ITEMS: usize = 64;

/// Redacts pieces of text. What begins like a secret waits until it is one or is not, or until its item ends; everything
/// else is given out at once.
#[derive(Debug)]
pub(crate) struct DeltaRedactor {
    redactor: Arc<Redactor>,
    /// The items that are being written, the one that began first in front.
    items: Vec<Written>,
}

#[derive(Debug)]
struct Written {
    item: ItemId,
    part: Part,
    text: Unfinished,
    /// Where its last piece came from.
    agent_kind: AgentKind,
    parent: Option<ItemId>,
    raw: Option<RawRef>,
    /// None for what must not be shown by halves.
    until: Option<Instant>,
}

impl DeltaRedactor {
    pub(crate) fn new(redactor: Arc<Redactor>) -> Self {
        Self {
            redactor,
            items: Vec::new(),
        }
    }

    /// Takes an event; what can be shown and recorded is added to `ready`. Only pieces of text are changed.
    pub(crate) fn push(&mut self, event: Event, now: Instant, ready: &mut Vec<Event>) {
        match &event.body {
            Body::Delta(_) => return self.push_delta(event, now, ready),
            // The block has all of it.
            Body::TextBlock(block) => self.forget(&block.item),
            Body::ThinkingBlock(block) => self.forget(&block.item),
            Body::ItemDiscarded(discarded) => self.forget(&discarded.item),
            Body::ToolStarted(tool) => self.end_where(ready, |written| written.item == tool.item),
            Body::ToolFinished(tool) => self.end_where(ready, |written| written.item == tool.item),
            Body::Finished(_) => self.release(ready),
            // Whatever else happens in the middle of a word does not end it.
            _ => {}
        }
        ready.push(event);
    }

    /// Whether no item is being written.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// When something that waits has waited long enough.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.items.iter().filter_map(|written| written.until).min()
    }

    /// Gives out what has waited long enough.
    pub(crate) fn release_due(&mut self, now: Instant, ready: &mut Vec<Event>) {
        self.end_where(ready, |written| written.until.is_some_and(|until| until <= now));
    }

    /// Gives out everything: nothing more comes.
    pub(crate) fn release(&mut self, ready: &mut Vec<Event>) {
        self.end_where(ready, |_| true);
    }

    fn push_delta(&mut self, mut event: Event, now: Instant, ready: &mut Vec<Event>) {
        let Body::Delta(delta) = &mut event.body else {
            return;
        };
        let is_same = |written: &Written| written.item == delta.item && written.part == delta.part;
        let place = match self.items.iter().position(is_same) {
            Some(place) => place,
            None => self.begin(delta, &event.agent_kind, ready),
        };
        let written = &mut self.items[place];
        written.parent.clone_from(&event.parent);
        written.raw = event.raw;
        if delta.mode == DeltaMode::Snapshot {
            written.text.clear();
        }
        delta.text = written.text.push(&delta.text, &self.redactor);
        let rest = written.text.rest();
        let can_wait_forever = rest.is_empty() || self.redactor.is_unfinished(rest);
        written.until = (!can_wait_forever).then(|| now + PATIENCE);
        if !delta.text.is_empty() || delta.mode == DeltaMode::Snapshot {
            ready.push(event);
        }
    }

    fn begin(&mut self, delta: &Delta, agent_kind: &AgentKind, ready: &mut Vec<Event>) -> usize {
        if self.items.len() == MOST_ITEMS {
            let oldest = self.items.remove(0);
            self.end(oldest, ready);
        }
        self.items.push(Written {
            item: delta.item.clone(),
            part: delta.part,
            text: Unfinished::default(),
            agent_kind: agent_kind.clone(),
            parent: None,
            raw: None,
            until: None,
        });
        self.items.len() - 1
    }

    fn end_where(&mut self, ready: &mut Vec<Event>, is_due: impl Fn(&Written) -> bool) {
        let due: Vec<Written> = self.items.extract_if(.., |written| is_due(written)).collect();
        for written in due {
            self.end(written, ready);
        }
    }

    /// No more of it comes: gives out what waits.
    fn end(&self, mut written: Written, ready: &mut Vec<Event>) {
        if written.text.rest().is_empty() {
            return;
        }
        ready.push(Event {
            agent_kind: written.agent_kind,
            parent: written.parent,
            raw: written.raw,
            body: Body::Delta(Delta {
                item: written.item,
                part: written.part,
                mode: DeltaMode::Append,
                text: written.text.finish(&self.redactor),
            }),
        });
    }

    fn forget(&mut self, item: &ItemId) {
        self.items.retain(|written| written.item != *item);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent_api::{AgentKind, Body, Delta, DeltaMode, Event, ItemId, Part};
    use tokio::time::Instant;

    use super::{DeltaRedactor, PATIENCE};
    use crate::redact::{Redactor, Secret};

    const SECRET: &str = "zq9secretvalue77";

    fn redactor() -> DeltaRedactor {
        let redactor = Redactor::new(Secret::new("A_KEY", SECRET), [""; 0]).unwrap();
        DeltaRedactor::new(Arc::new(redactor))
    }

    fn piece(item: &str, mode: DeltaMode, text: &str) -> Event {
        Event {
            agent_kind: AgentKind::DEMO,
            parent: None,
            raw: None,
            body: Body::Delta(Delta {
                item: ItemId::new(item),
                part: Part::Text,
                mode,
                text: text.to_owned(),
            }),
        }
    }

    fn texts(events: &[Event]) -> Vec<String> {
        let text = |event: &Event| match &event.body {
            Body::Delta(delta) => format!("{}+{}", delta.item, delta.text),
            other => other.name().to_owned(),
        };
        events.iter().map(text).collect()
    }

    #[test]
    fn items_that_are_written_at_the_same_time_do_not_cut_each_others_words() {
        let (mut redactor, now, mut ready) = (redactor(), Instant::now(), Vec::new());
        for (item, text) in [
            ("a", "one zq9sec"),
            ("b", "zq9 zq9sec"),
            ("a", "retvalue77 "),
            ("b", "ond "),
        ] {
            redactor.push(piece(item, DeltaMode::Append, text), now, &mut ready);
        }
        assert_eq!(
            texts(&ready),
            ["a+one ", "b+zq9 ", "a+[redacted:A_KEY] ", "b+zq9second "]
        );
        assert_eq!(redactor.deadline(), None);
    }

    #[test]
    fn a_snapshot_replaces_what_waits_and_its_end_waits_too() {
        let (mut redactor, now, mut ready) = (redactor(), Instant::now(), Vec::new());
        redactor.push(piece("a", DeltaMode::Append, "zq9sec"), now, &mut ready);
        redactor.push(piece("a", DeltaMode::Snapshot, "new zq9secret"), now, &mut ready);
        redactor.push(piece("a", DeltaMode::Append, "value77"), now, &mut ready);
        redactor.release(&mut ready);
        assert_eq!(texts(&ready), ["a+new ", "a+[redacted:A_KEY]"]);
    }

    #[test]
    fn an_ordinary_word_is_given_out_at_once_and_the_beginning_of_a_secret_waits_for_its_end() {
        let (mut redactor, now, mut ready) = (redactor(), Instant::now(), Vec::new());
        redactor.push(piece("a", DeltaMode::Append, "ring"), now, &mut ready);
        redactor.push(piece("b", DeltaMode::Append, "ring zq9sec"), now, &mut ready);
        assert_eq!(texts(&ready), ["a+ring", "b+ring "]);
        assert_eq!(redactor.deadline(), None);
        redactor.release(&mut ready);
        assert_eq!(texts(&ready), ["a+ring", "b+ring ", "b+zq9sec"]);
    }

    #[test]
    fn with_patterns_a_line_waits_for_its_end_but_not_for_long() {
        let patterns = Redactor::new([], ["code [0-9]+"]).unwrap();
        let mut redactor = DeltaRedactor::new(Arc::new(patterns));
        let (now, mut ready) = (Instant::now(), Vec::new());
        redactor.push(piece("a", DeltaMode::Append, "the code"), now, &mut ready);
        redactor.push(piece("a", DeltaMode::Append, " 12\nand"), now, &mut ready);
        assert_eq!(texts(&ready), ["a+the [redacted:pattern]\n"]);
        assert_eq!(redactor.deadline(), Some(now + PATIENCE));
        redactor.release_due(now + PATIENCE, &mut ready);
        assert_eq!(texts(&ready), ["a+the [redacted:pattern]\n", "a+and"]);
        assert_eq!(redactor.deadline(), None);
    }

    #[test]
    fn items_that_nobody_ends_are_not_remembered_for_ever() {
        let (mut redactor, now, mut ready) = (redactor(), Instant::now(), Vec::new());
        for number in 0..1_000 {
            redactor.push(
                piece(&number.to_string(), DeltaMode::Append, "x zq9"),
                now,
                &mut ready,
            );
        }
        assert!(redactor.items.len() <= super::MOST_ITEMS);
        redactor.release(&mut ready);
        let shown: usize = texts(&ready).iter().filter(|text| text.ends_with("+zq9")).count();
        assert_eq!(shown, 1_000);
    }
}
