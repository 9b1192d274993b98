//! What agents do, in one vocabulary.
//!
//! Every backend's output becomes these events; `docs/contract.md` states the rules. In short: items are upserted by
//! id, deltas are replaced by the block they belong to, a retry discards what it replaces, errors do not end a run,
//! and exactly one [`Body::Finished`] comes last.

mod agent_kind;
mod ask;
mod body;
mod envelope;
mod error_info;
mod finished;
mod id;
mod item;
mod notice;
mod payload;
mod plan;
mod session;
mod text;
mod tool;
mod tool_input;
mod turn;
mod usage;

pub use agent_kind::AgentKind;
pub use ask::{
    CloseReason, PermissionRequested, PlanProposed, Question, QuestionAsked, QuestionOption, RequestClosed,
};
pub use body::{Body, Unknown};
pub use envelope::{Event, RawRef};
pub use error_info::{ErrorClass, ErrorInfo, Position};
pub use finished::{ExitInfo, Finished};
pub use id::{ItemId, RequestId};
pub use item::{DiscardReason, ItemDiscarded};
pub use notice::{Notice, RateLimit, RateLimitStatus, Retry, Severity, Status, StatusChanged};
pub use payload::Json;
pub use plan::{PlanEntry, PlanStatus, PlanUpdated};
pub use session::{CommandAnswered, MessageState, MessageUpdated, SessionStarted, SessionUpdated};
pub use text::{Delta, DeltaMode, Origin, Part, Piece, TextBlock, ThinkingBlock, UserMessage};
pub use tool::{
    ChangeKind, FileChange, Task, TaskState, ToolFinished, ToolKind, ToolProgressed, ToolStarted, ToolState,
    ToolStatus,
};
pub use tool_input::{TextEdit, ToolInput};
pub use turn::{Denial, Limit, Outcome, TurnFinished, TurnStarted};
pub use usage::{ContextUse, Cost, CostSource, RunUsage, Tokens, Usage, UsageScope};
