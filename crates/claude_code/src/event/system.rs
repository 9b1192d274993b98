//! `System`: lines of type `system`, by their `subtype`.

use super::kind::tagged_lines;
use super::system_bodies::{
    ApiRetry, BackgroundTasksChanged, CompactBoundary, HookResponse, HookStarted, Informational, Init,
    ModelFallback, ModelRefusal, Notification, PermissionDenied, SessionStateChanged, SessionTitleChanged,
    Status, TaskNotification, TaskProgress, TaskStarted, TaskUpdated, ThinkingTokens, UiInvalidate,
};
use json_lines::Text;
use json_lines::reader::{Cursor, Failed, Object, UnknownMembers};

tagged_lines! {
    /// A line of type `system`.
    pub enum System, SystemTag, subtype {
        typed {
            /// A session or another turn begins.
            Init(Init) = "init",
            /// What the CLI is doing now.
            Status(Status) = "status",
            /// The API failed, and the CLI will try again.
            ApiRetry(ApiRetry) = "api_retry",
            /// A tool call was not allowed.
            PermissionDenied(PermissionDenied) = "permission_denied",
            /// How much the model has thought so far.
            ThinkingTokens(ThinkingTokens) = "thinking_tokens",
            /// A subagent or background command started.
            TaskStarted(TaskStarted) = "task_started",
            /// What a subagent is doing.
            TaskProgress(TaskProgress) = "task_progress",
            /// A change of a task.
            TaskUpdated(TaskUpdated) = "task_updated",
            /// A task ended.
            TaskNotification(TaskNotification) = "task_notification",
            /// The list of background tasks.
            BackgroundTasksChanged(BackgroundTasksChanged) = "background_tasks_changed",
            /// The conversation so far was replaced by a summary.
            CompactBoundary(CompactBoundary) = "compact_boundary",
            /// A hook started.
            HookStarted(HookStarted) = "hook_started",
            /// A hook ended.
            HookResponse(HookResponse) = "hook_response",
            /// A line for the transcript.
            Informational(Informational) = "informational",
            /// A line for the status area.
            Notification(Notification) = "notification",
            /// Another model takes over.
            ModelFallback(ModelFallback) = "model_fallback",
            /// The model refused, and none takes over.
            ModelRefusalNoFallback(ModelRefusal) = "model_refusal_no_fallback",
            /// The model refused, and another one takes over.
            ModelRefusalFallback(ModelRefusal) = "model_refusal_fallback",
            /// The session starts or stops working.
            SessionStateChanged(SessionStateChanged) = "session_state_changed",
            /// The session has a new title.
            SessionTitleChanged(SessionTitleChanged) = "session_title_changed",
            /// A user interface should redraw itself.
            UiInvalidate(UiInvalidate) = "ui_invalidate",
        }
        named {
            /// The list of slash commands changed.
            CommandsChanged = "commands_changed",
            /// The output of a slash command.
            LocalCommandOutput = "local_command_output",
            /// A hook is still running.
            HookProgress = "hook_progress",
            /// A plugin is being installed.
            PluginInstall = "plugin_install",
            /// The CLI used its memory.
            MemoryRecall = "memory_recall",
            /// Files were stored.
            FilesPersisted = "files_persisted",
            /// An MCP server got its answer.
            ElicitationComplete = "elicitation_complete",
            /// The session could not be copied to its mirror.
            MirrorError = "mirror_error",
            /// A control request is being processed.
            ControlRequestProgress = "control_request_progress",
            /// The CLI is about to stop.
            WorkerShuttingDown = "worker_shutting_down",
            /// The session file could not be written.
            SessionWritesLost = "session_writes_lost",
        }
    }
}
