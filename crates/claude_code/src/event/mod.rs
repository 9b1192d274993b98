//! What Claude Code writes on its standard output, one type per kind of line.
//!
//! The rules, everywhere: a field that is absent or of an unexpected type is `None` (or an empty list), a value
//! that is not known yet is an `Other` or `Unknown` with what was written, and the whole line stays available
//! through [`Event::raw`]. Nothing here fails on shape.

mod assistant;
mod block;
mod control;
mod envelope;
mod field;
mod kind;
mod lifecycle;
mod list;
mod message;
mod open;
mod outcome;
mod rate_limit;
mod stream;
mod system;
mod tag;
mod tokens;
mod user;

pub use assistant::Assistant;
pub use block::{Block, ServerToolResult, Thinking, ToolResult, ToolUse};
pub use control::{
    CanUseTool, ControlCancelRequest, ControlRequest, ControlRequestBody, ControlResponse,
    ControlResponseBody, HookCallback, McpMessage,
};
pub use envelope::Event;
pub(crate) use envelope::read_event;
pub use kind::Kind;
pub use lifecycle::{
    Attachment, CommandLifecycle, CommandState, ConversationReset, ToolProgress, ToolUseSummary,
};
pub use list::{Models, TextList};
pub use message::{Content, Message, Role, StopReason};
pub use outcome::{
    DeferredToolUse, PermissionDenial, ResultError, ResultSubtype, TerminalReason, TurnResult,
};
pub use rate_limit::{RateLimit, RateLimitInfo, RateLimitStatus, RateLimitType};
pub use stream::{AbandonedBlocks, Delta, StreamBody, StreamEvent};
pub use system::{
    AnswerRetry, AnswerRetryData, ApiRetry, BackgroundTask, BackgroundTasksChanged, CompactBoundary,
    CompactMetadata, HookResponse, HookStarted, Informational, Init, McpServer, ModelFallback, ModelRefusal,
    Notification, PermissionDenied, PermissionMode, SessionState, SessionStateChanged, SessionTitleChanged,
    Status, StatusKind, System, TaskNotification, TaskPatch, TaskProgress, TaskStarted, TaskStatus,
    TaskUpdated, TaskUsage, ThinkingTokens, UiInvalidate,
};
pub use tokens::{CacheCreation, ModelUsage, OutputTokensDetails, ServerToolUse, ServiceTier, Usage};
pub use user::User;
