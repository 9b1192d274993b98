//! What is kept of the real CLI's output is fit to be kept, and says the same as the output did.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use test_support::fixtures;
use test_support::normalise::{Normaliser, Place};
use test_support::real_cli::{CURRENT, VERSIONS};

const SIZE_LIMIT_BYTES: u64 = 3 << 20;

fn files() -> Vec<PathBuf> {
    let mut files = vec![fixtures::directory().join("index.json")];
    for version in VERSIONS {
        let directory = fs::read_dir(fixtures::directory().join(version)).unwrap();
        files.extend(directory.map(|entry| entry.unwrap().path()));
    }
    files
}

fn normaliser() -> Normaliser {
    let place = Place::default()
        .with_path(Path::new("/tmp/ralph-test-x1/workspace"), "/workspace")
        .with_path(Path::new("/tmp/ralph-test-x1/home"), "/home/user");
    Normaliser::new(place)
}

#[test]
fn places_ports_ids_and_times_are_replaced() {
    let line = r#"{"cwd":"/tmp/ralph-test-x1/workspace","memory":"/tmp/ralph-test-x1/home/.claude/projects/-tmp-ralph-test-x1-workspace/memory","messaging_socket_path":"/tmp/cc-socks/22805.sock","url":"http://127.0.0.1:40123/page","session_id":"a155e807-f7bc-4243-9bde-85dd47da479c","uuid":"09e261ee-5bbf-4af3-a561-3529fd30ba35","parent":"a155e807-f7bc-4243-9bde-85dd47da479c","timestamp":"2026-11-15T18:20:36.374Z","pid":4711}"#;
    let expected = r#"{"cwd":"/workspace","memory":"/home/user/.claude/projects/-workspace/memory","messaging_socket_path":"/run/user/cc-socks/1.sock","url":"http://127.0.0.1:4000/page","session_id":"00000000-0000-4000-8000-000000000001","uuid":"00000000-0000-4000-8000-000000000002","parent":"00000000-0000-4000-8000-000000000001","timestamp":"2026-01-01T00:00:00.001Z","pid":1}"#;
    assert_eq!(normaliser().line(line), expected);
}

#[test]
fn what_is_not_prose_stays_byte_for_byte() {
    let line = "{\"type\":\"user\",\"b\":1e2,\"a\":0.010872799999999998,\"text\":\"\\u2028 \u{2028} \\/ \\ud83c\\udf89\",\"empty\":{},\"list\":[ ],\"b\":1}";
    assert_eq!(normaliser().line(line), line.replace("[ ]", "[]"));
    let not_json = "Error: not JSON {";
    assert_eq!(normaliser().line(not_json), not_json);
}

#[test]
fn long_texts_of_the_vendor_are_cut_and_ours_are_not() {
    let mut normaliser = normaliser();
    let long = "word ".repeat(60);
    let ours =
        json!({"type": "assistant", "message": {"model": "claude-opus-5-5", "content": [{"text": long}]}});
    assert_eq!(normaliser.line(&ours.to_string()), ours.to_string());
    let repeated = json!({"type": "result", "result": long});
    assert_eq!(
        normaliser.line(&repeated.to_string()),
        repeated.to_string(),
        "the model said so"
    );
    let other = "other ".repeat(60);
    let theirs = json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": other}]}});
    let cut: Value = serde_json::from_str(&normaliser.line(&theirs.to_string())).unwrap();
    assert_eq!(
        cut["message"]["content"][0]["content"],
        format!("{}… (300 characters cut)", &other[..60])
    );
}

#[test]
fn built_in_lists_are_shortened_but_keep_what_was_added() {
    let init = json!({"type": "system", "subtype": "init", "slash_commands": ["a", "b", "c", "d"],
        "tools": ["A", "B", "C", "D", "E", "F", "mcp__host__hello"]});
    let kept: Value = serde_json::from_str(&normaliser().line(&init.to_string())).unwrap();
    assert_eq!(kept["slash_commands"], json!(["a", "b", "c"]));
    assert_eq!(
        kept["tools"],
        json!(["A", "B", "C", "D", "E", "mcp__host__hello"])
    );
    let answer = json!({"type": "control_response", "response": {"response": {"commands": [
        {"name": "x", "description": "Does this."}, {"name": "y", "description": ""}]}}});
    let kept: Value = serde_json::from_str(&normaliser().line(&answer.to_string())).unwrap();
    assert_eq!(
        kept["response"]["response"]["commands"][0]["description"],
        "(a description)"
    );
    assert_eq!(kept["response"]["response"]["commands"][1]["description"], "");
}

#[test]
fn what_was_normalised_is_not_changed_again() {
    for fixture in fixtures::all().unwrap() {
        let mut normaliser = Normaliser::new(Place::default());
        for line in fixture.lines() {
            let line = std::str::from_utf8(line).unwrap();
            assert_eq!(
                normaliser.line(line),
                line,
                "{}/{}",
                fixture.version,
                fixture.name
            );
        }
    }
}

