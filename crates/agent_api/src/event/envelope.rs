//! An event as a whole.

use serde::{Deserialize, Serialize};

use super::agent_kind::AgentKind;
use super::body::Body;
use super::id::ItemId;

/// Something that happened in a run.
///
/// As JSON it is flat: `{"agent_kind":"claude_code","raw":{…},"type":"delta","data":{…}}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "AgentEvent"))]
pub struct Event {
    /// Which kind of agent.
    pub agent_kind: AgentKind,
    /// The call of the subagent that this belongs to; none in the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// Where the agent's own words for it are; none for what we found out by ourselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawRef>,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

/// A place in the raw log of the agent's output. Events never carry the agent's lines themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RawRef {
    /// Counts the lines from 1.
    pub line: u64,
    /// Where the line, or the JSON object in it, starts in the file.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u64,
}
