//! What happened.

use serde::Serialize;
use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::agent_kind::AgentKind;
use super::ask::{PermissionRequested, PlanProposed, QuestionAsked, RequestClosed};
use super::envelope::{Event, RawRef};
use super::error_info::ErrorInfo;
use super::finished::Finished;
use super::id::ItemId;
use super::item::ItemDiscarded;
use super::notice::{Notice, RateLimit, Retry, StatusChanged};
use super::plan::PlanUpdated;
use super::session::{CommandAnswered, MessageUpdated, SessionStarted, SessionUpdated};
use super::text::{Delta, TextBlock, ThinkingBlock, UserMessage};
use super::tool::{Task, ToolFinished, ToolProgressed, ToolStarted};
use super::turn::{Denial, TurnFinished, TurnStarted};
use super::usage::Usage;

macro_rules! bodies {
    ($( $(#[$meta:meta])* $variant:ident($content:ty) = $word:literal, )+) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Serialize)]
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

            /// The body of the kind `name`; `None` for a kind, or words in it, that this version does not know.
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
    /// The agent is there.
    SessionStarted(Box<SessionStarted>) = "session_started",
    /// Something about the conversation has changed.
    SessionUpdated(Box<SessionUpdated>) = "session_updated",
    /// The model begins to work on a prompt.
    TurnStarted(TurnStarted) = "turn_started",
    /// A turn has ended.
    TurnFinished(Box<TurnFinished>) = "turn_finished",
    /// A piece of an item that is being written.
    Delta(Delta) = "delta",
    /// Text for a person, complete.
    TextBlock(TextBlock) = "text_block",
    /// The model's thinking, complete.
    ThinkingBlock(ThinkingBlock) = "thinking_block",
    /// Something was said to the model.
    UserMessage(UserMessage) = "user_message",
    /// A tool is called.
    ToolStarted(Box<ToolStarted>) = "tool_started",
    /// A tool is still running.
    ToolProgressed(ToolProgressed) = "tool_progressed",
    /// A tool call has ended.
    ToolFinished(Box<ToolFinished>) = "tool_finished",
    /// Forget the item.
    ItemDiscarded(ItemDiscarded) = "item_discarded",
    /// The agent's list of things to do.
    PlanUpdated(PlanUpdated) = "plan_updated",
    /// May this tool run?
    PermissionRequested(Box<PermissionRequested>) = "permission_requested",
    /// The agent asks a person.
    QuestionAsked(Box<QuestionAsked>) = "question_asked",
    /// The agent has a plan and waits for approval.
    PlanProposed(Box<PlanProposed>) = "plan_proposed",
    /// Nobody waits for an answer any more.
    RequestClosed(RequestClosed) = "request_closed",
    /// A tool call was not allowed.
    PermissionDenied(Box<Denial>) = "permission_denied",
    /// A subagent or a command in the background.
    TaskUpdated(Box<Task>) = "task_updated",
    /// What became of a message that was sent.
    MessageUpdated(MessageUpdated) = "message_updated",
    /// The agent answered a command.
    CommandAnswered(CommandAnswered) = "command_answered",
    /// What was used.
    Usage(Box<Usage>) = "usage",
    /// What the agent is doing right now.
    StatusChanged(StatusChanged) = "status_changed",
    /// A call of the model failed and will be repeated.
    RetryScheduled(Box<Retry>) = "retry_scheduled",
    /// Where a subscription stands.
    RateLimit(Box<RateLimit>) = "rate_limit",
    /// Something that a person may want to know.
    Notice(Box<Notice>) = "notice",
    /// Something went wrong; the run goes on.
    Error(Box<ErrorInfo>) = "error",
    /// The agent said something that this version does not know; the raw log has it.
    Unknown(Unknown) = "unknown",
    /// The run is over.
    Finished(Box<Finished>) = "finished",
}

/// Something that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Unknown {
    /// What the agent, or a newer version of this crate, calls it.
    pub type_name: String,
}

/// An event as it stands in JSON.
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
    /// Reads JSON only. A kind of event from a newer version is [`Body::Unknown`], and so is one whose data this
    /// version cannot read.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let body = Body::read(&written.name, &written.data);
        Ok(Self {
            agent_kind: written.agent_kind,
            parent: written.parent,
            raw: written.raw,
            body: body.unwrap_or(Body::Unknown(Unknown {
                type_name: written.name,
            })),
        })
    }
}
