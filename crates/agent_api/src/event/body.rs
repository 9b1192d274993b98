//! `Event`: something that happened in a run, and its `Body`.

use bytes::Bytes;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::agent_kind::AgentKind;
use super::ask::{PermissionRequested, PlanProposed, QuestionAsked, RequestClosed};
use super::error_info::ErrorInfo;
use super::id::ItemId;
use super::notice::{Notice, RateLimit, Retry, StatusChanged};
use super::session::{CommandAnswered, MessageUpdated, SessionStarted, SessionUpdated};
use super::text::{Delta, ItemDiscarded, TextBlock, ThinkingBlock, UserMessage};
use super::tool::{PlanUpdated, Task, ToolFinished, ToolProgressed, ToolStarted};
use super::turn::{Denial, Finished, TurnFinished, TurnStarted};
use super::usage::Usage;

/// Something that happened in a run.
///
/// As JSON it is flat: `{"agent_kind":"claude_code","raw":{…},"type":"delta","data":{…}}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "AgentEvent"))]
#[non_exhaustive]
pub struct Event {
    /// The backend it comes from.
    pub agent_kind: AgentKind,
    /// The call that started the subagent of this event; `None` in the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// The agent's line in the raw log; `None` for events that do not come from its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawRef>,
    /// The agent's own line, or the JSON object in it, as it was written. Only on request
    /// ([`VendorEvents::Attached`](crate::VendorEvents)), and never serialized.
    #[serde(skip)]
    #[cfg_attr(feature = "ts", ts(skip))]
    pub vendor: Option<Bytes>,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

impl Event {
    /// An event of the main conversation that does not come from the agent's output.
    #[must_use]
    pub fn new(agent_kind: AgentKind, body: Body) -> Self {
        Self {
            agent_kind,
            parent: None,
            raw: None,
            vendor: None,
            body,
        }
    }
}

/// A position in the raw log of the agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RawRef {
    /// The number of the line, from 1.
    pub line: u64,
    /// Where the line, or the JSON object in it, starts: a byte offset in the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

macro_rules! bodies {
    ($( $(#[$meta:meta])* $variant:ident($content:ty) = $word:literal, )+) => {
        /// What happened. New kinds of events can be added at any time.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[non_exhaustive]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "AgentBody"))]
        #[serde(tag = "type", content = "data")]
        pub enum Body {
            $( $(#[$meta])* #[serde(rename = $word)] $variant($content), )+
        }

        impl Body {
            /// The names of all kinds of events.
            pub const NAMES: &[&str] = &[$($word),+];

            /// The name of this kind of event, as in JSON.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $( Self::$variant(_) => $word, )+
                }
            }

            /// The body of the kind `name`; `None` if this version does not know the kind or a value in it.
            fn read(name: &str, data: &RawValue) -> Option<Self> {
                match name {
                    $( $word => serde_json::from_str(data.get()).ok().map(Self::$variant), )+
                    _ => None,
                }
            }
        }
    };
}

bodies! {
    /// The agent's session started.
    SessionStarted(Box<SessionStarted>) = "session_started",
    /// The session changed: its id, model, permission mode or title.
    SessionUpdated(Box<SessionUpdated>) = "session_updated",
    /// A turn started: the model works on a prompt.
    TurnStarted(TurnStarted) = "turn_started",
    /// A turn ended.
    TurnFinished(Box<TurnFinished>) = "turn_finished",
    /// More of an item that is being written.
    Delta(Delta) = "delta",
    /// A complete block of the model's text.
    TextBlock(TextBlock) = "text_block",
    /// A complete block of the model's thinking.
    ThinkingBlock(ThinkingBlock) = "thinking_block",
    /// A message to the model.
    UserMessage(UserMessage) = "user_message",
    /// A tool call started, or more is known about it.
    ToolStarted(Box<ToolStarted>) = "tool_started",
    /// A tool is still running.
    ToolProgressed(ToolProgressed) = "tool_progressed",
    /// A tool call ended.
    ToolFinished(Box<ToolFinished>) = "tool_finished",
    /// An item is no longer part of the conversation.
    ItemDiscarded(ItemDiscarded) = "item_discarded",
    /// The agent's to-do list.
    PlanUpdated(PlanUpdated) = "plan_updated",
    /// The agent asks whether a tool may run.
    PermissionRequested(Box<PermissionRequested>) = "permission_requested",
    /// The agent asks the user a question.
    QuestionAsked(Box<QuestionAsked>) = "question_asked",
    /// The agent proposes a plan and waits for approval.
    PlanProposed(Box<PlanProposed>) = "plan_proposed",
    /// A request no longer waits for an answer.
    RequestClosed(RequestClosed) = "request_closed",
    /// A tool call was not allowed.
    PermissionDenied(Box<Denial>) = "permission_denied",
    /// A subagent or background command started, progressed or ended.
    TaskUpdated(Box<Task>) = "task_updated",
    /// The progress of a message that was sent.
    MessageUpdated(MessageUpdated) = "message_updated",
    /// The agent answered a command.
    CommandAnswered(CommandAnswered) = "command_answered",
    /// Tokens and cost.
    Usage(Box<Usage>) = "usage",
    /// What the agent is doing now.
    StatusChanged(StatusChanged) = "status_changed",
    /// A request to the model failed and will be repeated.
    RetryScheduled(Box<Retry>) = "retry_scheduled",
    /// The state of a subscription's limit.
    RateLimit(Box<RateLimit>) = "rate_limit",
    /// Something that the user may want to know.
    Notice(Box<Notice>) = "notice",
    /// An error that does not end the run.
    Error(Box<ErrorInfo>) = "error",
    /// Output that this version does not know. The raw log has it.
    Unknown(Unknown) = "unknown",
    /// The run ended. Always the last event.
    Finished(Box<Finished>) = "finished",
}

/// Output, or an event of a newer version, that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Unknown {
    /// Its type, as the agent or the newer version names it.
    pub type_name: String,
}

/// An event as JSON. The type decides how `data` is read.
#[derive(serde::Deserialize)]
struct Written {
    agent_kind: AgentKind,
    #[serde(default)]
    parent: Option<ItemId>,
    #[serde(default)]
    raw: Option<RawRef>,
    #[serde(rename = "type")]
    name: String,
    data: Box<RawValue>,
}

impl<'de> Deserialize<'de> for Event {
    /// Reads JSON only. An event of a newer version becomes [`Body::Unknown`] if this version cannot read it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let body = Body::read(&written.name, &written.data);
        Ok(Self {
            agent_kind: written.agent_kind,
            parent: written.parent,
            raw: written.raw,
            vendor: None,
            body: body.unwrap_or(Body::Unknown(Unknown {
                type_name: written.name,
            })),
        })
    }
}
