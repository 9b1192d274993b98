//! What the agent asks, and waits for.

use serde::{Deserialize, Serialize};

use super::id::{ItemId, RequestId};
use super::payload::Json;
use super::tool::ToolKind;

/// May this tool run? The agent waits for [`RunControl::answer`](crate::RunControl::answer).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PermissionRequested {
    /// What the answer must name.
    pub request: RequestId,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The tool.
    pub tool: String,
    /// What kind of tool.
    pub kind: ToolKind,
    /// What it would be used on, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Why it asks, or what the call is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments; the answer may change them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// Rules that would make further questions unnecessary, in the vendor's shape: to be given back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<Json>,
}

/// The agent asks a person. Never answered by a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuestionAsked {
    /// What the answer must name.
    pub request: RequestId,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The questions, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Question {
    /// The question itself: what the answer is keyed by.
    pub text: String,
    /// In a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// What can be chosen; any other text is an answer too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<QuestionOption>,
    /// Whether several can be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_multiple: bool,
}

/// One answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The agent has a plan and waits for approval. Never answered by a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PlanProposed {
    /// What the answer must name.
    pub request: RequestId,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The plan, in Markdown.
    pub plan: String,
}

/// Nobody waits for an answer any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RequestClosed {
    /// The request.
    pub request: RequestId,
    /// Why.
    pub reason: CloseReason,
}

/// Why nobody waits any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CloseReason {
    /// It was allowed, or answered.
    Answered,
    /// It was denied.
    Denied,
    /// The agent took it back.
    Withdrawn,
    /// The run ended.
    Ended,
}
