//! From subtype to type.

use super::{
    AnswerRetry, ApiRetry, BackgroundTasksChanged, CompactBoundary, HookResponse, HookStarted, Informational,
    Init, ModelFallback, ModelRefusal, Notification, PermissionDenied, SessionStateChanged,
    SessionTitleChanged, Status, TaskNotification, TaskProgress, TaskStarted, TaskUpdated, ThinkingTokens,
    UiInvalidate,
};
use crate::event::field::{Object, Rest};
use crate::json::{Cursor, Failed};
use crate::text::Text;

macro_rules! system_subtypes {
    (
        typed { $( $(#[$typed_meta:meta])* $typed:ident($body:ident) = $typed_word:literal, )+ }
        named { $( $(#[$named_meta:meta])* $named:ident = $named_word:literal, )+ }
    ) => {
        /// A line of type `system`.
        #[derive(Debug, Clone, PartialEq)]
        pub enum System {
            $( $(#[$typed_meta])* $typed(Box<$body>), )+
            $( $(#[$named_meta])* $named, )+
            /// A subtype that this version does not know, or none at all. The line is in [`crate::Event::raw`].
            Unknown {
                /// The subtype.
                subtype: Option<Text>,
            },
        }

        impl System {
            /// The subtype as the vendor writes it.
            #[must_use]
            pub fn subtype(&self) -> Option<&str> {
                match self {
                    $( Self::$typed(_) => Some($typed_word), )+
                    $( Self::$named => Some($named_word), )+
                    Self::Unknown { subtype } => subtype.as_deref(),
                }
            }

            pub(in crate::event) fn read(
                cursor: &mut Cursor<'_>,
                tag: SystemTag,
                rest: &mut impl Rest,
            ) -> Result<Self, Failed> {
                Ok(match tag {
                    $( SystemTag::$typed => {
                        let mut body = Box::<$body>::default();
                        body.read_members(cursor, rest)?;
                        Self::$typed(body)
                    } )+
                    $( SystemTag::$named => {
                        cursor.object(|cursor, key| rest.take(cursor, key))?;
                        Self::$named
                    } )+
                    SystemTag::Unknown => {
                        cursor.object(|cursor, key| rest.take(cursor, key))?;
                        Self::Unknown { subtype: None }
                    }
                })
            }
        }

        /// Which of the subtypes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(in crate::event) enum SystemTag {
            $( $typed, )+
            $( $named, )+
            Unknown,
        }

        impl SystemTag {
            pub(in crate::event) fn of(subtype: &[u8]) -> Self {
                $( if subtype == $typed_word.as_bytes() { return Self::$typed; } )+
                $( if subtype == $named_word.as_bytes() { return Self::$named; } )+
                Self::Unknown
            }
        }
    };
}

system_subtypes! {
    typed {
        /// A session or a further turn begins.
        Init(Init) = "init",
        /// What the CLI is doing right now.
        Status(Status) = "status",
        /// The API failed and the CLI will try again.
        ApiRetry(ApiRetry) = "api_retry",
        /// A tool call was not allowed.
        PermissionDenied(PermissionDenied) = "permission_denied",
        /// How much the model has thought so far.
        ThinkingTokens(ThinkingTokens) = "thinking_tokens",
        /// A subagent or background command begins.
        TaskStarted(TaskStarted) = "task_started",
        /// What a subagent is doing.
        TaskProgress(TaskProgress) = "task_progress",
        /// Something about a task has changed.
        TaskUpdated(TaskUpdated) = "task_updated",
        /// A task has ended.
        TaskNotification(TaskNotification) = "task_notification",
        /// The list of background tasks.
        BackgroundTasksChanged(BackgroundTasksChanged) = "background_tasks_changed",
        /// The conversation before this was replaced by a summary.
        CompactBoundary(CompactBoundary) = "compact_boundary",
        /// A hook begins.
        HookStarted(HookStarted) = "hook_started",
        /// A hook has ended.
        HookResponse(HookResponse) = "hook_response",
        /// A line for the transcript.
        Informational(Informational) = "informational",
        /// A line for the status area.
        Notification(Notification) = "notification",
        /// Another model takes over.
        ModelFallback(ModelFallback) = "model_fallback",
        /// The model refused and none takes over.
        ModelRefusalNoFallback(ModelRefusal) = "model_refusal_no_fallback",
        /// The model refused and another one takes over.
        ModelRefusalFallback(ModelRefusal) = "model_refusal_fallback",
        /// The session starts or stops working.
        SessionStateChanged(SessionStateChanged) = "session_state_changed",
        /// The session has a new title.
        SessionTitleChanged(SessionTitleChanged) = "session_title_changed",
        /// A user interface should draw itself anew.
        UiInvalidate(UiInvalidate) = "ui_invalidate",
        /// The answer broke and Qwen Code asks for it again.
        AnswerRetry(AnswerRetry) = "retry",
    }
    named {
        /// The slash commands have changed.
        CommandsChanged = "commands_changed",
        /// What a slash command wrote.
        LocalCommandOutput = "local_command_output",
        /// A hook is still running.
        HookProgress = "hook_progress",
        /// A plugin is being installed.
        PluginInstall = "plugin_install",
        /// The CLI remembered something.
        MemoryRecall = "memory_recall",
        /// Files were stored.
        FilesPersisted = "files_persisted",
        /// An MCP server has its answer.
        ElicitationComplete = "elicitation_complete",
        /// The copy of the session elsewhere failed.
        MirrorError = "mirror_error",
        /// A control request is being worked on.
        ControlRequestProgress = "control_request_progress",
        /// The CLI is about to stop.
        WorkerShuttingDown = "worker_shutting_down",
        /// The session file could not be written.
        SessionWritesLost = "session_writes_lost",
    }
}
