//! `TextBlocks`: chunks of text and thinking as deltas, and one whole block per message.

use std::collections::HashMap;

use crate::bounds::{FINAL_TEXT_BYTES, TEXT_BYTES, keep_end};
use crate::emitter::Emitter;
use crate::event::{Body, DiscardReason, ItemDiscarded, ItemId, Part, Piece, TextBlock, ThinkingBlock};

/// At most this many messages keep the agent's own ids; further ones are numbered.
const MAX_MESSAGE_IDS: usize = 4_096;

/// The block that is being written, and the ids that are taken.
#[derive(Debug, Default)]
pub(super) struct TextBlocks {
    open: Option<OpenBlock>,
    /// How many blocks each message id has so far: a message continues after a tool call, in a block of its own.
    blocks_of: HashMap<ItemId, u32>,
    count: u32,
    /// The last text block of the turn; of a long one the end.
    last: Option<String>,
}

#[derive(Debug)]
struct OpenBlock {
    item: ItemId,
    part: Part,
    /// As the agent named it, in the form that fits into memory.
    message_id: Option<ItemId>,
    /// The end of what was emitted of the block.
    emitted: String,
    /// How many pieces were emitted.
    pieces: u32,
    /// What is not emitted yet.
    text: String,
}

impl TextBlocks {
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Adds a chunk. Another kind of text, or another message, begins a new block.
    pub(super) fn append(&mut self, part: Part, message_id: Option<&str>, text: &str, events: &mut Emitter) {
        let message_id = message_id.filter(|id| !id.is_empty()).map(ItemId::new);
        let continues = |open: &OpenBlock| {
            let is_same_message =
                open.message_id.is_none() || message_id.is_none() || { open.message_id == message_id };
            open.part == part && is_same_message
        };
        if !self.open.as_ref().is_some_and(continues) {
            self.complete(false, events);
        }
        if self.open.is_none() {
            self.open = Some(OpenBlock {
                item: self.new_item(message_id.as_ref()),
                part,
                message_id,
                emitted: String::new(),
                pieces: 0,
                text: String::new(),
            });
        }
        if let Some(open) = &mut self.open {
            open.text.push_str(text);
            events.append(&open.item, part, text);
            open.emit_whole_pieces(events);
        }
    }

    /// Ends the open block, if there is one.
    pub(super) fn complete(&mut self, is_aborted: bool, events: &mut Emitter) {
        let Some(mut open) = self.open.take() else {
            return;
        };
        let text = std::mem::take(&mut open.text);
        if open.part == Part::Text {
            open.emitted.push_str(&text);
            keep_end(self.last.get_or_insert_default(), &open.emitted, FINAL_TEXT_BYTES);
        }
        open.emit(text, true, is_aborted, events);
    }

    /// The agent asks the model again: what it wrote so far does not count.
    pub(super) fn discard(&mut self, events: &mut Emitter) {
        if let Some(OpenBlock { item, .. }) = self.open.take() {
            let reason = DiscardReason::Retry;
            events.emit(Body::ItemDiscarded(ItemDiscarded { item, reason }));
        }
    }

    pub(super) fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// The turn's last text.
    pub(super) fn take_last(&mut self) -> Option<String> {
        self.last.take()
    }

    fn new_item(&mut self, message_id: Option<&ItemId>) -> ItemId {
        let is_full = self.blocks_of.len() >= MAX_MESSAGE_IDS;
        let Some(id) = message_id.filter(|id| !is_full || self.blocks_of.contains_key(*id)) else {
            self.count += 1;
            return ItemId::new(&format!("message-{}", self.count));
        };
        let blocks = self.blocks_of.entry(id.clone()).or_default();
        *blocks += 1;
        match *blocks {
            1 => id.clone(),
            number => ItemId::new(&format!("{id}/{number}")),
        }
    }
}

impl OpenBlock {
    /// Emits what is too long for one event, so that a long text is not kept until its end.
    fn emit_whole_pieces(&mut self, events: &mut Emitter) {
        while self.text.len() > TEXT_BYTES {
            let rest = self.text.split_off(self.text.floor_char_boundary(TEXT_BYTES));
            let piece = std::mem::replace(&mut self.text, rest);
            if self.part == Part::Text {
                self.emitted.push_str(&piece);
                if self.emitted.len() > 2 * FINAL_TEXT_BYTES {
                    let start = self
                        .emitted
                        .ceil_char_boundary(self.emitted.len() - FINAL_TEXT_BYTES - 1);
                    self.emitted.drain(..start);
                }
            }
            self.emit(piece, false, false, events);
        }
    }

    fn emit(&mut self, text: String, is_last: bool, is_aborted: bool, events: &mut Emitter) {
        let item = self.item.clone();
        let piece = Piece {
            index: self.pieces,
            is_last,
        };
        self.pieces += 1;
        events.emit(match self.part {
            Part::Thinking => Body::ThinkingBlock(ThinkingBlock {
                item,
                text,
                piece,
                is_redacted: false,
            }),
            Part::Text | Part::ToolInput | Part::ToolOutput => Body::TextBlock(TextBlock {
                item,
                text,
                piece,
                is_aborted,
            }),
        });
    }
}
