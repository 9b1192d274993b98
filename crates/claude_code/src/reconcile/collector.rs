//! `TextCollector`: the text of the main conversation, put together from events.

use std::collections::HashMap;

use super::change::{BlockKey, Change, Part};
use super::reconciler::Reconciler;
use crate::event::{Block, Event, Kind};

/// Collects the model's text in the main conversation, every block once.
#[derive(Debug, Default)]
pub struct TextCollector {
    reconciler: Reconciler,
    /// In order. A discarded block becomes empty; removing it would shift all that follow.
    blocks: Vec<String>,
    places: HashMap<BlockKey, usize>,
    turn_start: usize,
    has_turn_ended: bool,
}

impl TextCollector {
    /// A collector for one process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event into account.
    pub fn apply(&mut self, event: &Event) {
        if matches!(event.kind(), Kind::Result(_)) {
            self.has_turn_ended = true;
        }
        for change in self.reconciler.apply(event) {
            self.change(change);
        }
    }

    /// Marks the start of a turn, which may have no text.
    #[cfg(feature = "process")]
    pub(crate) fn begin_turn(&mut self) {
        self.turn_start = self.blocks.len();
        self.has_turn_ended = false;
    }

    /// All text so far, blocks joined by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        join(&self.blocks)
    }

    /// The text of the current turn, or of the last one until the next begins.
    #[must_use]
    pub fn turn_text(&self) -> String {
        join(self.blocks.get(self.turn_start..).unwrap_or_default())
    }

    /// The last block of the current turn, which a `result` should repeat.
    #[must_use]
    pub fn last_text(&self) -> Option<&str> {
        let turn = self.blocks.get(self.turn_start..).unwrap_or_default();
        turn.iter()
            .rev()
            .map(String::as_str)
            .find(|text| !text.is_empty())
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Appended {
                key,
                part: Part::Text,
                text,
            } if key.lane.is_none() => {
                self.block(key).push_str(&text);
            }
            Change::Completed {
                key,
                block: Block::Text(text),
            } if key.lane.is_none() => {
                *self.block(key) = text.to_string();
            }
            Change::Discarded { key } => {
                let text = self
                    .places
                    .remove(&key)
                    .and_then(|place| self.blocks.get_mut(place));
                if let Some(text) = text {
                    *text = String::new();
                }
            }
            Change::Appended { .. } | Change::Completed { .. } => {}
        }
    }

    fn block(&mut self, key: BlockKey) -> &mut String {
        if std::mem::take(&mut self.has_turn_ended) {
            self.turn_start = self.blocks.len();
        }
        let place = *self.places.entry(key).or_insert_with(|| {
            self.blocks.push(String::new());
            self.blocks.len() - 1
        });
        &mut self.blocks[place]
    }
}

fn join(blocks: &[String]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n")
}
