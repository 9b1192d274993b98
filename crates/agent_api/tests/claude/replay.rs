//! Recorded bytes through the mapping, as the harness would feed it.

use agent_api::backends::claude_code::{ClaudeMapper, MapperSetup};
use agent_api::{AgentKind, Body, Emitter, Event, Mapper};
use bytes::Bytes;
use json_lines::LineFramer;
use test_support::fixtures::Fixture;

/// All events of a stream, and how many each line had.
pub(crate) struct Replayed {
    pub(crate) events: Vec<Event>,
    /// Line number and the number of its events.
    pub(crate) lines: Vec<(u64, usize)>,
    pub(crate) is_idle: bool,
}

pub(crate) fn replay(fixture: &Fixture) -> Replayed {
    replay_with(&fixture.bytes, MapperSetup::default())
}

pub(crate) fn replay_bytes(bytes: &[u8]) -> Vec<Event> {
    replay_with(bytes, MapperSetup::default()).events
}

pub(crate) fn replay_with(bytes: &[u8], setup: MapperSetup) -> Replayed {
    let mut framer = LineFramer::default();
    framer.push(Bytes::copy_from_slice(bytes));
    let mut mapper = ClaudeMapper::new(setup);
    let mut emitter = Emitter::new(AgentKind::CLAUDE_CODE);
    let (mut events, mut lines) = (Vec::new(), Vec::new());
    let mut number = 0;
    loop {
        let Some(framed) = framer.next_line().or_else(|| framer.finish()) else {
            break;
        };
        number += 1;
        mapper.map_line(framed, &mut emitter);
        let before = events.len();
        while let Some(event) = emitter.next_event() {
            events.push(event);
        }
        lines.push((number, events.len() - before));
    }
    mapper.map_end(&mut emitter);
    while let Some(event) = emitter.next_event() {
        events.push(event);
    }
    Replayed {
        events,
        lines,
        is_idle: mapper.is_idle(),
    }
}

pub(crate) fn bodies(events: &[Event]) -> impl Iterator<Item = &Body> {
    events.iter().map(|event| &event.body)
}
