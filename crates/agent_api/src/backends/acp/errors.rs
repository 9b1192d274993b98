//! `error_info`: turns an agent's JSON-RPC errors into `ErrorInfo`: class, status and what to do next.

use json_lines::Value;

use crate::backends::vendor_error::api_error;
use crate::event::{ErrorClass, ErrorInfo};

/// The protocol's code for "log in first".
const AUTH_REQUIRED: i64 = -32000;

/// An error object of the agent's. A login that is missing or not accepted gets the hint how to log in.
pub(super) fn error_info(error: &Value, login_hint: &str) -> ErrorInfo {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let message = error.text("message").unwrap_or("the agent reported an error");
    let data = error.get("data").unwrap_or(&Value::Null);
    let details = data.as_str().or_else(|| {
        let keys = ["details", "message", "error"];
        keys.iter().find_map(|key| data.text(key))
    });
    let text = match details.filter(|details| !message.contains(details)) {
        Some(details) => format!("{message}: {details}"),
        None => message.to_owned(),
    };
    // Gemini CLI uses the API's HTTP status as the code.
    let status = u64::try_from(code).ok().filter(|code| (400..600).contains(code));
    let mut info = api_error(&text, status);
    if code == AUTH_REQUIRED {
        info.class = ErrorClass::Auth;
        "not_logged_in".clone_into(&mut info.code);
        info.is_retryable = false;
    }
    if info.class == ErrorClass::Unknown {
        info.class = ErrorClass::Vendor;
        "agent_error".clone_into(&mut info.code);
    }
    with_login_hint(info, login_hint)
}

/// Adds how to log in to an error about a login.
pub(super) fn with_login_hint(mut info: ErrorInfo, login_hint: &str) -> ErrorInfo {
    if info.class == ErrorClass::Auth && !login_hint.is_empty() {
        info.message = format!("{}; to log in, {login_hint}", info.message.trim_end_matches('.'));
    }
    info
}

#[cfg(test)]
mod tests {
    use json_lines::Value;
    use serde_json::json;

    use super::error_info;
    use crate::event::ErrorClass;

    #[test]
    fn errors_are_classified_by_code_words_and_details() {
        for (error, class, code) in [
            (
                json!({"code": -32000, "message": "Authentication required"}),
                ErrorClass::Auth,
                "not_logged_in",
            ),
            (
                json!({"code": -32603, "message": "Internal error: Invalid API key"}),
                ErrorClass::Auth,
                "auth",
            ),
            (json!({"code": 401, "message": "no"}), ErrorClass::Auth, "auth"),
            (
                json!({"code": 429, "message": "slow down"}),
                ErrorClass::RateLimit,
                "rate_limit",
            ),
            (
                json!({"code": -32603, "message": "Internal error", "data": {"details": "rate limit exceeded"}}),
                ErrorClass::RateLimit,
                "rate_limit",
            ),
            (
                json!({"code": -32603, "message": "Internal error"}),
                ErrorClass::Vendor,
                "agent_error",
            ),
            (
                json!({"code": "odd", "message": 3, "data": [1]}),
                ErrorClass::Vendor,
                "agent_error",
            ),
            (json!(null), ErrorClass::Vendor, "agent_error"),
        ] {
            let info = error_info(&Value::from(&error), "run `agent login`");
            assert_eq!((info.class, info.code.as_str()), (class, code), "{error}");
            let has_hint = info.message.ends_with("to log in, run `agent login`");
            assert_eq!(has_hint, class == ErrorClass::Auth, "{error}: {}", info.message);
        }
    }
}
