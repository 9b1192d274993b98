//! Bad input: one honest event for each, and the run goes on.

use agent_api::{Body, ErrorClass, Event, Outcome};
use test_support::fixtures;

use crate::replay::{bodies, replay_bytes};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}"#;
const RESULT: &str =
    r#"{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}"#;

fn play(lines: &[&str]) -> Vec<Event> {
    replay_bytes(lines.join("\n").as_bytes())
}

fn errors(events: &[Event]) -> Vec<(ErrorClass, String)> {
    bodies(events)
        .filter_map(|body| match body {
            Body::Error(error) => Some((error.class, error.code.clone())),
            _ => None,
        })
        .collect()
}

#[test]
fn noise_is_an_error_with_a_position_and_without_its_text() {
    let events = play(&[INIT, "npm warn secret-word", RESULT]);
    assert_eq!(errors(&events), [(ErrorClass::Protocol, "noise".to_owned())]);
    let error = bodies(&events)
        .find_map(|body| match body {
            Body::Error(error) => Some(error),
            _ => None,
        })
        .unwrap();
    let position = error.position.unwrap();
    assert_eq!((position.line, position.offset), (2, INIT.len() as u64 + 1));
    assert!(!serde_json::to_string(&events).unwrap().contains("secret-word"));
    assert!(
        bodies(&events).any(|body| matches!(body, Body::TurnFinished(_))),
        "the run goes on"
    );
}

#[test]
fn prose_glued_before_json_costs_the_prose_only() {
    let glued = format!("Yes, what would you like me to do?{RESULT}");
    let events = play(&[INIT, &glued]);
    assert_eq!(errors(&events), [(ErrorClass::Protocol, "noise".to_owned())]);
    let turn = events
        .iter()
        .find(|event| matches!(event.body, Body::TurnFinished(_)))
        .unwrap();
    let raw = turn.raw.unwrap();
    assert_eq!(raw.length, RESULT.len() as u64);
    assert_eq!(raw.offset, (INIT.len() + 1 + glued.len() - RESULT.len()) as u64);
}

#[test]
fn of_duplicate_keys_the_last_counts() {
    let line = r#"{"type":"result","subtype":"error_max_turns","subtype":"success","is_error":true,"is_error":false,"session_id":"s"}"#;
    let events = play(&[INIT, line]);
    assert!(
        bodies(&events)
            .any(|body| matches!(body, Body::TurnFinished(turn) if turn.outcome == Outcome::Succeeded))
    );
}

#[test]
fn corrupted_keys_leave_what_is_readable() {
    let line = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"te******t","te******t":"x"},{"type":"text","text":"fine"}]},"s******id":"s"}"#;
    let events = play(&[INIT, line, RESULT]);
    assert!(
        bodies(&events)
            .any(|body| matches!(body, Body::Unknown(what) if what.type_name == "block/te******t"))
    );
    assert!(bodies(&events).any(|body| matches!(body, Body::TextBlock(block) if block.text == "fine")));
}

#[test]
fn types_of_the_future_are_unknown_and_keep_their_place() {
    let future = r#"{"type":"hologram","session_id":"s"}"#;
    let subtype = r#"{"type":"system","subtype":"teleport","session_id":"s"}"#;
    let events = play(&[INIT, future, subtype, RESULT]);
    let names: Vec<_> = bodies(&events)
        .filter_map(|body| match body {
            Body::Unknown(what) => Some(what.type_name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["hologram", "system/teleport"]);
    assert!(events.iter().all(|event| event.raw.is_some()));
}

#[test]
fn a_second_result_without_a_turn_is_noted_and_does_not_count() {
    let failed = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s"}"#;
    let events = play(&[INIT, RESULT, failed]);
    let turns = bodies(&events)
        .filter(|body| matches!(body, Body::TurnFinished(_)))
        .count();
    assert_eq!(turns, 1);
    assert!(
        bodies(&events).any(|body| matches!(body, Body::Notice(notice) if notice.code == "spurious_result"))
    );
}

#[test]
fn a_line_cut_in_the_middle_is_an_error_and_all_before_it_counts() {
    let whole = fixtures::named("2.1.325", "tool_bash").unwrap().bytes;
    let mut cuts = 0;
    for end in (1..whole.len()).step_by(97) {
        let line_start = whole[..end]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let is_cut = line_start < end && whole[end] != b'\n';
        let events = replay_bytes(&whole[..end]);
        let before = replay_bytes(&whole[..line_start]);
        assert_eq!(events[..before.len()], before, "{end}");
        if is_cut {
            cuts += 1;
            assert_eq!(events.len(), before.len() + 1, "{end}");
            assert_eq!(
                errors(&events[before.len()..])
                    .iter()
                    .map(|(class, _)| *class)
                    .collect::<Vec<_>>(),
                [ErrorClass::Protocol],
                "{end}"
            );
        } else {
            assert!(errors(&events).is_empty(), "{end}");
        }
    }
    assert!(cuts > 50, "only {cuts} cut lines");
}

#[test]
fn an_error_of_the_api_is_an_error_and_not_the_models_words() {
    let events = crate::replay::replay(&fixtures::named("2.1.325", "api_401").unwrap()).events;
    assert!(
        bodies(&events).any(|body| matches!(body, Body::Error(error) if error.class == ErrorClass::Auth))
    );
    assert!(!bodies(&events).any(|body| matches!(body, Body::TextBlock(_))));
}
