//! What a view has to do.

use crate::event::Block;
use crate::text::Text;

/// A block of the conversation. The same key always means the same block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockKey {
    /// The call of the subagent that speaks; `None` in the main conversation. Lanes never mix.
    pub lane: Option<Text>,
    /// The API message.
    pub message_id: Text,
    /// Place of the block in its message.
    pub index: u64,
}

/// What part of a block a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text for a person.
    Text,
    /// The model's thinking.
    Thinking,
    /// A tool's arguments: a piece of JSON text, cut anywhere.
    InputJson,
}

/// What a view has to do.
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
        /// The whole of it.
        block: Block,
    },
    /// Forget the block: its message broke and is being retried under another id.
    Discarded {
        /// The block.
        key: BlockKey,
    },
}
