//! Text is there once, however it came.

use std::collections::{BTreeMap, BTreeSet};

use agent_api::{Body, Delta, DeltaMode, Event, ItemId, Part};
use claude_code::reconcile::TextCollector;
use test_support::fixtures;

use crate::replay::replay;

/// What a view would show, by the rules of the contract.
#[derive(Default)]
struct View {
    deltas: BTreeMap<(ItemId, bool), String>,
    blocks: BTreeMap<ItemId, String>,
    order: Vec<ItemId>,
    complete: BTreeSet<ItemId>,
}

impl View {
    fn apply(&mut self, event: &Event) {
        match &event.body {
            Body::Delta(Delta {
                item,
                part: part @ (Part::Text | Part::Thinking),
                mode,
                text,
            }) => {
                assert!(!self.complete.contains(item), "a delta after its block: {item}");
                let known = self
                    .deltas
                    .entry((item.clone(), *part == Part::Text))
                    .or_default();
                if *mode == DeltaMode::Snapshot {
                    known.clear();
                }
                known.push_str(text);
            }
            Body::TextBlock(block) if event.parent.is_none() => {
                let known = self.blocks.entry(block.item.clone()).or_default();
                if block.piece.index == 0 {
                    assert!(known.is_empty(), "a block twice: {}", block.item);
                    self.order.push(block.item.clone());
                }
                known.push_str(&block.text);
                if block.piece.is_last {
                    self.complete.insert(block.item.clone());
                    if let Some(deltas) = self.deltas.remove(&(block.item.clone(), true)) {
                        assert_eq!(deltas, *known, "deltas and block differ");
                    }
                }
            }
            Body::ThinkingBlock(block) => {
                if block.piece.is_last
                    && let Some(deltas) = self.deltas.remove(&(block.item.clone(), false))
                {
                    assert_eq!(deltas, block.text, "deltas and thinking differ");
                }
            }
            Body::ItemDiscarded(discarded) => {
                self.deltas.retain(|(item, _), _| *item != discarded.item);
                self.blocks.remove(&discarded.item);
                self.complete.remove(&discarded.item);
                self.order.retain(|item| *item != discarded.item);
            }
            _ => {}
        }
    }

    fn text(&self) -> String {
        let texts: Vec<&str> = self
            .order
            .iter()
            .map(|item| self.blocks[item].as_str())
            .filter(|text| !text.is_empty())
            .collect();
        texts.join("\n")
    }
}

#[test]
fn text_rebuilt_from_deltas_is_that_of_the_blocks_and_nothing_appears_twice() {
    let (mut with_deltas, mut compared) = (0, 0);
    for fixture in fixtures::all().unwrap() {
        let mut view = View::default();
        let mut collector = TextCollector::new();
        let mut has_deltas = false;
        for event in replay(&fixture).events {
            has_deltas |= matches!(event.body, Body::Delta(_));
            view.apply(&event);
        }
        for line in fixture.lines() {
            for wire in claude_code::parse_bytes(bytes::Bytes::copy_from_slice(line)).flatten() {
                let is_api_error = matches!(
                    wire.kind(),
                    claude_code::Kind::Assistant(said) if said.is_api_error_message || said.error.is_some()
                );
                if !is_api_error {
                    collector.apply(&wire);
                }
            }
        }
        let left: Vec<_> = view.deltas.values().filter(|text| !text.is_empty()).collect();
        let expected = collector.text();
        if left.is_empty() {
            assert_eq!(view.text(), expected, "{}/{}", fixture.version, fixture.name);
            compared += 1;
        } else {
            // The stream was cut off: what was said so far is in the deltas.
            for text in left {
                assert!(
                    expected.contains(text.as_str()) || fixture.name.contains("think"),
                    "{}: {text}",
                    fixture.name
                );
            }
        }
        with_deltas += usize::from(has_deltas);
    }
    println!("{compared} streams compared, {with_deltas} with deltas");
    assert!(with_deltas >= 10 && compared >= 200, "{compared} {with_deltas}");
}

#[test]
fn a_delta_belongs_to_the_item_of_its_block() {
    for fixture in fixtures::all().unwrap() {
        let events = replay(&fixture).events;
        let mut started = BTreeSet::new();
        for event in &events {
            match &event.body {
                Body::ToolStarted(tool) => {
                    started.insert(tool.item.clone());
                }
                Body::Delta(Delta {
                    item,
                    part: Part::ToolInput,
                    ..
                }) => assert!(
                    started.contains(item),
                    "{}: arguments of an unknown call",
                    fixture.name
                ),
                _ => {}
            }
        }
    }
}
