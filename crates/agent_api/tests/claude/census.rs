//! Every line of every fixture has a home.

use std::collections::BTreeMap;

use agent_api::{Body, Severity};
use serde_json::Value;
use test_support::fixtures;

use crate::replay::replay;

#[test]
fn every_recorded_line_becomes_an_event_with_a_reference_into_the_raw_log() {
    let mut table: BTreeMap<&'static str, usize> = BTreeMap::new();
    let (mut lines, mut homeless) = (0, Vec::new());
    for fixture in fixtures::all().unwrap() {
        let replayed = replay(&fixture);
        let blank: Vec<bool> = fixture
            .bytes
            .split(|byte| *byte == b'\n')
            .map(|line| line.trim_ascii().is_empty())
            .collect();
        for (number, events) in &replayed.lines {
            if blank[usize::try_from(*number).unwrap() - 1] {
                continue;
            }
            lines += 1;
            if *events == 0 {
                homeless.push(format!("{}/{} line {number}", fixture.version, fixture.name));
            }
        }
        for event in &replayed.events {
            *table.entry(event.body.name()).or_default() += 1;
            let raw = event.raw.expect("a line's event knows its line");
            let end = usize::try_from(raw.offset + raw.length).unwrap();
            assert!(end <= fixture.bytes.len(), "{}: {raw:?}", fixture.name);
        }
    }
    println!("{lines} lines of Claude Code");
    for (name, count) in &table {
        println!("{count:6} {name}");
    }
    assert!(homeless.is_empty(), "lines without a home: {homeless:#?}");
    assert!(lines > 1_500, "only {lines} lines");
    for name in [
        "session_started",
        "turn_started",
        "turn_finished",
        "delta",
        "text_block",
        "thinking_block",
        "user_message",
        "tool_started",
        "tool_progressed",
        "tool_finished",
        "item_discarded",
        "plan_updated",
        "permission_requested",
        "question_asked",
        "plan_proposed",
        "request_closed",
        "permission_denied",
        "task_updated",
        "message_updated",
        "command_answered",
        "usage",
        "status_changed",
        "retry_scheduled",
        "rate_limit",
        "notice",
        "error",
    ] {
        assert!(table.contains_key(name), "no fixture gives `{name}`");
    }
}

#[test]
fn nothing_that_is_captured_is_unknown() {
    let mut unknown = BTreeMap::new();
    for fixture in fixtures::all().unwrap() {
        for event in replay(&fixture).events {
            if let Body::Unknown(what) = event.body {
                *unknown.entry(what.type_name).or_insert(0) += 1;
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_event_survives_json() {
    for fixture in fixtures::all().unwrap() {
        for event in replay(&fixture).events {
            let text = serde_json::to_string(&event).unwrap();
            let read: agent_api::Event = serde_json::from_str(&text).unwrap();
            assert_eq!(read, event, "{}: {text}", fixture.name);
        }
    }
}

#[test]
fn events_never_carry_a_line_of_the_agent() {
    let mut checked = 0;
    for fixture in fixtures::all().unwrap() {
        for event in replay(&fixture).events {
            let raw = event.raw.unwrap();
            let start = usize::try_from(raw.offset).unwrap();
            let line = &fixture.bytes[start..start + usize::try_from(raw.length).unwrap()];
            let line = String::from_utf8_lossy(line).trim().to_owned();
            let quoted = serde_json::to_string(&line).unwrap();
            let value = serde_json::to_value(&event).unwrap();
            let text = value.to_string();
            assert!(!text.contains(&line), "{}: {text}", fixture.name);
            assert!(
                !text.contains(quoted.trim_matches('"')),
                "{}: {text}",
                fixture.name
            );
            // Nor a line that was read and written again, or one that came as a string.
            assert!(!holds_wire_line(&value), "{}: {text}", fixture.name);
            checked += 1;
        }
    }
    assert!(checked > 1_500, "only {checked} events");
}

/// Whether there is an object with the fields that every line of Claude Code has, also within strings.
fn holds_wire_line(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            ["type", "uuid", "session_id"]
                .iter()
                .all(|name| fields.contains_key(*name))
                || fields.values().any(holds_wire_line)
        }
        Value::Array(values) => values.iter().any(holds_wire_line),
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str::<Value>(text).is_ok_and(|value| holds_wire_line(&value))
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[test]
fn a_line_inside_an_event_would_be_found() {
    let line = r#"{"type":"user","uuid":"u","session_id":"s"}"#;
    let value: Value = serde_json::from_str(line).unwrap();
    assert!(holds_wire_line(&serde_json::json!({"data": {"input": [value]}})));
    assert!(holds_wire_line(&serde_json::json!({"data": {"text": line}})));
    assert!(!holds_wire_line(
        &serde_json::json!({"data": {"text": "{}", "type": "user"}})
    ));
}

#[test]
fn warnings_are_few_and_known() {
    let mut codes = BTreeMap::new();
    for fixture in fixtures::all().unwrap() {
        for event in replay(&fixture).events {
            if let Body::Notice(notice) = event.body
                && notice.severity >= Severity::Warning
            {
                *codes.entry(notice.code).or_insert(0) += 1;
            }
        }
    }
    let known = [
        "compact_failed",
        "hook_finished",
        "informational",
        "model_fallback",
        "model_refusal",
        "unsupported_request",
    ];
    let strange: Vec<_> = codes
        .keys()
        .filter(|code| !known.contains(&code.as_str()))
        .collect();
    assert!(strange.is_empty(), "{codes:?}");
}
