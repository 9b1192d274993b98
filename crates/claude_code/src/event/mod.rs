//! The lines that Claude Code writes to stdout, one type per kind of line.
//!
//! Parsing never fails on the shape of a line. A field that is absent or has an unexpected type is `None` or empty, an
//! unknown value is an `Other` or `Unknown` that keeps the text, and [`Event::raw`] has the whole line. A field without
//! a comment is named after the vendor's member. All of these types can get new fields and variants at any time.

mod block;
mod control;
mod envelope;
mod kind;
mod lifecycle;
mod message;
mod outcome;
mod rate_limit;
mod stream;
mod system;
mod system_bodies;
mod tokens;

pub use block::{Block, ServerToolResult, Thinking, ToolResult, ToolUse};
pub use control::{
    CanUseTool, ControlCancelRequest, ControlRequest, ControlRequestBody, ControlResponse,
    ControlResponseBody, HookCallback, McpMessage,
};
pub use envelope::Event;
pub use json_lines::TextList;
pub use kind::Kind;
pub use lifecycle::{
    Attachment, CommandLifecycle, CommandState, ConversationReset, ToolProgress, ToolUseSummary,
};
pub use message::{Assistant, Content, Message, Role, StopReason, User};
pub use outcome::{DeferredToolUse, PermissionDenial, ResultSubtype, TerminalReason, TurnResult};
pub use rate_limit::{RateLimit, RateLimitInfo, RateLimitStatus, RateLimitType};
pub use stream::{AbandonedBlocks, Delta, StreamBody, StreamEvent};
pub use system::System;
pub use system_bodies::{
    ApiRetry, BackgroundTask, BackgroundTasksChanged, CompactBoundary, CompactMetadata, HookResponse,
    HookStarted, Informational, Init, McpServer, ModelFallback, ModelRefusal, Notification, PermissionDenied,
    PermissionMode, SessionState, SessionStateChanged, SessionTitleChanged, Status, StatusKind,
    TaskNotification, TaskPatch, TaskProgress, TaskStarted, TaskStatus, TaskUpdated, TaskUsage,
    ThinkingTokens, UiInvalidate,
};
pub use tokens::{CacheCreation, ModelUsage, Models, OutputTokensDetails, ServerToolUse, ServiceTier, Usage};
