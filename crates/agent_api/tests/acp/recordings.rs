//! Recorded output of real agents in the common vocabulary.

use std::collections::{BTreeMap, BTreeSet};

use agent_api::backends::acp::{recognises, replay_mapper};
use agent_api::{
    AgentKind, AgentRegistry, Body, ChangeKind, Emitter, ErrorClass, Event, FileChange, Outcome, Part,
    Severity, Tokens, ToolFinished, ToolKind, ToolStatus, TurnFinished, Usage,
};
use bytes::Bytes;
use json_lines::LineFramer;
use test_support::fixtures::{self, Fixture};

const AGENTS: [&str; 6] = [
    "opencode",
    "copilot",
    "goose",
    "gemini_acp",
    "qwen_acp",
    "codex_acp",
];

pub(crate) fn replay(bytes: &[u8]) -> Vec<Event> {
    let mut framer = LineFramer::default();
    framer.push(Bytes::copy_from_slice(bytes));
    let mut mapper = replay_mapper();
    let mut emitter = Emitter::new(AgentKind::new("acp"));
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(line, &mut emitter);
    }
    mapper.map_end(&mut emitter);
    std::iter::from_fn(|| emitter.next_event()).collect()
}

/// Recordings of ACP; agents that also write another format have those of it in the same place.
fn of(agent: &str) -> impl Iterator<Item = Fixture> {
    let has_others = !agent.ends_with("_acp") && agent != "goose";
    let all = fixtures::of(agent).unwrap().into_iter();
    all.filter(move |fixture| !has_others || fixture.name.starts_with("acp_"))
        .map(|mut fixture| {
            fixture.name = fixture.name.trim_start_matches("acp_").to_owned();
            fixture
        })
}

fn all() -> Vec<(&'static str, Fixture)> {
    let of = |agent| of(agent).map(move |fixture| (agent, fixture));
    AGENTS.into_iter().flat_map(of).collect()
}

fn one(agent: &str, name: &str) -> Vec<Event> {
    replay(&of(agent).find(|fixture| fixture.name == name).unwrap().bytes)
}

fn turns(events: &[Event]) -> Vec<&TurnFinished> {
    let turns = events.iter().filter_map(|event| match &event.body {
        Body::TurnFinished(turn) => Some(&**turn),
        _ => None,
    });
    turns.collect()
}

fn tools(events: &[Event]) -> Vec<&ToolFinished> {
    let all = events.iter().filter_map(|event| match &event.body {
        Body::ToolFinished(tool) => Some(&**tool),
        _ => None,
    });
    all.collect()
}

fn last_usage(events: &[Event]) -> &Usage {
    let mut all = events.iter().filter_map(|event| match &event.body {
        Body::Usage(usage) => Some(&**usage),
        _ => None,
    });
    all.next_back().unwrap()
}

fn texts(events: &[Event]) -> Vec<&str> {
    let all = events.iter().filter_map(|event| match &event.body {
        Body::TextBlock(block) => Some(block.text.as_str()),
        _ => None,
    });
    all.collect()
}

fn notices<'a>(events: &'a [Event], code: &str) -> Vec<&'a str> {
    let all = events.iter().filter_map(|event| match &event.body {
        Body::Notice(notice) if notice.code == code => Some(notice.message.as_str()),
        _ => None,
    });
    all.collect()
}

#[test]
fn every_recorded_line_has_an_event_and_none_is_unknown() {
    let mut lines = 0;
    for (agent, fixture) in all() {
        let events = replay(&fixture.bytes);
        let seen: BTreeSet<u64> = events
            .iter()
            .filter_map(|event| event.raw)
            .map(|raw| raw.line)
            .collect();
        for number in 1..=fixture.lines().count() as u64 {
            lines += 1;
            assert!(seen.contains(&number), "{agent}/{} line {number}", fixture.name);
        }
        for event in &events {
            if let Body::Unknown(unknown) = &event.body {
                // The vendor's own notifications keep their name.
                let is_extension =
                    unknown.type_name.starts_with('_') || unknown.type_name.contains("/notify/");
                assert!(is_extension, "{agent}: {}", unknown.type_name);
            }
        }
    }
    assert!(lines > 240, "{lines}");
}

