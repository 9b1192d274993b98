//! `classified` and `api_error`: `ErrorInfo` from a vendor's words. Codex, Gemini and Qwen report errors in prose only.

use serde_json::Value;

use super::retry_hint::retry_hint;
use crate::event::{ErrorClass, ErrorInfo};

/// Words, in lower case, and what they mean. The first that fits counts, so the special ones come first.
const WORDS: &[(&str, ErrorClass)] = &[
    ("context window", ErrorClass::ContextWindow),
    ("context length", ErrorClass::ContextWindow),
    ("context_length", ErrorClass::ContextWindow),
    ("maximum context", ErrorClass::ContextWindow),
    ("token count exceeds", ErrorClass::ContextWindow),
    ("usage limit", ErrorClass::Quota),
    ("quota", ErrorClass::Quota),
    ("billing", ErrorClass::Quota),
    ("rate limit", ErrorClass::RateLimit),
    ("rate_limit", ErrorClass::RateLimit),
    ("too many requests", ErrorClass::RateLimit),
    ("api key", ErrorClass::Auth),
    ("api-key", ErrorClass::Auth),
    ("api_key", ErrorClass::Auth),
    ("unauthorized", ErrorClass::Auth),
    ("unauthenticated", ErrorClass::Auth),
    ("authentication", ErrorClass::Auth),
    ("not logged in", ErrorClass::Auth),
    ("model not found", ErrorClass::ModelNotFound),
    ("model_not_found", ErrorClass::ModelNotFound),
    ("high demand", ErrorClass::Overloaded),
    ("overloaded", ErrorClass::Overloaded),
    ("unavailable", ErrorClass::Overloaded),
    ("invalid_request", ErrorClass::InvalidRequest),
    ("invalid_argument", ErrorClass::InvalidRequest),
    ("invalid request", ErrorClass::InvalidRequest),
    ("disconnected", ErrorClass::Network),
    ("stream ended", ErrorClass::Network),
    ("stream closed", ErrorClass::Network),
    ("connection", ErrorClass::Network),
    ("network", ErrorClass::Network),
    ("terminated", ErrorClass::Network),
    ("socket", ErrorClass::Network),
    ("timed out", ErrorClass::Network),
];

/// Before a number of three digits, these words make it an HTTP status.
const STATUS_WORDS: [&str; 4] = ["status", "code", "error", "http"];

/// An error from a vendor's words.
pub(super) fn classified(message: &str) -> ErrorInfo {
    let low = message.to_lowercase();
    let http_status = http_status(&low);
    let by_words = WORDS.iter().find(|(word, _)| low.contains(word));
    let by_words = by_words.map(|(_, class)| *class);
    let class = match (http_status, by_words) {
        (None, _) => by_words.unwrap_or(ErrorClass::Unknown),
        (Some(429), Some(ErrorClass::Quota)) => ErrorClass::Quota,
        (Some(400..=499), Some(ErrorClass::ContextWindow)) => ErrorClass::ContextWindow,
        (Some(status), _) => match class_of_status(status) {
            // A path can be missing too.
            ErrorClass::ModelNotFound if !low.contains("model") => ErrorClass::InvalidRequest,
            ErrorClass::Vendor => by_words.unwrap_or(ErrorClass::Vendor),
            class => class,
        },
    };
    let mut info = ErrorInfo::new(class, word(class), for_people(message));
    info.http_status = http_status;
    info.is_retryable = is_retryable(class, http_status);
    add_retry_hint(&mut info, message);
    info
}

/// Notes when a request that hit a limit may work again. What resets is a rate limit, however the vendor calls it.
pub(super) fn add_retry_hint(info: &mut ErrorInfo, message: &str) {
    let is_limit = match info.class {
        ErrorClass::RateLimit | ErrorClass::Overloaded => true,
        ErrorClass::Quota => {
            let low = message.to_lowercase();
            ["try again at", "try again in", "resets ", "reset after"]
                .iter()
                .any(|words| low.contains(words))
        }
        _ => false,
    };
    let hint = retry_hint(message);
    if !is_limit && (info.class != ErrorClass::Quota || hint.is_empty()) {
        return;
    }
    info.resets_at = hint.resets_at;
    info.retry_after_seconds = hint.after_seconds;
    if info.class == ErrorClass::Quota {
        info.class = ErrorClass::RateLimit;
        info.is_retryable = true;
    }
}

/// An error from a vendor's words and the HTTP status that it gives beside them.
#[cfg(any(feature = "acp", feature = "pi"))]
pub(super) fn api_error(message: &str, http_status: Option<u64>) -> ErrorInfo {
    let Some(status) = http_status else {
        return classified(message);
    };
    let mut info = classified(&format!("status {status}: {message}"));
    info.message = for_people(message);
    info
}

