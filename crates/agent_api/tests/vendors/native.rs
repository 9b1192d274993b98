//! Recordings of agents that ran without ACP: `opencode run --format json`, `copilot --output-format json` and
//! `goose run --output-format stream-json`.

use std::collections::{BTreeMap, BTreeSet};

use agent_api::{
    AgentRegistry, Backend, Body, ChangeKind, DeltaMode, Emitter, ErrorClass, Event, ItemId, Outcome, Part,
    PlanStatus, Tokens, ToolFinished, ToolStatus, TurnFinished, Usage,
};
use bytes::Bytes;
use json_lines::LineFramer;
use test_support::fixtures::{self, Fixture};

const FOLDERS: [&str; 3] = ["opencode_run", "copilot_json", "goose_run"];

struct Replayed {
    events: Vec<Event>,
    is_idle: bool,
}

impl Replayed {
    fn bodies(&self) -> impl DoubleEndedIterator<Item = &Body> {
        self.events.iter().map(|event| &event.body)
    }

    fn last_turn(&self) -> Option<&TurnFinished> {
        self.bodies().rev().find_map(|body| match body {
            Body::TurnFinished(turn) => Some(&**turn),
            _ => None,
        })
    }

    fn last_usage(&self) -> &Usage {
        let usage = self.bodies().rev().find_map(|body| match body {
            Body::Usage(usage) => Some(&**usage),
            _ => None,
        });
        usage.expect("there is a usage")
    }

    fn tools(&self) -> Vec<&ToolFinished> {
        let tools = self.bodies().filter_map(|body| match body {
            Body::ToolFinished(tool) => Some(&**tool),
            _ => None,
        });
        tools.collect()
    }
}

/// Through the mapping of whichever agent recognises the first lines.
fn replay(fixture: &Fixture) -> Replayed {
    let bytes = &fixture.bytes;
    let registry = AgentRegistry::builtin();
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').take(50).collect();
    let backend = registry.recognise(&lines).expect("an agent recognises it");
    replay_as(backend.as_ref(), bytes)
}

fn replay_as(backend: &dyn Backend, bytes: &[u8]) -> Replayed {
    let mut mapper = backend.replay_mapper().unwrap();
    let mut framer = LineFramer::default();
    framer.push(Bytes::copy_from_slice(bytes));
    let mut emitter = Emitter::new(backend.profile().kind.clone());
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(line, &mut emitter);
    }
    mapper.map_end(&mut emitter);
    Replayed {
        events: std::iter::from_fn(|| emitter.next_event()).collect(),
        is_idle: mapper.is_idle(),
    }
}

fn fixture(folder: &str, name: &str) -> Fixture {
    let all = fixtures::of(folder).unwrap();
    all.into_iter().find(|fixture| fixture.name == name).unwrap()
}

fn named(folder: &str, name: &str) -> Replayed {
    replay(&fixture(folder, name))
}

#[test]
fn every_line_has_an_event_and_none_is_unknown() {
    for folder in FOLDERS {
        let agent = folder.split('_').next().unwrap();
        let all = fixtures::of(folder).unwrap();
        assert!(all.len() >= 4, "{folder}");
        for fixture in all {
            let Replayed { events, .. } = replay(&fixture);
            let told: BTreeSet<u64> = events
                .iter()
                .filter_map(|event| event.raw)
                .map(|raw| raw.line)
                .collect();
            for (line, number) in fixture.bytes.split(|byte| *byte == b'\n').zip(1..) {
                let is_blank = line.trim_ascii().is_empty();
                assert!(
                    is_blank || told.contains(&number),
                    "{folder}/{}: line {number}",
                    fixture.name
                );
            }
            for event in &events {
                assert_eq!(event.agent_kind.as_str(), agent, "{folder}/{}", fixture.name);
                assert!(
                    !matches!(event.body, Body::Unknown(_)),
                    "{folder}/{}: {event:?}",
                    fixture.name
                );
            }
            let started = events
                .iter()
                .filter(|event| matches!(event.body, Body::SessionStarted(_)));
            assert_eq!(started.count(), 1, "{folder}/{}", fixture.name);
        }
    }
}

