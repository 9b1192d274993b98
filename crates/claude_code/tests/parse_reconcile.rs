//! Text with partial messages is the text without them, whatever happens in between.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use claude_code::event::Block;
use claude_code::reconcile::{Change, Part, Reconciler, TextCollector};
use claude_code::{Event, parse_line};

fn event(line: &str) -> Event {
    parse_line(line.as_bytes()).unwrap()
}

fn stream(body: &str) -> Event {
    event(&format!(
        r#"{{"type":"stream_event","event":{body},"parent_tool_use_id":null}}"#
    ))
}

fn message_start(id: &str) -> Event {
    stream(&format!(
        r#"{{"type":"message_start","message":{{"id":"{id}","role":"assistant","content":[]}}}}"#
    ))
}

fn text_start(index: u64) -> Event {
    stream(&format!(
        r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"text","text":""}}}}"#
    ))
}

fn text_delta(index: u64, text: &str) -> Event {
    stream(&format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}}"#
    ))
}

fn block_stop(index: u64) -> Event {
    stream(&format!(r#"{{"type":"content_block_stop","index":{index}}}"#))
}

fn message_delta() -> Event {
    stream(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}"#)
}

fn message_stop() -> Event {
    stream(r#"{"type":"message_stop"}"#)
}

fn said(lane: &str, id: &str, block: &str) -> Event {
    event(&format!(
        r#"{{"type":"assistant","message":{{"id":"{id}","content":[{block}]}},"parent_tool_use_id":{lane}}}"#
    ))
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

const MAIN: &str = "null";
const TOOL_USE: &str = r#"{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","result":"x"}"#;

fn collected(events: &[Event]) -> String {
    let mut collector = TextCollector::new();
    events.iter().for_each(|event| collector.apply(event));
    collector.text()
}

/// Applies changes as a view would: a list of blocks, in order of appearance.
fn viewed(events: &[Event]) -> Vec<String> {
    let mut reconciler = Reconciler::new();
    let mut view: Vec<(claude_code::reconcile::BlockKey, String)> = Vec::new();
    for change in events.iter().flat_map(|event| reconciler.apply(event)) {
        let (key, new, is_append) = match change {
            Change::Appended { key, text, .. } => (key, text.to_string(), true),
            Change::Completed { key, block } => (key, block_name(&block), false),
            Change::Discarded { key } => {
                view.retain(|(other, _)| *other != key);
                continue;
            }
        };
        match view.iter_mut().find(|(other, _)| *other == key) {
            Some((_, old)) if is_append => old.push_str(&new),
            Some((_, old)) => *old = new,
            None => view.push((key, new)),
        }
    }
    view.into_iter().map(|(_, text)| text).collect()
}

fn block_name(block: &Block) -> String {
    match block {
        Block::Text(text) => text.to_string(),
        Block::Thinking(thinking) => format!("({})", thinking.thinking),
        Block::ToolUse(tool_use) => format!("[{}]", tool_use.name),
        other => format!("{other:?}"),
    }
}

#[test]
fn deltas_and_the_final_block_are_one_text() {
    let events = [
        message_start("m1"),
        text_start(0),
        text_delta(0, "I'll run "),
        text_delta(0, "a command."),
        // The complete block comes before the stop.
        said(MAIN, "m1", &text("I'll run a command.")),
        block_stop(0),
        stream(
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}}"#,
        ),
        stream(
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command\":"}}"#,
        ),
        said(MAIN, "m1", TOOL_USE),
        block_stop(1),
        message_delta(),
        message_stop(),
    ];
    assert_eq!(collected(&events), "I'll run a command.");
    assert_eq!(viewed(&events), ["I'll run a command.", "[Bash]"]);
    let without_partials = [events[4].clone(), events[8].clone()];
    assert_eq!(viewed(&events), viewed(&without_partials));
    for count in 0..events.len() {
        let texts = collected(&events[..count]);
        assert!(
            "I'll run a command.".starts_with(&texts),
            "after {count} events: {texts:?}"
        );
    }
}

#[test]
fn the_final_block_replaces_what_the_deltas_said() {
    let events = [
        message_start("m1"),
        text_start(0),
        text_delta(0, "draft"),
        said(MAIN, "m1", &text("final")),
        text_delta(0, " late"),
        block_stop(0),
    ];
    assert_eq!(viewed(&events), ["final"]);
}

#[test]
fn blocks_without_partials_are_told_apart_by_their_order() {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    let events = [
        said(MAIN, "m1", thinking),
        said(MAIN, "m1", &text("a")),
        said(MAIN, "m1", &text("b")),
    ];
    assert_eq!(viewed(&events), ["(hm)", "a", "b"]);
    assert_eq!(collected(&events), "a\nb");
}