#[test]
fn no_fixture_tells_where_it_was_captured() {
    let traces = Regex::new(r"/root\b|/tmp/|/target/|/crates/|ralph-test-").unwrap();
    let ports = Regex::new(r"(?:127\.0\.0\.1|localhost):(\d+)").unwrap();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        let found = traces.find(&text).map(|found| found.as_str());
        assert_eq!(found, None, "{}", file.display());
        for port in ports.captures_iter(&text) {
            // The scripted model's, and the one where nothing listens.
            assert!(
                ["4000", "1"].contains(&&port[1]),
                "{}: {}",
                file.display(),
                &port[0]
            );
        }
        assert!(
            host.trim().len() < 4 || !text.contains(host.trim()),
            "{}",
            file.display()
        );
    }
}

#[test]
fn no_fixture_holds_long_texts_or_descriptions_of_the_vendor() {
    fn longest(value: &Value) -> usize {
        match value {
            Value::String(text) => text.chars().count(),
            Value::Array(elements) => elements.iter().map(longest).max().unwrap_or(0),
            Value::Object(members) => members.values().map(longest).max().unwrap_or(0),
            _ => 0,
        }
    }
    for fixture in fixtures::all().unwrap() {
        for line in fixture.lines() {
            let event: Value = serde_json::from_slice(line).unwrap();
            if ["system", "control_response", "rate_limit_event"]
                .iter()
                .any(|kind| event["type"] == *kind)
            {
                assert!(
                    longest(&event) <= 160,
                    "{}/{}: {event}",
                    fixture.version,
                    fixture.name
                );
            }
        }
    }
}

#[test]
fn all_fixtures_together_stay_small() {
    let total: u64 = files().iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(total <= SIZE_LIMIT_BYTES, "{total}");
}

#[test]
fn the_index_names_every_fixture_and_how_it_came_to_be() {
    let index: Vec<Value> =
        serde_json::from_slice(&fs::read(fixtures::directory().join("index.json")).unwrap()).unwrap();
    let named: BTreeSet<(String, String)> = index
        .iter()
        .filter(|entry| entry["events"] != "" && !entry["events"].as_str().unwrap().contains("(not JSON)"))
        .map(|entry| {
            (
                entry["version"].as_str().unwrap().to_owned(),
                entry["name"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let kept: BTreeSet<(String, String)> = fixtures::all()
        .unwrap()
        .into_iter()
        .map(|fixture| (fixture.version, fixture.name))
        .collect();
    assert_eq!(named, kept);
}

#[test]
fn the_current_version_shows_every_kind_of_event_that_can_be_reached() {
    let mut kinds = BTreeSet::new();
    for fixture in fixtures::all()
        .unwrap()
        .into_iter()
        .filter(|fixture| fixture.version == CURRENT)
    {
        for line in fixture.lines() {
            let event: Value = serde_json::from_slice(line).unwrap();
            let detail = [
                &event["subtype"],
                &event["request"]["subtype"],
                &event["event"]["type"],
            ];
            let detail = detail
                .into_iter()
                .find_map(Value::as_str)
                .map(|detail| format!("/{detail}"))
                .unwrap_or_default();
            kinds.insert(format!("{}{detail}", event["type"].as_str().unwrap_or("array")));
        }
    }
    let expected = [
        "array",
        "assistant",
        "attachment",
        "command_lifecycle",
        "control_cancel_request",
        "control_request/can_use_tool",
        "control_request/hook_callback",
        "control_request/mcp_message",
        "control_response",
        "conversation_reset",
        "rate_limit_event",
        "result/error_during_execution",
        "result/error_max_budget_usd",
        "result/error_max_structured_output_retries",
        "result/error_max_turns",
        "result/success",
        "stream_event/content_block_delta",
        "stream_event/content_block_start",
        "stream_event/content_block_stop",
        "stream_event/message_delta",
        "stream_event/message_start",
        "stream_event/message_stop",
        "system/api_retry",
        "system/background_tasks_changed",
        "system/compact_boundary",
        "system/hook_response",
        "system/hook_started",
        "system/informational",
        "system/init",
        "system/model_fallback",
        "system/model_refusal_no_fallback",
        "system/notification",
        "system/permission_denied",
        "system/session_state_changed",
        "system/session_title_changed",
        "system/status",
        "system/task_notification",
        "system/task_progress",
        "system/task_started",
        "system/task_updated",
        "system/thinking_tokens",
        "system/ui_invalidate",
        "tool_progress",
        "tool_use_summary",
        "user",
    ];
    let missing: Vec<&str> = expected
        .into_iter()
        .filter(|kind| !kinds.contains(*kind))
        .collect();
    assert_eq!(missing, [""; 0], "of {kinds:?}");
}
