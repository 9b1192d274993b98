//! The recordings of the agents other than Claude Code are fit to be kept, and show what a reader of their output must know.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use test_support::fixtures::{self, Fixture};
use test_support::normalise::{Normaliser, Place};
use test_support::real_cli::{Agent, FAKE_KEY};

const AGENTS: [Agent; 5] = [
    Agent::Codex,
    Agent::Gemini,
    Agent::Qwen,
    Agent::Opencode,
    Agent::Copilot,
];
const ACP_AGENTS: [&str; 2] = ["opencode", "copilot"];
const SIZE_LIMIT_BYTES: usize = 600 << 10;

fn files(agent: Agent) -> Vec<PathBuf> {
    let directory = fixtures::directory_of(agent.name());
    let mut files = vec![directory.join("index.json")];
    for version in agent.versions() {
        let entries = fs::read_dir(directory.join(version)).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files
}

fn events(fixture: &Fixture) -> Vec<Value> {
    fixture
        .lines()
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn one(agent: &str, name: &str) -> Vec<Value> {
    events(&fixtures::one(agent, name).unwrap())
}

/// Every kind of event of an agent, told by its type and these fields.
fn kinds(agent: &str, details: &[&str]) -> BTreeSet<String> {
    let all = fixtures::of(agent).unwrap();
    let events = all.iter().flat_map(events);
    events
        .map(|event| {
            let detail = details.iter().find_map(|path| event.pointer(path)?.as_str());
            let kind = event["type"].as_str().unwrap();
            detail.map_or_else(|| kind.to_owned(), |detail| format!("{kind}/{detail}"))
        })
        .collect()
}

fn texts(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

/// Exit codes, signals negative.
fn endings(agent: &str) -> BTreeMap<String, i32> {
    let all = fixtures::of(agent).unwrap().into_iter();
    all.map(|fixture| {
        let ending = fixture
            .capture
            .code
            .or(fixture.capture.signal.map(|signal| -signal));
        (fixture.name, ending.unwrap())
    })
    .collect()
}

#[test]
fn every_output_is_lines_of_json_or_empty() {
    for agent in AGENTS {
        let all = fixtures::of(agent.name()).unwrap();
        assert!(all.len() >= 15, "{}: {}", agent.name(), all.len());
        for fixture in all {
            assert!(
                fixture.path.exists() || fixture.bytes.is_empty(),
                "{}",
                fixture.path.display()
            );
            assert!(!fixture.capture.arguments.is_empty());
            let lines = events(&fixture).len();
            assert_eq!(lines == 0, fixture.capture.events.is_empty(), "{}", fixture.name);
        }
    }
}

#[test]
fn what_was_normalised_is_not_changed_again() {
    for fixture in AGENTS
        .into_iter()
        .flat_map(|agent| fixtures::of(agent.name()).unwrap())
    {
        let mut normaliser = Normaliser::new(Place::default());
        for line in fixture.lines() {
            let line = std::str::from_utf8(line).unwrap();
            assert_eq!(normaliser.line(line), line, "{}", fixture.name);
        }
    }
}

#[test]
fn no_fixture_tells_where_it_was_captured_or_holds_a_key() {
    let traces = Regex::new(r"/root\b|/tmp/|/target/|/crates/|/\.cache|ralph-test-|registry|sk-").unwrap();
    let ports = Regex::new(r"(?:127\.0\.0\.1|localhost|Port): ?(\d+)").unwrap();
    for file in AGENTS.into_iter().flat_map(files) {
        let text = fs::read_to_string(&file).unwrap();
        let found = traces.find(&text).map(|found| found.as_str());
        assert_eq!(found, None, "{}", file.display());
        assert!(!text.contains(FAKE_KEY), "{}", file.display());
        for port in ports.captures_iter(&text) {
            assert_eq!(&port[1], "4000", "{}", file.display());
        }
    }
}

#[test]
fn all_fixtures_together_stay_small() {
    let sizes = AGENTS
        .into_iter()
        .flat_map(files)
        .map(|file| fs::read(file).unwrap().len());
    let total: usize = sizes.sum();
    assert!(total <= SIZE_LIMIT_BYTES, "{total}");
}

#[test]
fn codex_shows_every_kind_of_event_and_item() {
    let expected = texts(&[
        "error",
        "item.completed/agent_message",
        "item.completed/collab_tool_call",
        "item.completed/command_execution",
        "item.completed/error",
        "item.completed/file_change",
        "item.completed/mcp_tool_call",
        "item.completed/reasoning",
        "item.completed/todo_list",
        "item.completed/web_search",
        "item.started/collab_tool_call",
        "item.started/command_execution",
        "item.started/file_change",
        "item.started/mcp_tool_call",
        "item.started/todo_list",
        "item.started/web_search",
        "item.updated/todo_list",
        "thread.started",
        "turn.completed",
        "turn.failed",
        "turn.started",
    ]);
    assert_eq!(kinds("codex", &["/item/type"]), expected);
}

#[test]
fn gemini_shows_every_kind_of_event() {
    let expected = texts(&[
        "error/error",
        "init",
        "message/assistant",
        "message/user",
        "result/error",
        "result/success",
        "tool_result/error",
        "tool_result/success",
        "tool_use",
    ]);
    assert_eq!(kinds("gemini", &["/role", "/status", "/severity"]), expected);
}

#[test]
fn qwen_shows_every_kind_of_event() {
    let expected = texts(&[
        "assistant",
        "result/error_during_execution",
        "result/success",
        "stream_event/content_block_delta",
        "stream_event/content_block_start",
        "stream_event/content_block_stop",
        "stream_event/goal_state",
        "stream_event/message_start",
        "stream_event/message_stop",
        "system/init",
        "system/retry",
        "user",
    ]);
    assert_eq!(kinds("qwen", &["/subtype", "/event/type"]), expected);
}

#[test]
fn the_endings_are_those_that_a_caller_must_know() {
    let expected = [
        ("codex", "text", 0),
        ("codex", "bad_flag", 2),
        ("codex", "err401", 1),
        ("codex", "kill_int", 1),
        ("codex", "kill_term", -15),
        ("codex", "no_git", 1),
        ("codex", "sandbox_readonly", 0),
        ("gemini", "err400", 144),
        ("gemini", "err401", 145),
        ("gemini", "kill_int", 0),
        ("gemini", "midcut", 0),
        ("gemini", "no_key", 41),
        ("gemini", "untrusted", 55),
        ("qwen", "err400", 1),
        ("qwen", "max_turns", 53),
        ("qwen", "text", 0),
    ];
    for (agent, name, ending) in expected {
        assert_eq!(endings(agent).get(name), Some(&ending), "{agent}/{name}");
    }
}

#[test]
fn codex_names_a_key_twice_and_the_bytes_still_do() {
    let fixture = fixtures::one("codex", "websearch").unwrap();
    let text = String::from_utf8(fixture.bytes).unwrap();
    assert!(
        text.contains(r#"{"id":"item_0","type":"web_search","id":"ws_1","#),
        "{text}"
    );
}

#[test]
fn codex_goes_on_counting_tokens_when_resumed_or_forked() {
    let input = |name| {
        let events = one("codex", name);
        events.last().unwrap()["usage"]["input_tokens"].as_u64().unwrap()
    };
    assert_eq!(
        ["shell", "resume", "resume_twice", "fork"].map(input),
        [2_400, 3_600, 4_800, 3_600]
    );
}

#[test]
fn gemini_repeats_its_text_without_a_word_when_a_stream_ends_early() {
    let events = one("gemini", "midcut");
    let first = events
        .iter()
        .filter(|event| event["content"] == "This tex")
        .count();
    assert_eq!(first, 4);
    assert_eq!(events.last().unwrap()["status"], "error");
}

#[test]
fn a_run_that_was_stopped_has_no_last_word() {
    for (agent, name) in [
        ("codex", "kill_int"),
        ("gemini", "kill_int"),
        ("qwen", "kill_int_group"),
    ] {
        let events = one(agent, name);
        assert!(
            events
                .iter()
                .all(|event| !["result", "turn.completed", "turn.failed"]
                    .iter()
                    .any(|kind| event["type"] == *kind)),
            "{agent}"
        );
    }
}

/// The lines of a conversation as they went back and forth: `true` for those that were sent to the agent.
fn conversation(agent: &str, name: &str) -> Vec<(bool, Value)> {
    let fixture = fixtures::one(agent, name).unwrap();
    let output = events(&fixture);
    let order = fs::read_to_string(fixture.path.with_extension("io.ndjson")).unwrap();
    let entries = order
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries
        .filter(|entry| entry["end"] != true)
        .map(|entry| match entry["number"].as_u64() {
            Some(number) => (false, output[usize::try_from(number).unwrap() - 1].clone()),
            None => (true, entry["line"].clone()),
        })
        .collect()
}

#[test]
fn conversations_tell_which_side_said_each_line() {
    for agent in ACP_AGENTS {
        let lines = conversation(agent, "acp_allow");
        let methods: Vec<&str> = lines
            .iter()
            .filter(|(is_sent, _)| *is_sent)
            .filter_map(|(_, line)| line["method"].as_str())
            .collect();
        assert_eq!(
            methods,
            ["initialize", "session/new", "session/prompt"],
            "{agent}"
        );
        let asked = lines
            .iter()
            .position(|(is_sent, line)| !is_sent && line["method"] == "session/request_permission");
        let asked = asked.unwrap();
        let (_, answer) = lines[asked + 1..].iter().find(|(is_sent, _)| *is_sent).unwrap();
        assert_eq!(answer["id"], lines[asked].1["id"], "{agent}");
        assert_eq!(answer["result"]["outcome"]["outcome"], "selected", "{agent}");
    }
}

/// The answer to the prompt.
fn prompt_answer(agent: &str, name: &str) -> Value {
    let answer = one(agent, name)
        .into_iter()
        .rfind(|line| line["id"] == 3 && line.get("method").is_none());
    answer.unwrap()
}

#[test]
fn every_agent_of_the_protocol_counts_tokens_in_its_own_way() {
    let input = |agent, name| {
        let usage = prompt_answer(agent, name)["result"]["usage"].take();
        (
            usage["inputTokens"].as_u64().unwrap(),
            usage["cachedReadTokens"].as_u64().unwrap(),
        )
    };
    // Two calls of the model: 2,400 tokens in, 2,000 of them cached.
    assert_eq!(input("opencode", "acp_shell"), (200, 1_000), "the last call only");
    assert_eq!(input("copilot", "acp_shell"), (2_400, 2_000), "all calls");
}

#[test]
fn an_api_error_is_an_error_of_opencode_and_a_result_of_copilot() {
    let answer = prompt_answer("opencode", "acp_err401");
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    let answer = prompt_answer("copilot", "acp_err401");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
}

#[test]
fn a_cancelled_prompt_says_so() {
    for agent in ACP_AGENTS {
        for name in ["acp_cancel_tool", "acp_cancel_text"] {
            let answer = prompt_answer(agent, name);
            assert_eq!(answer["result"]["stopReason"], "cancelled", "{agent} {name}");
        }
    }
}
