//! The bodies of `system` lines, one struct per subtype. Fields without a comment are named after the vendor's member.

use json_lines::{RawJson, Text, TextList, open_enum, wire_struct};

wire_struct! {
    /// A session or another turn begins. Not always the first line, and not always the only `init`.
    pub struct Init {
        @usual { unknown "type", unknown "subtype", cwd "cwd", unknown "session_id", tools "tools", mcp_servers "mcp_servers", model "model", permission_mode "permissionMode", slash_commands "slash_commands", unknown "terminal_slash_commands", api_key_source "apiKeySource", claude_code_version "claude_code_version", output_style "output_style", agents "agents", skills "skills", plugins "plugins", capabilities "capabilities", unknown "analytics_disabled", unknown "product_feedback_disabled", unknown "uuid", unknown "memory_paths", unknown "original_cwd", additional_directories "additional_directories", unknown "messaging_socket_path" }
        model: Option<Text> = b"model",
        cwd: Option<Text> = b"cwd",
        /// The CLI's version (2.1.9 and later). Other agents that write this format put their own version here.
        claude_code_version: Option<Text> = b"claude_code_version",
        permission_mode: Option<PermissionMode> = b"permissionMode" | b"permission_mode",
        /// Tools that the model can call.
        tools: TextList = b"tools",
        /// At most 65,536.
        mcp_servers: Vec<McpServer> = b"mcp_servers",
        /// Where the API key comes from; `none` with a login.
        api_key_source: Option<Text> = b"apiKeySource",
        slash_commands: TextList = b"slash_commands",
        /// Types of subagents.
        agents: TextList = b"agents",
        skills: TextList = b"skills",
        plugins: Option<RawJson> = b"plugins",
        output_style: Option<Text> = b"output_style",
        /// What the CLI offers to an embedder.
        capabilities: TextList = b"capabilities",
        additional_directories: TextList = b"additional_directories",
        /// The user messages that this turn answers.
        user_message_uuids: TextList = b"user_message_uuids",
    }

    /// An MCP server and its state.
    pub struct McpServer {
        name: Option<Text> = b"name",
        /// For example `connected` or `failed`.
        status: Option<Text> = b"status",
        /// Where it was configured.
        source: Option<Text> = b"source",
    }
}

open_enum! {
    /// What the agent may do without asking.
    pub enum PermissionMode {
        /// Only harmless actions.
        Default = "default",
        /// Edits too.
        AcceptEdits = "acceptEdits",
        /// Nothing changes before a plan is approved.
        Plan = "plan",
        /// What would need permission is refused.
        DontAsk = "dontAsk",
        /// Everything.
        BypassPermissions = "bypassPermissions",
        /// The CLI decides.
        Auto = "auto",
    }
}

impl From<agent_client::PermissionMode> for PermissionMode {
    fn from(mode: agent_client::PermissionMode) -> Self {
        match mode {
            agent_client::PermissionMode::Ask => Self::Default,
            agent_client::PermissionMode::AcceptEdits => Self::AcceptEdits,
            agent_client::PermissionMode::Plan => Self::Plan,
            agent_client::PermissionMode::Refuse => Self::DontAsk,
            agent_client::PermissionMode::Auto => Self::Auto,
            agent_client::PermissionMode::Bypass => Self::BypassPermissions,
        }
    }
}

wire_struct! {
    /// What the CLI is doing now, or a setting that changed.
    pub struct Status {
        /// `None` when an activity has ended.
        status: Option<StatusKind> = b"status",
        /// The permission mode, if it changed.
        permission_mode: Option<PermissionMode> = b"permissionMode",
        compact_result: Option<Text> = b"compact_result",
        compact_error: Option<Text> = b"compact_error",
    }
}

open_enum! {
    /// An activity of the CLI.
    pub enum StatusKind {
        /// Waiting for the API.
        Requesting = "requesting",
        /// Replacing the conversation by a summary.
        Compacting = "compacting",
    }
}

