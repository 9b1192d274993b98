//! The stream on stdout, and the reaction to messages and control requests on stdin.

use std::borrow::Cow;
use std::collections::BTreeSet;

use claude_code::event::{
    Block, ControlRequestBody, ControlResponseBody, Delta, ResultSubtype, StreamBody, System, TerminalReason,
};
use claude_code::{Event, Kind};
use tempfile::tempdir;

use super::agent_process::{DemoProcess, SESSION, TALK, answer, is_result, is_thought, print};

/// Speed at which there is time to interrupt, and a test does not wait long.
const SLOW: &[&str] = &["--demo-speed=0.5", "--include-partial-messages"];

/// Without what depends on the place and the time.
fn masked(events: &[Event], directory: &std::path::Path) -> Vec<String> {
    let place = directory.canonicalize().unwrap();
    let mask = |event: &Event| {
        let mut line: serde_json::Value = serde_json::from_slice(event.raw()).unwrap();
        for key in ["duration_ms", "duration_api_ms"] {
            if let Some(duration) = line.get_mut(key) {
                *duration = 0.into();
            }
        }
        line.to_string().replace(place.to_str().unwrap(), "/place")
    };
    events.iter().map(mask).collect()
}

fn is_known(event: &Event) -> bool {
    let blocks_are_known =
        |blocks: &[Block]| !blocks.iter().any(|block| matches!(block, Block::Unknown { .. }));
    match event.kind() {
        Kind::Unknown { .. } | Kind::System(System::Unknown { .. }) => false,
        Kind::StreamEvent(stream) => !matches!(
            &stream.body,
            StreamBody::Unknown(_)
                | StreamBody::ContentBlockDelta {
                    delta: Delta::Unknown(_),
                    ..
                }
        ),
        Kind::ControlRequest(request) => !matches!(request.body, ControlRequestBody::Other { .. }),
        Kind::ControlResponse(response) => !matches!(response.body, ControlResponseBody::Other { .. }),
        Kind::Assistant(said) => said
            .message
            .as_ref()
            .is_some_and(|it| blocks_are_known(it.content.blocks())),
        Kind::User(said) => said
            .message
            .as_ref()
            .is_some_and(|it| blocks_are_known(it.content.blocks())),
        _ => true,
    }
}

