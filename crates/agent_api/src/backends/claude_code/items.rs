//! `Items`: from blocks and tool calls of the stream to item ids.

use std::collections::{HashMap, VecDeque};

use claude_code::event::Block;
use claude_code::reconcile::BlockKey;

use crate::backends::tool_names::{kind_of, mcp_parts};
use crate::emitter::Emitter;
use crate::event::{Body, ItemId, ToolKind, ToolStarted, ToolState};

/// How many blocks are remembered: those of the last few messages can still be discarded.
const MAX_RECENT: usize = 64;

/// Names of blocks and calls.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// The last blocks that had an event. The newest is last, and nearly always the one that is asked for.
    recent: VecDeque<(BlockKey, ItemId)>,
    /// The call that is being written, by its place in its message.
    preparing: Option<(u64, ItemId)>,
    /// Calls that have not ended, and what they do.
    open: HashMap<ItemId, ToolKind>,
    /// Calls that were not allowed and have no result yet.
    denied: Vec<ItemId>,
    /// The files of open calls whose results will not name them.
    pub(super) edited: HashMap<ItemId, String>,
    last_parent: Option<ItemId>,
    /// What the model wrote last in the main conversation, since something was said to it.
    answer: Vec<ItemId>,
}

impl Items {
    /// A subagent's call, as the parent of what it does.
    pub(super) fn call(&mut self, id: &str) -> ItemId {
        match &self.last_parent {
            Some(known) if known.as_str() == id => known.clone(),
            _ => self.last_parent.insert(ItemId::new(id)).clone(),
        }
    }

    /// A block begins. Of calls, the name is known long before the arguments.
    pub(super) fn open(&mut self, index: u64, block: &Block, events: &mut Emitter) {
        let (Block::ToolUse(call) | Block::ServerToolUse(call)) = block else {
            return;
        };
        let item = ItemId::new(&call.id);
        self.preparing = Some((index, item.clone()));
        let kind = kind_of(&call.name);
        self.open.insert(item.clone(), kind);
        events.emit(Body::ToolStarted(Box::new(ToolStarted {
            mcp_server: mcp_parts(&call.name).map(|(server, _)| server.to_owned()),
            state: ToolState::Preparing,
            ..ToolStarted::new(item, &*call.name, kind)
        })));
    }

    /// The item of a block. The newest block is found first.
    pub(super) fn of_block(&mut self, key: &BlockKey) -> ItemId {
        if let Some((_, item)) = self.place_of(key).and_then(|place| self.recent.get(place)) {
            return item.clone();
        }
        let preparing = self
            .preparing
            .take_if(|(index, _)| *index == key.index && key.lane.is_none());
        let item = preparing.map_or_else(
            || ItemId::new(&format!("{}/{}", key.message_id, key.index)),
            |(_, item)| item,
        );
        self.remember(key.clone(), item.clone());
        item
    }

    /// The item of a block that is a call.
    pub(super) fn of_call(&mut self, key: BlockKey, id: &str, kind: ToolKind) -> ItemId {
        let item = ItemId::new(id);
        self.preparing = None;
        self.open.insert(item.clone(), kind);
        if let Some(place) = self.place_of(&key) {
            self.recent.remove(place);
        }
        self.remember(key, item.clone());
        item
    }

    /// Whether the block had an event.
    pub(super) fn knows(&self, key: &BlockKey) -> bool {
        self.place_of(key).is_some()
    }

    fn place_of(&self, key: &BlockKey) -> Option<usize> {
        self.recent.iter().rposition(|(known, _)| known == key)
    }

    fn remember(&mut self, key: BlockKey, item: ItemId) {
        if self.recent.len() == MAX_RECENT {
            self.recent.pop_front();
        }
        if key.lane.is_none() && !self.answer.contains(&item) {
            if self.answer.len() == MAX_RECENT {
                self.answer.remove(0);
            }
            self.answer.push(item.clone());
        }
        self.recent.push_back((key, item));
    }

    /// Something is said to the model: what it wrote before stays.
    pub(super) fn keep_answer(&mut self) {
        self.answer.clear();
    }

    /// The model's answer does not count: what it wrote.
    pub(super) fn take_answer(&mut self) -> Vec<ItemId> {
        self.open.retain(|item, _| !self.answer.contains(item));
        std::mem::take(&mut self.answer)
    }

    /// What an open call does; it is not open any more.
    pub(super) fn end_call(&mut self, item: &ItemId) -> Option<ToolKind> {
        self.answer.retain(|known| known != item);
        self.open.remove(item)
    }

    pub(super) fn deny(&mut self, item: ItemId) {
        self.denied.push(item);
    }

    pub(super) fn take_denial(&mut self, item: &ItemId) -> bool {
        let before = self.denied.len();
        self.denied.retain(|denied| denied != item);
        self.denied.len() != before
    }
}
