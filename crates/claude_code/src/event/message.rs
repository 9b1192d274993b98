//! `Message` and its `Content`: a message as the Messages API knows it.

use crate::event::block::{Block, Nesting};
use crate::event::tokens::Usage;
use json_lines::reader::{Cursor, Failed, Field};
use json_lines::{RawJson, Text, open_enum, wire_struct};

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