#[test]
fn text_from_deltas_equals_the_blocks() {
    let mut count = 0;
    for (agent, fixture) in all() {
        let mut streamed: BTreeMap<String, String> = BTreeMap::new();
        let mut blocks: BTreeMap<String, String> = BTreeMap::new();
        for event in replay(&fixture.bytes) {
            let (map, item, text) = match event.body {
                Body::Delta(delta) if delta.part != Part::ToolOutput => {
                    (&mut streamed, delta.item, delta.text)
                }
                Body::TextBlock(block) => (&mut blocks, block.item, block.text),
                Body::ThinkingBlock(block) => (&mut blocks, block.item, block.text),
                _ => continue,
            };
            map.entry(item.to_string()).or_default().push_str(&text);
        }
        count += blocks.len();
        assert_eq!(streamed, blocks, "{agent}/{}", fixture.name);
    }
    assert!(count > 40, "{count}");
}

#[test]
fn every_turn_ends_as_the_agent_says() {
    for (agent, fixture) in all() {
        let events = replay(&fixture.bytes);
        let name = fixture.name.as_str();
        let expected = match name {
            "err400" | "err401" | "load_unknown" => Outcome::Failed,
            "cancel_text" | "cancel_tool" => Outcome::Interrupted,
            _ => Outcome::Succeeded,
        };
        let turns = turns(&events);
        let has_two = name == "two_prompts" || (agent, name) == ("codex_acp", "shell");
        assert_eq!(turns.len(), 1 + usize::from(has_two), "{agent}/{name}");
        for turn in turns {
            assert_eq!(turn.outcome, expected, "{agent}/{name}");
            let class = turn.error.as_ref().map(|error| error.class);
            let expected = match name {
                "err400" => Some(ErrorClass::InvalidRequest),
                "err401" => Some(ErrorClass::Auth),
                "load_unknown" => Some(ErrorClass::Vendor),
                _ => None,
            };
            assert_eq!(class, expected, "{agent}/{name}: {:?}", turn.error);
        }
        if name == "load_unknown" {
            continue;
        }
        let session = events.iter().find_map(|event| match &event.body {
            Body::SessionStarted(session) => Some(session),
            _ => None,
        });
        let session = session.unwrap();
        assert_eq!(
            session.agent_version.as_deref(),
            Some(fixture.version.as_str()),
            "{agent}"
        );
        assert!(session.model.is_some() || agent == "copilot", "{agent}");
    }
}

/// The scripted model reports 1,200 tokens in per call, 1,000 of them cached, and 34 out, 10 of them reasoning.
#[test]
fn usage_is_the_known_truth_as_far_as_the_agent_reports_it() {
    let calls = |count: u64| Tokens {
        input: 200 * count,
        cache_read: 1_000 * count,
        cache_write: 0,
        output: 34 * count,
        reasoning: 10 * count,
    };
    // Neither goose nor Gemini CLI says what was cached or reasoning.
    let undivided = |count: u64| Tokens {
        input: 1_200 * count,
        output: 34 * count,
        ..Tokens::default()
    };
    for (agent, name, tokens, is_partial) in [
        // Only the last of three calls is reported.
        ("opencode", "edit", calls(1), true),
        ("opencode", "load", calls(1), false),
        ("opencode", "two_prompts", calls(2), false),
        // Zeros are reported, although the model was called.
        ("opencode", "cancel_text", calls(0), true),
        ("copilot", "edit", calls(3), false),
        ("copilot", "shell", calls(2), false),
        // The figures are those of the process.
        ("copilot", "two_prompts", calls(2), false),
        ("copilot", "load", calls(1), false),
        ("copilot", "cancel_tool", calls(1), false),
        ("copilot", "err401", calls(0), true),
        ("goose", "edit", undivided(1), true),
        ("gemini_acp", "edit", undivided(3), false),
        ("gemini_acp", "load", undivided(1), false),
        ("gemini_acp", "text", undivided(1), false),
        ("qwen_acp", "edit", calls(3), false),
        ("qwen_acp", "shell", calls(2), false),
        ("qwen_acp", "resume", calls(1), false),
        ("codex_acp", "edit", calls(3), false),
        ("codex_acp", "shell", calls(3), false),
    ] {
        let events = one(agent, name);
        let usage = last_usage(&events).run;
        assert_eq!(usage.tokens, tokens, "{agent}/{name}");
        assert_eq!(usage.is_partial, is_partial, "{agent}/{name}");
    }
    let events = one("opencode", "edit");
    let cost = last_usage(&events).run.cost.unwrap();
    assert_eq!(cost.micro_usd.as_micro_usd(), 4_230, "three calls at 1,410");
}

