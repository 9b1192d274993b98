//! The events of a run, in one vocabulary for all agents.
//!
//! Every backend maps its agent's output to these events; `docs/contract.md` states the rules. In short: items are
//! upserted by id, a block replaces its deltas, a retry discards what it replaces, errors do not end a run, and exactly
//! one [`Body::Finished`] comes last.

mod agent_kind;
mod ask;
mod body;
mod error_info;
mod grant;
mod id;
mod notice;
mod payload;
mod session;
mod text;
mod tool;
mod tool_input;
mod turn;
mod usage;

pub(crate) use agent_client::Tokens;
pub use agent_kind::AgentKind;
pub use ask::{
    CloseReason, PermissionRequested, PlanProposed, Question, QuestionAsked, QuestionOption, RequestClosed,
};
pub use body::{Body, Event, RawRef, Unknown};
pub use error_info::{ErrorClass, ErrorInfo, Position};
pub use grant::{Grant, GrantDestination, GrantKind};
pub use id::{GrantId, ItemId, RequestId};
pub use notice::{Notice, RateLimit, RateLimitStatus, Retry, Severity, Status, StatusChanged};
pub use payload::Json;
pub use session::{CommandAnswered, MessageState, MessageUpdated, SessionStarted, SessionUpdated};
pub use text::{
    Delta, DeltaMode, DiscardReason, ItemDiscarded, Origin, Part, Piece, TextBlock, ThinkingBlock,
    UserMessage,
};
pub use tool::{
    ChangeKind, FileChange, PlanEntry, PlanStatus, PlanUpdated, Task, TaskState, ToolFinished, ToolKind,
    ToolProgressed, ToolStarted, ToolState, ToolStatus,
};
pub use tool_input::{TextEdit, ToolInput};
pub use turn::{Denial, ExitInfo, Finished, Limit, Outcome, TurnFinished, TurnStarted};
pub use usage::{ContextUse, Cost, CostSource, RunUsage, Usage, UsageScope};
