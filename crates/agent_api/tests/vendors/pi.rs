//! Recordings of pi.

use std::collections::{BTreeMap, BTreeSet};

use agent_api::backends::pi::Pi;
use agent_api::{
    AgentKind, Backend as _, Body, DeltaMode, Emitter, ErrorClass, Event, ItemId, Outcome, Part, Tokens,
    ToolStatus, TurnFinished,
};
use bytes::Bytes;
use json_lines::LineFramer;
use test_support::fixtures::{self, Fixture};

fn replay(fixture: &Fixture) -> (Vec<Event>, bool) {
    let mut mapper = Pi::new().replay_mapper().unwrap();
    let mut framer = LineFramer::default();
    framer.push(Bytes::copy_from_slice(&fixture.bytes));
    let mut emitter = Emitter::new(AgentKind::PI);
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(line, &mut emitter);
    }
    mapper.map_end(&mut emitter);
    let events = std::iter::from_fn(|| emitter.next_event()).collect();
    (events, mapper.is_idle())
}

fn named(name: &str) -> (Vec<Event>, bool) {
    let all = fixtures::of("pi").unwrap();
    replay(all.iter().find(|fixture| fixture.name == name).unwrap())
}

fn last_turn(events: &[Event]) -> Option<&TurnFinished> {
    let mut turns = events.iter().filter_map(|event| match &event.body {
        Body::TurnFinished(turn) => Some(&**turn),
        _ => None,
    });
    turns.next_back()
}

#[test]
fn every_line_has_an_event_and_none_is_unknown() {
    let all = fixtures::of("pi").unwrap();
    assert!(all.len() >= 9);
    for fixture in all {
        let lines: Vec<&[u8]> = fixture.lines().collect();
        assert!(Pi::new().recognises(&lines[..1]), "{}", fixture.name);
        let (events, _) = replay(&fixture);
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
        let is_unknown = |event: &&Event| matches!(event.body, Body::Unknown(_));
        assert_eq!(events.iter().find(is_unknown), None, "{}", fixture.name);
    }
}

#[test]
fn deltas_add_up_to_the_final_blocks() {
    let mut compared = 0;
    for fixture in fixtures::of("pi").unwrap() {
        let mut written: BTreeMap<ItemId, String> = BTreeMap::new();
        for event in replay(&fixture).0 {
            let (item, text) = match event.body {
                Body::Delta(delta) if matches!(delta.part, Part::Text | Part::Thinking) => {
                    assert_eq!(delta.mode, DeltaMode::Append);
                    written.entry(delta.item).or_default().push_str(&delta.text);
                    continue;
                }
                Body::TextBlock(block) => (block.item, block.text),
                Body::ThinkingBlock(block) => (block.item, block.text),
                _ => continue,
            };
            assert_eq!(written.remove(&item), Some(text), "{}", fixture.name);
            compared += 1;
        }
        assert!(written.is_empty(), "{}: no block for {written:?}", fixture.name);
    }
    assert!(compared >= 5, "{compared}");
}

#[test]
fn usage_and_cost_of_the_messages_are_added_up() {
    for (name, calls) in [("text", 1), ("shell", 2), ("edit", 3)] {
        let (events, _) = named(name);
        let mut reports = events.iter().filter_map(|event| match &event.body {
            Body::Usage(usage) => Some(usage.run),
            _ => None,
        });
        let run = reports.next_back().unwrap();
        let expected = Tokens {
            input: 200 * calls,
            cache_read: 1_000 * calls,
            cache_write: 0,
            output: 34 * calls,
            reasoning: 10 * calls,
        };
        assert_eq!(run.tokens, expected, "{name}");
        assert_eq!(
            run.cost.unwrap().micro_usd.as_micro_usd(),
            1_410 * calls,
            "{name}"
        );
    }
}

#[test]
fn an_error_that_exits_with_zero_is_a_failed_turn() {
    for (name, class) in [
        ("err400", ErrorClass::InvalidRequest),
        ("err401", ErrorClass::Auth),
    ] {
        let (events, is_idle) = named(name);
        let turn = last_turn(&events).unwrap();
        assert_eq!(turn.outcome, Outcome::Failed, "{name}");
        assert_eq!(
            turn.error.as_ref().unwrap().class,
            class,
            "{name}: {:?}",
            turn.error
        );
        assert!(is_idle);
    }
}