#[test]
fn the_same_text_said_twice_is_there_twice() {
    let events = [said(MAIN, "m1", &text("ok")), said(MAIN, "m2", &text("ok"))];
    assert_eq!(viewed(&events), ["ok", "ok"]);
}

#[test]
fn a_retried_message_leaves_nothing_of_its_first_attempt() {
    // No message_delta: the stream broke; the retry is not streamed and has another id.
    let events = [
        message_start("m1"),
        text_start(0),
        text_delta(0, "This str"),
        text_delta(0, "eam breaks"),
        block_stop(0),
        message_stop(),
        said(MAIN, "m2", &text("Second attempt worked.")),
    ];
    assert_eq!(viewed(&events), ["Second attempt worked."]);
    assert_eq!(
        collected(&events[..6]),
        "This stream breaks",
        "kept until it is replaced"
    );
}

#[test]
fn blocks_that_were_complete_before_the_break_stay() {
    let events = [
        message_start("m1"),
        text_start(0),
        said(MAIN, "m1", &text("whole")),
        block_stop(0),
        text_start(1),
        text_delta(1, "bro"),
        message_start("m2"),
        text_start(0),
        text_delta(0, "again"),
    ];
    assert_eq!(viewed(&events), ["whole", "again"]);
}

#[test]
fn abandoned_blocks_are_forgotten_at_once() {
    let stop = event(
        r#"{"type":"stream_event","event":{"type":"message_stop"},"api_message_id":"m1","abandoned_blocks":{"api_message_id":"m1","from_block_index":1}}"#,
    );
    let events = [
        message_start("m1"),
        text_start(0),
        said(MAIN, "m1", &text("kept")),
        block_stop(0),
        text_start(1),
        text_delta(1, "lost"),
        stop,
    ];
    assert_eq!(viewed(&events), ["kept"]);
}

#[test]
fn a_message_that_ended_properly_keeps_its_text_without_a_final_block() {
    let events = [
        message_start("m1"),
        text_start(0),
        text_delta(0, "only deltas"),
        block_stop(0),
        message_delta(),
        message_stop(),
        said(MAIN, "m2", &text("next")),
    ];
    assert_eq!(viewed(&events), ["only deltas", "next"]);
}