#[test]
fn a_session_repeats_exactly() {
    let arguments = [
        format!("--session-id={SESSION}"),
        "--include-partial-messages".to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (one, other) = (tempdir().unwrap(), tempdir().unwrap());
    for _ in 0..3 {
        let (first, status) = print(one.path(), &arguments);
        assert!(status.success());
        let (second, _) = print(other.path(), &arguments);
        assert_eq!(masked(&first, one.path()), masked(&second, other.path()));
        assert!(
            first
                .iter()
                .all(|event| event.session_id().as_deref() == Some(SESSION))
        );
    }
}

#[test]
fn two_sessions_share_no_ids() {
    let directory = tempdir().unwrap();
    let ids = |events: &[Event]| -> BTreeSet<String> {
        events
            .iter()
            .filter_map(|event| event.uuid().map(Cow::into_owned))
            .collect()
    };
    let (first, _) = print(directory.path(), &[]);
    let (second, _) = print(directory.path(), &[]);
    assert_eq!(ids(&first).len(), first.len());
    assert!(ids(&first).is_disjoint(&ids(&second)));
}

#[test]
fn every_line_is_of_a_kind_that_claude_code_writes() {
    let directory = tempdir().unwrap();
    let mut agent = DemoProcess::start(
        directory.path(),
        &[
            TALK,
            &[
                "--permission-prompt-tool=stdio",
                "--include-partial-messages",
                "--replay-user-messages",
            ],
        ]
        .concat(),
    );
    agent.tell(
        r#"{"type":"user","uuid":"00000000-0000-4000-8000-0000000000aa","message":{"role":"user","content":[{"type":"text","text":"Go."}]}}"#,
    );
    agent.control("c1", r#"{"subtype":"initialize"}"#);
    agent.control("c2", r#"{"subtype":"set_model","model":"another"}"#);
    agent.control("c3", r#"{"subtype":"set_permission_mode","mode":"plan"}"#);
    agent.control("c4", r#"{"subtype":"no_such_thing"}"#);
    let (events, status) = agent.rest();
    assert!(status.success());
    let unknown: Vec<&Event> = events.iter().filter(|event| !is_known(event)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let answers = |is_error: bool| {
        let is_such = |event: &&Event| match event.kind() {
            Kind::ControlResponse(response) => {
                matches!(response.body, ControlResponseBody::Error { .. }) == is_error
            }
            _ => false,
        };
        events.iter().filter(is_such).count()
    };
    assert_eq!((answers(false), answers(true)), (3, 1));
    let lifecycle = events
        .iter()
        .filter(|event| matches!(event.kind(), Kind::CommandLifecycle(_)));
    assert_eq!(lifecycle.count(), 3, "queued, started, completed");
}

#[test]
fn whole_blocks_come_before_their_end_and_only_pieces_can_be_left_out() {
    let (one, other) = (tempdir().unwrap(), tempdir().unwrap());
    let session = format!("--session-id={SESSION}");
    let (whole, _) = print(one.path(), &[&session]);
    let (pieces, _) = print(other.path(), &[&session, "--include-partial-messages"]);
    let count =
        |events: &[Event], is_such: fn(&Event) -> bool| events.iter().filter(|event| is_such(event)).count();
    let is_block = |event: &Event| matches!(event.kind(), Kind::Assistant(_));
    let is_piece = |event: &Event| matches!(event.kind(), Kind::StreamEvent(_));
    assert_eq!(count(&whole, is_piece), 0);
    assert_eq!(count(&whole, is_block), count(&pieces, is_block));
    let ends_block = |event: &Event| matches!(event.kind(), Kind::StreamEvent(stream) if matches!(stream.body, StreamBody::ContentBlockStop { .. }));
    for (index, _) in pieces.iter().enumerate().filter(|(_, event)| ends_block(event)) {
        assert!(is_block(&pieces[index - 1]), "{:?}", pieces[index - 1]);
    }
}

#[test]
fn further_messages_get_turns_of_their_own_until_the_input_ends() {
    let directory = tempdir().unwrap();
    let mut agent = DemoProcess::start(directory.path(), TALK);
    agent.say("Go.");
    let first = agent.until(is_result);
    assert!(answer(&first).ends_with("LOOP_COMPLETE"));
    agent.say("How is it going?");
    let second = agent.until(is_result);
    assert!(answer(&second).contains("scripted demo"), "{second:?}");
    let (rest, status) = agent.rest();
    assert!(rest.is_empty() && status.success());
}

#[test]
fn a_turn_that_was_begun_is_finished_after_the_end_of_the_input() {
    let directory = tempdir().unwrap();
    let mut agent = DemoProcess::start(directory.path(), TALK);
    agent.say("Go.");
    let (events, status) = agent.rest();
    assert!(answer(&events).ends_with("LOOP_COMPLETE") && status.success());
}

#[test]
fn an_end_of_input_before_any_message_ends_quietly() {
    let directory = tempdir().unwrap();
    let (events, status) = DemoProcess::start(directory.path(), TALK).rest();
    assert!(events.is_empty() && status.success());
    assert!(directory.path().read_dir().unwrap().next().is_none());
}

#[test]
fn bad_input_ends_the_program_as_it_ends_the_real_one() {
    let directory = tempdir().unwrap();
    for line in ["no json", r#"{"type":"user","message":{"content":"no role"}}"#] {
        let mut agent = DemoProcess::start(directory.path(), TALK);
        agent.tell(line);
        let (events, status) = agent.rest();
        assert_eq!((events.len(), status.code()), (0, Some(1)), "{line}");
    }
    for arguments in [&["--demo-speed=fast"], &["--session-id=mine"]] {
        let (events, status) = DemoProcess::start(directory.path(), arguments).rest();
        assert_eq!((events.len(), status.code()), (0, Some(1)), "{arguments:?}");
    }
}

#[test]
fn an_interrupt_ends_the_turn_and_not_the_program() {
    let directory = tempdir().unwrap();
    let mut agent = DemoProcess::start(directory.path(), &[TALK, SLOW].concat());
    agent.say("Go.");
    agent.until(is_thought);
    agent.control("i1", r#"{"subtype":"interrupt"}"#);
    let events = agent.until(is_result);
    assert!(events.iter().all(is_known));
    let Some(Kind::Result(result)) = events.last().map(Event::kind) else {
        panic!("no result");
    };
    assert_eq!(result.subtype, Some(ResultSubtype::ErrorDuringExecution));
    assert_eq!(result.terminal_reason, Some(TerminalReason::AbortedStreaming));
    agent.say("Are you there?");
    let (events, status) = agent.rest();
    assert!(answer(&events).contains("scripted demo") && status.success());
}

#[test]
fn a_pending_question_is_withdrawn_by_an_interrupt() {
    let directory = tempdir().unwrap();
    let mut agent = DemoProcess::start(
        directory.path(),
        &[TALK, &["--permission-prompt-tool=stdio"]].concat(),
    );
    agent.say("Go.");
    agent.until(|event| matches!(event.kind(), Kind::ControlRequest(_)));
    agent.control("i1", r#"{"subtype":"interrupt"}"#);
    let events = agent.until(is_result);
    assert!(
        matches!(events[0].kind(), Kind::ControlCancelRequest(_)),
        "{:?}",
        events[0]
    );
    let Some(Kind::Result(result)) = events.last().map(Event::kind) else {
        panic!("no result");
    };
    assert_eq!(result.terminal_reason, Some(TerminalReason::AbortedTools));
    let (rest, status) = agent.rest();
    assert!(rest.is_empty());
    assert_eq!(status.code(), Some(1), "the last turn failed");
}

#[test]
fn text_that_was_cut_is_kept_as_far_as_it_came() {
    let directory = tempdir().unwrap();
    let mut agent = DemoProcess::start(directory.path(), &[TALK, SLOW].concat());
    agent.say("Go.");
    let piece = |event: &Event| match event.kind() {
        Kind::StreamEvent(stream) => match &stream.body {
            StreamBody::ContentBlockDelta {
                delta: Delta::Text(text),
                ..
            } => Some(text.to_string()),
            _ => None,
        },
        _ => None,
    };
    let mut events = agent.until(|event| piece(event).is_some());
    agent.control("i1", r#"{"subtype":"interrupt"}"#);
    events.extend(agent.until(is_result));
    let pieces: String = events.iter().filter_map(piece).collect();
    let cut = events.iter().find_map(|event| match event.kind() {
        Kind::Assistant(said) if said.is_aborted => said.message.as_ref(),
        _ => None,
    });
    let Some([Block::Text(text)]) = cut.map(|message| message.content.blocks()) else {
        panic!("no text that was cut: {events:?}");
    };
    assert_eq!(text.to_string(), pieces);
}