#[test]
fn deltas_add_up_to_the_final_blocks() {
    let mut compared = 0;
    for fixture in FOLDERS[1..]
        .iter()
        .flat_map(|folder| fixtures::of(folder).unwrap())
    {
        let mut written: BTreeMap<ItemId, String> = BTreeMap::new();
        for body in replay(&fixture).bodies() {
            let (item, text) = match body {
                Body::Delta(delta) if matches!(delta.part, Part::Text | Part::Thinking) => {
                    assert_eq!(delta.mode, DeltaMode::Append);
                    written
                        .entry(delta.item.clone())
                        .or_default()
                        .push_str(&delta.text);
                    continue;
                }
                Body::TextBlock(block) => (&block.item, &block.text),
                Body::ThinkingBlock(block) => (&block.item, &block.text),
                Body::ItemDiscarded(discarded) => {
                    written.remove(&discarded.item);
                    continue;
                }
                _ => continue,
            };
            assert_eq!(written.remove(item).as_ref(), Some(text), "{}", fixture.name);
            compared += 1;
        }
        assert!(written.is_empty(), "{}: no block for {written:?}", fixture.name);
    }
    assert!(compared >= 10, "{compared}");
}

#[test]
fn runs_that_went_well_succeed_with_their_last_text() {
    for (folder, name, text) in [
        ("opencode_run", "text", "Hello from the fake model."),
        ("opencode_run", "shell", "The command printed hello-from-tool."),
        ("opencode_run", "subagent", "Subagent said hi."),
        ("copilot_json", "text", "Hello from the fake model."),
        ("copilot_json", "shell", "The command printed hello-from-tool."),
        ("copilot_json", "edit", "I created and edited notes.txt."),
        ("copilot_json", "corrupted_keys", "Hello from the fake model."),
        ("goose_run", "text", "Hello from the fake model."),
        ("goose_run", "shell", "The command printed hello-from-tool."),
    ] {
        let replayed = named(folder, name);
        let turn = replayed.last_turn().unwrap();
        assert_eq!(
            (turn.outcome, turn.text.as_deref()),
            (Outcome::Succeeded, Some(text)),
            "{folder}/{name}"
        );
        assert!(replayed.is_idle, "{folder}/{name}");
    }
}

#[test]
fn tokens_and_cost_are_the_known_truth() {
    for (folder, name, calls) in [
        ("opencode_run", "text", 1),
        ("opencode_run", "shell", 2),
        ("opencode_run", "todo", 3),
        ("goose_run", "text", 1),
        ("goose_run", "shell", 2),
    ] {
        let replayed = named(folder, name);
        let usage = replayed.last_usage();
        let is_opencode = folder == "opencode_run";
        let expected = Tokens {
            input: 200 * calls,
            cache_read: 1_000 * calls,
            cache_write: 0,
            output: 34 * calls,
            // goose does not tell it apart.
            reasoning: if is_opencode { 10 * calls } else { 0 },
        };
        assert_eq!(usage.run.tokens, expected, "{folder}/{name}");
        assert!(!usage.run.is_partial, "{folder}/{name}");
        let cost = usage.run.cost.map(|cost| cost.micro_usd.as_micro_usd());
        assert_eq!(cost, is_opencode.then_some(1_410 * calls), "{folder}/{name}");
    }
    // Copilot writes its figures to a file.
    assert!(named("copilot_json", "text").last_usage().run.is_partial);
}

#[test]
fn errors_have_a_class_whatever_the_exit_code_is() {
    for (folder, name, class) in [
        ("opencode_run", "err400", ErrorClass::InvalidRequest),
        ("opencode_run", "err401", ErrorClass::Auth),
        ("copilot_json", "err401", ErrorClass::Auth),
        ("copilot_json", "midcut", ErrorClass::Network),
    ] {
        let replayed = named(folder, name);
        let turn = replayed.last_turn().unwrap();
        assert_eq!(turn.outcome, Outcome::Failed, "{folder}/{name}");
        let error = turn.error.as_ref().unwrap();
        assert_eq!(error.class, class, "{folder}/{name}: {error:?}");
    }
    let turn = named("opencode_run", "bad_model");
    assert_eq!(turn.last_turn().unwrap().outcome, Outcome::Failed);
}

