//! `BlockTable`: the blocks of one message and the state of each.

use std::collections::{BTreeMap, BTreeSet};

use super::change::Part;
use crate::event::Block;

/// The blocks of a message by index. Every operation takes logarithmic time, however many blocks there are.
#[derive(Debug, Default)]
pub(super) struct BlockTable {
    blocks: BTreeMap<u64, (BlockState, BlockKind)>,
    /// Blocks that are not complete, to find the one that a complete block belongs to.
    waiting: BTreeSet<(BlockState, BlockKind, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockState {
    /// Pieces may still come.
    Open,
    /// No more pieces come, but the complete block has not come either.
    Stopped,
    /// The complete block has come.
    Complete,
}

/// A complete block belongs to pieces of its own kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    Call,
    /// Something else, or not known yet.
    Other,
}

const KNOWN_KINDS: [BlockKind; 3] = [BlockKind::Text, BlockKind::Thinking, BlockKind::Call];

impl BlockKind {
    pub(super) fn of(block: &Block) -> Self {
        match block {
            Block::Text(_) => Self::Text,
            Block::Thinking(_) | Block::RedactedThinking { .. } => Self::Thinking,
            Block::ToolUse(_) | Block::ServerToolUse(_) => Self::Call,
            _ => Self::Other,
        }
    }
}

impl From<Part> for BlockKind {
    fn from(part: Part) -> Self {
        match part {
            Part::Text => Self::Text,
            Part::Thinking => Self::Thinking,
            Part::InputJson => Self::Call,
        }
    }
}

impl BlockTable {
    /// Records a piece of a block. Returns the state of the block.
    pub(super) fn open(&mut self, index: u64, kind: BlockKind) -> BlockState {
        let (state, known_kind) = self.get(index);
        // The first piece decides, unless its kind is not known.
        if known_kind == BlockKind::Other || !self.blocks.contains_key(&index) {
            self.set(index, state, kind);
        }
        state
    }

    /// Records that no more pieces of the block come.
    pub(super) fn stop(&mut self, index: u64) {
        let (state, kind) = self.get(index);
        if state != BlockState::Complete {
            self.set(index, BlockState::Stopped, kind);
        }
    }

    /// Records a complete block. Returns its index.
    pub(super) fn complete(&mut self, kind: BlockKind) -> u64 {
        let index = self.place_of(kind);
        self.set(index, BlockState::Complete, kind);
        index
    }

    /// Removes the blocks that are not complete. Returns their indexes.
    pub(super) fn remove_incomplete(&mut self) -> Vec<u64> {
        let mut lost: Vec<u64> = std::mem::take(&mut self.waiting)
            .into_iter()
            .map(|(_, _, index)| index)
            .collect();
        lost.sort_unstable();
        for index in &lost {
            self.blocks.remove(index);
        }
        lost
    }

    /// Removes the blocks from `first` on. Returns their indexes.
    pub(super) fn remove_from(&mut self, first: u64) -> Vec<u64> {
        let lost = self.blocks.split_off(&first);
        for (index, (state, kind)) in &lost {
            self.waiting.remove(&(*state, *kind, *index));
        }
        lost.into_keys().collect()
    }

    /// Events do not name the index of a complete block. But it usually comes before its `content_block_stop`, it has the
    /// same kind as its pieces, and blocks are written one after the other.
    fn place_of(&self, kind: BlockKind) -> u64 {
        let first = |state, kind| {
            let mut places = self.waiting.range((state, kind, 0)..=(state, kind, u64::MAX));
            places.next().map(|(_, _, index)| *index)
        };
        let of_its_kind = |state| first(state, kind).or_else(|| first(state, BlockKind::Other));
        // A block of unknown kind may belong to any open one.
        let of_any_kind = || {
            let places = KNOWN_KINDS
                .iter()
                .filter_map(|kind| first(BlockState::Open, *kind));
            places.min().filter(|_| kind == BlockKind::Other)
        };
        of_its_kind(BlockState::Open)
            .or_else(of_any_kind)
            .or_else(|| of_its_kind(BlockState::Stopped))
            .unwrap_or_else(|| self.after_last())
    }

    fn after_last(&self) -> u64 {
        let last = self.blocks.last_key_value();
        last.map_or(0, |(index, _)| index.saturating_add(1))
    }

    fn get(&self, index: u64) -> (BlockState, BlockKind) {
        let known = self.blocks.get(&index).copied();
        known.unwrap_or((BlockState::Open, BlockKind::Other))
    }

    fn set(&mut self, index: u64, state: BlockState, kind: BlockKind) {
        if let Some((state, kind)) = self.blocks.insert(index, (state, kind)) {
            self.waiting.remove(&(state, kind, index));
        }
        if state != BlockState::Complete {
            self.waiting.insert((state, kind, index));
        }
    }
}
