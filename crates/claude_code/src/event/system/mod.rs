//! Lines of type `system`, one type per subtype.

mod hook;
mod init;
mod notice;
mod permission;
mod session;
mod status;
mod subtype;
mod task;

pub use hook::{HookResponse, HookStarted};
pub use init::{Init, McpServer};
pub use notice::{
    AnswerRetry, AnswerRetryData, ApiRetry, Informational, ModelFallback, ModelRefusal, Notification,
};
pub use permission::{PermissionDenied, PermissionMode};
pub use session::{SessionState, SessionStateChanged, SessionTitleChanged, UiInvalidate};
pub use status::{CompactBoundary, CompactMetadata, Status, StatusKind, ThinkingTokens};
pub use subtype::System;
pub(super) use subtype::SystemTag;
pub use task::{
    BackgroundTask, BackgroundTasksChanged, TaskNotification, TaskPatch, TaskProgress, TaskStarted,
    TaskStatus, TaskUpdated, TaskUsage,
};
