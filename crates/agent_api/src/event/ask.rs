//! Requests of the agent that wait for an answer: permissions, questions and plans.

use serde::{Deserialize, Serialize};

use super::grant::Grant;
use super::id::{ItemId, RequestId};
use super::payload::Json;
use super::tool::ToolKind;

/// The agent asks whether a tool may run, and waits for [`RunControl::answer`](crate::RunControl::answer).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct PermissionRequested {
    /// The id to pass to the answer.
    pub request: RequestId,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The tool's name.
    pub tool: String,
    /// What the tool does.
    pub kind: ToolKind,
    /// What it would be used on, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Why the agent asks, or what the call is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments. The answer may change them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// Lasting permissions that make further requests unnecessary, the narrowest first. The answer names those that it
    /// gives; the others are not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// Whether an answer can give at most one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_one_grant: bool,
}

impl PermissionRequested {
    /// A request of which only the tool is known.
    #[must_use]
    pub fn new(request: RequestId, tool: impl Into<String>, kind: ToolKind) -> Self {
        Self {
            request,
            item: None,
            tool: tool.into(),
            kind,
            subject: None,
            description: None,
            input: None,
            grants: Vec::new(),
            takes_one_grant: false,
        }
    }
}

/// The agent asks the user. Never answered by a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuestionAsked {
    /// The id to pass to the answer.
    pub request: RequestId,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The questions, at most [`bounds::LIST_ENTRIES`](crate::bounds::LIST_ENTRIES).
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Question {
    /// The question itself. The answers are keyed by it.
    pub text: String,
    /// A short title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Answers to choose from. Any other text is an answer too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<QuestionOption>,
    /// Whether several options can be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_multiple: bool,
}

/// One answer to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The agent proposes a plan and waits for approval. Never answered by a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PlanProposed {
    /// The id to pass to the answer.
    pub request: RequestId,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The plan, in Markdown.
    pub plan: String,
}

/// A request no longer waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RequestClosed {
    /// The request.
    pub request: RequestId,
    /// Why it was closed.
    pub reason: CloseReason,
}

/// Why a request was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CloseReason {
    /// It was allowed or answered.
    Answered,
    /// It was denied.
    Denied,
    /// The agent withdrew it.
    Withdrawn,
    /// The run ended.
    Ended,
}
