//! Recordings of `codex app-server`: every line has an event, texts and tokens are right.

use std::collections::{BTreeMap, BTreeSet};

use agent_api::backends::codex::Codex;
use agent_api::{
    AgentKind, Backend as _, Body, ChangeKind, Emitter, ErrorClass, Event, ItemId, MessageState, Outcome,
    Part, RunUsage, Tokens, ToolStatus, TurnFinished,
};
use bytes::Bytes;
use json_lines::LineFramer;
use test_support::fixtures::{self, Fixture};

fn recordings() -> Vec<Fixture> {
    fixtures::of("codex_app_server").unwrap()
}

fn replay(fixture: &Fixture) -> Vec<Event> {
    let mut mapper = Codex::new().replay_mapper().unwrap();
    let mut framer = LineFramer::default();
    framer.push(Bytes::copy_from_slice(&fixture.bytes));
    let mut emitter = Emitter::new(AgentKind::CODEX);
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(line, &mut emitter);
    }
    mapper.map_end(&mut emitter);
    assert!(mapper.is_idle(), "{}", fixture.name);
    std::iter::from_fn(|| emitter.next_event()).collect()
}

fn named(name: &str) -> Vec<Event> {
    let all = recordings();
    replay(all.iter().find(|fixture| fixture.name == name).unwrap())
}

fn last_turn(events: &[Event]) -> &TurnFinished {
    let mut turns = events.iter().filter_map(|event| match &event.body {
        Body::TurnFinished(turn) => Some(&**turn),
        _ => None,
    });
    turns.next_back().unwrap()
}

fn run_usage(events: &[Event]) -> RunUsage {
    let mut reports = events.iter().filter_map(|event| match &event.body {
        Body::Usage(usage) => Some(usage.run),
        _ => None,
    });
    reports.next_back().unwrap()
}

/// What this many calls of the scripted model use.
fn calls(count: u64) -> Tokens {
    Tokens {
        input: 200 * count,
        cache_read: 1_000 * count,
        cache_write: 0,
        output: 34 * count,
        reasoning: 10 * count,
    }
}

#[test]
fn every_line_has_an_event_and_none_is_unknown() {
    assert!(recordings().len() >= 15);
    for fixture in recordings() {
        let lines: Vec<&[u8]> = fixture.lines().collect();
        assert!(Codex::new().recognises(&lines[..1]), "{}", fixture.name);
        let events = replay(&fixture);
        let told: BTreeSet<u64> = events
            .iter()
            .filter_map(|event| event.raw)
            .map(|raw| raw.line)
            .collect();
        assert_eq!(
            told.len(),
            lines.len(),
            "{}: lines without an event",
            fixture.name
        );
        for event in &events {
            assert!(
                !matches!(event.body, Body::Unknown(_)),
                "{}: {:?}",
                fixture.name,
                event.body
            );
            let text = serde_json::to_string(event).unwrap();
            let read: Event = serde_json::from_str(&text).unwrap();
            assert_eq!(&read, event, "{}", fixture.name);
        }
    }
}

#[test]
fn deltas_add_up_to_the_final_blocks() {
    let mut compared = 0;
    for fixture in recordings() {
        let mut written: BTreeMap<(ItemId, bool), String> = BTreeMap::new();
        for event in replay(&fixture) {
            let (item, is_thought, text) = match event.body {
                Body::Delta(delta) if delta.part != Part::ToolOutput => {
                    let key = (delta.item, delta.part == Part::Thinking);
                    written.entry(key).or_default().push_str(&delta.text);
                    continue;
                }
                Body::TextBlock(block) => (block.item, false, block.text),
                Body::ThinkingBlock(block) => (block.item, true, block.text),
                _ => continue,
            };
            assert_eq!(
                written.remove(&(item, is_thought)),
                Some(text),
                "{}",
                fixture.name
            );
            compared += 1;
        }
        assert!(written.is_empty(), "{}: no block for {written:?}", fixture.name);
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn usage_is_this_runs_own_also_after_a_resume_and_a_fork() {
    for (name, count) in [
        ("text", 1),
        ("shell", 2),
        ("edit", 4),
        ("two_turns", 2),
        ("resume", 1),
        ("fork", 1),
        ("approval_declined", 3),
    ] {
        let usage = run_usage(&named(name));
        assert_eq!(usage.tokens, calls(count), "{name}");
        assert!(!usage.is_partial && !usage.may_include_earlier_runs, "{name}");
    }
}

#[test]
fn turns_end_as_they_did() {
    for (name, outcome) in [
        ("text", Outcome::Succeeded),
        ("shell_fail", Outcome::Succeeded),
        ("approval_declined", Outcome::Succeeded),
        ("interrupt", Outcome::Interrupted),
        ("err400", Outcome::Failed),
        ("err429", Outcome::Failed),
    ] {
        let events = named(name);
        assert_eq!(last_turn(&events).outcome, outcome, "{name}");
    }
    let error = |name: &str| last_turn(&named(name)).error.clone().unwrap();
    assert_eq!(error("err400").class, ErrorClass::InvalidRequest);
    assert_eq!(
        (error("err429").class, error("err429").http_status),
        (ErrorClass::RateLimit, Some(429))
    );
    assert!(run_usage(&named("interrupt")).is_partial);
}

/// How a call ended: status, exit code, and the kind and diff of each change.
type End = (ToolStatus, Option<i32>, Vec<(ChangeKind, Option<String>)>);

#[test]
fn calls_have_exit_codes_live_output_diffs_and_denials() {
    let finished = |name: &str| -> Vec<End> {
        let ends = named(name).into_iter().filter_map(|event| match event.body {
            Body::ToolFinished(tool) => {
                let changes = tool.changes.into_iter().map(|change| (change.kind, change.diff));
                Some((tool.status, tool.exit_code, changes.collect()))
            }
            _ => None,
        });
        ends.collect()
    };
    assert_eq!(finished("shell"), [(ToolStatus::Completed, Some(0), Vec::new())]);
    assert_eq!(
        finished("shell_fail"),
        [(ToolStatus::Failed, Some(3), Vec::new())]
    );
    assert_eq!(finished("interrupt"), [(ToolStatus::Cancelled, None, Vec::new())]);
    let edits: Vec<_> = finished("edit")
        .into_iter()
        .flat_map(|(_, _, changes)| changes)
        .collect();
    assert_eq!(
        edits[0],
        (ChangeKind::Added, Some("@@ -0,0 +1,2 @@\n+alpha\n+beta\n".into()))
    );
    assert!(edits[1].0 == ChangeKind::Modified && edits[1].1.as_ref().unwrap().contains("-beta\n+gamma"));
    assert_eq!(edits[2].0, ChangeKind::Deleted);
    let denied = finished("approval_declined");
    assert!(denied.iter().all(|(status, ..)| *status == ToolStatus::Denied) && denied.len() == 2);
    let is_output =
        |event: &Event| matches!(&event.body, Body::Delta(delta) if delta.part == Part::ToolOutput);
    assert!(named("shell_output").iter().any(is_output));
}

#[test]
fn messages_have_receipts() {
    for (name, id) in [
        ("text", "00000000-0000-4000-8000-000000000001"),
        ("steer", "00000000-0000-4000-8000-000000000002"),
    ] {
        let states: Vec<MessageState> = named(name)
            .into_iter()
            .filter_map(|event| match event.body {
                Body::MessageUpdated(message) if message.message_id == id => Some(message.state),
                _ => None,
            })
            .collect();
        assert_eq!(states, [MessageState::Started, MessageState::Completed], "{name}");
    }
}