#[test]
fn interrupted_runs_do_not_look_complete() {
    let interrupted = named("copilot_json", "kill_int");
    assert_eq!(interrupted.last_turn().unwrap().outcome, Outcome::Interrupted);
    let interrupted = named("goose_run", "kill_int");
    assert_eq!(interrupted.last_turn().unwrap().outcome, Outcome::Interrupted);
    let prose = interrupted.bodies().filter(|body| matches!(body, Body::Error(_)));
    assert_eq!(prose.count(), 1, "the prose before the JSON is reported");
    let killed = named("opencode_run", "kill_term");
    assert!(killed.last_turn().is_none() && !killed.is_idle);
}

#[test]
fn answers_that_are_asked_for_again_are_taken_back() {
    let replayed = named("copilot_json", "midcut");
    let count = |is_it: fn(&Body) -> bool| replayed.bodies().filter(|body| is_it(body)).count();
    let retries = count(|body| matches!(body, Body::RetryScheduled(_)));
    assert!(retries >= 4, "{retries}");
    assert_eq!(count(|body| matches!(body, Body::ItemDiscarded(_))), retries);
    assert_eq!(count(|body| matches!(body, Body::TurnStarted(_))), 1);
}

#[test]
fn calls_have_results_exit_codes_and_changes() {
    for (folder, name, status, code) in [
        ("opencode_run", "shell", ToolStatus::Completed, 0),
        ("opencode_run", "shell_fail", ToolStatus::Failed, 3),
        ("copilot_json", "shell", ToolStatus::Completed, 0),
        ("goose_run", "shell", ToolStatus::Completed, 0),
        ("goose_run", "shell_fail", ToolStatus::Failed, 3),
    ] {
        let replayed = named(folder, name);
        let tools = replayed.tools();
        assert_eq!(
            (tools.len(), tools[0].status, tools[0].exit_code),
            (1, status, Some(code)),
            "{folder}/{name}"
        );
        assert!(!tools[0].output.is_empty(), "{folder}/{name}");
    }
    let replayed = named("copilot_json", "edit");
    let changes: Vec<_> = replayed
        .tools()
        .into_iter()
        .flat_map(|tool| &tool.changes)
        .collect();
    assert_eq!(
        (changes[0].kind, changes[1].kind),
        (ChangeKind::Added, ChangeKind::Modified)
    );
    assert!(changes[1].diff.as_ref().unwrap().contains("-beta\n+gamma"));
    let replayed = named("opencode_run", "todo");
    let plan = replayed.bodies().rev().find_map(|body| match body {
        Body::PlanUpdated(plan) => Some(&plan.entries),
        _ => None,
    });
    assert!(
        plan.unwrap()
            .iter()
            .all(|entry| entry.status == PlanStatus::Completed)
    );
}

#[test]
fn fields_with_damaged_names_do_not_give_a_second_end() {
    let registry = AgentRegistry::builtin();
    let backend = registry.backend("copilot").unwrap();
    for fixture in fixtures::of("copilot_json").unwrap() {
        let text = String::from_utf8_lossy(&fixture.bytes);
        let (first, rest) = text.split_once('\n').unwrap();
        // A secret of one letter is replaced everywhere.
        for secret in "acdeilmnorstux".chars() {
            let damaged = format!("{first}\n{}", rest.replace(secret, "******"));
            let replayed = replay_as(backend.as_ref(), damaged.as_bytes());
            let ends = replayed
                .bodies()
                .filter(|body| matches!(body, Body::TurnFinished(_)));
            assert!(ends.count() <= 1, "{} without `{secret}`", fixture.name);
        }
    }
}