wire_struct! {
    /// The API failed, and the CLI will try again by itself.
    pub struct ApiRetry {
        /// From 1.
        attempt: Option<u64> = b"attempt",
        max_retries: Option<u64> = b"max_retries",
        /// The wait in milliseconds (a fraction up to 2.1.197).
        retry_delay_ms: Option<f64> = b"retry_delay_ms",
        /// HTTP status; `None` if the connection broke.
        error_status: Option<u64> = b"error_status",
        /// Category, for example `overloaded`.
        error: Option<Text> = b"error",
    }

    /// A tool call was not allowed; the run continues. There is no such event if a hook denies a call.
    pub struct PermissionDenied {
        tool_name: Option<Text> = b"tool_name",
        tool_use_id: Option<Text> = b"tool_use_id",
        /// The reason, for people.
        message: Option<Text> = b"message",
        decision_reason: Option<Text> = b"decision_reason",
        decision_reason_type: Option<Text> = b"decision_reason_type",
    }

    /// How much the model has thought so far, as an estimate.
    pub struct ThinkingTokens {
        /// In this message.
        estimated_tokens: Option<u64> = b"estimated_tokens",
        /// Since the last such event.
        estimated_tokens_delta: Option<u64> = b"estimated_tokens_delta",
    }

    /// A subagent or background command started.
    pub struct TaskStarted {
        task_id: Option<Text> = b"task_id",
        /// The call that started it.
        tool_use_id: Option<Text> = b"tool_use_id",
        /// `local_agent` or `local_bash`.
        task_type: Option<Text> = b"task_type",
        description: Option<Text> = b"description",
        /// The subagent's prompt.
        prompt: Option<Text> = b"prompt",
        subagent_type: Option<Text> = b"subagent_type",
        /// Whether the conversation continues meanwhile.
        is_backgrounded: Option<bool> = b"is_backgrounded",
        /// Nesting of subagents, from 1.
        spawn_depth: Option<u64> = b"spawn_depth",
    }

    /// What a subagent is doing.
    pub struct TaskProgress {
        task_id: Option<Text> = b"task_id",
        /// The call that started it.
        tool_use_id: Option<Text> = b"tool_use_id",
        description: Option<Text> = b"description",
        last_tool_name: Option<Text> = b"last_tool_name",
        subagent_type: Option<Text> = b"subagent_type",
        /// Since its start.
        usage: Option<TaskUsage> = b"usage",
    }

    /// A change of a task.
    pub struct TaskUpdated {
        task_id: Option<Text> = b"task_id",
        patch: Option<TaskPatch> = b"patch",
    }

    /// The members of a task that changed.
    pub struct TaskPatch {
        status: Option<TaskStatus> = b"status",
        /// In milliseconds since 1970.
        ended_at_unix_ms: Option<u64> = b"end_time",
        error: Option<Text> = b"error",
    }

    /// A task ended.
    pub struct TaskNotification {
        task_id: Option<Text> = b"task_id",
        /// The call that started it.
        tool_use_id: Option<Text> = b"tool_use_id",
        status: Option<TaskStatus> = b"status",
        summary: Option<Text> = b"summary",
        /// The file with all its output.
        output_file: Option<Text> = b"output_file",
        usage: Option<TaskUsage> = b"usage",
    }
}

open_enum! {
    /// The state of a task.
    pub enum TaskStatus {
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        /// Stopped on request.
        Stopped = "stopped",
        Killed = "killed",
    }
}

