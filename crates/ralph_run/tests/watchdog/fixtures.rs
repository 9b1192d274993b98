//! No false alarm: everything that real agents wrote, as the run of a healthy agent.

use std::fs;

use agent_api::{AgentRegistry, Body, Emitter, Event};
use bytes::Bytes;
use json_lines::LineFramer;
use ralph_run::watchdog::{Finding, WatchRules};
use ralph_run::{RunBody, RunEvent, RunStarted, WarningKind};
use test_support::fixtures::{self, Fixture};

use crate::stage::{Stage, started};

/// How many lines of a recording are looked at to recognise its agent.
const FIRST_LINES: usize = 50;

/// Where recordings were made.
const RECORDED_IN: &str = "/workspace";

/// Recordings that do show what a rule looks for. The first one compacts a context that is 99% full.
const FAULTY: [(&str, WarningKind); 1] = [("claude/2.1.325/compact_auto", WarningKind::ContextNearlyFull)];

fn agents() -> Vec<String> {
    let fixtures = fixtures::directory();
    let entries = fs::read_dir(fixtures.parent().unwrap()).unwrap();
    let mut agents: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    agents.sort();
    agents
}

/// What the mapper of its agent makes of a recording; nothing if it is not one.
fn events(registry: &AgentRegistry, fixture: &Fixture) -> Vec<Event> {
    let first: Vec<&[u8]> = fixture.lines().take(FIRST_LINES).collect();
    let backend = registry.recognise(&first);
    let Some((backend, mut mapper)) = backend.and_then(|it| Some((it, it.replay_mapper()?))) else {
        return Vec::new();
    };
    let mut framer = LineFramer::default();
    framer.push(Bytes::copy_from_slice(&fixture.bytes));
    let mut emitter = Emitter::new(backend.profile().kind.clone());
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(line, &mut emitter);
    }
    mapper.map_end(&mut emitter);
    std::iter::from_fn(|| emitter.next_event()).collect()
}

fn findings(events: &[Event]) -> Vec<Finding> {
    let cwd = events.iter().find_map(|event| match &event.body {
        Body::SessionStarted(session) => session.cwd.clone(),
        _ => None,
    });
    let mut stage = Stage::new(WatchRules::default());
    stage.run(RunBody::RunStarted(Box::new(RunStarted {
        workspace: cwd.unwrap_or_else(|| RECORDED_IN.to_owned()),
        ..started()
    })));
    // Twice, as a run of two iterations: quickly, and as slowly as an agent may be.
    for seconds in [1, 60] {
        for event in events {
            stage.pass(seconds);
            stage.record(RunEvent::Agent(event.clone()));
        }
        stage.end_attempt();
        stage.begin_iteration();
    }
    stage.take()
}

#[test]
fn no_recording_of_a_real_agent_raises_an_alarm() {
    let registry = AgentRegistry::builtin();
    let (mut seen, mut found) = (0, Vec::new());
    for agent in agents() {
        for fixture in fixtures::of(&agent).unwrap() {
            let events = events(&registry, &fixture);
            seen += usize::from(!events.is_empty());
            let name = format!("{agent}/{}/{}", fixture.version, fixture.name);
            if FAULTY.iter().any(|(faulty, _)| *faulty == name) {
                continue;
            }
            found.extend(
                findings(&events)
                    .into_iter()
                    .map(|finding| (name.clone(), finding)),
            );
        }
    }
    assert!(seen >= 390, "{seen}");
    assert!(found.is_empty(), "{} findings: {found:#?}", found.len());
}