#[test]
fn an_answer_that_is_asked_for_again_is_taken_back() {
    let (events, _) = named("midcut");
    let count = |is_it: fn(&Body) -> bool| events.iter().filter(|event| is_it(&event.body)).count();
    assert_eq!(count(|body| matches!(body, Body::TurnStarted(_))), 1);
    assert_eq!(count(|body| matches!(body, Body::TurnFinished(_))), 1);
    assert_eq!(count(|body| matches!(body, Body::RetryScheduled(_))), 3);
    assert!(count(|body| matches!(body, Body::ItemDiscarded(_))) >= 3);
    assert_eq!(last_turn(&events).unwrap().outcome, Outcome::Failed);
}

#[test]
fn calls_have_results_and_an_interrupted_run_has_no_turn_end() {
    for (name, status) in [
        ("shell", ToolStatus::Completed),
        ("shell_fail", ToolStatus::Failed),
    ] {
        let (events, _) = named(name);
        let ends: Vec<ToolStatus> = events
            .iter()
            .filter_map(|event| match &event.body {
                Body::ToolFinished(tool) => Some(tool.status),
                _ => None,
            })
            .collect();
        assert_eq!(ends, [status], "{name}");
    }
    let (events, _) = named("edit");
    let diff = events.iter().find_map(|event| match &event.body {
        Body::ToolFinished(tool) => tool.changes.first()?.diff.clone(),
        _ => None,
    });
    assert!(
        diff.unwrap()
            .starts_with("@@ -1,2 +1,2 @@\n alpha\n-beta\n+gamma")
    );
    let (events, is_idle) = named("kill_int");
    assert!(last_turn(&events).is_none() && !is_idle);
}

fn map(lines: &[&str]) -> Vec<Body> {
    let mut mapper = Pi::new().replay_mapper().unwrap();
    let mut framer = LineFramer::default();
    framer.push(lines.join("\n").into());
    let mut emitter = Emitter::new(AgentKind::PI);
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(line, &mut emitter);
    }
    let events = std::iter::from_fn(|| emitter.next_event());
    events.map(|event| event.body).collect()
}

#[test]
fn edits_at_the_same_time_keep_their_files() {
    let bodies = map(&[
        r#"{"type":"tool_execution_start","toolCallId":"a","toolName":"edit","args":{"path":"a.txt"}}"#,
        r#"{"type":"tool_execution_start","toolCallId":"b","toolName":"edit","args":{"path":"b.txt"}}"#,
        r#"{"type":"tool_execution_end","toolCallId":"a","toolName":"edit","result":{"content":[]},"isError":false}"#,
        r#"{"type":"tool_execution_end","toolCallId":"b","toolName":"edit","result":{"content":[]},"isError":false}"#,
    ]);
    let changed: Vec<&str> = bodies
        .iter()
        .filter_map(|body| match body {
            Body::ToolFinished(tool) => Some(tool.changes[0].path.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(changed, ["a.txt", "b.txt"]);
}

#[test]
fn a_call_of_an_answer_that_is_asked_for_again_is_taken_back() {
    let bodies = map(&[
        r#"{"type":"message_update","assistantMessageEvent":{"type":"toolcall_start","contentIndex":0,"id":"a","toolName":"bash"}}"#,
        r#"{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":1,"errorMessage":"terminated"}"#,
    ]);
    let is_discarded =
        |body: &Body| matches!(body, Body::ItemDiscarded(discarded) if discarded.item == ItemId::new("a"));
    assert!(bodies.iter().any(is_discarded), "{bodies:?}");
}

#[test]
fn a_cost_that_cannot_be_true_is_not_added_up() {
    let answer = |cost: &str| {
        format!(
            r#"{{"type":"message_end","message":{{"role":"assistant","content":[],"stopReason":"stop","usage":{{"input":1,"cost":{{"total":{cost}}}}}}}}}"#
        )
    };
    let lines = ["1e300", "-5", "0.25"].map(answer);
    let bodies = map(&lines.each_ref().map(String::as_str));
    let last = bodies.iter().rev().find_map(|body| match body {
        Body::Usage(usage) => usage.run.cost,
        _ => None,
    });
    assert_eq!(last.unwrap().micro_usd.as_micro_usd(), 250_000);
}