wire_struct! {
    /// Tokens and time of a task.
    #[derive(Copy)]
    pub struct TaskUsage {
        /// Tokens of all kinds.
        total_tokens: Option<u64> = b"total_tokens",
        /// Number of tool calls.
        tool_uses: Option<u64> = b"tool_uses",
        duration_ms: Option<u64> = b"duration_ms",
    }

    /// The list of background tasks. It replaces the one before.
    pub struct BackgroundTasksChanged {
        /// All open tasks, at most 65,536.
        tasks: Vec<BackgroundTask> = b"tasks",
    }

    /// An open background task.
    pub struct BackgroundTask {
        task_id: Option<Text> = b"task_id",
        /// `local_agent` or `local_bash`.
        task_type: Option<Text> = b"task_type",
        description: Option<Text> = b"description",
        subagent_type: Option<Text> = b"subagent_type",
    }

    /// The conversation so far was replaced by a summary.
    pub struct CompactBoundary {
        compact_metadata: Option<CompactMetadata> = b"compact_metadata",
        /// The last message that was replaced.
        logical_parent_uuid: Option<Text> = b"logical_parent_uuid",
    }

    /// The figures of a compaction.
    pub struct CompactMetadata {
        /// `auto` or `manual`.
        trigger: Option<Text> = b"trigger",
        /// Tokens before it.
        pre_tokens: Option<u64> = b"pre_tokens",
        /// Tokens after it.
        post_tokens: Option<u64> = b"post_tokens",
        /// Tokens dropped in this session.
        cumulative_dropped_tokens: Option<u64> = b"cumulative_dropped_tokens",
        duration_ms: Option<u64> = b"duration_ms",
        preserved_messages: Option<RawJson> = b"preserved_messages",
    }

    /// A hook started.
    pub struct HookStarted {
        /// Identifies this run of the hook.
        hook_id: Option<Text> = b"hook_id",
        /// For example `PreToolUse:Bash`.
        hook_name: Option<Text> = b"hook_name",
        /// For example `PreToolUse`.
        hook_event: Option<Text> = b"hook_event",
    }

    /// A hook ended.
    pub struct HookResponse {
        /// Identifies this run of the hook.
        hook_id: Option<Text> = b"hook_id",
        /// For example `PreToolUse:Bash`.
        hook_name: Option<Text> = b"hook_name",
        /// For example `PreToolUse`.
        hook_event: Option<Text> = b"hook_event",
        /// `success` or `error`.
        outcome: Option<Text> = b"outcome",
        exit_code: Option<u64> = b"exit_code",
        /// Stdout and stderr together.
        output: Option<Text> = b"output",
        stdout: Option<Text> = b"stdout",
        stderr: Option<Text> = b"stderr",
    }

    /// A line for the transcript.
    pub struct Informational {
        content: Option<Text> = b"content",
        level: Option<Text> = b"level",
        /// Whether the turn ends here.
        prevent_continuation: bool = b"prevent_continuation",
    }

    /// A line for the status area.
    pub struct Notification {
        /// Replaces an earlier one with the same key.
        key: Option<Text> = b"key",
        text: Option<Text> = b"text",
        priority: Option<Text> = b"priority",
    }

    /// Another model takes over.
    pub struct ModelFallback {
        original_model: Option<Text> = b"original_model",
        fallback_model: Option<Text> = b"fallback_model",
        /// The reason, for example `overloaded`.
        trigger: Option<Text> = b"trigger",
        /// The reason, for people.
        content: Option<Text> = b"content",
    }

    /// The model refused.
    pub struct ModelRefusal {
        original_model: Option<Text> = b"original_model",
        /// The model that takes over, if any.
        fallback_model: Option<Text> = b"fallback_model",
        api_refusal_category: Option<Text> = b"api_refusal_category",
        api_refusal_explanation: Option<Text> = b"api_refusal_explanation",
        refused_user_message_uuid: Option<Text> = b"refused_user_message_uuid",
        /// The API request.
        request_id: Option<Text> = b"request_id",
        /// The reason, for people.
        content: Option<Text> = b"content",
    }

    /// The session starts or stops working. Only sent if an environment variable asks for it.
    pub struct SessionStateChanged {
        state: Option<SessionState> = b"state",
    }
}

open_enum! {
    /// What a session is doing.
    pub enum SessionState {
        Running = "running",
        /// All work is done, in the background too.
        Idle = "idle",
        /// Waiting for an answer.
        RequiresAction = "requires_action",
    }
}

wire_struct! {
    /// The session has a new title.
    pub struct SessionTitleChanged {
        title: Option<Text> = b"title",
    }

    /// A user interface should redraw itself.
    pub struct UiInvalidate {
        /// The reason. A string, unlike the `event` of a stream event.
        event: Option<Text> = b"event",
    }
}
