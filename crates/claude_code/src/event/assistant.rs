//! `Assistant`: a content block of the model's message, or an API error.

use crate::event::message::Message;
use json_lines::{RawJson, Text, TextList, wire_struct};

wire_struct! {
    /// A content block of the model's message, or an API error in the shape of one.
    pub struct Assistant {
        @usual { unknown "type", message "message", unknown "parent_tool_use_id", unknown "session_id", unknown "uuid", unknown "timestamp", request_id "request_id" }
        /// The message; several events share one `message.id`.
        message: Option<Message> = b"message",
        /// Category of an API error, for example `rate_limit`.
        error: Option<Text> = b"error",
        /// Whether the text is an API error and not the model's.
        is_api_error_message: bool = b"is_api_error_message",
        api_error_status: Option<u64> = b"api_error_status",
        /// The API's own name for the error.
        api_error_type: Option<Text> = b"api_error_type",
        /// The CLI's name for the error, for example `usage_limit_reached`.
        api_error: Option<Text> = b"api_error",
        api_error_params: Option<RawJson> = b"api_error_params",
        is_aborted: bool = b"aborted",
        request_id: Option<Text> = b"request_id",
        agent_id: Option<Text> = b"agent_id",
        subagent_type: Option<Text> = b"subagent_type",
        /// A short description of the subagent's task.
        task_description: Option<Text> = b"task_description",
        /// How long the model thought, in milliseconds.
        thinking_duration_ms: Option<u64> = b"thinking_duration_ms",
        /// Display names of the tools in this message.
        tool_use_meta: Option<RawJson> = b"tool_use_meta",
        /// What fills the context: the answer to `/context`.
        context_usage: Option<RawJson> = b"context_usage",
        /// The slash command that this answers.
        local_command_run: Option<RawJson> = b"local_command_run",
        /// How that command ended.
        local_command_outcome: Option<RawJson> = b"local_command_outcome",
        /// The command's output, with its tags.
        local_command_source: Option<Text> = b"local_command_source",
        /// The message that the model refused to continue.
        refused_message_id: Option<Text> = b"refused_message_id",
        /// The user messages that this answers.
        user_message_uuids: TextList = b"user_message_uuids",
    }
}
