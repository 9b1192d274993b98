//! Subagents and background commands.

use crate::event::field::wire_struct;
use crate::event::open::open_enum;
use crate::text::Text;

wire_struct! {
    /// A subagent or background command begins.
    pub struct TaskStarted {
        /// The task.
        task_id: Option<Text> = b"task_id",
        /// The call that started it.
        tool_use_id: Option<Text> = b"tool_use_id",
        /// `local_agent` or `local_bash`.
        task_type: Option<Text> = b"task_type",
        /// What it is for.
        description: Option<Text> = b"description",
        /// What a subagent was told.
        prompt: Option<Text> = b"prompt",
        /// Type of the subagent.
        subagent_type: Option<Text> = b"subagent_type",
        /// Whether the conversation goes on meanwhile.
        is_backgrounded: Option<bool> = b"is_backgrounded",
        /// Subagents within subagents, from 1.
        spawn_depth: Option<u64> = b"spawn_depth",
    }
}

wire_struct! {
    /// What a subagent is doing.
    pub struct TaskProgress {
        /// The task.
        task_id: Option<Text> = b"task_id",
        /// The call that started it.
        tool_use_id: Option<Text> = b"tool_use_id",
        /// What it is doing.
        description: Option<Text> = b"description",
        /// The tool it called last.
        last_tool_name: Option<Text> = b"last_tool_name",
        /// Type of the subagent.
        subagent_type: Option<Text> = b"subagent_type",
        /// What it used so far.
        usage: Option<TaskUsage> = b"usage",
    }
}

wire_struct! {
    /// Something about a task has changed.
    pub struct TaskUpdated {
        /// The task.
        task_id: Option<Text> = b"task_id",
        /// What has changed.
        patch: Option<TaskPatch> = b"patch",
    }
}

wire_struct! {
    /// What has changed about a task.
    pub struct TaskPatch {
        /// How it stands.
        status: Option<TaskStatus> = b"status",
        /// When it ended, in milliseconds since 1970.
        ended_at_unix_ms: Option<u64> = b"end_time",
        /// What went wrong.
        error: Option<Text> = b"error",
    }
}

wire_struct! {
    /// A task has ended.
    pub struct TaskNotification {
        /// The task.
        task_id: Option<Text> = b"task_id",
        /// The call that started it.
        tool_use_id: Option<Text> = b"tool_use_id",
        /// How it ended.
        status: Option<TaskStatus> = b"status",
        /// What came out.
        summary: Option<Text> = b"summary",
        /// Where all its output is.
        output_file: Option<Text> = b"output_file",
        /// What it used.
        usage: Option<TaskUsage> = b"usage",
    }
}

open_enum! {
    /// How a task stands.
    pub enum TaskStatus {
        /// Still works.
        Running = "running",
        /// Done.
        Completed = "completed",
        /// Failed.
        Failed = "failed",
        /// Stopped on request.
        Stopped = "stopped",
        /// Killed.
        Killed = "killed",
    }
}

wire_struct! {
    /// What a task used.
    #[derive(Copy)]
    pub struct TaskUsage {
        /// Tokens of all kinds.
        total_tokens: Option<u64> = b"total_tokens",
        /// Calls of tools.
        tool_uses: Option<u64> = b"tool_uses",
        /// Time in milliseconds.
        duration_ms: Option<u64> = b"duration_ms",
    }
}

wire_struct! {
    /// The list of background tasks is now this.
    pub struct BackgroundTasksChanged {
        /// All that are open, up to 65,536.
        tasks: Vec<BackgroundTask> = b"tasks",
    }
}

wire_struct! {
    /// An open background task.
    pub struct BackgroundTask {
        /// The task.
        task_id: Option<Text> = b"task_id",
        /// `local_agent` or `local_bash`.
        task_type: Option<Text> = b"task_type",
        /// What it is for.
        description: Option<Text> = b"description",
        /// Type of the subagent.
        subagent_type: Option<Text> = b"subagent_type",
    }
}
