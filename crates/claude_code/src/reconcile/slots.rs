//! The blocks of one message, and how far each of them is.

use std::collections::{BTreeMap, BTreeSet};

use super::change::Part;
use crate::event::Block;

/// The places of a message. Every step takes logarithmic time, however many blocks a message has.
#[derive(Debug, Default)]
pub(super) struct Slots {
    blocks: BTreeMap<u64, (State, Shape)>,
    /// Those that are not complete, to find the one that a complete block belongs to.
    waiting: BTreeSet<(State, Shape, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Pieces may still come.
    Open,
    /// No more pieces come, but the complete block has not come either.
    Stopped,
    /// The complete block has come.
    Complete,
}

/// What a block is made of: a complete block belongs to pieces of its own kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    Text,
    Thinking,
    Call,
    /// Something else, or not known yet.
    Other,
}

const KNOWN_SHAPES: [Shape; 3] = [Shape::Text, Shape::Thinking, Shape::Call];

impl Shape {
    pub(super) fn of(block: &Block) -> Self {
        match block {
            Block::Text(_) => Self::Text,
            Block::Thinking(_) | Block::RedactedThinking { .. } => Self::Thinking,
            Block::ToolUse(_) | Block::ServerToolUse(_) => Self::Call,
            _ => Self::Other,
        }
    }
}

impl From<Part> for Shape {
    fn from(part: Part) -> Self {
        match part {
            Part::Text => Self::Text,
            Part::Thinking => Self::Thinking,
            Part::InputJson => Self::Call,
        }
    }
}

impl Slots {
    /// A piece of a block has come. Says how far the block is.
    pub(super) fn open(&mut self, index: u64, shape: Shape) -> State {
        let (state, known_shape) = self.get(index);
        // The first piece decides, except that anything is better than nothing.
        if known_shape == Shape::Other || !self.blocks.contains_key(&index) {
            self.set(index, state, shape);
        }
        state
    }

    /// No more pieces of the block come.
    pub(super) fn stop(&mut self, index: u64) {
        let (state, shape) = self.get(index);
        if state != State::Complete {
            self.set(index, State::Stopped, shape);
        }
    }

    /// A complete block has come. Says where it belongs.
    pub(super) fn complete(&mut self, shape: Shape) -> u64 {
        let index = self.place_of(shape);
        self.set(index, State::Complete, shape);
        index
    }

    /// Forgets the blocks that are not complete. Says which.
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

    /// Forgets the blocks from `first` on. Says which.
    pub(super) fn remove_from(&mut self, first: u64) -> Vec<u64> {
        let lost = self.blocks.split_off(&first);
        for (index, (state, shape)) in &lost {
            self.waiting.remove(&(*state, *shape, *index));
        }
        lost.into_keys().collect()
    }

    /// Events do not say which block a complete one is, but it comes before its `content_block_stop` as a rule, it is
    /// of the same kind as its pieces, and blocks are written one after the other.
    fn place_of(&self, shape: Shape) -> u64 {
        let first = |state, shape| {
            let mut places = self.waiting.range((state, shape, 0)..=(state, shape, u64::MAX));
            places.next().map(|(_, _, index)| *index)
        };
        let of_its_kind = |state| first(state, shape).or_else(|| first(state, Shape::Other));
        // A block of no known kind may be the outcome of any that is being written.
        let of_any_kind = || {
            let places = KNOWN_SHAPES.iter().filter_map(|shape| first(State::Open, *shape));
            places.min().filter(|_| shape == Shape::Other)
        };
        of_its_kind(State::Open)
            .or_else(of_any_kind)
            .or_else(|| of_its_kind(State::Stopped))
            .unwrap_or_else(|| self.after_last())
    }

    fn after_last(&self) -> u64 {
        let last = self.blocks.last_key_value();
        last.map_or(0, |(index, _)| index.saturating_add(1))
    }

    fn get(&self, index: u64) -> (State, Shape) {
        let known = self.blocks.get(&index).copied();
        known.unwrap_or((State::Open, Shape::Other))
    }

    fn set(&mut self, index: u64, state: State, shape: Shape) {
        if let Some((state, shape)) = self.blocks.insert(index, (state, shape)) {
            self.waiting.remove(&(state, shape, index));
        }
        if state != State::Complete {
            self.waiting.insert((state, shape, index));
        }
    }
}
