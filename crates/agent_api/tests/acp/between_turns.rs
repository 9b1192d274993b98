//! What an agent says while no prompt is being worked on never opens a turn, and a cancelled run sends nothing more.

use agent_api::{Body, Close, Event, MessageState, Outcome, PermissionMode};
use serde_json::{Value, json};
use test_support::script::Script;

use super::scripted::{
    PROMPT, conversation, ending, error_line, has_notice, in_mode, initialized, names, options,
    permission_request, play, play_with, prompt, prompted, prompted_with, result_line, run, run_with,
    selected, stopped, text_chunk, update, wait_for,
};

fn asking_modes() -> Value {
    let available = json!([{"id": "default"}, {"id": "yolo"}]);
    json!({"modes": {"currentModeId": "default", "availableModes": available}})
}

fn cancelled(id: &str) -> Value {
    json!({"id": id, "result": {"outcome": {"outcome": "cancelled"}}})
}

/// Gemini's way to tell a change of mode, which comes before the answer.
fn mode_chunk() -> String {
    text_chunk("[MODE_UPDATE] yolo")
}

fn final_text(events: &[Event]) -> Option<&str> {
    events.iter().rev().find_map(|event| match &event.body {
        Body::TurnFinished(turn) => turn.text.as_deref(),
        _ => None,
    })
}

#[tokio::test]
async fn text_before_the_prompt_does_not_keep_the_prompt_from_being_sent() {
    for name in ["gemini-cli", "some-agent"] {
        let info = json!({"name": name, "version": "1.0.0"});
        let script = Script::new()
            .read_line()
            .emit(result_line(1, &json!({"protocolVersion": 1, "agentInfo": info})))
            .read_line()
            .emit(result_line(2, &{
                let mut opened = asking_modes();
                opened["sessionId"] = json!("s1");
                opened
            }))
            .expect_line(json!({"id": 3, "method": "session/set_mode", "params": {"modeId": "yolo"}}))
            .emit(mode_chunk())
            .emit(result_line(3, &json!({})))
            .expect_line(prompt(4, "Go."))
            .emit_lines([text_chunk("Done."), stopped(4, "end_turn")])
            .read_to_end();
        let (events, finished) = run_with(&script, in_mode(PermissionMode::Bypass)).await;
        assert_eq!(finished.outcome, Outcome::Succeeded, "{name}");
        assert_eq!(finished.turns, 1);
        assert_eq!(final_text(&events), Some("Done."));
        assert_eq!(has_notice(&events, "outside_turn"), name == "some-agent");
    }
}

#[tokio::test]
async fn a_mode_that_is_set_between_two_turns_does_not_block_the_next_message() {
    let script = prompted_with(&asking_modes())
        .expect_line(prompt(PROMPT, "Go."))
        .emit(stopped(PROMPT, "end_turn"))
        .expect_line(json!({"id": 4, "method": "session/set_mode", "params": {"modeId": "yolo"}}))
        .emit(mode_chunk())
        .emit(result_line(4, &json!({})))
        .expect_line(prompt(5, "Go on."))
        .emit(stopped(5, "end_turn"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::ByCaller)).await;
    wait_for(&mut played.handle.events, "turn_finished").await;
    let control = played.handle.control.clone();
    control.set_permission_mode(PermissionMode::Bypass).unwrap();
    wait_for(&mut played.handle.events, "command_answered").await;
    control.send("Go on.").unwrap();
    wait_for(&mut played.handle.events, "turn_finished").await;
    control.close_input();
    let (_, completed) = ending(played).await;
    assert_eq!(
        (completed.finished.outcome, completed.finished.turns),
        (Outcome::Succeeded, 2)
    );
}

#[tokio::test]
async fn an_update_after_the_end_of_the_turn_does_not_undo_the_result() {
    let call =
        json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Run it", "kind": "execute"});
    let late = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"});
    let unknown = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t9", "status": "completed"});
    let plan = json!({"sessionUpdate": "plan", "entries": [{"content": "rest"}]});
    for late in [
        update(&late),
        update(&unknown),
        update(&plan),
        text_chunk("late words"),
    ] {
        let script = prompted()
            .emit_lines([
                update(&call),
                text_chunk("All done."),
                stopped(PROMPT, "end_turn"),
            ])
            .emit(late.clone())
            .read_to_end();
        let (events, finished) = run(&script).await;
        assert_eq!(finished.outcome, Outcome::Succeeded, "{late}");
        assert_eq!(finished.turns, 1, "{late}");
        assert_eq!(final_text(&events), Some("All done."));
        let started = names(&events).into_iter().filter(|name| *name == "turn_started");
        assert_eq!(started.count(), 1, "{late}");
    }
}

