//! `CommandLifecycle`, `ToolProgress` and other small lines around the conversation.

use json_lines::{RawJson, Text, TextList, open_enum, wire_struct};

wire_struct! {
    /// The progress of a message that was sent with a uuid.
    pub struct CommandLifecycle {
        command_uuid: Option<Text> = b"command_uuid",
        state: Option<CommandState> = b"state",
    }
}

open_enum! {
    /// The progress of a message.
    pub enum CommandState {
        /// It waits for its turn.
        Queued = "queued",
        /// Its turn started.
        Started = "started",
        /// Its turn ended.
        Completed = "completed",
        /// It was withdrawn.
        Cancelled = "cancelled",
    }
}

wire_struct! {
    /// A tool is still running; sent every 30 seconds.
    pub struct ToolProgress {
        tool_name: Option<Text> = b"tool_name",
        /// A made-up id; the call itself is the event's `parent_tool_use_id`.
        tool_use_id: Option<Text> = b"tool_use_id",
        /// Since the start of the call.
        elapsed_time_seconds: Option<f64> = b"elapsed_time_seconds",
        /// Nothing but a sign of life.
        is_heartbeat: bool = b"heartbeat",
    }

    /// A short summary of several tool calls.
    pub struct ToolUseSummary {
        summary: Option<Text> = b"summary",
        preceding_tool_use_ids: TextList = b"preceding_tool_use_ids",
    }

    /// The conversation starts over, for example after `/clear`.
    pub struct ConversationReset {
        /// Not the session id of what follows.
        new_conversation_id: Option<Text> = b"new_conversation_id",
        trigger: Option<Text> = b"trigger",
        /// The message that caused it.
        user_message_uuid: Option<Text> = b"user_message_uuid",
    }

    /// Something attached to the conversation, for example a hook's output.
    pub struct Attachment {
        /// As written; its `type` says what it is.
        attachment: Option<RawJson> = b"attachment",
    }
}
