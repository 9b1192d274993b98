//! Small top-level events around the conversation.

use crate::event::field::wire_struct;
use crate::event::list::TextList;
use crate::event::open::open_enum;
use crate::json::RawJson;
use crate::text::Text;

wire_struct! {
    /// What became of a message that was sent with a uuid: its receipt.
    pub struct CommandLifecycle {
        /// The message's uuid.
        command_uuid: Option<Text> = b"command_uuid",
        /// How far it is.
        state: Option<CommandState> = b"state",
    }
}

open_enum! {
    /// How far a message is.
    pub enum CommandState {
        /// Waits for its turn.
        Queued = "queued",
        /// Its turn has begun.
        Started = "started",
        /// Its turn is over.
        Completed = "completed",
        /// Taken back.
        Cancelled = "cancelled",
    }
}

wire_struct! {
    /// A tool is still running; sent every 30 seconds.
    pub struct ToolProgress {
        /// The tool.
        tool_name: Option<Text> = b"tool_name",
        /// A made-up id; the call itself is the event's `parent_tool_use_id`.
        tool_use_id: Option<Text> = b"tool_use_id",
        /// For how long.
        elapsed_time_seconds: Option<f64> = b"elapsed_time_seconds",
        /// Nothing but a sign of life.
        is_heartbeat: bool = b"heartbeat",
    }
}

wire_struct! {
    /// Several tool calls in a few words.
    pub struct ToolUseSummary {
        /// The words.
        summary: Option<Text> = b"summary",
        /// The calls.
        preceding_tool_use_ids: TextList = b"preceding_tool_use_ids",
    }
}

wire_struct! {
    /// The conversation starts over, for example after `/clear`.
    pub struct ConversationReset {
        /// The new conversation.
        new_conversation_id: Option<Text> = b"new_conversation_id",
        /// Why.
        trigger: Option<Text> = b"trigger",
        /// The message that asked for it.
        user_message_uuid: Option<Text> = b"user_message_uuid",
    }
}

wire_struct! {
    /// Something attached to the conversation, for example what a hook wrote.
    pub struct Attachment {
        /// As written; its `type` says what it is.
        attachment: Option<RawJson> = b"attachment",
    }
}
