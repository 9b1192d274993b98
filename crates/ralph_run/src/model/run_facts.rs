//! What `RunModel` gives to its projections: `Iteration`, `Counts`, and the `Change` that a record made.

use agent_api::RequestId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::message_log::Message;
use crate::open::Open;
use crate::record::{IterationOutcome, Totals};
use crate::usage_account::UsageStep;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    pub number: u32,
    /// Which role worked, in a loop of roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub started_at: Timestamp,
    /// `None` while it runs.
    pub outcome: Option<Open<IterationOutcome>>,
    pub totals: Totals,
    /// At most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub attempts: u32,
    pub iterations: u32,
    pub tool_calls: u32,
    /// Calls that failed; a denied call is not one of them.
    pub failed_calls: u32,
    pub denials: u32,
    pub errors: u32,
    pub warnings: u32,
    /// Records that only a newer version can read.
    pub unknown_records: u32,
}

/// What a record changed, for projections that keep rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Usage(UsageStep),
    RequestOpened(RequestId),
    RequestClosed { request: RequestId, was_answered: bool },
    Message(Message),
    Session(String),
}
