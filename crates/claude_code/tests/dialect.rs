//! Other agents write what Claude Code writes, with other names for some fields and another way to count.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use claude_code::event::{Kind, PermissionMode, System};
use claude_code::{CostAccount, CostBasis, Dialect, Event, Tokens, parse_line};

/// Counts cached input as input, and the whole session in every result.
const CUMULATIVE: Dialect = Dialect {
    input_includes_cached: true,
    usage_is_cumulative: true,
    has_cost: false,
    writes_errors_as_text: false,
};

fn parse(line: &str) -> Event {
    parse_line(line.as_bytes()).unwrap()
}

fn result(input: u64, cached: u64, output: u64) -> Event {
    parse(&format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"x","usage":{{"input_tokens":{input},"output_tokens":{output},"cache_read_input_tokens":{cached},"total_tokens":9}},"permission_denials":[]}}"#
    ))
}

fn calls(count: u64) -> Tokens {
    Tokens {
        input: 200 * count,
        output: 34 * count,
        cache_read: 1000 * count,
        ..Tokens::default()
    }
}

#[test]
fn other_names_of_known_fields_are_read() {
    let event = parse(
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m","permission_mode":"yolo"}"#,
    );
    let Kind::System(System::Init(init)) = event.kind() else {
        unreachable!("{event:?}");
    };
    assert_eq!(init.permission_mode, Some(PermissionMode::Other("yolo".into())));
}

#[test]
fn cached_input_is_counted_once() {
    let event = result(2400, 2000, 68);
    let Kind::Result(result) = event.kind() else {
        unreachable!("{event:?}");
    };
    let usage = result.usage.as_ref().unwrap();
    assert_eq!(CUMULATIVE.tokens(usage), calls(2));
    assert_eq!(Dialect::CLAUDE_CODE.tokens(usage), Tokens::from(usage));
}

#[test]
fn totals_of_a_session_replace_each_other() {
    let mut account = CostAccount::new(CostBasis::NewSession).with_dialect(CUMULATIVE);
    account.apply(&result(2400, 2000, 68));
    account.apply(&result(4800, 4000, 136));
    assert_eq!(account.tokens(), calls(4));
    assert_eq!(account.cost(), None);
}

#[test]
fn a_resumed_run_counts_what_is_new() {
    let mut first = CostAccount::new(CostBasis::NewSession).with_dialect(CUMULATIVE);
    first.apply(&result(2400, 2000, 68));
    let earlier = first.session_tokens().unwrap();

    let resumed = CostAccount::new(CostBasis::ResumedUnknown).with_dialect(CUMULATIVE);
    let mut second = resumed.with_earlier_tokens(earlier);
    second.apply(&result(0, 0, 0));
    assert_eq!(second.tokens(), Tokens::default());
    assert_eq!(second.session_tokens(), Some(earlier));
    second.apply(&result(4800, 4000, 136));
    assert_eq!(second.tokens(), calls(2));
    assert_eq!(second.session_tokens(), Some(calls(4)));
    assert!(!second.may_include_earlier_runs());
}

#[test]
fn a_resumed_run_of_unknown_past_says_so() {
    let mut account = CostAccount::new(CostBasis::ResumedUnknown).with_dialect(CUMULATIVE);
    account.apply(&parse(r#"{"type":"system","subtype":"init"}"#));
    account.apply(&result(4800, 4000, 136));
    assert_eq!(account.tokens(), calls(4));
    assert!(account.may_include_earlier_runs());
}
