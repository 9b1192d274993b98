//! The last word of a text that is being written, held back until it is whole.

use std::time::Duration;

use agent_api::{Body, Delta, DeltaMode, Event};
use tokio::time::Instant;

/// How long a word may wait for its end.
const PATIENCE: Duration = Duration::from_millis(250);
/// Longer words are let go: no secret that is known is longer.
const MOST_BYTES: usize = 1024;

/// Pieces of text are cut anywhere, also within a secret. Held back to the end of its word, a secret is always seen
/// whole by whoever takes it out.
#[derive(Debug, Default)]
pub(super) struct HoldBack {
    held: Option<(Event, Instant)>,
}

impl HoldBack {
    /// Takes a piece. Gives what can be shown, in order: the rest of another item first.
    pub(super) fn push(&mut self, event: Event, now: Instant) -> (Option<Event>, Option<Event>) {
        let Body::Delta(delta) = &event.body else {
            return (self.release(), Some(event));
        };
        if delta.mode == DeltaMode::Snapshot {
            return (self.release(), Some(event));
        }
        let continues = self.held.as_ref().is_some_and(|(held, _)| match &held.body {
            Body::Delta(held) => held.item == delta.item && held.part == delta.part,
            _ => false,
        });
        let other = if continues { None } else { self.release() };
        (other, self.join(event, now))
    }

    fn join(&mut self, event: Event, now: Instant) -> Option<Event> {
        let (before, since) = match self.held.take() {
            Some((held, since)) => (text_of(held), since),
            None => (String::new(), now),
        };
        let Body::Delta(delta) = &event.body else {
            return Some(event);
        };
        let mut text = before;
        text.push_str(&delta.text);
        let cut = text.rfind(char::is_whitespace).map_or(0, |place| {
            place + text[place..].chars().next().map_or(1, char::len_utf8)
        });
        let cut = if text.len() - cut > MOST_BYTES {
            text.len()
        } else {
            cut
        };
        let rest = text.split_off(cut);
        if !rest.is_empty() {
            // A word that began earlier has waited already.
            let since = if cut == 0 { since } else { now };
            self.held = Some((with_text(&event, delta, rest), since));
        }
        (!text.is_empty()).then(|| with_text(&event, delta, text))
    }

    /// What is held, whole or not.
    pub(super) fn release(&mut self) -> Option<Event> {
        self.held.take().map(|(event, _)| event)
    }

    /// When what is held has waited long enough.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.held.as_ref().map(|(_, since)| *since + PATIENCE)
    }
}

fn text_of(event: Event) -> String {
    match event.body {
        Body::Delta(delta) => delta.text,
        _ => String::new(),
    }
}

fn with_text(event: &Event, delta: &Delta, text: String) -> Event {
    Event {
        agent_kind: event.agent_kind.clone(),
        parent: event.parent.clone(),
        raw: event.raw,
        body: Body::Delta(Delta {
            item: delta.item.clone(),
            part: delta.part,
            mode: delta.mode,
            text,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::HoldBack;
    use agent_api::{AgentKind, Body, Delta, DeltaMode, Event, ItemId, Part};
    use tokio::time::Instant;

    fn piece(item: &str, text: &str) -> Event {
        Event {
            agent_kind: AgentKind::DEMO,
            parent: None,
            raw: None,
            body: Body::Delta(Delta {
                item: ItemId::new(item),
                part: Part::Text,
                mode: DeltaMode::Append,
                text: text.to_owned(),
            }),
        }
    }

    fn text(event: Option<Event>) -> String {
        match event.map(|event| event.body) {
            Some(Body::Delta(delta)) => delta.text,
            _ => String::new(),
        }
    }

    /// Everything that is given out, in order.
    fn play(pieces: &[(&str, &str)]) -> Vec<String> {
        let mut hold = HoldBack::default();
        let now = Instant::now();
        let mut shown = Vec::new();
        for (item, said) in pieces {
            let (other, own) = hold.push(piece(item, said), now);
            shown.extend([text(other), text(own)]);
        }
        shown.push(text(hold.release()));
        shown.retain(|text| !text.is_empty());
        shown
    }

    #[test]
    fn a_word_is_given_out_whole_however_it_is_cut() {
        let said = "The key is zq9secretvalue77 today";
        for place in 0..said.len() {
            let (one, two) = said.split_at(place);
            let shown = play(&[("a", one), ("a", two)]);
            assert_eq!(shown.concat(), said);
            let secret = "zq9secretvalue77";
            assert!(
                shown.iter().any(|text| text.contains(secret)),
                "{place}: {shown:?}"
            );
        }
    }

    #[test]
    fn another_item_does_not_wait_for_the_word_of_the_first() {
        assert_eq!(
            play(&[("a", "one tw"), ("b", "x y"), ("a", "o")]),
            ["one ", "tw", "x ", "y", "o"]
        );
    }

    #[test]
    fn a_word_without_an_end_is_let_go() {
        let long = "x".repeat(2_000);
        assert_eq!(play(&[("a", &long)]), [long.as_str()]);
    }
}
