//! What is said.

use serde::{Deserialize, Serialize};

use super::id::ItemId;

/// A piece of an item that is being written. The item's block replaces all of them, so a consumer may ignore deltas.
///
/// A delta for an item that is not known yet creates it; one for an item that is complete never comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Delta {
    /// The item.
    pub item: ItemId,
    /// Which part of it.
    pub part: Part,
    /// What the text does.
    #[serde(default, skip_serializing_if = "DeltaMode::is_append")]
    pub mode: DeltaMode,
    /// The text, at most [`bounds::TEXT_BYTES`](crate::bounds::TEXT_BYTES) long.
    pub text: String,
}

/// Which part of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text for a person.
    Text,
    /// The model's thinking.
    Thinking,
    /// A tool's arguments: JSON text, cut anywhere.
    ToolInput,
    /// What a running tool wrote.
    ToolOutput,
}

/// What a delta does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DeltaMode {
    /// Adds to what is there.
    #[default]
    Append,
    /// Replaces what is there.
    Snapshot,
}

impl DeltaMode {
    fn is_append(&self) -> bool {
        *self == Self::Append
    }
}

/// Which piece of a block this is. Blocks are split at [`bounds::TEXT_BYTES`](crate::bounds::TEXT_BYTES).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Piece {
    /// Piece 0 replaces all that is known of the item, the others add to it.
    pub index: u32,
    /// Whether the block is complete with this piece.
    pub is_last: bool,
}

impl Piece {
    /// A block in one piece, as nearly all are.
    pub const WHOLE: Self = Self {
        index: 0,
        is_last: true,
    };

    fn is_whole(&self) -> bool {
        *self == Self::WHOLE
    }
}

impl Default for Piece {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// Text for a person, complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TextBlock {
    /// The item.
    pub item: ItemId,
    /// The text, or a piece of it.
    pub text: String,
    /// Which piece.
    #[serde(default, skip_serializing_if = "Piece::is_whole")]
    pub piece: Piece,
    /// Whether an interrupt cut it off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_aborted: bool,
}

/// The model's thinking, complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ThinkingBlock {
    /// The item.
    pub item: ItemId,
    /// The text, or a piece of it; empty where the vendor shows none.
    pub text: String,
    /// Which piece.
    #[serde(default, skip_serializing_if = "Piece::is_whole")]
    pub piece: Piece,
    /// Whether the vendor keeps it secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_redacted: bool,
}

/// Something was said to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct UserMessage {
    /// The item.
    pub item: ItemId,
    /// The text, or a piece of it.
    pub text: String,
    /// Which piece.
    #[serde(default, skip_serializing_if = "Piece::is_whole")]
    pub piece: Piece,
    /// Who said it.
    pub origin: Origin,
}

/// Who said something to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Whoever started the run or sent a message.
    User,
    /// The agent itself, on the user's behalf: a summary, a reminder, a subagent's task.
    Agent,
}
