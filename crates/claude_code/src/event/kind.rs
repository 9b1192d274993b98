//! From type to type.

use crate::event::assistant::Assistant;
use crate::event::control::{ControlCancelRequest, ControlRequest, ControlResponse};
use crate::event::field::{Object, Rest};
use crate::event::lifecycle::{
    Attachment, CommandLifecycle, ConversationReset, ToolProgress, ToolUseSummary,
};
use crate::event::outcome::TurnResult;
use crate::event::rate_limit::RateLimit;
use crate::event::stream::StreamEvent;
use crate::event::system::System;
use crate::event::tag::Tag;
use crate::event::user::User;
use crate::json::{Cursor, Failed};
use crate::text::Text;

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The model said something.
    Assistant(Box<Assistant>),
    /// Something was said to the model.
    User(Box<User>),
    /// A turn ended.
    Result(Box<TurnResult>),
    /// Something about the session.
    System(System),
    /// A piece of a message while the model writes it.
    StreamEvent(Box<StreamEvent>),
    /// Where a subscription stands.
    RateLimit(Box<RateLimit>),
    /// The CLI asks something.
    ControlRequest(Box<ControlRequest>),
    /// The CLI answers something.
    ControlResponse(Box<ControlResponse>),
    /// The CLI takes a question back.
    ControlCancelRequest(Box<ControlCancelRequest>),
    /// What became of a message that was sent.
    CommandLifecycle(Box<CommandLifecycle>),
    /// A tool is still running.
    ToolProgress(Box<ToolProgress>),
    /// Several tool calls in a few words.
    ToolUseSummary(Box<ToolUseSummary>),
    /// The conversation starts over.
    ConversationReset(Box<ConversationReset>),
    /// Something attached to the conversation.
    Attachment(Box<Attachment>),
    /// A sign of life.
    KeepAlive,
    /// How the login stands.
    AuthStatus,
    /// What the user might want to say next.
    PromptSuggestion,
    /// What the session works towards.
    ActiveGoal,
    /// A type that this version does not know, or none at all. The line is in [`crate::Event::raw`].
    Unknown {
        /// The type.
        type_name: Option<Text>,
    },
}

/// Reads a body where it stays.
fn body<T: Object>(cursor: &mut Cursor<'_>, rest: &mut impl Rest) -> Result<Box<T>, Failed> {
    let mut body = Box::<T>::default();
    body.read_members(cursor, rest)?;
    Ok(body)
}

impl Kind {
    pub(super) fn read(cursor: &mut Cursor<'_>, tag: Tag, rest: &mut impl Rest) -> Result<Self, Failed> {
        let without_body = match tag {
            Tag::StreamEvent => return Ok(Self::StreamEvent(body(cursor, rest)?)),
            Tag::Assistant => return Ok(Self::Assistant(body(cursor, rest)?)),
            Tag::User => return Ok(Self::User(body(cursor, rest)?)),
            Tag::System(tag) => return Ok(Self::System(System::read(cursor, tag, rest)?)),
            Tag::Result => return Ok(Self::Result(body(cursor, rest)?)),
            Tag::RateLimit => return Ok(Self::RateLimit(body(cursor, rest)?)),
            Tag::ControlRequest => return Ok(Self::ControlRequest(body(cursor, rest)?)),
            Tag::ControlResponse => return Ok(Self::ControlResponse(body(cursor, rest)?)),
            Tag::ControlCancelRequest => return Ok(Self::ControlCancelRequest(body(cursor, rest)?)),
            Tag::CommandLifecycle => return Ok(Self::CommandLifecycle(body(cursor, rest)?)),
            Tag::ToolProgress => return Ok(Self::ToolProgress(body(cursor, rest)?)),
            Tag::ToolUseSummary => return Ok(Self::ToolUseSummary(body(cursor, rest)?)),
            Tag::ConversationReset => return Ok(Self::ConversationReset(body(cursor, rest)?)),
            Tag::Attachment => return Ok(Self::Attachment(body(cursor, rest)?)),
            Tag::KeepAlive => Self::KeepAlive,
            Tag::AuthStatus => Self::AuthStatus,
            Tag::PromptSuggestion => Self::PromptSuggestion,
            Tag::ActiveGoal => Self::ActiveGoal,
            Tag::Unknown => Self::Unknown { type_name: None },
        };
        cursor.object(|cursor, key| rest.take(cursor, key))?;
        Ok(without_body)
    }
}