#[test]
fn edits_show_the_file_and_its_diff() {
    let hunk = |diff: &FileChange| diff.diff.clone().unwrap_or_default();
    for agent in ["opencode", "copilot", "gemini_acp", "qwen_acp", "codex_acp"] {
        let events = one(agent, "edit");
        let [write, edit] = &tools(&events)[..] else {
            panic!("{agent}: two calls");
        };
        for tool in [write, edit] {
            assert_eq!(tool.status, ToolStatus::Completed, "{agent}");
            assert_eq!(tool.changes[0].path, "/workspace/notes.txt", "{agent}");
        }
        assert_eq!(write.changes[0].kind, ChangeKind::Added, "{agent}");
        assert_eq!(edit.changes[0].kind, ChangeKind::Modified, "{agent}");
        assert!(
            hunk(&edit.changes[0]).contains("\n-beta\n+gamma\n"),
            "{agent}: {:?}",
            edit.changes
        );
        assert_eq!(edit.changes[0].lines, Some((1, 1)), "{agent}");
    }
    // goose only names the file.
    let events = one("goose", "edit");
    let changes = tools(&events).into_iter().flat_map(|tool| &tool.changes);
    assert!(changes.clone().count() == 2 && changes.into_iter().all(|change| change.diff.is_none()));
}

#[test]
fn commands_show_their_output_and_exit_code() {
    for (agent, name, code, status) in [
        ("opencode", "shell", 0, ToolStatus::Completed),
        ("opencode", "shell_fail", 3, ToolStatus::Failed),
        ("copilot", "shell", 0, ToolStatus::Completed),
        ("copilot", "shell_fail", 3, ToolStatus::Failed),
        ("qwen_acp", "shell", 0, ToolStatus::Completed),
        ("codex_acp", "shell", 0, ToolStatus::Completed),
    ] {
        let events = one(agent, name);
        let [tool] = &tools(&events)[..] else {
            panic!("{agent}/{name}: one call");
        };
        assert_eq!(
            (tool.exit_code, tool.status),
            (Some(code), status),
            "{agent}/{name}"
        );
        assert!(!tool.output.is_empty(), "{agent}/{name}");
        let mut started = events.iter().rev().filter_map(|event| match &event.body {
            Body::ToolStarted(tool) => Some(tool),
            _ => None,
        });
        let started = started.next().unwrap();
        assert_eq!(started.kind, ToolKind::Execute, "{agent}/{name}");
        let command = started.subject.as_deref().unwrap_or_default();
        assert!(
            command.contains("echo") || command.contains("exit"),
            "{agent}/{name}: {command}"
        );
    }
}

#[test]
fn a_loaded_session_does_not_repeat_what_was_said_before() {
    for agent in ["opencode", "copilot", "gemini_acp"] {
        let events = one(agent, "load");
        assert_eq!(texts(&events).len(), 1, "{agent}: {:?}", texts(&events));
        assert!(tools(&events).is_empty(), "{agent}");
        assert!(!notices(&events, "replayed").is_empty(), "{agent}");
        assert!(
            !events
                .iter()
                .any(|event| matches!(event.body, Body::UserMessage(_))),
            "{agent}"
        );
    }
}

#[test]
fn status_lines_that_come_as_text_are_not_the_answer() {
    let events = one("copilot", "edit");
    assert_eq!(notices(&events, "agent_info"), ["/workspace/notes.txt"]);
    assert_eq!(texts(&events), ["Done."]);

    let events = one("copilot", "err401");
    assert_eq!(notices(&events, "agent_info").len(), 2, "it tells of two retries");
    let error = turns(&events)[0].error.as_ref().unwrap();
    assert!(
        error.message.starts_with("Authentication failed"),
        "{}",
        error.message
    );

    let events = one("gemini_acp", "edit");
    assert_eq!(texts(&events), ["I created and edited notes.txt."]);
    let mode = events.iter().find_map(|event| match &event.body {
        Body::SessionUpdated(session) => session.permission_mode.as_deref(),
        _ => None,
    });
    assert_eq!(mode, Some("autoEdit"));

    let events = one("codex_acp", "shell");
    assert_eq!(notices(&events, "agent_warning").len(), 2);
    let warning = events.iter().find_map(|event| match &event.body {
        Body::Notice(notice) if notice.code == "agent_warning" => Some(notice.severity),
        _ => None,
    });
    assert_eq!(warning, Some(Severity::Warning));
    assert_eq!(
        texts(&events),
        [
            "The command printed hello-from-tool.",
            "Hello from the fake model."
        ]
    );
}

