//! One speaker: the main conversation or a subagent.

use super::change::{BlockKey, Change, Part};
use crate::event::{AbandonedBlocks, Block, Delta, Message, StreamBody, StreamEvent};
use crate::text::Text;

/// The message that is being written, and what is known of its blocks.
#[derive(Debug)]
pub(super) struct Lane {
    key: Option<Text>,
    message_id: Option<Text>,
    /// Whether the message got its last figures. A broken one never does.
    is_whole: bool,
    blocks: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    index: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Pieces may still come.
    Open,
    /// No more pieces come, but the complete block has not come either.
    Stopped,
    /// The complete block has come.
    Complete,
}

impl Lane {
    pub(super) fn new(key: Option<Text>) -> Self {
        Self {
            key,
            message_id: None,
            is_whole: false,
            blocks: Vec::new(),
        }
    }

    pub(super) fn stream(&mut self, event: &StreamEvent, changes: &mut Vec<Change>) {
        match &event.body {
            StreamBody::MessageStart { message } => {
                self.turn_to(message.id.as_ref().or(event.api_message_id.as_ref()), changes);
            }
            StreamBody::ContentBlockStart { index, block } => {
                self.expect(event, changes);
                self.slot(*index);
                match block {
                    Block::Text(text) => self.append(*index, Part::Text, text, changes),
                    Block::Thinking(thinking) => {
                        self.append(*index, Part::Thinking, &thinking.thinking, changes);
                    }
                    _ => {}
                }
            }
            StreamBody::ContentBlockDelta { index, delta } => {
                self.expect(event, changes);
                match delta {
                    Delta::Text(text) => self.append(*index, Part::Text, text, changes),
                    Delta::Thinking(text) => self.append(*index, Part::Thinking, text, changes),
                    Delta::InputJson(text) => self.append(*index, Part::InputJson, text, changes),
                    Delta::Signature(_) | Delta::Unknown(_) => {}
                }
            }
            StreamBody::ContentBlockStop { index } => {
                let slot = self.slot(*index);
                if slot.state == State::Open {
                    slot.state = State::Stopped;
                }
            }
            StreamBody::MessageDelta { .. } => self.is_whole = true,
            StreamBody::MessageStop => {
                if let Some(abandoned) = &event.abandoned_blocks {
                    self.abandon(abandoned, changes);
                }
            }
            StreamBody::Ping | StreamBody::Unknown(_) => {}
        }
    }

    /// An `assistant` event: one complete block as a rule.
    pub(super) fn complete(
        &mut self,
        message: &Message,
        fallback_id: Option<&Text>,
        changes: &mut Vec<Change>,
    ) {
        self.turn_to(message.id.as_ref().or(fallback_id), changes);
        for block in message.content.blocks() {
            let index = self.next_incomplete();
            self.slot(index).state = State::Complete;
            changes.push(Change::Completed {
                key: self.block_key(index),
                block: block.clone(),
            });
        }
    }

    /// The block that the next complete one belongs to: events do not say, but the complete block comes before its
    /// `content_block_stop`, and blocks are written one after the other.
    fn next_incomplete(&self) -> u64 {
        let first = |state| {
            self.blocks
                .iter()
                .find(|slot| slot.state == state)
                .map(|slot| slot.index)
        };
        let after_last = || {
            self.blocks
                .iter()
                .map(|slot| slot.index + 1)
                .max()
                .unwrap_or_default()
        };
        first(State::Open)
            .or_else(|| first(State::Stopped))
            .unwrap_or_else(after_last)
    }

    /// Pieces of a message whose start was not seen.
    fn expect(&mut self, event: &StreamEvent, changes: &mut Vec<Change>) {
        if event.api_message_id.is_some() || self.message_id.is_none() {
            self.turn_to(event.api_message_id.as_ref(), changes);
        }
    }

    /// Makes `id` the current message. A message that broke leaves nothing but its complete blocks.
    fn turn_to(&mut self, id: Option<&Text>, changes: &mut Vec<Change>) {
        let id = id.map_or("", |id| &**id);
        if self.message_id.as_ref().is_some_and(|current| &**current == id) {
            return;
        }
        if !self.is_whole {
            self.discard(|slot| slot.state != State::Complete, changes);
        }
        self.blocks.clear();
        self.is_whole = false;
        // A copy: the id must not keep its whole line in memory.
        self.message_id = Some(Text::from(id.to_owned()));
    }

    fn abandon(&mut self, abandoned: &AbandonedBlocks, changes: &mut Vec<Change>) {
        if abandoned.api_message_id.is_some() && abandoned.api_message_id != self.message_id {
            return;
        }
        let first = abandoned.from_block_index.unwrap_or_default();
        self.discard(|slot| slot.index >= first, changes);
    }

    fn discard(&mut self, is_lost: impl Fn(&Slot) -> bool, changes: &mut Vec<Change>) {
        let lost: Vec<u64> = self
            .blocks
            .iter()
            .filter(|slot| is_lost(slot))
            .map(|slot| slot.index)
            .collect();
        self.blocks.retain(|slot| !lost.contains(&slot.index));
        changes.extend(lost.into_iter().map(|index| Change::Discarded {
            key: self.block_key(index),
        }));
    }

    fn append(&mut self, index: u64, part: Part, text: &Text, changes: &mut Vec<Change>) {
        // A piece that comes after its block was completed is already part of it.
        if self.slot(index).state != State::Complete && !text.is_empty() {
            changes.push(Change::Appended {
                key: self.block_key(index),
                part,
                text: text.clone(),
            });
        }
    }

    fn slot(&mut self, index: u64) -> &mut Slot {
        let place = match self.blocks.binary_search_by_key(&index, |slot| slot.index) {
            Ok(place) => place,
            Err(place) => {
                self.blocks.insert(
                    place,
                    Slot {
                        index,
                        state: State::Open,
                    },
                );
                place
            }
        };
        &mut self.blocks[place]
    }

    fn block_key(&self, index: u64) -> BlockKey {
        let message_id = self.message_id.clone().unwrap_or_default();
        BlockKey {
            lane: self.key.clone(),
            message_id,
            index,
        }
    }
}
