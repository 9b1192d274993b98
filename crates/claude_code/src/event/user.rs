//! `User`: a message to the model: a tool result, a prompt, or a text that the CLI wrote for the user.

use crate::event::message::Message;
use json_lines::{RawJson, Text, wire_struct};

wire_struct! {
    /// A message to the model. Tool results come one per event, in the order of completion.
    pub struct User {
        @usual { unknown "type", message "message", unknown "parent_tool_use_id", unknown "session_id", unknown "uuid", unknown "timestamp", tool_use_result "tool_use_result", tool_result_meta "tool_result_meta" }
        message: Option<Message> = b"message",
        /// The tool result as data: an object of the tool's own shape, an array for MCP, a string on failure. May
        /// hold whole files.
        tool_use_result: Option<RawJson> = b"tool_use_result",
        /// Permission decisions about the tool calls.
        tool_result_meta: Option<RawJson> = b"tool_result_meta",
        /// Whether it repeats a message that was sent by stdin.
        is_replay: bool = b"isReplay",
        /// Whether the CLI wrote it.
        is_synthetic: bool = b"isSynthetic",
        agent_id: Option<Text> = b"agent_id",
        subagent_type: Option<Text> = b"subagent_type",
        /// A short description of the subagent's task.
        task_description: Option<Text> = b"task_description",
        /// The message that the model refused to continue.
        refused_message_id: Option<Text> = b"refused_message_id",
    }
}