/// The class of an HTTP status.
pub(super) fn class_of_status(status: u16) -> ErrorClass {
    match status {
        401 | 403 => ErrorClass::Auth,
        402 => ErrorClass::Quota,
        404 => ErrorClass::ModelNotFound,
        408 | 504 => ErrorClass::Network,
        413 => ErrorClass::ContextWindow,
        429 => ErrorClass::RateLimit,
        503 | 529 => ErrorClass::Overloaded,
        400..=499 => ErrorClass::InvalidRequest,
        _ => ErrorClass::Vendor,
    }
}

/// Whether the same request may work later. Of the vendor's own errors only those may that have the status of a
/// failed server.
pub(super) fn is_retryable(class: ErrorClass, http_status: Option<u16>) -> bool {
    match class {
        ErrorClass::RateLimit | ErrorClass::Overloaded | ErrorClass::Network => true,
        ErrorClass::Vendor => http_status.is_some_and(|status| status >= 500),
        _ => false,
    }
}

/// The error of a turn that failed without a word about it.
pub(super) fn nothing_said() -> ErrorInfo {
    ErrorInfo::new(
        ErrorClass::Unknown,
        "unknown",
        "the turn failed without a message",
    )
}

/// The same word that the class has in JSON.
fn word(class: ErrorClass) -> String {
    let written = serde_json::to_value(class).ok();
    written
        .as_ref()
        .and_then(Value::as_str)
        .unwrap_or("unknown")
        .to_owned()
}

fn http_status(low: &str) -> Option<u16> {
    let bytes = low.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut position = 0;
    while position < bytes.len() {
        if !is_digit(position) {
            position += 1;
            continue;
        }
        let end = (position..).find(|at| !is_digit(*at)).unwrap_or(bytes.len());
        let before = low[..position].trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let status = low[position..end].parse().ok();
        if end - position == 3
            && let Some(status) = status.filter(|status| (400..600).contains(status))
            && STATUS_WORDS.iter().any(|word| before.ends_with(word))
        {
            return Some(status);
        }
        position = end;
    }
    None
}

/// The message inside an API's answer that was quoted as it came: `[API Error: {"error":{"message":…}}]`.
fn for_people(message: &str) -> String {
    let quoted = message.find('{').and_then(|start| {
        let mut values = serde_json::Deserializer::from_str(&message[start..]).into_iter::<Value>();
        values.next()?.ok()
    });
    let inner = quoted.as_ref().and_then(|answer| {
        answer
            .get("error")
            .unwrap_or(answer)
            .get("message")?
            .as_str()
            .filter(|text| !text.is_empty())
    });
    inner.unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::classified;
    use crate::event::ErrorClass;

    #[test]
    fn captured_words_have_a_class() {
        for (message, class, status) in [
            (
                "unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:4000/v1/responses",
                ErrorClass::Auth,
                Some(401),
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                ErrorClass::RateLimit,
                Some(429),
            ),
            (
                "We’re currently experiencing high demand, which may cause temporary errors.",
                ErrorClass::Overloaded,
                None,
            ),
            (
                "stream disconnected before completion: stream closed before response.completed",
                ErrorClass::Network,
                None,
            ),
            (
                "Missing environment variable: `OPENAI_API_KEY`.",
                ErrorClass::Auth,
                None,
            ),
            ("[API Error: terminated]", ErrorClass::Network, None),
            (
                r#"[API Error: {"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]"#,
                ErrorClass::InvalidRequest,
                Some(400),
            ),
            ("[API Error: 500 oh]", ErrorClass::Vendor, Some(500)),
            ("room 500 is free", ErrorClass::Unknown, None),
        ] {
            let info = classified(message);
            assert_eq!((info.class, info.http_status), (class, status), "{message}");
        }
    }

    #[test]
    fn a_quota_that_resets_is_a_rate_limit_and_an_empty_account_is_not() {
        let error = classified("You've hit your usage limit. Try again in 2 hours 5 minutes.");
        assert_eq!(
            (error.class, error.is_retryable, error.retry_after_seconds),
            (ErrorClass::RateLimit, true, Some(7_500))
        );
        let error = classified("You've hit your usage limit. Upgrade to Pro or try again at 3:05 PM.");
        assert_eq!(
            (error.class, error.retry_after_seconds),
            (ErrorClass::RateLimit, None)
        );
        let error = classified(
            r#"[API Error: {"error":{"code":429,"message":"Quota exceeded","details":[{"retryDelay":"34s"}]}}]"#,
        );
        assert_eq!(
            (error.class, error.retry_after_seconds),
            (ErrorClass::RateLimit, Some(34))
        );
        let error =
            classified("You exceeded your current quota, please check your plan and billing details.");
        assert_eq!((error.class, error.is_retryable), (ErrorClass::Quota, false));
    }

    #[test]
    fn a_quoted_answer_gives_its_message() {
        let info = classified(r#"[API Error: {"error":{"code":401,"message":"invalid key"}}]"#);
        assert_eq!(
            (info.message.as_str(), info.code.as_str()),
            ("invalid key", "auth")
        );
        let info = classified("half {\"error\"");
        assert_eq!(info.message, "half {\"error\"");
    }
}
