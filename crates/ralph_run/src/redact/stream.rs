//! Pieces of text without secrets, however they are cut.

use std::sync::Arc;
use std::time::Duration;

use agent_api::{Body, Delta, DeltaMode, Event, ItemId};
use tokio::time::Instant;

use super::Redactor;

/// How long a word that begins like no secret waits for its end.
const PATIENCE: Duration = Duration::from_millis(300);

/// Redacts pieces of text. The end of a piece waits for the next one, so that a secret is looked at as a whole; what
/// begins like a secret waits until it is one or is not, or until its item ends.
#[derive(Debug)]
pub(crate) struct DeltaRedactor {
    redactor: Arc<Redactor>,
    held: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    /// Where the text came from, without the text.
    event: Event,
    delta: Delta,
    /// None for what must not be shown by halves.
    until: Option<Instant>,
}

impl DeltaRedactor {
    pub(crate) fn new(redactor: Arc<Redactor>) -> Self {
        Self {
            redactor,
            held: Vec::new(),
        }
    }

    /// Takes an event; what can be shown and recorded is added to `ready`. Only pieces of text are changed.
    pub(crate) fn push(&mut self, event: Event, now: Instant, ready: &mut Vec<Event>) {
        match &event.body {
            Body::Delta(delta) => {
                let delta = delta.clone();
                return self.push_delta(event, delta, now, ready);
            }
            // The block has all of it.
            Body::TextBlock(block) => self.forget(&block.item),
            Body::ThinkingBlock(block) => self.forget(&block.item),
            Body::ItemDiscarded(discarded) => self.forget(&discarded.item),
            Body::ToolStarted(tool) => self.release_where(ready, |held| held.delta.item == tool.item),
            Body::ToolFinished(tool) => self.release_where(ready, |held| held.delta.item == tool.item),
            Body::Finished(_) => self.release(ready),
            // Whatever else happens in the middle of a word does not end it.
            _ => {}
        }
        ready.push(event);
    }

    /// When something that is held has waited long enough.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.held.iter().filter_map(|held| held.until).min()
    }

    /// Gives out what has waited long enough.
    pub(crate) fn release_due(&mut self, now: Instant, ready: &mut Vec<Event>) {
        self.release_where(ready, |held| held.until.is_some_and(|until| until <= now));
    }

    /// Gives out everything: nothing more comes.
    pub(crate) fn release(&mut self, ready: &mut Vec<Event>) {
        self.release_where(ready, |_| true);
    }

    fn push_delta(&mut self, event: Event, mut delta: Delta, now: Instant, ready: &mut Vec<Event>) {
        let is_same = |held: &Held| held.delta.item == delta.item && held.delta.part == delta.part;
        let known = self.held.iter().position(is_same);
        if let Some(held) = known.map(|place| self.held.remove(place))
            && delta.mode == DeltaMode::Append
        {
            delta.text.insert_str(0, &held.delta.text);
        }
        let rest = delta.text.split_off(self.redactor.settled_bytes(&delta.text));
        if !rest.is_empty() {
            let is_unfinished = self.redactor.is_unfinished(&rest);
            self.held.push(Held {
                event: event.clone(),
                delta: Delta {
                    mode: DeltaMode::Append,
                    text: rest,
                    ..delta.clone()
                },
                until: (!is_unfinished).then(|| now + PATIENCE),
            });
        }
        if !delta.text.is_empty() || delta.mode == DeltaMode::Snapshot {
            ready.push(self.redacted(event, delta));
        }
    }

    fn redacted(&self, event: Event, mut delta: Delta) -> Event {
        delta.text = self.redactor.redact(&delta.text).into_owned();
        Event {
            body: Body::Delta(delta),
            ..event
        }
    }

    fn release_where(&mut self, ready: &mut Vec<Event>, is_due: impl Fn(&Held) -> bool) {
        let due: Vec<Held> = self.held.extract_if(.., |held| is_due(held)).collect();
        ready.extend(due.into_iter().map(|held| self.redacted(held.event, held.delta)));
    }

    fn forget(&mut self, item: &ItemId) {
        self.held.retain(|held| held.delta.item != *item);
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
    fn an_ordinary_word_waits_for_a_moment_and_the_beginning_of_a_secret_for_its_end() {
        let (mut redactor, now, mut ready) = (redactor(), Instant::now(), Vec::new());
        redactor.push(piece("a", DeltaMode::Append, "ring"), now, &mut ready);
        redactor.push(piece("b", DeltaMode::Append, "zq9sec"), now, &mut ready);
        assert_eq!(redactor.deadline(), Some(now + PATIENCE));
        redactor.release_due(now, &mut ready);
        assert!(ready.is_empty());
        redactor.release_due(now + PATIENCE, &mut ready);
        assert_eq!(texts(&ready), ["a+ring"]);
        assert_eq!(redactor.deadline(), None);
        redactor.release(&mut ready);
        assert_eq!(texts(&ready), ["a+ring", "b+zq9sec"]);
    }
}
