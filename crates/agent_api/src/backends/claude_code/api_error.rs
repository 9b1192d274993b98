//! What kind of trouble the API has.

use claude_code::event::{Assistant, ResultSubtype, TurnResult};

use super::text::copied;
use crate::backends::vendor_error::classified;
use crate::event::{ErrorClass, ErrorInfo};

/// An API error in the shape of a message.
pub(super) fn api_error(assistant: &Assistant) -> ErrorInfo {
    let text = assistant.message.as_ref().map(|message| message.content.text());
    let text = text.as_deref().unwrap_or_default();
    let names = [&assistant.error, &assistant.api_error, &assistant.api_error_type];
    let code = names.into_iter().flatten().next();
    error(text, code.map(|code| &**code), assistant.api_error_status)
}

/// Why a turn failed.
pub(super) fn turn_error(result: &TurnResult) -> ErrorInfo {
    let mut text = result.result.as_deref().unwrap_or_default().to_owned();
    if text.is_empty() {
        let errors: Vec<String> = result.errors.to_vec().iter().map(copied).collect();
        text = errors.join("\n");
    }
    if let Some(message) = result.error.as_ref().and_then(|error| error.message.as_deref())
        && text.is_empty()
    {
        // Qwen's way: a status in prose, no name, and no number of its own.
        return classified(message);
    }
    let names = [
        &result.api_error,
        &result.api_error_type,
        &result.startup_failure_reason,
    ];
    let code = names.into_iter().flatten().next().map(|code| &**code);
    // API errors come as `success`, which is no name for one.
    let subtype = result
        .subtype
        .as_ref()
        .filter(|subtype| **subtype != ResultSubtype::Success);
    let subtype = subtype.map(|subtype| subtype.as_str());
    error(&text, code.or(subtype), result.api_error_status)
}

fn error(text: &str, code: Option<&str>, status: Option<u64>) -> ErrorInfo {
    let class = class_of_text(text).unwrap_or_else(|| match status {
        Some(_) => class_of_status(status),
        None => ErrorClass::Vendor,
    });
    let message = if text.is_empty() {
        "the agent gives no reason"
    } else {
        text
    };
    let mut info = ErrorInfo::new(class, code.unwrap_or("api_error"), message);
    info.http_status = status.and_then(|status| u16::try_from(status).ok());
    info.is_retryable = matches!(
        class,
        ErrorClass::RateLimit | ErrorClass::Overloaded | ErrorClass::Network
    );
    info
}

/// What an HTTP status means; none is a connection that broke.
pub(super) fn class_of_status(status: Option<u64>) -> ErrorClass {
    match status {
        None => ErrorClass::Network,
        Some(401 | 403) => ErrorClass::Auth,
        Some(402) => ErrorClass::Quota,
        Some(404) => ErrorClass::ModelNotFound,
        Some(413) => ErrorClass::ContextWindow,
        Some(429) => ErrorClass::RateLimit,
        Some(529 | 503) => ErrorClass::Overloaded,
        Some(400..=499) => ErrorClass::InvalidRequest,
        Some(_) => ErrorClass::Vendor,
    }
}

/// What words mean that the CLI writes itself: they say more than the status.
fn class_of_text(text: &str) -> Option<ErrorClass> {
    let low = text.to_lowercase();
    let table = [
        ("please run /login", ErrorClass::Auth),
        ("invalid api key", ErrorClass::Auth),
        ("failed to authenticate", ErrorClass::Auth),
        ("credit balance is too low", ErrorClass::Quota),
        ("you've hit your", ErrorClass::Quota),
        ("prompt is too long", ErrorClass::ContextWindow),
        ("context window", ErrorClass::ContextWindow),
        ("issue with the selected model", ErrorClass::ModelNotFound),
        ("connection refused", ErrorClass::Network),
        ("no conversation found", ErrorClass::InvalidRequest),
        ("root/sudo", ErrorClass::Permission),
        ("session id", ErrorClass::InvalidRequest),
    ];
    table
        .into_iter()
        .find(|(words, _)| low.contains(words))
        .map(|(_, class)| class)
}
