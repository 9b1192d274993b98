//! One vocabulary and one contract for every coding agent.
#![warn(missing_docs)]

mod backend;
pub mod backends;
pub mod bounds;
pub mod capability;
mod detect;
mod emitter;
mod error;
mod event;
mod gateway;
mod harness;
mod request;

pub use backend::{
    Answer, Backend, BackendConfig, Command, Encoded, ExitTrust, Found, InterruptBy, KeepAlive, Launch,
    LaunchInput, Mapper, Profile, StderrClass,
};
#[cfg(feature = "demo")]
pub use backends::demo::demo_main;
pub use claude_code::{CostBasis, MicroUsd, Version};
pub use detect::{Detection, Detector, Report, ReportEntry};
pub use emitter::Emitter;
pub use error::{CommandError, Error};
pub use event::{
    AgentKind, Body, ChangeKind, CloseReason, CommandAnswered, ContextUse, Cost, CostSource, Delta,
    DeltaMode, Denial, DiscardReason, ErrorClass, ErrorInfo, Event, ExitInfo, FileChange, Finished,
    ItemDiscarded, ItemId, Json, Limit, MessageState, MessageUpdated, Notice, Origin, Outcome, Part,
    PermissionRequested, Piece, PlanEntry, PlanProposed, PlanStatus, PlanUpdated, Position, Question,
    QuestionAsked, QuestionOption, RateLimit, RateLimitStatus, RawRef, RequestClosed, RequestId, Retry,
    RunUsage, SessionStarted, SessionUpdated, Severity, Status, StatusChanged, Task, TaskState, TextBlock,
    TextEdit, ThinkingBlock, Tokens, ToolFinished, ToolInput, ToolKind, ToolProgressed, ToolStarted,
    ToolState, ToolStatus, TurnFinished, TurnStarted, Unknown, Usage, UsageScope, UserMessage,
};
pub use gateway::Gateway;
pub use harness::{CancelOutcome, Completed, Completion, Events, RunControl, RunHandle};
pub use request::{
    BaseEnvironment, Close, Environment, Input, PermissionMode, RunOptions, RunRequest, SessionChoice,
};
