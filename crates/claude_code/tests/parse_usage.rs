//! What a process used and cost, with figures that real CLIs reported.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use claude_code::{CostAccount, CostBasis, MicroUsd, Tokens, parse_line};

fn init(version: &str) -> String {
    format!(r#"{{"type":"system","subtype":"init","claude_code_version":"{version}"}}"#)
}

/// A `result` with the main conversation's usage, the total, and the models' figures as (input, output, cost).
fn result(usage: (u64, u64), total: &str, models: Option<&str>, part: Option<&str>) -> String {
    let (input, output) = usage;
    let models = models
        .map(|models| format!(r#","modelUsage":{models}"#))
        .unwrap_or_default();
    let part = part
        .map(|part| format!(r#","model_usage_since_last_result":{part}"#))
        .unwrap_or_default();
    format!(
        r#"{{"duration_api_ms":1,"usage":{{"input_tokens":{input},"output_tokens":{output}}},"total_cost_usd":{total}{models}{part},"subtype":"success","type":"result"}}"#
    )
}

fn opus(input: u64, output: u64, cost: &str) -> String {
    format!(r#"{{"claude-opus-5-5":{{"inputTokens":{input},"outputTokens":{output},"costUSD":{cost}}}}}"#)
}

fn account(basis: CostBasis, lines: &[String]) -> CostAccount {
    let mut account = CostAccount::new(basis);
    for line in lines {
        account.apply(&parse_line(line.as_bytes()).unwrap());
    }
    account
}

fn tokens(input: u64, output: u64) -> Tokens {
    Tokens {
        input,
        output,
        ..Tokens::default()
    }
}

#[test]
fn nothing_is_known_before_the_first_result() {
    let account = account(CostBasis::NewSession, &[init("2.1.325")]);
    assert_eq!(
        (account.cost(), account.session_total(), account.tokens()),
        (None, None, tokens(0, 0))
    );
}

#[test]
fn totals_within_a_process_are_cumulative_and_never_added_up() {
    let (first, second) = (opus(24, 54, "0.022065599999999998"), opus(36, 65, "0.0327784"));
    let lines = [
        init("2.1.300"),
        result((24, 54), "0.022065599999999998", Some(&first), None),
        init("2.1.300"),
        result((12, 11), "0.0327784", Some(&second), None),
    ];
    let account = account(CostBasis::NewSession, &lines);
    assert_eq!(account.cost(), Some(MicroUsd::new(32_778)));
    assert_eq!(account.tokens(), tokens(36, 65));
}

#[test]
fn parts_since_the_last_result_are_added_up() {
    let lines = [
        init("2.1.325"),
        result(
            (24, 54),
            "0.022065599999999998",
            Some(&opus(24, 54, "0.022065599999999998")),
            Some(&opus(24, 54, "0.022065599999999998")),
        ),
        result(
            (12, 11),
            "0.0327784",
            Some(&opus(36, 65, "0.0327784")),
            Some(&opus(12, 11, "0.0107128")),
        ),
    ];
    let account = account(CostBasis::NewSession, &lines);
    assert_eq!(account.cost(), Some(MicroUsd::new(22_066 + 10_713)));
    assert_eq!(account.tokens(), tokens(36, 65));
}

#[test]
fn an_empty_part_is_nothing_and_not_absent() {
    let whole = opus(60, 217, "0.05680399999999999");
    let lines = [
        init("2.1.325"),
        result((24, 80), "0.05680399999999999", Some(&whole), Some(&whole)),
        result((12, 18), "0.05680399999999999", Some(&whole), Some("{}")),
    ];
    let account = account(CostBasis::ResumedUnknown, &lines);
    assert_eq!(account.cost(), Some(MicroUsd::new(56_804)));
    assert_eq!(account.tokens(), tokens(60, 217));
    assert!(!account.may_include_earlier_runs());
}

#[test]
fn a_resumed_session_costs_only_its_new_part() {
    let lines = [
        init("2.1.325"),
        result(
            (12, 31),
            "0.022105599999999996",
            Some(&opus(24, 56, "0.022105599999999996")),
            Some(&opus(12, 31, "0.011112799999999999")),
        ),
    ];
    let resumed = CostBasis::Resumed {
        session_total: MicroUsd::new(10_993),
    };
    for basis in [resumed, CostBasis::ResumedUnknown] {
        let account = account(basis, &lines);
        assert_eq!(account.cost(), Some(MicroUsd::new(11_113)), "{basis:?}");
        assert_eq!(account.tokens(), tokens(12, 31), "{basis:?}");
        assert_eq!(account.session_total(), Some(MicroUsd::new(22_106)), "{basis:?}");
    }
}

#[test]
fn without_parts_the_known_total_of_a_resumed_session_is_taken_off() {
    let models = opus(24, 56, "0.022105599999999996");
    let resumed = CostBasis::Resumed {
        session_total: MicroUsd::new(10_993),
    };
    let lines = |version| {
        [
            init(version),
            result((12, 31), "0.022105599999999996", Some(&models), None),
        ]
    };
    assert_eq!(
        account(resumed, &lines("2.1.277")).cost(),
        Some(MicroUsd::new(11_113))
    );
    assert_eq!(
        account(resumed, &lines("2.1.276")).cost(),
        Some(MicroUsd::new(22_106)),
        "only this process"
    );
    assert_eq!(
        account(resumed, &lines("2.1.277")).tokens(),
        tokens(12, 31),
        "the turn's own"
    );
    assert_eq!(account(resumed, &lines("2.1.276")).tokens(), tokens(24, 56));

    let unknown = account(CostBasis::ResumedUnknown, &lines("2.1.277"));
    assert_eq!(unknown.cost(), Some(MicroUsd::new(22_106)));
    assert!(unknown.may_include_earlier_runs());
    assert!(!account(CostBasis::ResumedUnknown, &lines("2.1.276")).may_include_earlier_runs());
}

#[test]
fn a_total_below_the_known_one_is_the_process_own() {
    // After a kill in mid-turn the session's total starts over.
    let resumed = CostBasis::Resumed {
        session_total: MicroUsd::new(50_000),
    };
    let lines = [
        init("2.1.300"),
        result((12, 44), "0.011372799999999999", None, None),
    ];
    assert_eq!(account(resumed, &lines).cost(), Some(MicroUsd::new(11_373)));
}

#[test]
fn subagents_are_counted_by_model_usage_only() {
    let models = r#"{"claude-sonnet-4-5-20250929":{"inputTokens":48,"outputTokens":199,"costUSD":0.0350778},"claude-haiku-4-5-20251001":{"inputTokens":12,"outputTokens":13,"costUSD":0.0027394}}"#;
    let lines = [
        init("2.1.9"),
        result((24, 80), "0.037817199999999995", Some(models), None),
    ];
    let account = account(CostBasis::NewSession, &lines);
    assert_eq!(account.tokens(), tokens(60, 212));
    assert_eq!(account.cost(), Some(MicroUsd::new(37_817)));
}

#[test]
fn versions_without_model_usage_are_counted_by_turn() {
    let lines = [
        result((12, 14), "0.019257919999999998", None, None),
        result((12, 14), "0.03", None, None),
    ];
    let account = account(CostBasis::NewSession, &lines);
    assert_eq!(account.tokens(), tokens(24, 28));
    assert_eq!(account.cost(), Some(MicroUsd::new(30_000)));
}

#[test]
fn usage_repeated_for_every_block_of_a_message_counts_once() {
    let said = |id: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","content":[],"usage":{{"input_tokens":12,"cache_creation_input_tokens":2048,"cache_read_input_tokens":1024,"output_tokens":{output}}}}}}}"#
        )
    };
    let mut lines = vec![init("2.1.325"), said("m1", 1), said("m1", 1), said("m2", 1)];
    let estimate = |input, output| Tokens {
        input,
        output,
        cache_read: input / 12 * 1024,
        cache_write: input / 12 * 2048,
        ..Tokens::default()
    };
    assert_eq!(
        account(CostBasis::NewSession, &lines).unsettled_tokens(),
        estimate(24, 2)
    );
    lines.push(result((24, 68), "0.0223456", None, None));
    assert_eq!(
        account(CostBasis::NewSession, &lines).unsettled_tokens(),
        Tokens::default(),
        "settled"
    );
}

#[test]
fn the_end_of_a_streamed_message_knows_its_output() {
    let usage = |output: u64| format!(r#"{{"input_tokens":12,"output_tokens":{output}}}"#);
    let start = format!(
        r#"{{"type":"stream_event","event":{{"type":"message_start","message":{{"id":"m1","usage":{}}}}}}}"#,
        usage(1)
    );
    let said = format!(
        r#"{{"type":"assistant","message":{{"id":"m1","usage":{}}}}}"#,
        usage(1)
    );
    let end = format!(
        r#"{{"type":"stream_event","event":{{"type":"message_delta","delta":{{}},"usage":{}}}}}"#,
        usage(54)
    );
    for lines in [[start.clone(), said.clone(), end.clone()], [start, end, said]] {
        let account = account(CostBasis::NewSession, &lines);
        assert_eq!(account.unsettled_tokens(), tokens(12, 54), "whatever the order");
    }
}

#[test]
fn a_message_delta_with_only_output_tokens_keeps_the_counts_of_the_start() {
    let lines = [
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":12,"cache_read_input_tokens":100,"cache_creation_input_tokens":7,"output_tokens":1}}}}"#.to_owned(),
        r#"{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":50}}}"#.to_owned(),
        r#"{"type":"assistant","message":{"id":"m1","usage":{"input_tokens":12,"output_tokens":1}}}"#.to_owned(),
    ];
    assert_eq!(
        account(CostBasis::NewSession, &lines).unsettled_tokens(),
        Tokens {
            input: 12,
            output: 50,
            cache_read: 100,
            cache_write: 7,
            ..Tokens::default()
        }
    );
}

#[test]
fn a_result_that_reports_its_last_message_only_takes_nothing_back() {
    let message = |id: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","content":[],"usage":{{"input_tokens":12,"output_tokens":{output}}}}}}}"#
        )
    };
    let lines = [
        init("1.0.108"),
        message("m1", 56),
        message("m2", 12),
        result((12, 12), "0.1", None, None),
        message("m3", 5),
        result((12, 5), "0.2", None, None),
    ];
    let account = account(CostBasis::NewSession, &lines);
    assert_eq!(account.tokens(), tokens(36, 73));
}

const RESET: &str = r#"{"type":"conversation_reset","new_conversation_id":"c","trigger":"clear"}"#;

#[test]
fn clearing_the_conversation_keeps_what_was_counted_before() {
    let (first, second) = (opus(24, 54, "0.40"), opus(12, 11, "0.10"));
    let account = account(
        CostBasis::NewSession,
        &[
            init("2.1.300"),
            result((24, 54), "0.40", Some(&first), None),
            RESET.to_owned(),
            init("2.1.300"),
            result((12, 11), "0.10", Some(&second), None),
        ],
    );
    assert_eq!(account.cost(), Some(MicroUsd::new(500_000)));
    assert_eq!(account.tokens(), tokens(36, 65));
    assert_eq!(
        account.session_total(),
        Some(MicroUsd::new(100_000)),
        "the next run resumes the session that began at the reset"
    );
}

#[test]
fn a_reset_costs_nothing_where_results_report_their_part() {
    let account = account(
        CostBasis::NewSession,
        &[
            result((24, 54), "0.40", None, Some(&opus(24, 54, "0.40"))),
            RESET.to_owned(),
            result((12, 11), "0.10", None, Some(&opus(12, 11, "0.10"))),
        ],
    );
    assert_eq!(account.cost(), Some(MicroUsd::new(500_000)));
    assert_eq!(account.tokens(), tokens(36, 65));
}

#[test]
fn the_cost_never_decreases() {
    let totals = ["0.40", "0.45", "0.10", "0.15", "0", "0.01"];
    let mut account = CostAccount::new(CostBasis::NewSession);
    let mut last = MicroUsd::ZERO;
    for total in totals {
        account.apply(&parse_line(result((1, 1), total, None, None).as_bytes()).unwrap());
        let cost = account.cost().unwrap();
        assert!(cost >= last, "{total}: {cost:?} after {last:?}");
        last = cost;
    }
    assert_eq!(last, MicroUsd::new(450_000 + 150_000 + 10_000));
}

#[test]
fn clearing_a_resumed_session_subtracts_its_earlier_total_once() {
    let basis = CostBasis::Resumed {
        session_total: MicroUsd::new(300_000),
    };
    let account = account(
        basis,
        &[
            init("2.1.300"),
            result((1, 1), "0.50", None, None),
            RESET.to_owned(),
            result((1, 1), "0.35", None, None),
        ],
    );
    assert_eq!(account.cost(), Some(MicroUsd::new(550_000)));
}

#[test]
fn a_session_cleared_before_its_first_result_includes_no_earlier_runs() {
    let lines = [
        init("2.1.300"),
        RESET.to_owned(),
        result((1, 1), "0.10", None, None),
    ];
    assert!(!account(CostBasis::ResumedUnknown, &lines).may_include_earlier_runs());
}
