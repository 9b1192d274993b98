#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod backend;
pub mod backends;
pub mod bounds;
pub mod capability;
mod detect;
mod emitter;
mod error;
mod event;
mod harness;
mod registry;
mod request;

/// See [`agent_process::guard_main`]: the first line of `main`, so that no agent outlives your process.
pub use agent_process::guard_main;
// What public fields and signatures of this crate are made of.
pub use agent_client::{
    BaseEnvironment, CancelOutcome, Close, CostBasis, DetectError, Environment, Expansion, JsonSource,
    MicroUsd, PartialMessages, PermissionHost, PermissionMode, Persistence, ProgramFile, RunOptions,
    SessionChoice, SystemPrompt, Tokens, VendorEvents, Version, VersionMemory,
};
pub use agent_process::{ExitReport, Isolation, Limits, SpawnSpec, StdoutMode};
pub use backend::{
    Answer, Backend, BackendConfig, Command, ExitCode, ExitTrust, HeldUntilExit, InstalledAgent, InterruptBy,
    Launch, LaunchInput, LoginCheck, LoginFile, Mapper, Profile, RootRefusal, StderrClass, ToolNames,
    UntestedVersion,
};
pub use bytes::Bytes;
pub use detect::{Detected, DetectionReport, Detector};
pub use emitter::{Emitter, LateReply};
pub use error::{CommandError, Error};
pub use event::{
    AgentKind, Body, ChangeKind, CloseReason, CommandAnswered, ContextUse, Cost, CostSource, Delta,
    DeltaMode, Denial, DiscardReason, ErrorClass, ErrorInfo, Event, ExitInfo, FileChange, Finished, Grant,
    GrantDestination, GrantId, GrantKind, ItemDiscarded, ItemId, Json, Limit, MessageState, MessageUpdated,
    Notice, Origin, Outcome, Part, PermissionRequested, Piece, PlanEntry, PlanProposed, PlanStatus,
    PlanUpdated, Position, Question, QuestionAsked, QuestionOption, RateLimit, RateLimitStatus, RawRef,
    RequestClosed, RequestId, Retry, RunUsage, SessionStarted, SessionUpdated, Severity, Status,
    StatusChanged, Task, TaskState, TextBlock, TextEdit, ThinkingBlock, ToolFinished, ToolInput, ToolKind,
    ToolProgressed, ToolStarted, ToolState, ToolStatus, TurnFinished, TurnStarted, Unknown, Usage,
    UsageScope, UserMessage,
};
pub use harness::{
    Completed, Completion, DetachedRun, Events, RunControl, RunHandle, new_message_id, new_session_id,
};
pub use json_lines::Framed;
pub use registry::AgentRegistry;
pub use request::{Attachment, Input, RunRequest};
