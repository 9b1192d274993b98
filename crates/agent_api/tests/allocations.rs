//! What a piece of text costs: one allocation, for the text that the consumer gets.

use std::collections::HashSet;

use agent_api::backends::claude_code::{ClaudeMapper, MapperSetup};
use agent_api::{AgentKind, Body, Emitter, Event, ItemId, Mapper as _};
use allocation_counter::measure;
use bytes::Bytes;
use claude_code::LineEvents;
use json_lines::{Framed, LineFramer};
use test_support::fixtures;

/// A line: how many allocations it takes to parse it, and to parse and map it.
struct Counted {
    parsed: u64,
    mapped: u64,
    events: Vec<Event>,
}

fn count(bytes: &[u8]) -> Vec<Counted> {
    let mut framer = LineFramer::default();
    framer.push(Bytes::copy_from_slice(bytes));
    let mut mapper = ClaudeMapper::new(MapperSetup::default());
    let mut emitter = Emitter::new(AgentKind::CLAUDE_CODE);
    let lines = std::iter::from_fn(|| framer.next_line().or_else(|| framer.finish()));
    lines
        .map(|line| count_line(line, &mut mapper, &mut emitter))
        .collect()
}

fn count_line(line: Framed, mapper: &mut ClaudeMapper, emitter: &mut Emitter) -> Counted {
    let copy = line.clone();
    let parsed = measure(|| LineEvents::of(copy).for_each(drop)).count_total;
    let mapped = measure(|| mapper.map_line(line, emitter)).count_total;
    Counted {
        parsed,
        mapped,
        events: std::iter::from_fn(|| emitter.next_event()).collect(),
    }
}

/// Whether the line is a further piece of an item that is known.
fn further_piece<'a>(line: &'a Counted, known: &mut HashSet<&'a ItemId>) -> bool {
    match line.events.as_slice() {
        [event] => match &event.body {
            Body::Delta(delta) => !known.insert(&delta.item),
            _ => false,
        },
        _ => false,
    }
}

fn stream(pieces: &[&str]) -> Vec<u8> {
    let message = r#"{"id":"msg_01","type":"message","role":"assistant","model":"m","content":[]}"#;
    let mut events = vec![
        format!(r#"{{"type":"message_start","message":{message}}}"#),
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.to_owned(),
    ];
    let piece = |piece: &&str| format!(r#"{{"type":"content_block_delta","index":0,"delta":{piece}}}"#);
    events.extend(pieces.iter().map(piece));
    let line = |event: String| {
        format!(
            "{{\"type\":\"stream_event\",\"event\":{event},\"session_id\":\"s\",\"parent_tool_use_id\":null,\"uuid\":\"u\"}}\n"
        )
    };
    events.into_iter().map(line).collect::<String>().into_bytes()
}

#[test]
fn a_piece_of_text_costs_one_allocation() {
    let pieces = [r#"{"type":"text_delta","text":"a word "}"#; 10_000];
    let lines = count(&stream(&pieces));
    let (start, pieces) = lines.split_at(3);
    assert!(start.iter().all(|line| !line.events.is_empty()));
    let sum = |count: fn(&Counted) -> u64| pieces.iter().map(count).sum::<u64>();
    assert_eq!(sum(|line| line.events.len() as u64), 9_999);
    assert_eq!(sum(|line| line.mapped) - sum(|line| line.parsed), 9_999);
}

#[test]
fn all_kinds_of_pieces_cost_one_allocation() {
    for piece in [
        r#"{"type":"thinking_delta","thinking":"hm "}"#,
        r#"{"type":"input_json_delta","partial_json":"{\"a\":"}"#,
        r#"{"type":"text_delta","text":"größer\n\"quoted\" 🎉"}"#,
    ] {
        let lines = count(&stream(&[piece; 100]));
        for line in &lines[3..] {
            assert!(matches!(line.events.as_slice(), [event] if matches!(event.body, Body::Delta(_))));
            assert_eq!(line.mapped - line.parsed, 1, "{piece}");
        }
    }
}

#[test]
fn recorded_pieces_cost_one_allocation() {
    let mut seen = 0;
    for fixture in fixtures::all().unwrap() {
        let lines = count(&fixture.bytes);
        let mut known = HashSet::new();
        for (number, line) in (1..).zip(&lines) {
            if further_piece(line, &mut known) {
                assert_eq!(
                    line.mapped - line.parsed,
                    1,
                    "{}:{number}",
                    fixture.path.display()
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}
