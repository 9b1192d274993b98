//! `Speaker`: the messages of the main conversation or of one subagent.

use json_lines::Text;
use std::collections::VecDeque;

use super::block_table::{BlockKind, BlockState, BlockTable};
use super::change::{BlockKey, Change, Part};
use crate::event::{AbandonedBlocks, Block, Delta, Message, StreamBody, StreamEvent};

/// How many earlier messages of a speaker are kept, so that late pieces of one do not create it again.
const MAX_EARLIER_MESSAGES: usize = 8;

/// Pieces with a higher index are ignored; their complete block still counts.
const MAX_INDEX: u64 = u32::MAX as u64;

/// The message that is being written, the state of its blocks, and a few earlier messages.
#[derive(Debug)]
pub(super) struct Speaker {
    key: Option<Text>,
    current: Option<MessageState>,
    earlier: VecDeque<MessageState>,
}

#[derive(Debug, Default)]
struct MessageState {
    id: Text,
    /// Whether its `message_delta` came. A broken message has none.
    is_whole: bool,
    blocks: BlockTable,
}

impl Speaker {
    pub(super) fn new(key: Option<Text>) -> Self {
        Self {
            key,
            current: None,
            earlier: VecDeque::new(),
        }
    }

    pub(super) fn stream(&mut self, event: &StreamEvent, changes: &mut Vec<Change>) {
        match &event.body {
            StreamBody::MessageStart { message } => {
                self.turn_to(message.id.as_ref().or(event.api_message_id.as_ref()), changes);
            }
            StreamBody::ContentBlockStart { index, block } if *index <= MAX_INDEX => {
                self.expect(event, changes);
                self.message().blocks.open(*index, BlockKind::of(block));
                match block {
                    Block::Text(text) => self.append(*index, Part::Text, text, changes),
                    Block::Thinking(thinking) => {
                        self.append(*index, Part::Thinking, &thinking.thinking, changes);
                    }
                    _ => {}
                }
            }
            StreamBody::ContentBlockDelta { index, delta } if *index <= MAX_INDEX => {
                self.expect(event, changes);
                match delta {
                    Delta::Text(text) => self.append(*index, Part::Text, text, changes),
                    Delta::Thinking(text) => self.append(*index, Part::Thinking, text, changes),
                    Delta::InputJson(text) => self.append(*index, Part::InputJson, text, changes),
                    Delta::Signature(_) | Delta::Unknown(_) => {}
                }
            }
            StreamBody::ContentBlockStop { index } if *index <= MAX_INDEX => {
                self.message().blocks.stop(*index);
            }
            StreamBody::MessageDelta { .. } => self.message().is_whole = true,
            StreamBody::MessageStop => {
                if let Some(abandoned) = &event.abandoned_blocks {
                    self.abandon(abandoned, changes);
                }
            }
            StreamBody::ContentBlockStart { .. }
            | StreamBody::ContentBlockDelta { .. }
            | StreamBody::ContentBlockStop { .. }
            | StreamBody::Ping
            | StreamBody::Unknown(_) => {}
        }
    }

    /// Applies an `assistant` event, which usually has one complete block.
    pub(super) fn complete(
        &mut self,
        message: &Message,
        fallback_id: Option<&Text>,
        changes: &mut Vec<Change>,
    ) {
        self.turn_to(message.id.as_ref().or(fallback_id), changes);
        for block in message.content.blocks() {
            let index = self.message().blocks.complete(BlockKind::of(block));
            changes.push(Change::Completed {
                key: self.block_key(index),
                block: block.clone(),
            });
        }
    }

    fn message(&mut self) -> &mut MessageState {
        self.current.get_or_insert_default()
    }

    /// Handles pieces of a message whose start was not seen.
    fn expect(&mut self, event: &StreamEvent, changes: &mut Vec<Change>) {
        if event.api_message_id.is_some() || self.current.is_none() {
            self.turn_to(event.api_message_id.as_ref(), changes);
        }
    }

    /// Makes `id` the current message. Of a broken message only the complete blocks are kept.
    fn turn_to(&mut self, id: Option<&Text>, changes: &mut Vec<Change>) {
        let id = id.map_or("", |id| &**id);
        if self.current.as_ref().is_some_and(|current| &*current.id == id) {
            return;
        }
        if let Some(broken) = self.current.as_mut().filter(|current| !current.is_whole) {
            let lost = broken.blocks.remove_incomplete();
            self.discard(lost, changes);
        }
        let known = self.earlier.iter().position(|message| &*message.id == id);
        let next = known
            .and_then(|place| self.earlier.remove(place))
            .unwrap_or_else(|| MessageState {
                // A copy: the id must not keep its whole line in memory.
                id: Text::from(id.to_owned()),
                ..MessageState::default()
            });
        if let Some(left) = self.current.replace(next) {
            self.earlier.push_back(left);
        }
        if self.earlier.len() > MAX_EARLIER_MESSAGES {
            self.earlier.pop_front();
        }
    }

    fn abandon(&mut self, abandoned: &AbandonedBlocks, changes: &mut Vec<Change>) {
        let message = self.message();
        if abandoned
            .api_message_id
            .as_ref()
            .is_some_and(|id| *id != message.id)
        {
            return;
        }
        let lost = message
            .blocks
            .remove_from(abandoned.from_block_index.unwrap_or_default());
        self.discard(lost, changes);
    }

    fn discard(&self, lost: Vec<u64>, changes: &mut Vec<Change>) {
        changes.extend(lost.into_iter().map(|index| Change::Discarded {
            key: self.block_key(index),
        }));
    }

    fn append(&mut self, index: u64, part: Part, text: &Text, changes: &mut Vec<Change>) {
        let state = self.message().blocks.open(index, BlockKind::from(part));
        // A piece that comes after its block was completed is already part of it.
        if state != BlockState::Complete && !text.is_empty() {
            changes.push(Change::Appended {
                key: self.block_key(index),
                part,
                text: text.clone(),
            });
        }
    }

    fn block_key(&self, index: u64) -> BlockKey {
        let message_id = self.current.as_ref().map(|message| message.id.clone());
        BlockKey {
            lane: self.key.clone(),
            message_id: message_id.unwrap_or_default(),
            index,
        }
    }
}