#[tokio::test]
async fn an_agent_that_stays_and_speaks_after_the_end_is_stopped_and_has_succeeded() {
    let script = prompted()
        .emit_lines([stopped(PROMPT, "end_turn"), text_chunk("late words")])
        .sleep_forever();
    let (_, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(finished.exit.was_stopped);
}

#[tokio::test]
async fn a_permission_request_outside_a_turn_or_of_another_session_is_cancelled() {
    let other = permission_request().replace("\"s1\"", "\"s2\"");
    let script = prompted()
        .emit(other)
        .expect_line(cancelled("p1"))
        .emit(stopped(PROMPT, "end_turn"))
        .emit(permission_request().replace("p1", "p2"))
        .expect_line(cancelled("p2"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::ByCaller)).await;
    for _ in 0..2 {
        let notice = async {
            loop {
                let event = wait_for(&mut played.handle.events, "notice").await;
                if matches!(&event.body, Body::Notice(notice) if notice.code == "request_cancelled") {
                    return;
                }
            }
        };
        notice.await;
    }
    played.handle.control.close_input();
    let (events, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(!names(&events).contains(&"permission_requested"));
}

#[tokio::test]
async fn a_cancelled_run_does_not_send_the_message_that_waits() {
    let script = prompted()
        .emit(text_chunk("working"))
        .expect_line(json!({"method": "session/cancel"}))
        .emit(stopped(PROMPT, "cancelled"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::ByCaller)).await;
    wait_for(&mut played.handle.events, "delta").await;
    let id = played.handle.control.send("second").unwrap();
    wait_for(&mut played.handle.events, "message_updated").await;
    played.handle.control.cancel();
    let (events, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    assert_eq!(completed.finished.turns, 1, "the second message never ran");
    let states: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::MessageUpdated(message) if message.message_id == id => Some(message.state),
            _ => None,
        })
        .collect();
    assert_eq!(states, [MessageState::Cancelled]);
}

#[tokio::test]
async fn a_mode_that_the_agent_refuses_is_not_applied_by_the_client() {
    let script = prompted_with(&asking_modes())
        .expect_line(prompt(PROMPT, "Go."))
        .emit(text_chunk("working"))
        .expect_line(json!({"id": 4, "method": "session/set_mode", "params": {"modeId": "yolo"}}))
        .emit(error_line(4, -32603, "not in this folder"))
        .emit(permission_request())
        .expect_line(selected("no"))
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::WhenIdle)).await;
    wait_for(&mut played.handle.events, "delta").await;
    let control = played.handle.control.clone();
    control.set_permission_mode(PermissionMode::Bypass).unwrap();
    let answered = wait_for(&mut played.handle.events, "command_answered").await;
    assert!(matches!(answered.body, Body::CommandAnswered(answer) if answer.error.is_some()));
    let asked = wait_for(&mut played.handle.events, "permission_requested").await;
    let Body::PermissionRequested(asked) = asked.body else {
        unreachable!()
    };
    let reason = String::new();
    control
        .answer(&asked.request, agent_api::Answer::Deny { reason })
        .unwrap();
    let (_, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn an_answer_that_comes_after_the_deadline_does_not_revive_the_run() {
    let script = Script::new()
        .read_line()
        .pause(std::time::Duration::from_millis(600))
        .emit(result_line(1, &json!({"protocolVersion": 1})))
        .emit(result_line(2, &json!({"sessionId": "s1"})))
        .sleep_forever();
    let request = agent_api::RunRequest::new("Go.").options(options());
    let limit = std::time::Duration::from_millis(200);
    let started = std::time::Instant::now();
    let played = play_with(&script, request, |backend| backend.initialize_limit(limit)).await;
    let (events, completed) = ending(played).await;
    assert_eq!(completed.finished.error.unwrap().code, "no_answer");
    assert_eq!(completed.finished.turns, 1);
    assert!(!names(&events).contains(&"session_started"));
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

#[tokio::test]
async fn calls_of_a_later_turn_may_have_the_ids_of_an_earlier_one() {
    let call = |kind: &str| json!({"sessionUpdate": kind, "toolCallId": "call_1", "title": "read", "status": "completed"});
    let script = prompted()
        .emit_lines([update(&call("tool_call")), stopped(PROMPT, "end_turn")])
        .expect_line(prompt(4, "Again."))
        .emit_lines([
            update(&call("tool_call")),
            update(&call("tool_call_update")),
            stopped(4, "end_turn"),
        ])
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::ByCaller)).await;
    let first = wait_for(&mut played.handle.events, "tool_finished").await;
    assert!(matches!(first.body, Body::ToolFinished(_)));
    wait_for(&mut played.handle.events, "turn_finished").await;
    played.handle.control.send("Again.").unwrap();
    wait_for(&mut played.handle.events, "tool_started").await;
    wait_for(&mut played.handle.events, "tool_finished").await;
    played.handle.control.close_input();
    let (events, _) = ending(played).await;
    assert!(!names(&events).contains(&"tool_finished"), "a call ends once");
}

#[tokio::test]
async fn of_sessions_without_a_date_the_first_is_the_last_used() {
    let sessions = json!({"sessions": [{"sessionId": "s1"}, {"sessionId": "older"}]});
    let script = initialized(&json!({"loadSession": true, "sessionCapabilities": {"list": {}}}))
        .expect_line(json!({"id": 2, "method": "session/list"}))
        .emit(result_line(2, &sessions))
        .expect_line(json!({"id": 3, "method": "session/load", "params": {"sessionId": "s1"}}))
        .emit(result_line(3, &json!({})))
        .expect_line(prompt(4, "Go."))
        .emit(stopped(4, "end_turn"))
        .read_to_end();
    let mut options = options();
    options.session = Some(agent_api::SessionChoice::Last);
    let (_, finished) = run_with(&script, options).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
}
