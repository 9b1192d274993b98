//! `Assistant` and `User`: the lines with a message, and the `Message` in them, as the Messages API knows it.

use crate::event::block::{Block, Nesting};
use crate::event::tokens::Usage;
use json_lines::reader::{Cursor, Failed, Field};
use json_lines::{RawJson, Text, TextList, open_enum, wire_struct};

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

wire_struct! {
    /// A message as the Messages API knows it. One API message arrives as several `assistant` events, one per
    /// content block, all with the same `id`.
    pub struct Message {
        @usual { id "id", unknown "type", role "role", model "model", content "content", stop_reason "stop_reason", stop_sequence "stop_sequence", usage "usage", unknown "context_management" }
        /// The same for all blocks of one API message; absent in `user` messages.
        id: Option<Text> = b"id",
        /// The model that wrote it; `<synthetic>` for messages the CLI made up, such as API errors.
        model: Option<Text> = b"model",
        role: Option<Role> = b"role",
        content: Content = b"content",
        /// Why the model stopped; `None` in all but the last event of a message.
        stop_reason: Option<StopReason> = b"stop_reason",
        stop_sequence: Option<Text> = b"stop_sequence",
        /// Counts at the start of the message, see [`Usage`].
        usage: Option<Usage> = b"usage",
    }
}

open_enum! {
    /// Who speaks.
    pub enum Role {
        Assistant = "assistant",
        /// A person, a tool, or the CLI on their behalf.
        User = "user",
    }

    /// Why the model stopped.
    pub enum StopReason {
        /// It had finished.
        EndTurn = "end_turn",
        /// It wants a tool to run.
        ToolUse = "tool_use",
        /// It reached the limit of output tokens.
        MaxTokens = "max_tokens",
        /// It wrote a stop sequence.
        StopSequence = "stop_sequence",
        Refusal = "refusal",
        /// The vendor paused a long turn.
        PauseTurn = "pause_turn",
        /// A hook deferred a tool to a later resume.
        ToolDeferred = "tool_deferred",
    }
}

/// The content of a message or a tool result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// A plain string.
    Text(Text),
    /// A list of blocks, possibly empty.
    Blocks(Vec<Block>),
    /// Anything else, or a list of more than 65,536 blocks, which is the most that is parsed per line.
    Other(RawJson),
}

impl Content {
    /// The blocks; none for a plain string.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(_) | Self::Other(_) => &[],
        }
    }

    /// All text in it, blocks joined by newlines. Copies only if there are several text blocks.
    #[must_use]
    pub fn text(&self) -> Text {
        let blocks = match self {
            Self::Text(text) => return text.clone(),
            Self::Blocks(blocks) => blocks,
            Self::Other(_) => return Text::new(),
        };
        let mut texts = blocks.iter().filter_map(Block::as_text);
        let Some(first) = texts.next() else {
            return Text::new();
        };
        let Some(second) = texts.next() else {
            return first.clone();
        };
        let mut joined = format!("{first}\n{second}");
        for text in texts {
            joined.push('\n');
            joined.push_str(text);
        }
        Text::from(joined)
    }

    pub(super) fn read_nested(cursor: &mut Cursor<'_>, nesting: Nesting) -> Result<Self, Failed> {
        match cursor.peek() {
            Some(b'"') => Ok(cursor.text()?.map_or_else(Self::default, Self::Text)),
            Some(b'[') => {
                let start = cursor.position();
                // Nearly always exactly one.
                let mut blocks = Vec::with_capacity(1);
                let mut is_too_long = false;
                cursor.array(|cursor| {
                    if !cursor.allows_element() {
                        is_too_long = true;
                        blocks = Vec::new();
                        return cursor.skip();
                    }
                    blocks.push(Block::read(cursor, nesting)?);
                    Ok(())
                })?;
                if is_too_long {
                    return Ok(Self::Other(cursor.raw_since(start)));
                }
                Ok(Self::Blocks(blocks))
            }
            _ => Ok(cursor.raw()?.map_or_else(Self::default, Self::Other)),
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Field for Content {
    #[inline]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        *self = Self::read_nested(cursor, Nesting::Message)?;
        Ok(())
    }
}
