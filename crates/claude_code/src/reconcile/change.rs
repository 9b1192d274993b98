//! `Change`: what a view has to do with a block.

use crate::event::Block;
use json_lines::Text;

/// A block of the conversation. The same key always means the same block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockKey {
    /// The call that started the subagent; `None` in the main conversation.
    pub lane: Option<Text>,
    /// The API message.
    pub message_id: Text,
    /// The block's index in its message.
    pub index: u64,
}

/// The part of a block that a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text for a person.
    Text,
    /// The model's thinking.
    Thinking,
    /// A tool's arguments: a piece of JSON text, cut anywhere.
    InputJson,
}

/// What a view has to do with a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Add a piece to a block that is being written.
    Appended {
        /// The block.
        key: BlockKey,
        /// Its part.
        part: Part,
        /// The piece.
        text: Text,
    },
    /// The block is complete: it replaces all pieces that were added to it.
    Completed {
        /// The block.
        key: BlockKey,
        /// The complete block.
        block: Block,
    },
    /// Remove the block: its message broke and is retried under another id.
    Discarded {
        /// The block.
        key: BlockKey,
    },
}
