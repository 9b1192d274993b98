//! Which kind of line this is, before it is read.

use crate::event::system::SystemTag;
use crate::json::{Cursor, Failed};

/// The kind of a line, from its `type` and, for `system`, its `subtype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Assistant,
    User,
    Result,
    System(SystemTag),
    StreamEvent,
    RateLimit,
    ControlRequest,
    ControlResponse,
    ControlCancelRequest,
    CommandLifecycle,
    ToolProgress,
    ToolUseSummary,
    ConversationReset,
    Attachment,
    KeepAlive,
    AuthStatus,
    PromptSuggestion,
    ActiveGoal,
    Unknown,
}

impl Tag {
    pub(super) fn of(type_name: Option<&[u8]>, subtype: Option<&[u8]>) -> Self {
        match type_name {
            Some(b"stream_event") => Self::StreamEvent,
            Some(b"assistant") => Self::Assistant,
            Some(b"user") => Self::User,
            Some(b"system") => Self::System(subtype.map_or(SystemTag::Unknown, SystemTag::of)),
            Some(b"result") => Self::Result,
            Some(b"rate_limit_event") => Self::RateLimit,
            Some(b"control_request") => Self::ControlRequest,
            Some(b"control_response") => Self::ControlResponse,
            Some(b"control_cancel_request") => Self::ControlCancelRequest,
            Some(b"command_lifecycle") => Self::CommandLifecycle,
            Some(b"tool_progress") => Self::ToolProgress,
            Some(b"tool_use_summary") => Self::ToolUseSummary,
            Some(b"conversation_reset") => Self::ConversationReset,
            Some(b"attachment") => Self::Attachment,
            Some(b"keep_alive") => Self::KeepAlive,
            Some(b"auth_status") => Self::AuthStatus,
            Some(b"prompt_suggestion") => Self::PromptSuggestion,
            Some(b"active_goal") => Self::ActiveGoal,
            _ => Self::Unknown,
        }
    }

    /// Guesses from how the line starts; `None` when it starts unusually. Only a guess: the same key may come
    /// again, so whoever reads the line must compare in the end.
    pub(super) fn guess(line: &[u8]) -> Option<Self> {
        let Some((type_name, rest)) = line.strip_prefix(b"{\"type\":\"").and_then(word) else {
            // The CLI builds `result` in an order of its own.
            let is_result = line.starts_with(b"{\"duration_api_ms\":") || line.starts_with(b"{\"is_error\":");
            return is_result.then_some(Self::Result);
        };
        let subtype = match type_name {
            b"system" => Some(rest.strip_prefix(b",\"subtype\":\"").and_then(word)?.0),
            _ => None,
        };
        Some(Self::of(Some(type_name), subtype))
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
        let bytes = |text: &Option<crate::text::Text>| text.as_ref().map(|text| text.as_bytes().clone());
        Ok(Self::of(bytes(&type_name).as_deref(), bytes(&subtype).as_deref()))
    }
}

/// Splits `word"rest`; words of the protocol are short and plain.
fn word(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes
        .iter()
        .take(64)
        .position(|byte| !(byte.is_ascii_lowercase() || *byte == b'_'))?;
    (bytes[end] == b'"').then(|| (&bytes[..end], &bytes[end + 1..]))
}
