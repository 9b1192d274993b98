//! `DeltaRedactor`: redacts text that comes in pieces, for `RecordKeeper`.

use std::sync::Arc;

use super::Redactor;
use super::partial_text::PartialText;
use agent_api::{AgentKind, Body, Delta, DeltaMode, Event, ItemId, Part, RawRef};

/// How many open items are remembered. The next piece of a forgotten one is redacted alone.
const MAX_ITEMS: usize = 64;

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
    text: PartialText,
    /// Where its last piece came from.
    agent_kind: AgentKind,
    parent: Option<ItemId>,
    raw: Option<RawRef>,
}

impl DeltaRedactor {
    pub(crate) fn new(redactor: Arc<Redactor>) -> Self {
        Self {
            redactor,
            items: Vec::new(),
        }
    }

    /// Takes an event; what can be shown and recorded is added to `ready`. Only pieces of text are changed.
    pub(crate) fn push(&mut self, event: Event, ready: &mut Vec<Event>) {
        match &event.body {
            Body::Delta(_) => return self.push_delta(event, ready),
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

    /// Gives out everything: nothing more comes.
    pub(crate) fn release(&mut self, ready: &mut Vec<Event>) {
        self.end_where(ready, |_| true);
    }

    fn push_delta(&mut self, mut event: Event, ready: &mut Vec<Event>) {
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
        if !delta.text.is_empty() || delta.mode == DeltaMode::Snapshot {
            ready.push(event);
        }
    }

    fn begin(&mut self, delta: &Delta, agent_kind: &AgentKind, ready: &mut Vec<Event>) -> usize {
        if self.items.len() == MAX_ITEMS {
            let oldest = self.items.remove(0);
            self.end(oldest, ready);
        }
        self.items.push(Written {
            item: delta.item.clone(),
            part: delta.part,
            text: PartialText::default(),
            agent_kind: agent_kind.clone(),
            parent: None,
            raw: None,
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
        let body = Body::Delta(Delta {
            item: written.item,
            part: written.part,
            mode: DeltaMode::Append,
            text: written.text.finish(&self.redactor),
        });
        let mut event = Event::new(written.agent_kind, body);
        event.parent = written.parent;
        event.raw = written.raw;
        ready.push(event);
    }

    fn forget(&mut self, item: &ItemId) {
        self.items.retain(|written| written.item != *item);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::DeltaRedactor;
    use crate::redact::kind::{KINDS, Kind};
    use crate::redact::shape::{Run, Shape};
    use crate::redact::{Redactor, Secret};
    use agent_api::{AgentKind, Body, Delta, DeltaMode, Event, ItemId, Part};

    const SECRET: &str = "zq9secretvalue77";

    fn redactor() -> DeltaRedactor {
        let redactor = Redactor::new(Secret::new("A_KEY", SECRET), [""; 0]).unwrap();
        DeltaRedactor::new(Arc::new(redactor))
    }

    fn piece(item: &str, mode: DeltaMode, text: &str) -> Event {
        Event::new(
            AgentKind::DEMO,
            Body::Delta(Delta {
                item: ItemId::new(item),
                part: Part::Text,
                mode,
                text: text.to_owned(),
            }),
        )
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
        let (mut redactor, mut ready) = (redactor(), Vec::new());
        for (item, text) in [
            ("a", "one zq9sec"),
            ("b", "zq9 zq9sec"),
            ("a", "retvalue77 "),
            ("b", "ond "),
        ] {
            redactor.push(piece(item, DeltaMode::Append, text), &mut ready);
        }
        assert_eq!(
            texts(&ready),
            ["a+one ", "b+zq9 ", "a+[redacted:A_KEY] ", "b+zq9second "]
        );
    }

    #[test]
    fn a_snapshot_replaces_what_waits_and_its_end_waits_too() {
        let (mut redactor, mut ready) = (redactor(), Vec::new());
        redactor.push(piece("a", DeltaMode::Append, "zq9sec"), &mut ready);
        redactor.push(piece("a", DeltaMode::Snapshot, "new zq9secret"), &mut ready);
        redactor.push(piece("a", DeltaMode::Append, "value77"), &mut ready);
        redactor.release(&mut ready);
        assert_eq!(texts(&ready), ["a+new ", "a+[redacted:A_KEY]"]);
    }

    #[test]
    fn an_ordinary_word_is_given_out_at_once_and_the_beginning_of_a_secret_waits_for_its_end() {
        let (mut redactor, mut ready) = (redactor(), Vec::new());
        redactor.push(piece("a", DeltaMode::Append, "ring"), &mut ready);
        redactor.push(piece("b", DeltaMode::Append, "ring zq9sec"), &mut ready);
        assert_eq!(texts(&ready), ["a+ring", "b+ring "]);
        redactor.release(&mut ready);
        assert_eq!(texts(&ready), ["a+ring", "b+ring ", "b+zq9sec"]);
    }

    #[test]
    fn with_patterns_a_line_waits_for_its_end() {
        let patterns = Redactor::new([], ["code [0-9]+"]).unwrap();
        let mut redactor = DeltaRedactor::new(Arc::new(patterns));
        let mut ready = Vec::new();
        redactor.push(piece("a", DeltaMode::Append, "the code"), &mut ready);
        redactor.push(piece("a", DeltaMode::Append, " 12\nand code 3"), &mut ready);
        assert_eq!(texts(&ready), ["a+the [redacted:pattern]\n"]);
        redactor.push(piece("a", DeltaMode::Append, "4"), &mut ready);
        redactor.release(&mut ready);
        assert_eq!(
            texts(&ready),
            ["a+the [redacted:pattern]\n", "a+and [redacted:pattern]"]
        );
    }

    #[test]
    fn items_without_an_end_are_forgotten_at_some_point() {
        let (mut redactor, mut ready) = (redactor(), Vec::new());
        for number in 0..1_000 {
            redactor.push(piece(&number.to_string(), DeltaMode::Append, "x zq9"), &mut ready);
        }
        assert!(redactor.items.len() <= super::MAX_ITEMS);
        redactor.release(&mut ready);
        let shown: usize = texts(&ready).iter().filter(|text| text.ends_with("+zq9")).count();
        assert_eq!(shown, 1_000);
    }

    /// A generator whose failures can be repeated: the seed is in the message.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % sides
        }

        /// Random characters of the alphabet, always with a letter and a digit where it has them.
        fn run(&mut self, alphabet: fn(u8) -> bool, length: usize) -> String {
            let bytes: Vec<u8> = (b'!'..=b'~').filter(|byte| alphabet(*byte)).collect();
            let plain: Vec<u8> = bytes.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
            let digits: Vec<u8> = plain.iter().copied().filter(u8::is_ascii_digit).collect();
            let mut run: Vec<u8> = (0..length).map(|_| bytes[self.roll(bytes.len())]).collect();
            // The ends are plain, so that nothing belongs to what is around it.
            run[0] = plain[self.roll(plain.len())];
            run[length - 1] = plain[self.roll(plain.len())];
            run[length / 2] = digits[self.roll(digits.len())];
            String::from_utf8(run).unwrap()
        }

        /// A secret of this kind: what stays before it, and itself.
        fn secret(&mut self, kind: &Kind, prefix: &str) -> (String, String) {
            let letters: fn(u8) -> bool = |byte| byte.is_ascii_alphanumeric();
            let sized = |run: &Run| run.min.max(12).min(run.max);
            match kind.shape {
                Shape::Token(run) => {
                    let tail = self.run(run.alphabet, sized(&run));
                    (String::new(), format!("{prefix}{tail}"))
                }
                Shape::Assigned(run) => {
                    let mark = if prefix.ends_with([' ', '=']) { "" } else { "=" };
                    (format!("{prefix}{mark}"), self.run(run.alphabet, sized(&run)))
                }
                Shape::WebToken => {
                    let parts = [20, 30, 40].map(|length| self.run(letters, length));
                    (String::new(), format!("{prefix}{}", parts.join(".")))
                }
                Shape::PrivateKey => {
                    let lines = [64, 64, 30].map(|length| self.run(letters, length));
                    let mark = "PRIVATE KEY-----";
                    let body = lines.join("\n");
                    (String::new(), format!("{prefix}{mark}\n{body}\n-----END {mark}"))
                }
                Shape::UrlPassword => (format!("db{prefix}me:"), self.run(letters, 16)),
                Shape::Password => (format!("{prefix}: "), format!("aB3{}", self.run(letters, 12))),
                Shape::BotToken => ("123456789:".to_owned(), format!("AA{}", self.run(letters, 33))),
            }
        }
    }

    /// A text with secrets of some kinds, and the secrets. Over all seeds, every kind comes up many times.
    fn some_kinds(dice: &mut Dice) -> (String, Vec<String>) {
        let (mut text, mut secrets) = (String::new(), Vec::new());
        for _ in 0..12 {
            let kind = &KINDS[dice.roll(KINDS.len())];
            let prefix = kind.prefixes[dice.roll(kind.prefixes.len())];
            let (before, secret) = dice.secret(kind, prefix);
            let after = match kind.shape {
                Shape::UrlPassword => "@host/x",
                _ => "",
            };
            text.push_str(&format!("this one is \"{before}{secret}{after}\" here\n"));
            secrets.push(secret);
        }
        text.push_str("and acct-");
        let own = dice.run(|byte| byte.is_ascii_digit(), 9);
        text.push_str(&format!("{own} is mine"));
        secrets.push(own);
        (text, secrets)
    }

    #[test]
    fn no_secret_of_any_kind_is_seen_however_the_text_is_cut() {
        let redactor = Arc::new(Redactor::new([], ["acct-[0-9]+"]).unwrap());
        let without_patterns = Arc::new(Redactor::new([], [""; 0]).unwrap());
        for seed in 0..1_000 {
            let mut dice = Dice(seed);
            let (text, mut secrets) = some_kinds(&mut dice);
            let redactor = if seed % 2 == 0 {
                &redactor
            } else {
                secrets.pop();
                &without_patterns
            };
            let whole = redactor.redact(&text);
            let (mut stream, mut ready) = (DeltaRedactor::new(redactor.clone()), Vec::new());
            let most = [2, 9, 60, 700][dice.roll(4)];
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(1 + dice.roll(most)));
                stream.push(piece("a", DeltaMode::Append, now), &mut ready);
                rest = later;
            }
            stream.release(&mut ready);
            let shown: String = ready
                .iter()
                .map(|event| match &event.body {
                    Body::Delta(delta) => delta.text.as_str(),
                    _ => "",
                })
                .collect();
            for secret in &secrets {
                assert!(
                    !shown.contains(secret.as_str()),
                    "seed {seed}: {secret} is in\n{shown}"
                );
            }
            assert_eq!(shown, whole, "seed {seed}");
        }
    }
}
