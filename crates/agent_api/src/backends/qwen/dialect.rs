//! `DIALECT` and `EXTRAS`: how Qwen Code counts, and the shapes that Claude does not have.

use claude_code::{Dialect, Event as WireEvent};
use serde_json::Value;

use crate::backends::claude_code::{AnswerRetry, DialectExtras};

/// Counts cached input as input, adds up the whole session, and reports no cost.
pub const DIALECT: Dialect = Dialect {
    input_includes_cached: true,
    usage_is_cumulative: true,
    has_cost: false,
    writes_errors_as_text: true,
};

/// The shapes that Claude does not have.
pub const EXTRAS: DialectExtras = DialectExtras {
    version_key: Some("qwen_code_version"),
    read_answer_retry: Some(read_answer_retry),
    read_turn_error: Some(read_turn_error),
    interrupt_error: Some("Operation cancelled."),
    changes_in_input: true,
};

/// `{"type":"system","subtype":"retry","data":{"attempt":1,"maxRetries":10,"delayMs":60000,"preserveText":false}}`
fn read_answer_retry(line: &WireEvent) -> Option<AnswerRetry> {
    let subtype = member(line, "subtype")?;
    if subtype != "retry" {
        return None;
    }
    let data = member(line, "data").unwrap_or_default();
    let number = |name: &str| data.get(name).and_then(Value::as_u64);
    let count = |name: &str| number(name).and_then(|count| u32::try_from(count).ok());
    Some(AnswerRetry {
        attempt: count("attempt"),
        max_attempts: count("maxRetries"),
        delay_ms: number("delayMs"),
        discards_text: data.get("preserveText") == Some(&Value::Bool(false)),
    })
}

/// `{"type":"result","is_error":true,"error":{"message":"[API Error: 401 no]"}}`
fn read_turn_error(line: &WireEvent) -> Option<String> {
    let error = member(line, "error")?;
    error.get("message").and_then(Value::as_str).map(str::to_owned)
}

fn member(line: &WireEvent, name: &str) -> Option<Value> {
    serde_json::from_slice(line.field(name)?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::{read_answer_retry, read_turn_error};
    use crate::backends::claude_code::AnswerRetry;

    fn parse(line: &str) -> claude_code::Event {
        claude_code::parse_line(line.as_bytes()).unwrap()
    }

    #[test]
    fn a_retry_says_whether_the_text_stays() {
        let line = parse(
            r#"{"type":"system","subtype":"retry","data":{"attempt":1,"maxRetries":10,"delayMs":60000,"preserveText":false}}"#,
        );
        let retry = AnswerRetry {
            attempt: Some(1),
            max_attempts: Some(10),
            delay_ms: Some(60_000),
            discards_text: true,
        };
        assert_eq!(read_answer_retry(&line), Some(retry));
        let bare = parse(r#"{"type":"system","subtype":"retry"}"#);
        assert_eq!(read_answer_retry(&bare), Some(AnswerRetry::default()));
        assert_eq!(
            read_answer_retry(&parse(r#"{"type":"system","subtype":"x"}"#)),
            None
        );
    }

    #[test]
    fn a_failed_turn_says_why_in_an_object() {
        let line = parse(r#"{"type":"result","error":{"message":"[API Error: 401 no]"}}"#);
        assert_eq!(read_turn_error(&line).as_deref(), Some("[API Error: 401 no]"));
        assert_eq!(read_turn_error(&parse(r#"{"type":"result","error":3}"#)), None);
    }
}
