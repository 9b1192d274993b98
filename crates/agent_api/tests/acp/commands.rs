//! Permission requests, further messages, interrupts and cancelling.

use agent_api::{
    Answer, Body, CancelOutcome, Close, CloseReason, MessageState, Outcome, PermissionMode, ToolStatus,
};
use serde_json::json;
use test_support::script::Script;

use super::scripted::{
    PROMPT, conversation, ending, in_mode, initialized, names, options, permission_request, play, prompt,
    prompted, prompted_with, result_line, run, run_with, selected, stopped, text_chunk, update, wait_for,
};

fn asked() -> Script {
    prompted().emit(permission_request())
}

#[tokio::test]
async fn a_closure_answers_in_the_options_of_the_agent() {
    for (answer, option) in [(Answer::Allow, "once"), (Answer::deny("no"), "no")] {
        let script = asked()
            .expect_line(selected(option))
            .emit(stopped(PROMPT, "end_turn"))
            .read_to_end();
        let request = agent_api::RunRequest::new("Go.")
            .options(options())
            .on_permission(move |_| std::future::ready(answer.clone()));
        let (_, completed) = ending(play(&script, request).await).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded, "{option}");
    }
}

#[tokio::test]
async fn an_image_is_sent_to_an_agent_that_takes_images_and_refused_for_others() {
    let request = || {
        agent_api::RunRequest::new("Go.")
            .options(options())
            .attach(agent_api::Attachment::image("image/png", [1, 2, 3]))
    };
    let sent = json!([{"type": "text"}, {"type": "image", "mimeType": "image/png", "data": "AQID"}]);
    let script = initialized(&json!({"promptCapabilities": {"image": true}}))
        .expect_line(json!({"id": 2, "method": "session/new"}))
        .emit(result_line(2, &json!({"sessionId": "s1"})))
        .expect_line(json!({"id": 3, "method": "session/prompt", "params": {"prompt": sent}}))
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let (_, completed) = ending(play(&script, request()).await).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    let script = initialized(&json!({})).read_to_end();
    let (_, completed) = ending(play(&script, request()).await).await;
    let error = completed.finished.error.unwrap();
    assert_eq!(error.code, "attachment_unsupported");
}

#[tokio::test]
async fn an_image_that_was_sent_too_early_is_refused_for_an_agent_that_takes_none() {
    let gate = tempfile::tempdir().unwrap();
    let open = gate.path().join("open");
    let script = Script::new()
        .wait_for_file(&open)
        .then(prompted())
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let played = play(&script, conversation(options(), Close::WhenIdle)).await;
    let image = agent_api::Attachment::image("image/png", [1, 2, 3]);
    let id = played.handle.control.send_with("Look.", vec![image]).unwrap();
    std::fs::write(open, "").unwrap();
    let (events, completed) = ending(played).await;
    assert_eq!(
        (completed.finished.outcome, completed.finished.turns),
        (Outcome::Succeeded, 1)
    );
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::MessageUpdated(message) if message.message_id == id => Some(Ok(message.state)),
            Body::CommandAnswered(answer) if answer.command_id == id => Some(Err(answer.error.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [Ok(MessageState::Queued), Err(true), Ok(MessageState::Cancelled)]
    );
}

#[tokio::test]
async fn a_request_waits_for_the_answer_of_the_caller() {
    let denied = Answer::Deny { reason: "no".into() };
    for (answer, option, reason) in [
        (Some(Answer::Allow), "once", CloseReason::Answered),
        (None, "always", CloseReason::Answered),
        (Some(denied), "no", CloseReason::Denied),
    ] {
        let end = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed"});
        let script = asked()
            .expect_line(selected(option))
            .emit_lines([update(&end), stopped(PROMPT, "end_turn")])
            .read_to_end();
        let mut played = play(&script, conversation(options(), Close::WhenIdle)).await;
        let event = wait_for(&mut played.handle.events, "permission_requested").await;
        let Body::PermissionRequested(request) = event.body else {
            unreachable!()
        };
        assert_eq!(request.subject.as_deref(), Some("make"));
        assert_eq!(request.description.as_deref(), Some("Run it"));
        assert_eq!(request.grants.len(), 1);
        assert_eq!(request.grants[0].text, "The agent's option \"Always\"");
        let answer = answer.unwrap_or_else(|| Answer::AllowWithGrants {
            grants: vec![request.grants[0].id.clone()],
        });
        played
            .handle
            .control
            .answer(&request.request, answer.clone())
            .unwrap();
        let (events, completed) = ending(played).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded, "{answer:?}");
        let closed = events.iter().find_map(|event| match &event.body {
            Body::RequestClosed(closed) => Some(closed.reason),
            _ => None,
        });
        assert_eq!(closed, Some(reason));
        let status = events.iter().find_map(|event| match &event.body {
            Body::ToolFinished(tool) => Some(tool.status),
            _ => None,
        });
        let expected = if reason == CloseReason::Denied {
            ToolStatus::Denied
        } else {
            ToolStatus::Failed
        };
        assert_eq!(status, Some(expected));
    }
}

#[tokio::test]
async fn bypass_allows_once_by_itself() {
    let script = asked()
        .expect_line(selected("once"))
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let (events, finished) = run_with(&script, in_mode(PermissionMode::Bypass)).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(!names(&events).contains(&"permission_requested"));
}

