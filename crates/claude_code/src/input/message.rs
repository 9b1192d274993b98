//! `UserMessage`: a message to the CLI, and the line that carries it.

use std::fmt;

use agent_client::Expansion;
use bytes::Bytes;
use serde::Serialize;
use uuid::Uuid;

use super::line::line;
use crate::capabilities::{Capabilities, Feature};

/// The id of a message that was sent. Receipts and replays carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageId(Uuid);

impl MessageId {
    /// A new, unique id.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::now_v7())
    }

    /// Reads an id from an event's field; `None` if it is not a UUID.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(Self)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Something a person says.
#[derive(Debug, Clone, PartialEq)]
pub struct UserMessage {
    /// What receipts refer to. [`SessionSender::send`](crate::SessionSender::send) gives one to a message that has
    /// none; a line made by [`user_message`] goes without, and gets no receipts.
    pub id: Option<MessageId>,
    /// What is said.
    pub content: MessageContent,
}

impl UserMessage {
    /// A text with an id of its own.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            id: Some(MessageId::random()),
            content: MessageContent::Text(text.into()),
        }
    }

    /// Blocks with an id of their own.
    pub fn blocks(blocks: impl Into<Vec<MessageBlock>>) -> Self {
        Self {
            id: Some(MessageId::random()),
            content: MessageContent::Blocks(blocks.into()),
        }
    }

    /// A text without an id as yet.
    pub fn anonymous(text: impl Into<String>) -> Self {
        Self {
            id: None,
            content: MessageContent::Text(text.into()),
        }
    }

    /// Whether it says nothing, which the model's API refuses.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match &self.content {
            MessageContent::Text(text) => text.trim().is_empty(),
            MessageContent::Blocks(blocks) => blocks
                .iter()
                .all(|block| matches!(block, MessageBlock::Text(text) if text.trim().is_empty())),
        }
    }
}

impl From<&str> for UserMessage {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for UserMessage {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// What a message says.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageContent {
    /// A plain text.
    Text(String),
    /// Several parts.
    Blocks(Vec<MessageBlock>),
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageBlock {
    /// A text.
    Text(String),
    /// A picture.
    Image {
        /// For example `image/png`.
        media_type: String,
        /// Its bytes in base64.
        base64: String,
    },
    /// Any other block of the Messages API.
    Other(serde_json::Value),
}

#[derive(Serialize)]
struct Wire<'a> {
    r#type: &'static str,
    message: WireMessage<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_composed: Option<bool>,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: WireContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireContent<'a> {
    Text(&'a str),
    Blocks(Vec<WireBlock<'a>>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireBlock<'a> {
    Text {
        r#type: &'static str,
        text: &'a str,
    },
    Image {
        r#type: &'static str,
        source: WireSource<'a>,
    },
    Other(&'a serde_json::Value),
}

#[derive(Serialize)]
struct WireSource<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// The line for a message. `Literal` marks it as data, which only a CLI with
/// [`Feature::ClientComposed`](crate::Feature::ClientComposed) understands.
#[must_use]
pub fn user_message(message: &UserMessage, expansion: Expansion) -> Bytes {
    let content = match &message.content {
        MessageContent::Text(text) => WireContent::Text(text),
        MessageContent::Blocks(blocks) => WireContent::Blocks(blocks.iter().map(wire_block).collect()),
    };
    line(&Wire {
        r#type: "user",
        message: WireMessage {
            role: "user",
            content,
        },
        uuid: message.id.map(|id| id.to_string()),
        client_composed: (expansion == Expansion::Literal).then_some(true),
    })
}

/// The line for a message to a CLI that can do this much. For a CLI that cannot take a message as data, a space
/// before a `/` keeps a command from running.
#[must_use]
pub fn composed_message(
    mut message: UserMessage,
    expansion: Expansion,
    capabilities: &Capabilities,
) -> Bytes {
    if expansion == Expansion::Literal && !capabilities.has(Feature::ClientComposed) {
        keep_from_running(&mut message.content);
        // A member that it does not know is left out.
        return user_message(&message, Expansion::Commands);
    }
    user_message(&message, expansion)
}

/// Puts a space before a `/`, so that it does not run a command (measured on all versions).
fn keep_from_running(content: &mut MessageContent) {
    let text = match content {
        MessageContent::Text(text) => text,
        MessageContent::Blocks(blocks) => match blocks.first_mut() {
            Some(MessageBlock::Text(text)) => text,
            _ => return,
        },
    };
    if text.starts_with('/') {
        text.insert(0, ' ');
    }
}

fn wire_block(block: &MessageBlock) -> WireBlock<'_> {
    match block {
        MessageBlock::Text(text) => WireBlock::Text { r#type: "text", text },
        MessageBlock::Image { media_type, base64 } => WireBlock::Image {
            r#type: "image",
            source: WireSource {
                r#type: "base64",
                media_type,
                data: base64,
            },
        },
        MessageBlock::Other(value) => WireBlock::Other(value),
    }
}
