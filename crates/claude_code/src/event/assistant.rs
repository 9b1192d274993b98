//! What the model said.

use crate::event::field::wire_struct;
use crate::event::list::TextList;
use crate::event::message::Message;
use crate::json::RawJson;
use crate::text::Text;

wire_struct! {
    /// A content block of the model's message, or an API error in the shape of one.
    pub struct Assistant {
        @usual { rest "type", message "message", rest "parent_tool_use_id", rest "session_id", rest "uuid", rest "timestamp", request_id "request_id" }
        /// The message; several events share one `message.id`.
        message: Option<Message> = b"message",
        /// Category of an API error, for example `rate_limit`.
        error: Option<Text> = b"error",
        /// Whether the text is an API error and not the model's.
        is_api_error_message: bool = b"is_api_error_message",
        /// HTTP status of an API error.
        api_error_status: Option<u64> = b"api_error_status",
        /// The API's own name of the error.
        api_error_type: Option<Text> = b"api_error_type",
        /// The CLI's name of the error, for example `usage_limit_reached`.
        api_error: Option<Text> = b"api_error",
        /// Details of the error.
        api_error_params: Option<RawJson> = b"api_error_params",
        /// The block was cut off by an interrupt.
        is_aborted: bool = b"aborted",
        /// The API request.
        request_id: Option<Text> = b"request_id",
        /// Id of the subagent that speaks.
        agent_id: Option<Text> = b"agent_id",
        /// Type of the subagent that speaks.
        subagent_type: Option<Text> = b"subagent_type",
        /// What the subagent was asked for, in short.
        task_description: Option<Text> = b"task_description",
        /// How long the model thought, in milliseconds.
        thinking_duration_ms: Option<u64> = b"thinking_duration_ms",
        /// Names for display of the tools in this message.
        tool_use_meta: Option<RawJson> = b"tool_use_meta",
        /// What fills the context, as the answer to `/context`.
        context_usage: Option<RawJson> = b"context_usage",
        /// The slash command that this answers.
        local_command_run: Option<RawJson> = b"local_command_run",
        /// How that command ended.
        local_command_outcome: Option<RawJson> = b"local_command_outcome",
        /// What that command wrote, with its tags.
        local_command_source: Option<Text> = b"local_command_source",
        /// The message that the model refused to go on with.
        refused_message_id: Option<Text> = b"refused_message_id",
        /// The user messages that this answers.
        user_message_uuids: TextList = b"user_message_uuids",
    }
}
