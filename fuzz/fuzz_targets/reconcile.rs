//! No stream crashes those who add up events, and the collected text is what a view shows that applies all changes.
#![no_main]

use std::collections::BTreeMap;

use bytes::Bytes;
use claude_code::event::Block;
use claude_code::reconcile::{BlockKey, Change, Part, Reconciler, TextCollector};
use claude_code::{CostAccount, CostBasis, Decoder};
use libfuzzer_sys::fuzz_target;

/// The texts of the main conversation by their order of appearance.
#[derive(Default)]
struct View {
    texts: BTreeMap<usize, (BlockKey, String)>,
    next: usize,
}

impl View {
    fn text(&mut self, key: BlockKey) -> &mut String {
        let known = self.texts.iter().find(|(_, (other, _))| *other == key).map(|(place, _)| *place);
        let place = known.unwrap_or(self.next);
        self.next = self.next.max(place + 1);
        &mut self.texts.entry(place).or_insert((key, String::new())).1
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Appended { key, part: Part::Text, text } if key.lane.is_none() => {
                self.text(key).push_str(&text);
            }
            Change::Completed { key, block: Block::Text(text) } if key.lane.is_none() => {
                *self.text(key) = text.to_string();
            }
            Change::Discarded { key } => self.texts.retain(|_, (other, _)| *other != key),
            Change::Appended { .. } | Change::Completed { .. } => {}
        }
    }
}

fuzz_target!(|stream: &[u8]| {
    let mut decoder = Decoder::default();
    decoder.push(Bytes::copy_from_slice(stream));
    decoder.finish();
    let (mut reconciler, mut view) = (Reconciler::new(), View::default());
    let mut collector = TextCollector::new();
    let mut account = CostAccount::new(CostBasis::ResumedUnknown);
    while let Some(item) = decoder.next() {
        let Ok(event) = item else { continue };
        for change in reconciler.apply(&event) {
            view.apply(change);
        }
        collector.apply(&event);
        account.apply(&event);
    }
    let shown: Vec<&str> =
        view.texts.values().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()).collect();
    assert_eq!(collector.text(), shown.join("\n"));
    let _ = (collector.turn_text(), collector.last_text());
    let _ = (account.cost(), account.tokens().total(), account.unsettled_tokens().total());
});
