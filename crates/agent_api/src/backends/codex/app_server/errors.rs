//! Errors of `codex app-server` as `ErrorInfo`. They have a class of their own beside the message.

use json_lines::Value;

use crate::backends::vendor_error::{add_retry_hint, classified, is_retryable};
use crate::event::{ErrorClass, ErrorInfo};

/// The code of an error about a session that Codex does not have.
pub(super) const UNKNOWN_SESSION: &str = "unknown_session";

/// The error in `turn/completed` and `error`.
pub(super) fn turn_error(error: &Value) -> ErrorInfo {
    let message = error
        .text("message")
        .unwrap_or("the turn failed without a message");
    let details = error
        .text("additionalDetails")
        .filter(|details| !details.is_empty());
    // The message of a retry only counts attempts; the details say why.
    let mut info = classified(details.unwrap_or(message));
    let kind = error.get("codexErrorInfo").unwrap_or(&Value::Null);
    if let Some(class) = class(kind) {
        info.class = class;
        // Codex names a failed server without its status.
        info.is_retryable = class == ErrorClass::Vendor || is_retryable(class, info.http_status);
        add_retry_hint(&mut info, details.unwrap_or(message));
    }
    if info.http_status.is_none() {
        info.http_status = http_status(kind);
    }
    info
}

/// The error in a JSON-RPC response.
pub(super) fn response_error(error: &Value) -> ErrorInfo {
    let message = error
        .text("message")
        .unwrap_or("the request failed without a message");
    let mut info = classified(message);
    let low = message.to_lowercase();
    if low.contains("no rollout found") || low.contains("invalid session id") {
        info.class = ErrorClass::InvalidRequest;
        info.code = UNKNOWN_SESSION.to_owned();
    }
    info
}

/// The class behind `codexErrorInfo`: a word, or an object with one member.
fn class(kind: &Value) -> Option<ErrorClass> {
    let name = kind
        .as_str()
        .or_else(|| kind.members().first().map(|(name, _)| &**name))?;
    Some(match name {
        "contextWindowExceeded" => ErrorClass::ContextWindow,
        "sessionBudgetExceeded" | "usageLimitExceeded" => ErrorClass::Quota,
        "rateLimitExceeded" => ErrorClass::RateLimit,
        "flexUnavailable" | "serverOverloaded" | "policyCapacityUnavailable" => ErrorClass::Overloaded,
        "modelNotFound" => ErrorClass::ModelNotFound,
        "internalServerError" => ErrorClass::Vendor,
        "unauthorized" => ErrorClass::Auth,
        "badRequest" => ErrorClass::InvalidRequest,
        "sandboxError" => ErrorClass::Sandbox,
        "tooManyDenials" => ErrorClass::Permission,
        "httpConnectionFailed"
        | "responseStreamConnectionFailed"
        | "responseStreamDisconnected"
        | "responseTooManyFailedAttempts"
            if http_status(kind).is_none() =>
        {
            ErrorClass::Network
        }
        _ => return None,
    })
}

fn http_status(kind: &Value) -> Option<u16> {
    let (_, body) = kind.members().first()?;
    u16::try_from(body.count("httpStatusCode")?).ok()
}
