//! `PermissionAnswer` and `Answer`: answers to control requests of the CLI.

use bytes::Bytes;
use json_lines::RawJson;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::line::line;

/// Whether a tool may run.
#[derive(Debug, Clone)]
pub enum PermissionAnswer {
    /// It may, with this input: the one that was asked about, or a changed one. What stands here is what runs.
    Allow {
        /// The tool's arguments.
        input: Box<RawValue>,
        /// Rules to remember, for example from the request's suggestions.
        permissions: Vec<Value>,
    },
    /// It may not.
    Deny {
        /// The message for the model.
        message: String,
        /// Whether the turn ends.
        ends_turn: bool,
    },
}

impl PermissionAnswer {
    /// The tool runs as it was asked for.
    ///
    /// # Errors
    /// When the input holds bytes that cannot be sent back unchanged (invalid UTF-8, control characters).
    pub fn allow(input: &RawJson) -> Result<Self, UnsuitableInput> {
        Ok(Self::Allow {
            input: passed_on(input)?,
            permissions: Vec::new(),
        })
    }

    /// The tool does not run, and the model continues.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
            ends_turn: false,
        }
    }

    /// The tool does not run, and the turn ends.
    pub fn deny_and_end_turn(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
            ends_turn: true,
        }
    }

    /// Questions of `AskUserQuestion` are answered: pairs of the question's text and the answer. Several labels of
    /// one question are joined by `, `.
    ///
    /// # Errors
    /// When the input is not an object, or cannot be sent back unchanged.
    pub fn answers<'a>(
        input: &RawJson,
        answers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, UnsuitableInput> {
        Ok(Self::Allow {
            input: with_answers(input, answers)?,
            permissions: Vec::new(),
        })
    }
}

/// The input of a tool cannot be sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the tool's input cannot be sent back as it is: deny the request, or allow it with an input of your own"
)]
pub struct UnsuitableInput;

/// What a control request of the CLI gets.
#[derive(Debug, Clone)]
pub enum Answer {
    /// For `can_use_tool`.
    Permission(PermissionAnswer),
    /// For `hook_callback`, `mcp_message` and requests that are not known here: the response's body.
    Body(Value),
    /// It failed. The tool call fails, the run continues.
    Error(String),
}

impl From<PermissionAnswer> for Answer {
    fn from(answer: PermissionAnswer) -> Self {
        Self::Permission(answer)
    }
}

#[derive(Serialize)]
struct Wire<'a> {
    r#type: &'static str,
    response: WireResponse<'a>,
}

#[derive(Serialize)]
struct WireResponse<'a> {
    subtype: &'static str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<WireBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireBody<'a> {
    Allow {
        behavior: &'static str,
        #[serde(rename = "updatedInput")]
        updated_input: &'a RawValue,
        #[serde(rename = "updatedPermissions", skip_serializing_if = "<[_]>::is_empty")]
        updated_permissions: &'a [Value],
    },
    Deny {
        behavior: &'static str,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        interrupt: Option<bool>,
    },
    Other(&'a Value),
}

/// The line that answers the CLI's request `request_id`.
#[must_use]
pub fn answer(request_id: &str, answer: &Answer) -> Bytes {
    let success = |body| WireResponse {
        subtype: "success",
        request_id,
        response: Some(body),
        error: None,
    };
    let response = match answer {
        Answer::Permission(PermissionAnswer::Allow { input, permissions }) => success(WireBody::Allow {
            behavior: "allow",
            updated_input: input,
            updated_permissions: permissions,
        }),
        Answer::Permission(PermissionAnswer::Deny { message, ends_turn }) => success(WireBody::Deny {
            behavior: "deny",
            message,
            interrupt: ends_turn.then_some(true),
        }),
        Answer::Body(body) => success(WireBody::Other(body)),
        Answer::Error(error) => WireResponse {
            subtype: "error",
            request_id,
            response: None,
            error: Some(error),
        },
    };
    line(&Wire {
        r#type: "control_response",
        response,
    })
}

/// The value as it was written, so that numbers and escapes survive that no Rust type can hold.
fn passed_on(input: &RawJson) -> Result<Box<RawValue>, UnsuitableInput> {
    let text = String::from_utf8(input.as_bytes().to_vec()).map_err(|_| UnsuitableInput)?;
    RawValue::from_string(text).map_err(|_| UnsuitableInput)
}

/// An object with the member `answers` added, the rest as it was written.
///
/// # Errors
/// When the input is not an object, or cannot be sent back unchanged.
pub fn with_answers<'a>(
    input: &RawJson,
    answers: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Box<RawValue>, UnsuitableInput> {
    let answers: serde_json::Map<String, Value> = answers
        .into_iter()
        .map(|(question, label)| (question.to_owned(), label.into()))
        .collect();
    let answers = serde_json::to_string(&answers).map_err(|_| UnsuitableInput)?;
    let input = passed_on(input)?;
    let members = input
        .get()
        .trim()
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .ok_or(UnsuitableInput)?;
    let comma = if members.trim().is_empty() { "" } else { "," };
    // A member of that name that is already there loses: of duplicates the last one counts.
    RawValue::from_string(format!("{{{members}{comma}\"answers\":{answers}}}")).map_err(|_| UnsuitableInput)
}