#[tokio::test]
async fn where_nobody_can_answer_a_request_is_refused() {
    let script = asked()
        .expect_line(selected("no"))
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let (events, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(names(&events).contains(&"permission_denied"));
    let denials = events.iter().find_map(|event| match &event.body {
        Body::TurnFinished(turn) => Some(turn.denials.len()),
        _ => None,
    });
    assert_eq!(denials, Some(1));
}

#[tokio::test]
async fn accepting_edits_allows_edits_and_asks_for_the_rest() {
    let edit = permission_request()
        .replace("execute", "edit")
        .replace("command", "file_path")
        .replace("p1", "p0")
        .replace("c1", "c0");
    let script = prompted()
        .emit(edit)
        .expect_line(json!({"id": "p0", "result": {"outcome": {"optionId": "once"}}}))
        .emit(permission_request())
        .expect_line(selected("no"))
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let (events, finished) = run_with(&script, in_mode(PermissionMode::AcceptEdits)).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert_eq!(
        names(&events)
            .iter()
            .filter(|name| **name == "permission_denied")
            .count(),
        1
    );
}

#[tokio::test]
async fn an_answer_that_cannot_be_given_leaves_the_request_open() {
    let script = asked()
        .expect_line(selected("once"))
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::WhenIdle)).await;
    let event = wait_for(&mut played.handle.events, "permission_requested").await;
    let Body::PermissionRequested(request) = event.body else {
        unreachable!()
    };
    let control = &played.handle.control;
    control
        .answer(&request.request, Answer::AllowChanged { input: json!({}) })
        .unwrap();
    control.answer(&request.request, Answer::Allow).unwrap();
    control.answer(&request.request, Answer::Allow).unwrap();
    let (events, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    let refused = events
        .iter()
        .filter(|event| matches!(&event.body, Body::CommandAnswered(answered) if answered.error.is_some()));
    assert_eq!(refused.count(), 2, "the first and the third");
}

#[tokio::test]
async fn messages_wait_for_the_turn_to_end() {
    let gate = tempfile::tempdir().unwrap();
    let open = gate.path().join("open");
    let script = prompted()
        .emit(text_chunk("working"))
        .wait_for_file(&open)
        .emit(stopped(PROMPT, "end_turn"))
        .expect_line(prompt(4, "And then?"))
        .emit(stopped(4, "end_turn"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::WhenIdle)).await;
    wait_for(&mut played.handle.events, "delta").await;
    let id = played.handle.control.send("And then?").unwrap();
    let queued = wait_for(&mut played.handle.events, "message_updated").await;
    assert!(matches!(queued.body, Body::MessageUpdated(message) if message.state == MessageState::Queued));
    std::fs::write(open, "").unwrap();
    let (events, completed) = ending(played).await;
    assert_eq!(
        (completed.finished.outcome, completed.finished.turns),
        (Outcome::Succeeded, 2)
    );
    let states: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::MessageUpdated(message) if message.message_id == id => Some(message.state),
            _ => None,
        })
        .collect();
    assert_eq!(states, [MessageState::Started, MessageState::Completed]);
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_keeps_the_session() {
    let call =
        json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Run it", "kind": "execute"});
    let script = prompted()
        .emit(update(&call))
        .emit(permission_request())
        .expect_line(json!({"id": "p1", "result": {"outcome": {"outcome": "cancelled"}}}))
        .expect_line(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}))
        .emit(stopped(PROMPT, "cancelled"))
        .expect_line(prompt(4, "Go on."))
        .emit(stopped(4, "end_turn"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::ByCaller)).await;
    wait_for(&mut played.handle.events, "permission_requested").await;
    let id = played.handle.control.interrupt().unwrap();
    let finished = wait_for(&mut played.handle.events, "turn_finished").await;
    assert!(matches!(finished.body, Body::TurnFinished(turn) if turn.outcome == Outcome::Interrupted));
    let answered = wait_for(&mut played.handle.events, "command_answered").await;
    assert!(matches!(answered.body, Body::CommandAnswered(answered) if answered.command_id == id));
    played.handle.control.send("Go on.").unwrap();
    wait_for(&mut played.handle.events, "turn_finished").await;
    played.handle.control.close_input();
    let (_, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn cancelling_asks_the_agent_first() {
    let script = prompted()
        .emit(text_chunk("working"))
        .expect_line(json!({"method": "session/cancel"}))
        .emit(stopped(PROMPT, "cancelled"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::ByCaller)).await;
    wait_for(&mut played.handle.events, "delta").await;
    assert_eq!(played.handle.control.cancel(), CancelOutcome::Requested);
    let (events, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    assert_eq!(completed.finished.exit.code, Some(0), "it left by itself");
    assert!(names(&events).contains(&"turn_finished"));
}

#[tokio::test]
async fn the_model_can_be_changed_during_a_run() {
    let models =
        json!({"models": {"currentModelId": "a", "availableModels": [{"modelId": "a"}, {"modelId": "b"}]}});
    let script = prompted_with(&models)
        .expect_line(prompt(PROMPT, "Go."))
        .emit(text_chunk("working"))
        .expect_line(json!({"id": 4, "method": "session/set_model", "params": {"modelId": "b"}}))
        .emit(result_line(4, &json!({})))
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let mut played = play(&script, conversation(options(), Close::WhenIdle)).await;
    wait_for(&mut played.handle.events, "delta").await;
    let id = played.handle.control.set_model(Some("b".into())).unwrap();
    let answered = wait_for(&mut played.handle.events, "command_answered").await;
    assert!(
        matches!(answered.body, Body::CommandAnswered(answer) if answer.command_id == id && answer.error.is_none())
    );
    let (_, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn an_input_that_is_closed_during_the_handshake_still_carries_the_prompt() {
    let script = prompted()
        .emit_lines([text_chunk("Done."), stopped(PROMPT, "end_turn")])
        .read_to_end();
    let played = play(&script, conversation(options(), Close::ByCaller)).await;
    played.handle.control.close_input();
    let (_, completed) = ending(played).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.final_text.as_deref(), Some("Done."));
}
