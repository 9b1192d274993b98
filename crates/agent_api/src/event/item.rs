//! Items that no longer count.

use serde::{Deserialize, Serialize};

use super::id::ItemId;

/// Forget the item: what it said is not part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ItemDiscarded {
    /// The item.
    pub item: ItemId,
    /// Why.
    pub reason: DiscardReason,
}

/// Why an item no longer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DiscardReason {
    /// The answer broke and was asked for again.
    Retry,
    /// Something else took its place.
    Superseded,
}
