//! The agent's list of things to do.

use serde::{Deserialize, Serialize};

use super::id::ItemId;

/// The agent's list of things to do, complete: it replaces the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PlanUpdated {
    /// The call that changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The entries in order, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    pub entries: Vec<PlanEntry>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PlanEntry {
    /// What.
    pub text: String,
    /// How far it is.
    pub status: PlanStatus,
}

/// How far a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Cancelled,
}
