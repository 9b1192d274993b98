//! Text, thinking and messages: deltas while they are written, complete blocks, and items that are discarded.

use serde::{Deserialize, Serialize};

use super::id::ItemId;

/// More of an item that is being written. The item's block replaces all of its deltas, so a consumer may ignore them.
///
/// A delta for an unknown item creates it. There is never a delta for a complete item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Delta {
    /// The item that is being written.
    pub item: ItemId,
    /// The part of the item that the text belongs to.
    pub part: Part,
    /// Whether the text is added or replaces earlier text.
    #[serde(default, skip_serializing_if = "DeltaMode::is_append")]
    pub mode: DeltaMode,
    /// The text, at most [`bounds::TEXT_BYTES`](crate::bounds::TEXT_BYTES) long.
    pub text: String,
}

/// A part of an item.
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
    /// The output of a running tool.
    ToolOutput,
}

/// What a delta does with its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DeltaMode {
    /// Adds it to the earlier text.
    #[default]
    Append,
    /// Replaces the earlier text.
    Snapshot,
}

impl DeltaMode {
    fn is_append(&self) -> bool {
        *self == Self::Append
    }
}

/// Which piece of a block an event has. Blocks are split at [`bounds::TEXT_BYTES`](crate::bounds::TEXT_BYTES).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Piece {
    /// Piece 0 replaces everything known of the item, the others add to it.
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

/// A complete block of the model's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TextBlock {
    /// Identifies the block.
    pub item: ItemId,
    /// The text, or a piece of it.
    pub text: String,
    /// Which piece of the block this is.
    #[serde(default, skip_serializing_if = "Piece::is_whole")]
    pub piece: Piece,
    /// Whether an interrupt cut the text off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_aborted: bool,
}

/// A complete block of the model's thinking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ThinkingBlock {
    /// Identifies the block.
    pub item: ItemId,
    /// The text, or a piece of it; empty if the vendor does not show it.
    pub text: String,
    /// Which piece of the block this is.
    #[serde(default, skip_serializing_if = "Piece::is_whole")]
    pub piece: Piece,
    /// Whether the vendor withholds the text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_redacted: bool,
}

/// A message to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct UserMessage {
    /// Identifies the block.
    pub item: ItemId,
    /// The text, or a piece of it.
    pub text: String,
    /// Which piece of the block this is.
    #[serde(default, skip_serializing_if = "Piece::is_whole")]
    pub piece: Piece,
    /// Who wrote it.
    pub origin: Origin,
}

/// Who wrote a message to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The user: the prompt of the run, or a message that was sent.
    User,
    /// The agent itself, on the user's behalf: a summary, a reminder, a subagent's task.
    Agent,
}

/// The item is no longer part of the conversation. A view should remove it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ItemDiscarded {
    /// The item.
    pub item: ItemId,
    /// Why it was discarded.
    pub reason: DiscardReason,
}

/// Why an item was discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DiscardReason {
    /// The model's answer broke off and was requested again.
    Retry,
    /// Another item replaces it.
    Superseded,
}
