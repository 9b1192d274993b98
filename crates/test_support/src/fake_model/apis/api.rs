use super::{chat, gemini, responses};
use crate::fake_model::events::{self, Action, Identity};
use crate::fake_model::message::{ApiError, Message};
use serde_json::{Value, json};

/// Which API a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fake_model) enum Api {
    /// Anthropic's.
    Messages,
    /// OpenAI's newer one.
    Responses,
    /// OpenAI's older one, which many others speak.
    ChatCompletions,
    /// Google's.
    Gemini,
}

impl Api {
    /// From the path of a `POST`.
    pub(in crate::fake_model) fn of(path: &str) -> Option<Self> {
        match path {
            "/v1/messages" => Some(Self::Messages),
            "/v1/responses" => Some(Self::Responses),
            "/v1/chat/completions" => Some(Self::ChatCompletions),
            _ if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") => {
                Some(Self::Gemini)
            }
            _ => None,
        }
    }

    /// The request as one of the Messages API.
    pub(in crate::fake_model) fn conversation(self, body: &Value, path: &str) -> Value {
        match self {
            Self::Messages => body.clone(),
            Self::Responses => responses::conversation(body),
            Self::ChatCompletions => chat::conversation(body),
            Self::Gemini => gemini::conversation(body, path),
        }
    }

    /// What a request for data of a certain shape is answered, whatever the scenario.
    pub(in crate::fake_model) fn structured_answer(self, body: &Value) -> Option<String> {
        match self {
            Self::Gemini => gemini::structured_answer(body),
            Self::Messages | Self::Responses | Self::ChatCompletions => None,
        }
    }

    pub(in crate::fake_model) fn whole(self, message: &Message, identity: &Identity<'_>) -> String {
        match self {
            Self::Messages => events::whole(message, identity),
            // Codex always streams.
            Self::Responses => json!({"error": {"message": "only streams are scripted"}}).to_string(),
            Self::ChatCompletions => chat::whole(message, identity),
            Self::Gemini => gemini::whole(message),
        }
    }

    pub(in crate::fake_model) fn stream(
        self,
        message: &Message,
        identity: &Identity<'_>,
        body: &Value,
    ) -> Vec<Action> {
        match self {
            Self::Messages => events::stream(message, identity),
            Self::Responses => responses::stream(message, identity, body),
            Self::ChatCompletions => chat::stream(message, identity),
            Self::Gemini => gemini::stream(message, identity),
        }
    }

    pub(in crate::fake_model) fn error(self, error: &ApiError, request_id: &str) -> String {
        let message = Value::from(error.message);
        match self {
            Self::Messages => format!(
                r#"{{"type":"error","error":{{"type":"{}","message":{message}}},"request_id":"{request_id}"}}"#,
                error.kind,
            ),
            Self::Responses | Self::ChatCompletions => {
                json!({"error": {"message": message, "type": error.kind, "param": null, "code": null}})
                    .to_string()
            }
            Self::Gemini => {
                let status = match error.status {
                    400 => "INVALID_ARGUMENT",
                    401 => "UNAUTHENTICATED",
                    403 => "PERMISSION_DENIED",
                    404 => "NOT_FOUND",
                    429 => "RESOURCE_EXHAUSTED",
                    503 | 529 => "UNAVAILABLE",
                    _ => "INTERNAL",
                };
                json!({"error": {"code": error.status, "message": message, "status": status}}).to_string()
            }
        }
    }
}