#[test]
fn subagents_never_mix_with_the_main_conversation() {
    let events = [
        message_start("m1"),
        text_start(0),
        text_delta(0, "main "),
        said(r#""agent_a""#, "s1", &text("from a")),
        said(r#""agent_b""#, "s2", &text("from b")),
        said(r#""agent_a""#, "s1", &text("more from a")),
        text_delta(0, "goes on"),
        said(MAIN, "m1", &text("main goes on")),
    ];
    assert_eq!(collected(&events), "main goes on");
    let mut reconciler = Reconciler::new();
    let keys: Vec<(Option<String>, String, u64)> = events
        .iter()
        .flat_map(|event| reconciler.apply(event))
        .filter_map(|change| match change {
            Change::Completed { key, .. } => Some((
                key.lane.map(|lane| lane.to_string()),
                key.message_id.to_string(),
                key.index,
            )),
            Change::Appended { key, part, .. } => {
                assert_eq!((key.lane, part), (None, Part::Text));
                None
            }
            Change::Discarded { key } => panic!("{key:?} was discarded"),
        })
        .collect();
    let lane = |name: &str| Some(name.to_owned());
    assert_eq!(
        keys,
        [
            (lane("agent_a"), "s1".into(), 0),
            (lane("agent_b"), "s2".into(), 0),
            (lane("agent_a"), "s1".into(), 1),
            (None, "m1".into(), 0)
        ]
    );
}

#[test]
fn the_text_of_a_turn_starts_anew_after_a_result() {
    let mut collector = TextCollector::new();
    for event in [
        said(MAIN, "m1", &text("one")),
        said(MAIN, "m2", &text("two")),
        event(RESULT),
    ] {
        collector.apply(&event);
    }
    assert_eq!(
        (collector.turn_text().as_str(), collector.last_text()),
        ("one\ntwo", Some("two"))
    );
    collector.apply(&event(r#"{"type":"system","subtype":"init"}"#));
    assert_eq!(
        collector.turn_text(),
        "one\ntwo",
        "until the next turn says something"
    );
    collector.apply(&said(MAIN, "m3", &text("three")));
    assert_eq!(
        (collector.turn_text().as_str(), collector.last_text()),
        ("three", Some("three"))
    );
    assert_eq!(collector.text(), "one\ntwo\nthree");
}

fn keys(events: &[Event]) -> Vec<(String, u64)> {
    let mut reconciler = Reconciler::new();
    events
        .iter()
        .flat_map(|event| reconciler.apply(event))
        .filter_map(|change| match change {
            Change::Completed { key, .. } => Some((key.message_id.to_string(), key.index)),
            Change::Appended { .. } | Change::Discarded { .. } => None,
        })
        .collect()
}

#[test]
fn very_many_blocks_take_no_longer_each_than_a_few() {
    // Looking at all blocks for each of them would take minutes.
    let blocks = vec![text("a"); 60_000].join(",");
    let whole = [said(MAIN, "m1", &blocks), said(MAIN, "m1", &blocks)];
    assert_eq!(collected(&whole).len(), 2 * 120_000 - 1);

    let mut collector = TextCollector::new();
    collector.apply(&message_start("m1"));
    for index in (0..60_000).rev() {
        collector.apply(&text_delta(index, "b"));
    }
    assert_eq!(collector.text().len(), 2 * 60_000 - 1);
    collector.apply(&said(MAIN, "m2", &text("again")));
    assert_eq!(
        collector.text(),
        "again",
        "all of the broken message is forgotten"
    );
}

#[test]
fn an_absurd_index_breaks_nothing() {
    let events = [
        message_start("m1"),
        text_start(u64::MAX),
        text_delta(u64::MAX, "a"),
        block_stop(u64::MAX),
        said(MAIN, "m1", &text("a")),
        said(MAIN, "m1", &text("b")),
        said(MAIN, "m1", &text("c")),
    ];
    assert_eq!(collected(&events), "a\nb\nc");
}

#[test]
fn a_final_block_after_its_stop_goes_to_pieces_of_its_kind() {
    let thinking = |body: &str| stream(&format!(r#"{{"type":"content_block_{body}}}"#));
    let events = [
        message_start("m1"),
        thinking(r#"start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}"#),
        thinking(r#"delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}"#),
        block_stop(0),
        text_start(1),
        text_delta(1, "ans"),
        block_stop(1),
        said(MAIN, "m1", &text("answer")),
        message_delta(),
    ];
    assert_eq!(viewed(&events), ["hm", "answer"]);
    assert_eq!(keys(&events), [("m1".to_owned(), 1)]);
}

#[test]
fn a_message_that_is_taken_up_again_goes_on_after_its_blocks() {
    let events = [
        said(MAIN, "a", &text("one")),
        said(MAIN, "b", &text("two")),
        said(MAIN, "a", &text("three")),
    ];
    assert_eq!(viewed(&events), ["one", "two", "three"]);
    assert_eq!(collected(&events), "one\ntwo\nthree");
    let streamed = [
        message_start("a"),
        text_start(0),
        said(MAIN, "a", &text("one")),
        said(MAIN, "b", &text("two")),
        message_start("a"),
        text_delta(0, "one"),
    ];
    assert_eq!(
        viewed(&streamed),
        ["one", "two"],
        "late pieces are part of their block"
    );
}

const LAUNCHED: &str = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"agent_a","content":"launched"}]},"tool_use_result":{"isAsync":true,"status":"async_launched"}}"#;
const REPORTED: &str = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"agent_a","content":"done"}]},"tool_use_result":{"status":"completed"}}"#;
const STARTED: &str = r#"{"type":"system","subtype":"task_started","task_id":"t","tool_use_id":"agent_a","is_backgrounded":true}"#;
const ENDED: &str = r#"{"type":"system","subtype":"task_notification","task_id":"t","tool_use_id":"agent_a","status":"completed"}"#;

#[test]
fn a_subagent_in_the_background_goes_on_after_its_launch() {
    let lane = r#""agent_a""#;
    let launches = [vec![LAUNCHED], vec![STARTED, REPORTED]];
    for launch in launches {
        let mut events = vec![said(lane, "s1", &text("one"))];
        events.extend(launch.into_iter().map(event));
        events.push(said(lane, "s1", &text("two")));
        assert_eq!(keys(&events), [("s1".to_owned(), 0), ("s1".to_owned(), 1)]);
        // Nothing is kept of it once it has ended: the same id would be another message.
        events.extend([event(ENDED), said(lane, "s1", &text("three"))]);
        assert_eq!(keys(&events).last(), Some(&("s1".to_owned(), 0)));
    }
}

#[test]
fn a_subagent_in_the_foreground_ends_with_its_result() {
    let lane = r#""agent_a""#;
    let events = [
        said(lane, "s1", &text("one")),
        event(REPORTED),
        said(lane, "s1", &text("two")),
    ];
    assert_eq!(keys(&events), [("s1".to_owned(), 0), ("s1".to_owned(), 0)]);
}
