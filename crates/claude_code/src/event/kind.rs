//! `Kind`: what a line says, by its `type`. `Tag`: the kind of a line before it is read.

use crate::event::control::{ControlCancelRequest, ControlRequest, ControlResponse};
use crate::event::lifecycle::{
    Attachment, CommandLifecycle, ConversationReset, ToolProgress, ToolUseSummary,
};
use crate::event::message::{Assistant, User};
use crate::event::outcome::TurnResult;
use crate::event::rate_limit::RateLimit;
use crate::event::stream::StreamEvent;
use crate::event::system::{System, SystemTag};
use json_lines::Text;
use json_lines::reader::{Cursor, Failed, Object, UnknownMembers};

/// Declares an enum over the words of a member such as `type`, and the tag by which a line is read as one of its
/// variants. A `typed` variant has a struct for the line, a `named` one only its name, and a `nested` one is divided
/// further by the `subtype`.
macro_rules! tagged_lines {
    (
        $(#[$meta:meta])*
        pub enum $name:ident, $tag:ident, $word:ident {
            $( nested { $(#[$nested_meta:meta])* $nested:ident($nested_tag:ident) = $nested_word:literal, } )?
            typed { $( $(#[$typed_meta:meta])* $typed:ident($body:ident) = $typed_word:literal, )+ }
            named { $( $(#[$named_meta:meta])* $named:ident = $named_word:literal, )+ }
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$nested_meta])* $nested($nested), )?
            $( $(#[$typed_meta])* $typed(Box<$body>), )+
            $( $(#[$named_meta])* $named, )+
            /// A word that this version does not know, or none at all. The line is in [`crate::Event::raw`].
            Unknown {
                /// The word.
                $word: Option<Text>,
            },
        }

        impl $name {
            #[doc = concat!("The line's `", stringify!($word), "`.")]
            #[must_use]
            pub fn $word(&self) -> Option<&str> {
                match self {
                    $( Self::$nested(_) => Some($nested_word), )?
                    $( Self::$typed(_) => Some($typed_word), )+
                    $( Self::$named => Some($named_word), )+
                    Self::Unknown { $word } => $word.as_deref(),
                }
            }

            pub(in crate::event) fn read(
                cursor: &mut Cursor<'_>,
                tag: $tag,
                unknown: &mut impl UnknownMembers,
            ) -> Result<Self, Failed> {
                let without_body = match tag {
                    $( $tag::$nested(tag) => return Ok(Self::$nested($nested::read(cursor, tag, unknown)?)), )?
                    $( $tag::$typed => {
                        let mut body = Box::<$body>::default();
                        body.read_members(cursor, unknown)?;
                        return Ok(Self::$typed(body));
                    } )+
                    $( $tag::$named => Self::$named, )+
                    $tag::Unknown => Self::Unknown { $word: None },
                };
                cursor.object(|cursor, key| unknown.take(cursor, key))?;
                Ok(without_body)
            }
        }

        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(in crate::event) enum $tag {
            $( $nested($nested_tag), )?
            $( $typed, )+
            $( $named, )+
            Unknown,
        }

        impl $tag {
            pub(in crate::event) fn of(word: &[u8], subtype: &[u8]) -> Self {
                $( if word == $nested_word.as_bytes() { return Self::$nested($nested_tag::of(subtype, b"")); } )?
                $( if word == $typed_word.as_bytes() { return Self::$typed; } )+
                $( if word == $named_word.as_bytes() { return Self::$named; } )+
                let _ = subtype;
                Self::Unknown
            }
        }
    };
}
pub(in crate::event) use tagged_lines;

tagged_lines! {
    /// What a line says.
    pub enum Kind, Tag, type_name {
        nested {
            /// An event about the session, one type per subtype.
            System(SystemTag) = "system",
        }
        typed {
            /// A piece of a message while the model writes it.
            StreamEvent(StreamEvent) = "stream_event",
            /// A content block of the model's message.
            Assistant(Assistant) = "assistant",
            /// A message to the model: a tool result or a prompt.
            User(User) = "user",
            /// The end of a turn.
            Result(TurnResult) = "result",
            /// The state of a subscription's limit.
            RateLimit(RateLimit) = "rate_limit_event",
            /// The CLI asks something and waits for the answer.
            ControlRequest(ControlRequest) = "control_request",
            /// The CLI answers a control request of ours.
            ControlResponse(ControlResponse) = "control_response",
            /// The CLI withdraws a control request.
            ControlCancelRequest(ControlCancelRequest) = "control_cancel_request",
            /// The progress of a message that was sent.
            CommandLifecycle(CommandLifecycle) = "command_lifecycle",
            /// A tool is still running.
            ToolProgress(ToolProgress) = "tool_progress",
            /// A short summary of several tool calls.
            ToolUseSummary(ToolUseSummary) = "tool_use_summary",
            /// The conversation starts over.
            ConversationReset(ConversationReset) = "conversation_reset",
            /// Something attached to the conversation.
            Attachment(Attachment) = "attachment",
        }
        named {
            /// A sign of life.
            KeepAlive = "keep_alive",
            /// The state of the login.
            AuthStatus = "auth_status",
            /// A suggestion for the next prompt.
            PromptSuggestion = "prompt_suggestion",
            /// The goal that the session works towards.
            ActiveGoal = "active_goal",
        }
    }
}

impl Tag {
    /// Guesses from how the line starts; `None` if it starts in an unusual way. Only a guess, because a later `type`
    /// would replace the first one: compare it once the line is read.
    pub(super) fn guess(line: &[u8]) -> Option<Self> {
        let Some((type_name, rest)) = line.strip_prefix(b"{\"type\":\"").and_then(word) else {
            // The CLI writes the members of `result` in another order.
            let is_result = line.starts_with(b"{\"duration_api_ms\":") || line.starts_with(b"{\"is_error\":");
            return is_result.then_some(Self::Result);
        };
        let subtype = match type_name {
            b"system" => rest.strip_prefix(b",\"subtype\":\"").and_then(word)?.0,
            _ => b"",
        };
        Some(Self::of(type_name, subtype))
    }

    /// Reads the whole line for its `type` and `subtype`.
    pub(super) fn find(cursor: &mut Cursor<'_>) -> Result<Self, Failed> {
        let (mut type_name, mut subtype) = (None, None);
        cursor.object(|cursor, key| {
            match key {
                b"type" => type_name = cursor.text()?,
                b"subtype" => subtype = cursor.text()?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        let (type_name, subtype) = (type_name.unwrap_or_default(), subtype.unwrap_or_default());
        Ok(Self::of(type_name.as_bytes(), subtype.as_bytes()))
    }
}

/// Splits `word"rest`. The protocol's words are short and consist of lower-case letters and `_`.
fn word(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes
        .iter()
        .take(64)
        .position(|byte| !(byte.is_ascii_lowercase() || *byte == b'_'))?;
    (bytes[end] == b'"').then(|| (&bytes[..end], &bytes[end + 1..]))
}
