//! Qwen Code writes what Claude Code writes, with other names for some fields and another way to count.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use claude_code::event::{Kind, PermissionMode, ResultSubtype, System};
use claude_code::{CostAccount, CostBasis, Dialect, Event, TokenCount, parse_line};

fn parse(line: &str) -> Event {
    parse_line(line.as_bytes()).unwrap()
}

fn result(input: u64, cached: u64, output: u64) -> Event {
    parse(&format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"x","usage":{{"input_tokens":{input},"output_tokens":{output},"cache_read_input_tokens":{cached},"total_tokens":9}},"permission_denials":[]}}"#
    ))
}

fn calls(count: u64) -> TokenCount {
    TokenCount {
        input: 200 * count,
        output: 34 * count,
        cache_read: 1000 * count,
        ..TokenCount::default()
    }
}

#[test]
fn other_names_of_known_fields_are_read() {
    let event = parse(
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m","permission_mode":"yolo","qwen_code_version":"0.24.4"}"#,
    );
    let Kind::System(System::Init(init)) = event.kind() else {
        unreachable!("{event:?}");
    };
    assert_eq!(init.claude_code_version.as_deref(), Some("0.24.4"));
    assert_eq!(init.permission_mode, Some(PermissionMode::Other("yolo".into())));
}

#[test]
fn a_retry_says_whether_the_text_stays() {
    let event = parse(
        r#"{"type":"system","subtype":"retry","data":{"reason":"retry","attempt":1,"maxRetries":10,"delayMs":60000,"discardedToolCalls":2,"preserveText":false}}"#,
    );
    let Kind::System(System::AnswerRetry(retry)) = event.kind() else {
        unreachable!("{event:?}");
    };
    let data = retry.data.unwrap();
    assert_eq!((data.attempt, data.max_retries), (Some(1), Some(10)));
    assert_eq!(
        (data.delay_ms, data.discarded_tool_calls),
        (Some(60_000), Some(2))
    );
    assert_eq!(data.preserve_text, Some(false));
}

#[test]
fn a_failed_turn_says_why_in_an_object() {
    let event = parse(
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"[API Error: 401 no]"}}"#,
    );
    let Kind::Result(result) = event.kind() else {
        unreachable!("{event:?}");
    };
    assert_eq!(result.subtype, Some(ResultSubtype::ErrorDuringExecution));
    let message = result.error.as_ref().unwrap().message.as_deref();
    assert_eq!(message, Some("[API Error: 401 no]"));
}

#[test]
fn cached_input_is_counted_once() {
    let event = result(2400, 2000, 68);
    let Kind::Result(result) = event.kind() else {
        unreachable!("{event:?}");
    };
    let usage = result.usage.as_ref().unwrap();
    assert_eq!(Dialect::QWEN.tokens(usage), calls(2));
    assert_eq!(Dialect::CLAUDE_CODE.tokens(usage), TokenCount::from(usage));
}

#[test]
fn totals_of_a_session_replace_each_other() {
    let mut account = CostAccount::new(CostBasis::NewSession).with_dialect(Dialect::QWEN);
    account.apply(&result(2400, 2000, 68));
    account.apply(&result(4800, 4000, 136));
    assert_eq!(account.tokens(), calls(4));
    assert_eq!(account.cost(), None);
}

#[test]
fn a_resumed_run_counts_what_is_new() {
    let mut first = CostAccount::new(CostBasis::NewSession).with_dialect(Dialect::QWEN);
    first.apply(&result(2400, 2000, 68));
    let earlier = first.session_tokens().unwrap();

    let resumed = CostAccount::new(CostBasis::ResumedUnknown).with_dialect(Dialect::QWEN);
    let mut second = resumed.with_earlier_tokens(earlier);
    second.apply(&result(0, 0, 0));
    assert_eq!(second.tokens(), TokenCount::default());
    assert_eq!(second.session_tokens(), Some(earlier));
    second.apply(&result(4800, 4000, 136));
    assert_eq!(second.tokens(), calls(2));
    assert_eq!(second.session_tokens(), Some(calls(4)));
    assert!(!second.may_include_earlier_runs());
}

#[test]
fn a_resumed_run_of_unknown_past_says_so() {
    let mut account = CostAccount::new(CostBasis::ResumedUnknown).with_dialect(Dialect::QWEN);
    account.apply(&parse(
        r#"{"type":"system","subtype":"init","qwen_code_version":"0.24.4"}"#,
    ));
    account.apply(&result(4800, 4000, 136));
    assert_eq!(account.tokens(), calls(4));
    assert!(account.may_include_earlier_runs());
}
