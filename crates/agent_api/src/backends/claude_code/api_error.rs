//! `api_error`: from the codes and texts of the CLI to an `ErrorInfo`.

use claude_code::event::{Assistant, ResultSubtype, TerminalReason, TurnResult};

use crate::backends::vendor_error::{add_retry_hint, class_of_status, classified, is_retryable};
use crate::event::{ErrorClass, ErrorInfo};

/// An API error in the shape of a message.
pub(super) fn api_error(assistant: &Assistant) -> ErrorInfo {
    let text = assistant.message.as_ref().map(|message| message.content.text());
    let text = text.as_deref().unwrap_or_default();
    let names = [&assistant.error, &assistant.api_error, &assistant.api_error_type];
    let code = names.into_iter().flatten().next();
    error(text, code.map(|code| &**code), assistant.api_error_status)
}

/// Why a turn failed. `extra` is the reason in a form of the dialect's own.
pub(super) fn turn_error(result: &TurnResult, extra: Option<String>) -> ErrorInfo {
    let mut text = result.result.as_deref().unwrap_or_default().to_owned();
    if text.is_empty() {
        let errors: Vec<String> = result
            .errors
            .to_vec()
            .iter()
            .map(|text| str::to_owned(text))
            .collect();
        text = errors.join("\n");
    }
    if let Some(message) = extra
        && text.is_empty()
    {
        // Prose with a status in it.
        return classified(&message);
    }
    let names = [
        &result.api_error,
        &result.api_error_type,
        &result.startup_failure_reason,
    ];
    let code = names.into_iter().flatten().next().map(|code| &**code);
    // API errors come as `success`, which does not name the error.
    let subtype = result
        .subtype
        .as_ref()
        .filter(|subtype| **subtype != ResultSubtype::Success);
    let subtype = subtype.map(|subtype| subtype.as_str());
    let mut info = error(&text, code.or(subtype), result.api_error_status);
    if result.terminal_reason == Some(TerminalReason::PromptTooLong) {
        info.class = ErrorClass::ContextWindow;
        info.is_retryable = false;
    }
    info
}

fn error(text: &str, code: Option<&str>, status: Option<u64>) -> ErrorInfo {
    let status = status.and_then(|status| u16::try_from(status).ok());
    let class = class_of_text(text).or(status.map(class_of_status));
    let class = class.unwrap_or(ErrorClass::Vendor);
    let message = if text.is_empty() {
        "the agent gives no reason"
    } else {
        text
    };
    let mut info = ErrorInfo::new(class, code.unwrap_or("api_error"), message);
    info.http_status = status;
    info.is_retryable = is_retryable(class, status);
    add_retry_hint(&mut info, text);
    info
}

/// What words mean that the CLI writes itself: they say more than the status.
fn class_of_text(text: &str) -> Option<ErrorClass> {
    let low = text.to_lowercase();
    let table = [
        ("please run /login", ErrorClass::Auth),
        ("invalid api key", ErrorClass::Auth),
        ("failed to authenticate", ErrorClass::Auth),
        ("credit balance is too low", ErrorClass::Quota),
        ("you've hit your", ErrorClass::RateLimit),
        ("usage limit reached", ErrorClass::RateLimit),
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

#[cfg(test)]
mod tests {
    use super::error;
    use crate::backends::vendor_error::classified;

    #[test]
    fn a_status_means_the_same_as_in_the_prose_of_other_vendors() {
        for status in [400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529] {
            let reported = error("", None, Some(status));
            let prose = classified(&format!("status {status}: the model says no"));
            assert_eq!(
                (reported.class, reported.is_retryable),
                (prose.class, prose.is_retryable),
                "{status}"
            );
        }
        assert!(error("", None, Some(500)).is_retryable);
        assert!(
            !error("", Some("error_max_turns"), None).is_retryable,
            "no failed server"
        );
    }
}