#[test]
fn a_cancelled_call_has_ended() {
    for agent in ["opencode", "copilot"] {
        let events = one(agent, "cancel_tool");
        let [tool] = &tools(&events)[..] else {
            panic!("{agent}: one call");
        };
        // A recording does not show that we cancelled, only that the call was never completed.
        let expected = if agent == "copilot" {
            ToolStatus::Cancelled
        } else {
            ToolStatus::Completed
        };
        assert_eq!(tool.status, expected, "{agent}");
    }
}

#[test]
fn recordings_are_recognised_by_their_first_lines() {
    for (agent, fixture) in all() {
        let lines: Vec<&[u8]> = fixture.lines().take(3).collect();
        assert!(recognises(&lines), "{agent}/{}", fixture.name);
        if fixture.name == "load_unknown" {
            continue;
        }
        let late: Vec<&[u8]> = fixture.lines().skip(2).take(5).collect();
        assert!(
            recognises(&late),
            "{agent}/{}: the beginning is missing",
            fixture.name
        );
    }
    for agent in ["claude", "codex", "gemini", "qwen"] {
        for fixture in fixtures::of(agent).unwrap() {
            let lines: Vec<&[u8]> = fixture.lines().take(20).collect();
            assert!(!recognises(&lines), "{agent}/{}", fixture.name);
        }
    }
    assert!(!recognises(&[
        b"",
        b"{",
        b"null",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"thread/started\"}"
    ]));
}

#[test]
fn no_recording_tells_where_it_was_made_or_holds_a_key() {
    for (agent, fixture) in all() {
        let text = String::from_utf8(fixture.bytes.clone()).unwrap();
        for trace in [
            concat!("/ro", "ot/"),
            concat!("/wo", "rk/"),
            " /tmp",
            "sk-fake",
            ":8999",
        ] {
            assert!(!text.contains(trace), "{agent}/{}: {trace}", fixture.name);
        }
    }
}

/// The recording as a driver would write it that captures both sides.
fn captured(fixture: &Fixture) -> Vec<u8> {
    let mut bytes = br#"{"dir": ">", "msg": {"jsonrpc": "2.0", "id": 1, "method": "initialize"}}"#.to_vec();
    bytes.push(b'\n');
    for line in fixture.lines() {
        bytes.extend_from_slice(br#"{"dir": "<", "msg": "#);
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(b"}\n");
    }
    bytes
}

#[test]
fn a_capture_of_both_sides_plays_like_the_agents_output() {
    for (agent, name) in [
        ("opencode", "acp_edit"),
        ("copilot", "acp_edit"),
        ("goose", "edit"),
    ] {
        let mut of = fixtures::of(agent).unwrap().into_iter();
        let fixture = of.find(|fixture| fixture.name == name).unwrap();
        let bodies = |bytes: &[u8]| -> Vec<String> {
            let events = replay(bytes).into_iter();
            events.map(|event| format!("{:?}", event.body)).collect()
        };
        let both = bodies(&captured(&fixture));
        assert!(both[0].contains("sent to the agent"), "{}", both[0]);
        assert_eq!(both[1..], bodies(&fixture.bytes), "{agent}");
    }
}

#[test]
fn hostile_first_lines_do_not_hide_who_wrote_a_recording() {
    let registry = AgentRegistry::builtin();
    let recognised = |lines: &[&[u8]]| {
        let backend = registry.recognise(lines)?;
        Some(backend.profile().name().to_owned())
    };
    let acp = br#"Loading... {"jsonrpc":"2.0","id":1,"id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"OpenCode","title":"\ud800"}}}"#;
    let wrapped = br#"{"dir":"<","msg":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"goose"}}}}"#;
    let codex = br#"{"type":"thread.started","thread_id":"a","thread_id":"a","n":1e999}"#;
    assert_eq!(recognised(&[b"Welcome!", acp]).as_deref(), Some("opencode"));
    assert_eq!(recognised(&[wrapped]).as_deref(), Some("goose"));
    assert_eq!(recognised(&[b"\x1b[2K[warn]", codex]).as_deref(), Some("codex"));
    assert_eq!(recognised(&[b"{\"dir\":\"<\",\"msg\":7}", b"[1]", b"{"]), None);
}
