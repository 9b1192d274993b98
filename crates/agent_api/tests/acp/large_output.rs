//! However much an agent sends, this client neither hangs nor keeps it all.

use std::time::{Duration, Instant};

use agent_api::backends::acp::replay_mapper;
use agent_api::bounds::TEXT_BYTES;
use agent_api::{AgentKind, Body, Emitter, Event, Mapper, Outcome};
use bytes::Bytes;
use json_lines::LineFramer;
use serde_json::{Value, json};

use super::scripted::{stopped, text_chunk, update};

/// Feeds lines to the mapping of a recording and lets the caller see each event.
struct Mapped {
    mapper: Box<dyn Mapper>,
    emitter: Emitter,
    framer: LineFramer,
    events: Vec<Event>,
}

impl Mapped {
    fn new() -> Self {
        let mut mapped = Self {
            mapper: replay_mapper(),
            emitter: Emitter::new(AgentKind::new("acp")),
            framer: LineFramer::default(),
            events: Vec::new(),
        };
        mapped.line(&json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}}).to_string());
        mapped.line(&json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s1"}}).to_string());
        mapped
    }

    fn line(&mut self, line: &str) {
        self.framer.push(Bytes::from(format!("{line}\n")));
        while let Some(line) = self.framer.next_line() {
            self.mapper.map_line(line, &mut self.emitter);
        }
        while let Some(event) = self.emitter.next_event() {
            self.events.push(event);
        }
    }
}

/// Lines that have next to nothing in common: one digit each, in no order.
fn lines(count: u32, seed: u32) -> String {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 28
    };
    (0..count).map(|_| format!("{:x}\n", next())).collect()
}

#[test]
fn the_comparison_of_two_long_texts_takes_little_time() {
    let diff =
        json!({"type": "diff", "path": "a.txt", "oldText": lines(60_000, 1), "newText": lines(60_000, 2)});
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "kind": "edit", "status": "completed",
        "content": [diff.clone(), diff.clone(), diff]});
    let mut mapped = Mapped::new();
    let line = update(&call);
    let started = Instant::now();
    mapped.line(&line);
    let taken = started.elapsed();
    assert!(taken < Duration::from_secs(5), "{taken:?}");
    let changes = mapped.events.iter().find_map(|event| match &event.body {
        Body::ToolFinished(tool) => Some(tool.changes.len()),
        _ => None,
    });
    assert_eq!(changes, Some(3), "the files are named all the same");
}

#[test]
fn many_calls_that_end_one_by_one_take_little_time() {
    let count = 30_000;
    let call = |number: u32, status: &str| {
        update(&json!({"sessionUpdate": "tool_call", "toolCallId": format!("t{number}"), "status": status}))
    };
    let mut mapped = Mapped::new();
    for number in 0..count {
        mapped.line(&call(number, "in_progress"));
    }
    let started = Instant::now();
    for number in (0..count).rev() {
        mapped.line(&call(number, "completed"));
    }
    let taken = started.elapsed();
    assert!(taken < Duration::from_secs(15), "{taken:?}");
}

#[test]
fn a_long_text_is_told_in_pieces_while_it_comes() {
    let mut mapped = Mapped::new();
    let chunk = "0123456789abcdé\n".repeat(1_000);
    for _ in 0..200 {
        mapped.line(&text_chunk(&chunk));
    }
    let pieces = |events: &[Event]| {
        let pieces = events.iter().filter_map(|event| match &event.body {
            Body::TextBlock(block) => Some((block.item.clone(), block.piece, block.text.clone())),
            _ => None,
        });
        pieces.collect::<Vec<_>>()
    };
    let so_far: usize = pieces(&mapped.events).iter().map(|(_, _, text)| text.len()).sum();
    assert!(
        so_far > 200 * chunk.len() - 2 * TEXT_BYTES,
        "what was told is not kept: {so_far}"
    );
    mapped.line(&stopped(3, "end_turn"));
    let all = pieces(&mapped.events);
    let text: String = all.iter().map(|(_, _, text)| text.as_str()).collect();
    assert!(text == chunk.repeat(200), "nothing is lost");
    for (index, (item, piece, text)) in all.iter().enumerate() {
        assert_eq!((item, piece.index as usize), (&all[0].0, index));
        assert_eq!(piece.is_last, index + 1 == all.len());
        assert!(text.len() <= TEXT_BYTES);
    }
    let turn = mapped.events.iter().find_map(|event| match &event.body {
        Body::TurnFinished(turn) => Some((turn.outcome, turn.text.is_some())),
        _ => None,
    });
    assert_eq!(turn, Some((Outcome::Succeeded, true)));
}

#[test]
fn of_long_terminal_output_beginning_and_end_are_told() {
    let mut mapped = Mapped::new();
    let piece = |text: &str, status: &str| {
        let meta = json!({"terminal_output_delta": {"data": text}});
        update(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": status, "_meta": meta}),
        )
    };
    mapped.line(&piece("first line\n", "in_progress"));
    let middle = "x".repeat(10_000);
    for _ in 0..100 {
        mapped.line(&piece(&middle, "in_progress"));
    }
    mapped.line(&piece("last line\n", "in_progress"));
    mapped.line(&piece("", "completed"));
    let tool = mapped.events.iter().find_map(|event| match &event.body {
        Body::ToolFinished(tool) => Some(tool),
        _ => None,
    });
    let tool = tool.unwrap();
    assert!(tool.output.starts_with("first line\n") && tool.output.ends_with("last line\n"));
    assert!(tool.output.contains("bytes omitted") && tool.output.len() <= TEXT_BYTES);
    assert_eq!(tool.output_bytes, Some(11 + 1_000_000 + 10));
}

#[test]
fn a_huge_input_is_dropped_and_its_call_is_still_told() {
    let many: Vec<Value> = (0..300_000).map(|_| json!({"a": 0})).collect();
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "kind": "execute", "status": "in_progress",
        "rawInput": {"command": "make", "many": many}});
    let mut mapped = Mapped::new();
    mapped.line(&update(&call));
    let started = mapped.events.iter().find_map(|event| match &event.body {
        Body::ToolStarted(tool) => Some(tool),
        _ => None,
    });
    let started = started.unwrap();
    assert_eq!(started.subject.as_deref(), Some("make"));
    assert!(started.input.as_ref().unwrap().is_oversize());
}
