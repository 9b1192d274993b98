//! Control requests and responses between the CLI and the program that embeds it.

use json_lines::reader::{Cursor, Failed, Field, Object, SkipUnknown};
use json_lines::{RawJson, Text, wire_struct};

wire_struct! {
    /// A request of the CLI, which waits for a `control_response` on its stdin.
    pub struct ControlRequest {
        /// The id that the response must carry.
        request_id: Option<Text> = b"request_id",
        body: ControlRequestBody = b"request",
    }
}

/// What the CLI asks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ControlRequestBody {
    /// Whether a tool may run. Questions to the user and plans come this way too.
    CanUseTool(Box<CanUseTool>),
    /// A hook that the embedder registered.
    HookCallback(Box<HookCallback>),
    /// A message to an MCP server inside the embedder.
    McpMessage(Box<McpMessage>),
    /// Anything else.
    Other {
        /// The kind of request.
        subtype: Option<Text>,
        /// The `request` as written.
        raw: RawJson,
    },
}

impl Default for ControlRequestBody {
    fn default() -> Self {
        Self::Other {
            subtype: None,
            raw: RawJson::NULL,
        }
    }
}

wire_struct! {
    /// Whether a tool may run.
    pub struct CanUseTool {
        tool_name: Option<Text> = b"tool_name",
        display_name: Option<Text> = b"display_name",
        /// Its arguments; the answer may change them.
        input: Option<RawJson> = b"input",
        /// What the call is for.
        description: Option<Text> = b"description",
        tool_use_id: Option<Text> = b"tool_use_id",
        /// Rules that would make further requests unnecessary.
        permission_suggestions: Option<RawJson> = b"permission_suggestions",
        blocked_path: Option<Text> = b"blocked_path",
        decision_reason: Option<Text> = b"decision_reason",
        /// Only a person can answer: questions and plans.
        requires_user_interaction: bool = b"requires_user_interaction",
        agent_id: Option<Text> = b"agent_id",
    }

    /// A call of a hook that the embedder registered.
    pub struct HookCallback {
        callback_id: Option<Text> = b"callback_id",
        /// The hook's input, as written.
        input: Option<RawJson> = b"input",
        /// The tool call that the hook is about.
        tool_use_id: Option<Text> = b"tool_use_id",
    }

    /// A message to an MCP server inside the embedder.
    pub struct McpMessage {
        server_name: Option<Text> = b"server_name",
        /// The JSON-RPC message as written.
        message: Option<RawJson> = b"message",
    }
}

impl Field for ControlRequestBody {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        let start = cursor.position();
        // The subtype may stand anywhere, so the object is read twice. Requests are rare and small.
        let mut subtype = None;
        cursor.object(|cursor, key| {
            if key == b"subtype" {
                subtype = cursor.text()?;
                return Ok(());
            }
            cursor.skip()
        })?;
        let raw = cursor.raw_since(start);
        *self = match subtype.as_deref() {
            Some("can_use_tool") => Self::CanUseTool(body_at(cursor, start)?),
            Some("hook_callback") => Self::HookCallback(body_at(cursor, start)?),
            Some("mcp_message") => Self::McpMessage(body_at(cursor, start)?),
            _ => Self::Other { subtype, raw },
        };
        Ok(())
    }
}

/// Reads the object at `start` once more, now for its members.
fn body_at<T: Object>(cursor: &mut Cursor<'_>, start: usize) -> Result<Box<T>, Failed> {
    cursor.back_to(start);
    let mut body = Box::<T>::default();
    body.read_members(cursor, &mut SkipUnknown)?;
    Ok(body)
}

wire_struct! {
    /// The CLI's answer to a control request of ours.
    pub struct ControlResponse {
        body: ControlResponseBody = b"response",
    }
}

impl ControlResponse {
    /// The id of the request.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        match &self.body {
            ControlResponseBody::Success { request_id, .. }
            | ControlResponseBody::Error { request_id, .. }
            | ControlResponseBody::Other { request_id, .. } => request_id.as_deref(),
        }
    }
}

/// The CLI's response.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ControlResponseBody {
    /// The CLI did what was asked.
    Success {
        /// The request.
        request_id: Option<Text>,
        /// The data of the answer, if any.
        response: Option<RawJson>,
    },
    /// The CLI refused or failed.
    Error {
        /// The request.
        request_id: Option<Text>,
        /// The reason, for people.
        error: Option<Text>,
        /// The reason as a code, for example `unsupported_request`.
        error_code: Option<Text>,
    },
    /// Something else.
    Other {
        /// The request.
        request_id: Option<Text>,
        /// The kind of response.
        subtype: Option<Text>,
        /// The `response` as written.
        raw: RawJson,
    },
}

impl Default for ControlResponseBody {
    fn default() -> Self {
        let raw = RawJson::NULL;
        Self::Other {
            request_id: None,
            subtype: None,
            raw,
        }
    }
}

impl Field for ControlResponseBody {
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        let start = cursor.position();
        let (mut subtype, mut request_id, mut response, mut error, mut error_code) =
            (None, None, None, None, None);
        cursor.object(|cursor, key| {
            match key {
                b"subtype" => subtype = cursor.text()?,
                b"request_id" => request_id = cursor.text()?,
                b"response" => response = cursor.raw()?,
                b"error" => error = cursor.text()?,
                b"error_code" => error_code = cursor.text()?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        *self = match subtype.as_deref() {
            Some("success") => Self::Success { request_id, response },
            Some("error") => Self::Error {
                request_id,
                error,
                error_code,
            },
            _ => Self::Other {
                request_id,
                subtype,
                raw: cursor.raw_since(start),
            },
        };
        Ok(())
    }
}

wire_struct! {
    /// The CLI no longer waits for an answer to its request.
    pub struct ControlCancelRequest {
        request_id: Option<Text> = b"request_id",
    }
}
