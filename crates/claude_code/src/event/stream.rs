//! `StreamEvent`: partial messages, which are stream events of the Messages API passed through.

use bytes::Bytes;
use json_lines::reader::{Cursor, Failed, Field, StringSpan};
use json_lines::{RawJson, Text, TextList, wire_struct};

use crate::event::block::{Block, Nesting};
use crate::event::message::{Message, StopReason};
use crate::event::tokens::Usage;

wire_struct! {
    /// A piece of a message while the model writes it. Never sent for subagents.
    pub struct StreamEvent {
        @usual { unknown "type", body "event", unknown "session_id", unknown "parent_tool_use_id", unknown "uuid", api_message_id "api_message_id" }
        body: StreamBody = b"event",
        /// The message it belongs to (2.1.325; older versions only name it in `message_start`).
        api_message_id: Option<Text> = b"api_message_id",
        /// With `message_stop` of a broken message: blocks that a retry will replace.
        abandoned_blocks: Option<AbandonedBlocks> = b"abandoned_blocks",
        /// Time to the first token in milliseconds, with `message_start`.
        ttft_ms: Option<u64> = b"ttft_ms",
        /// The user messages that this answers.
        user_message_uuids: TextList = b"user_message_uuids",
    }

    /// Blocks of a broken message.
    pub struct AbandonedBlocks {
        /// The broken message.
        api_message_id: Option<Text> = b"api_message_id",
        /// The first block to forget.
        from_block_index: Option<u64> = b"from_block_index",
    }
}

/// One event of the Messages API's stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamBody {
    /// A message begins.
    MessageStart {
        /// The message, still without content.
        message: Box<Message>,
    },
    /// A block begins.
    ContentBlockStart {
        /// The block's index in its message.
        index: u64,
        /// The block, usually still empty.
        block: Block,
    },
    /// A block grows.
    ContentBlockDelta {
        /// The block's index in its message.
        index: u64,
        /// What was added.
        delta: Delta,
    },
    /// A block ends. Its complete `assistant` event came before.
    ContentBlockStop {
        /// The block's index in its message.
        index: u64,
    },
    /// The message's last figures. A broken message has none.
    MessageDelta {
        /// Why the model stopped.
        stop_reason: Option<StopReason>,
        /// The sequence that stopped it.
        stop_sequence: Option<Text>,
        /// The message's final counts.
        usage: Option<Box<Usage>>,
    },
    /// The message ends, whole or broken.
    MessageStop,
    /// Nothing but a sign of life.
    Ping,
    /// Anything else, as written.
    Unknown(RawJson),
}

impl Default for StreamBody {
    fn default() -> Self {
        Self::Unknown(RawJson::NULL)
    }
}

/// What is new in a block.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(Text),
    /// More thinking.
    Thinking(Text),
    /// More of a tool's arguments: a piece of JSON text, cut anywhere.
    InputJson(Text),
    /// The signature of a thinking block.
    Signature(Text),
    /// Anything else (citations, for example), as written.
    Unknown(RawJson),
}

#[derive(Default)]
struct Members {
    type_name: Option<StringSpan>,
    index: Option<u64>,
    message: Option<Box<Message>>,
    block: Option<Block>,
    delta: Option<DeltaMembers>,
    usage: Option<Box<Usage>>,
}

#[derive(Default)]
struct DeltaMembers {
    /// Start and end of the whole object.
    place: (usize, usize),
    type_name: Option<StringSpan>,
    text: Option<StringSpan>,
    thinking: Option<StringSpan>,
    partial_json: Option<StringSpan>,
    signature: Option<StringSpan>,
    stop_sequence: Option<StringSpan>,
    stop_reason: Option<StopReason>,
}

impl DeltaMembers {
    #[inline]
    fn read(cursor: &mut Cursor<'_>) -> Result<Option<Self>, Failed> {
        let mut members = Self {
            place: (cursor.position(), 0),
            ..Self::default()
        };
        let is_object = cursor.object(|cursor, key| {
            match key {
                b"type" => members.type_name = cursor.string()?,
                b"text" => members.text = cursor.string()?,
                b"thinking" => members.thinking = cursor.string()?,
                b"partial_json" => members.partial_json = cursor.string()?,
                b"signature" => members.signature = cursor.string()?,
                b"stop_reason" => members.stop_reason.read(cursor)?,
                b"stop_sequence" => members.stop_sequence = cursor.string()?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        members.place.1 = cursor.position();
        Ok(is_object.then_some(members))
    }

    fn build(&self, source: &Bytes) -> Delta {
        let text = |span: Option<StringSpan>| span.map(|span| span.text(source));
        let known = match self.type_name.map(|span| span.decoded(source)).as_deref() {
            Some(b"text_delta") => text(self.text).map(Delta::Text),
            Some(b"thinking_delta") => text(self.thinking).map(Delta::Thinking),
            Some(b"input_json_delta") => text(self.partial_json).map(Delta::InputJson),
            Some(b"signature_delta") => text(self.signature).map(Delta::Signature),
            _ => None,
        };
        known.unwrap_or_else(|| {
            Delta::Unknown(RawJson::from_validated(source.slice(self.place.0..self.place.1)))
        })
    }
}

impl Members {
    #[inline]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        cursor.object(|cursor, key| {
            match key {
                b"type" => self.type_name = cursor.string()?,
                b"index" => self.index = cursor.u64()?,
                b"delta" => self.delta = DeltaMembers::read(cursor)?,
                b"content_block" => self.block = Some(Block::read(cursor, Nesting::Message)?),
                b"message" => self.message.read(cursor)?,
                b"usage" => self.usage.read(cursor)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(())
    }

    fn build(&mut self, source: &Bytes) -> Option<StreamBody> {
        Some(match &*self.type_name?.decoded(source) {
            b"content_block_delta" => StreamBody::ContentBlockDelta {
                index: self.index?,
                delta: self.delta.as_ref()?.build(source),
            },
            b"content_block_start" => StreamBody::ContentBlockStart {
                index: self.index?,
                block: self.block.take()?,
            },
            b"content_block_stop" => StreamBody::ContentBlockStop { index: self.index? },
            b"message_start" => StreamBody::MessageStart {
                message: self.message.take()?,
            },
            b"message_delta" => {
                let delta = self.delta.take().unwrap_or_default();
                StreamBody::MessageDelta {
                    stop_reason: delta.stop_reason,
                    stop_sequence: delta.stop_sequence.map(|span| span.text(source)),
                    usage: self.usage.take(),
                }
            }
            b"message_stop" => StreamBody::MessageStop,
            b"ping" => StreamBody::Ping,
            _ => return None,
        })
    }
}

impl Field for StreamBody {
    #[inline]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        let start = cursor.position();
        let mut members = Members::default();
        members.read(cursor)?;
        *self = members
            .build(cursor.source())
            .unwrap_or_else(|| Self::Unknown(cursor.raw_since(start)));
        Ok(())
    }
}
