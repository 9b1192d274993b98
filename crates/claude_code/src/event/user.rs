//! What went to the model: tool results, prompts, and what the CLI says on the user's behalf.

use crate::event::field::wire_struct;
use crate::event::message::Message;
use crate::json::RawJson;
use crate::text::Text;

wire_struct! {
    /// A message to the model. Tool results come one per event, in the order of completion.
    pub struct User {
        @usual { rest "type", message "message", rest "parent_tool_use_id", rest "session_id", rest "uuid", rest "timestamp", tool_use_result "tool_use_result", tool_result_meta "tool_result_meta" }
        /// The message.
        message: Option<Message> = b"message",
        /// The structured twin of the tool result: an object per tool, an array for MCP, a string on failure. May
        /// hold whole files.
        tool_use_result: Option<RawJson> = b"tool_use_result",
        /// Permission decisions about the tool calls.
        tool_result_meta: Option<RawJson> = b"tool_result_meta",
        /// Repeats a message that was sent on standard input: its receipt.
        is_replay: bool = b"isReplay",
        /// Made up by the CLI.
        is_synthetic: bool = b"isSynthetic",
        /// Id of the subagent that is spoken to.
        agent_id: Option<Text> = b"agent_id",
        /// Type of the subagent that is spoken to.
        subagent_type: Option<Text> = b"subagent_type",
        /// What the subagent was asked for, in short.
        task_description: Option<Text> = b"task_description",
        /// The message that the model refused to go on with.
        refused_message_id: Option<Text> = b"refused_message_id",
    }
}
