//! A conversation.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use agent_process::Exit;
use claude_code::event::{ControlRequestBody, PermissionMode};
use claude_code::input::{HostRequest, PermissionAnswer, UserMessage};
use claude_code::{
    Capabilities, Error, Event, Events, Expansion, Kind, PermissionHost, RawJson, Receipt, ReceiptState,
    Replay, RunOptions, Session, SessionRequest, Version,
};
use serde_json::{Value, json};
use test_support::recorded;
use test_support::script::{Script, ScriptedAgent, flood_line};

use crate::support::{
    MANY_LINES, builder, let_another_agent_write, name, names, next, next_event, play, rest, rest_of_events,
    soon, value,
};

async fn start(script: &Script) -> (Session, ScriptedAgent) {
    let (client, agent) = play(script);
    (client.session(SessionRequest::new()).await.unwrap(), agent)
}

/// A successful response to the control request that was read last.
const DONE: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{"still_queued":[]}}}"#;

fn control(subtype: &str) -> Value {
    json!({"type": "control_request", "request": {"subtype": subtype}})
}

/// What a `can_use_tool` request asks.
fn question(event: &Event) -> (String, RawJson) {
    let Kind::ControlRequest(request) = event.kind() else {
        panic!("not a request: {event:?}")
    };
    let ControlRequestBody::CanUseTool(tool) = &request.body else {
        panic!("not about a tool: {event:?}")
    };
    (
        request.request_id.clone().unwrap().to_string(),
        tool.input.clone().unwrap(),
    )
}

async fn until(events: &mut Events, wanted: &str) -> Event {
    loop {
        let event = next_event(events).await;
        if name(&event) == wanted {
            return event;
        }
    }
}

#[tokio::test]
async fn each_message_is_a_turn_and_gets_its_receipts() {
    let lifecycle = |state: &str| {
        format!(r#"{{"type":"command_lifecycle","command_uuid":"${{/uuid}}","state":"{state}"}}"#)
    };
    let turn = Script::new()
        .answer(lifecycle("queued"))
        .answer(lifecycle("started"))
        .answer(r#"{"type":"user","message":${/message},"uuid":"${/uuid}","isReplay":true}"#)
        .answer(r#"{"type":"assistant","message":{"content":[{"type":"text","text":"You said ${/message/content}"}]}}"#)
        .answer(r#"{"type":"result","subtype":"success","is_error":false}"#)
        .answer(lifecycle("completed"));
    let script = Script::new()
        .expect_argument("--input-format=stream-json")
        .expect_argument("--replay-user-messages")
        .converse([(json!({"type": "user", "client_composed": true}), turn)]);
    let (mut session, _agent) = start(&script).await;
    for text in ["first", "/second"] {
        let id = session.sender.send(text).await.unwrap();
        let mut states = Vec::new();
        while states.last() != Some(&ReceiptState::Completed) {
            let event = next_event(&mut session.events).await;
            if let Some(receipt) = Receipt::from_event(&event) {
                assert_eq!(receipt.message, id);
                states.push(receipt.state);
            } else if let Kind::Assistant(said) = event.kind() {
                assert_eq!(
                    said.message.as_ref().unwrap().content.text(),
                    format!("You said {text}")
                );
            }
        }
        use ReceiptState::{Completed, Queued, Replayed, Started};
        assert_eq!(states, [Queued, Started, Replayed, Completed]);
    }
    session.sender.close().await;
    assert!(next(&mut session.events).await.is_none());
    assert!(soon(session.completion).await.unwrap().exit.success());
}

#[tokio::test]
async fn an_interrupt_waits_for_its_response_which_is_an_event_too() {
    let script = Script::new().converse([
        (
            json!({"type": "user"}),
            Script::new().emit(r#"{"type":"assistant"}"#),
        ),
        (
            control("interrupt"),
            Script::new().answer(DONE).emit(r#"{"type":"result"}"#),
        ),
    ]);
    let (mut session, _agent) = start(&script).await;
    session.sender.send("Go.").await.unwrap();
    next_event(&mut session.events).await;
    soon(session.sender.interrupt()).await.unwrap();
    session.sender.close().await;
    assert_eq!(
        names(&rest_of_events(&mut session.events).await),
        ["control_response", "result"]
    );
}

#[tokio::test]
async fn a_response_is_seen_although_nobody_reads_the_events() {
    const LINES: u64 = 3_000;
    // 12 MiB come first, more than may wait for the consumer, which waits for the interrupt itself.
    let script = Script::new()
        .read_line()
        .flood(LINES, 4_096)
        .expect_line(control("interrupt"))
        .answer(DONE)
        .read_to_end();
    let (mut session, _agent) = start(&script).await;
    session.sender.send("Go.").await.unwrap();
    soon(session.sender.interrupt()).await.unwrap();
    session.sender.close().await;
    for number in 1..=LINES {
        let event = next_event(&mut session.events).await;
        assert_eq!(
            event.raw(),
            flood_line(number, 4_096).strip_suffix(b"\n").unwrap()
        );
    }
    assert_eq!(
        names(&rest_of_events(&mut session.events).await),
        ["control_response", "fake_input"]
    );
}

#[tokio::test]
async fn output_does_not_pile_up_while_a_request_waits_for_its_response() {
    let directory = tempfile::tempdir().unwrap();
    let written = directory.path().join("written");
    let agent = Script::new()
        .flood(MANY_LINES, 4_096)
        .create_file(&written)
        .read_to_end()
        .install()
        .unwrap();
    let client = builder(&agent).control_deadline(Duration::from_secs(2)).build();
    let session = client.session(SessionRequest::new()).await.unwrap();
    // The CLI would answer after its 64 MiB, of which far less is read ahead of the consumer.
    let error = soon(session.sender.interrupt()).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error:?}");
    assert!(!written.exists(), "the output piles up in memory");
}

#[tokio::test]
async fn a_message_that_the_cli_does_not_read_is_given_up_after_the_deadline() {
    // More than is read ahead of the consumer, which is the task that sends.
    let agent = Script::new()
        .flood(MANY_LINES, 4_096)
        .read_to_end()
        .install()
        .unwrap();
    let client = builder(&agent).send_deadline(Duration::from_millis(500)).build();
    let mut session = client.session(SessionRequest::new()).await.unwrap();
    let unread = |sent: Result<_, Error>| {
        assert!(matches!(sent, Err(Error::Unread { .. })), "{sent:?}");
    };
    unread(soon(session.sender.send("x".repeat(4 << 20))).await.map(drop));
    unread(soon(session.sender.answer("1", PermissionAnswer::deny("no"))).await);
    // Once its events are taken, the CLI reads the line that was begun and not the one behind it.
    let sender = session.sender.clone();
    let closing = tokio::spawn(async move { sender.close().await });
    let events = rest_of_events(&mut session.events).await;
    soon(closing).await.unwrap();
    assert_eq!(value(events.last().unwrap())["lines"], 1);
}

#[tokio::test]
async fn a_consumer_that_does_not_read_makes_the_process_wait() {
    let directory = tempfile::tempdir().unwrap();
    let written = directory.path().join("written");
    let (mut session, _agent) = start(&Script::new().flood(MANY_LINES, 4_096).create_file(&written)).await;
    for number in 1..=MANY_LINES {
        let event = next_event(&mut session.events).await;
        assert_eq!(
            event.raw(),
            flood_line(number, 4_096).strip_suffix(b"\n").unwrap()
        );
        if number == 1 {
            let_another_agent_write().await;
            assert!(!written.exists(), "the output piles up in memory");
        }
    }
    assert!(next(&mut session.events).await.is_none());
}

#[tokio::test]
async fn control_requests_are_sent_and_their_responses_returned() {
    let response = r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":${/request}}}"#;
    let refusal = r#"{"type":"control_response","response":{"subtype":"error","request_id":"${/request_id}","error":"Unsupported control request subtype: nosuch","error_code":"unsupported_request"}}"#;
    let script = Script::new().converse([
        (control("nosuch"), Script::new().answer(refusal)),
        (
            json!({"type": "control_request", "request": {"subtype": "set_model", "model": "haiku"}}),
            Script::new().answer(DONE),
        ),
        (
            json!({"type": "control_request", "request": {"subtype": "set_permission_mode", "mode": "plan"}}),
            Script::new().answer(DONE),
        ),
        (control("get_settings"), Script::new().answer(response)),
    ]);
    let (session, _agent) = start(&script).await;
    let sender = &session.sender;
    soon(sender.set_model(Some("haiku"))).await.unwrap();
    soon(sender.set_permission_mode(PermissionMode::Plan))
        .await
        .unwrap();
    let settings = soon(sender.control(&HostRequest::other("get_settings")))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(settings.as_str(), r#"{"subtype":"get_settings"}"#);
    let error = soon(sender.control(&HostRequest::other("nosuch")))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, Error::Refused { code: Some(code), message, .. } if code == "unsupported_request" && message.contains("nosuch")),
        "{error:?}"
    );
}

#[tokio::test]
async fn requests_made_at_once_get_their_own_responses() {
    let response = |subtype: &str| {
        let text = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"${{/request_id}}","response":{{"for":"{subtype}"}}}}}}"#
        );
        (control(subtype), Script::new().answer(text))
    };
    let (session, _agent) =
        start(&Script::new().converse([response("one"), response("two"), response("three")])).await;
    let ask = async |subtype: &str| {
        let response = session
            .sender
            .control(&HostRequest::other(subtype))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(response.get("for").unwrap().text().unwrap(), subtype);
    };
    soon(async { tokio::join!(ask("one"), ask("two"), ask("three"), ask("two"), ask("one")) }).await;
}

#[tokio::test]
async fn a_cli_that_does_not_answer_is_given_up_after_the_deadline_and_the_session_goes_on() {
    let script = Script::new()
        .expect_line(control("set_model"))
        .expect_line(control("interrupt"))
        .answer(DONE)
        .read_to_end();
    let agent = script.install().unwrap();
    let deadline = Duration::from_millis(200);
    let client = builder(&agent).control_deadline(deadline).build();
    let session = client.session(SessionRequest::new()).await.unwrap();
    let start = Instant::now();
    let error = soon(session.sender.set_model(None)).await.unwrap_err();
    assert!(start.elapsed() >= deadline);
    assert!(
        matches!(&error, Error::Unanswered { subtype, .. } if subtype == "set_model"),
        "{error:?}"
    );
    soon(session.sender.interrupt()).await.unwrap();
}

#[tokio::test]
async fn a_process_that_dies_ends_the_wait_at_once() {
    let (mut session, _agent) = start(&Script::new().read_line().exit(1)).await;
    let error = soon(session.sender.interrupt()).await.unwrap_err();
    assert!(matches!(error, Error::Closed), "{error:?}");
    assert!(next(&mut session.events).await.is_none());
    assert_eq!(soon(session.completion).await.unwrap().exit, Exit::Code(1));
    let error = soon(session.sender.interrupt()).await.unwrap_err();
    assert!(matches!(error, Error::Closed), "{error:?}");
}

#[tokio::test]
async fn permission_requests_are_answered() {
    let asks = |id: &str, tool: &str, input: &Value| {
        json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool", "tool_name": tool, "input": input}}).to_string()
    };
    let answered = |id: &str, answer: Value| json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": answer}});
    let command = json!({"command": "touch x"});
    let questions = json!({"questions": [{"question": "Which color?", "options": [{"label": "Red"}, {"label": "Blue"}]}]});
    let mut with_answers = questions.clone();
    with_answers["answers"] = json!({"Which color?": "Blue"});
    let script = Script::new()
        .expect_argument("--permission-prompt-tool=stdio")
        .read_line()
        .emit(asks("q1", "Bash", &command))
        .expect_line(answered(
            "q1",
            json!({"behavior": "allow", "updatedInput": command}),
        ))
        .emit(asks("q2", "Bash", &command))
        .expect_line(answered(
            "q2",
            json!({"behavior": "deny", "message": "no", "interrupt": true}),
        ))
        .emit(asks("q3", "AskUserQuestion", &questions))
        .expect_line(answered(
            "q3",
            json!({"behavior": "allow", "updatedInput": with_answers}),
        ))
        .emit(r#"{"type":"result"}"#);
    let (client, _agent) = play(&script);
    let request = SessionRequest::new().options(RunOptions::new().permission_host(PermissionHost::Caller));
    let mut session = client.session(request).await.unwrap();
    session.sender.send("Go.").await.unwrap();

    let (id, input) = question(&next_event(&mut session.events).await);
    session
        .sender
        .answer(&id, PermissionAnswer::allow(&input).unwrap())
        .await
        .unwrap();
    let (id, _) = question(&next_event(&mut session.events).await);
    session
        .sender
        .answer(&id, PermissionAnswer::deny_and_end_turn("no"))
        .await
        .unwrap();
    let (id, input) = question(&next_event(&mut session.events).await);
    session
        .sender
        .answer_questions(&id, &input, [("Which color?", "Blue")])
        .await
        .unwrap();
    assert_eq!(names(&rest_of_events(&mut session.events).await), ["result"]);
    let status = soon(session.completion).await.unwrap();
    assert!(
        status.exit.success(),
        "{}",
        String::from_utf8_lossy(&status.stderr_tail)
    );
}

#[tokio::test]
async fn a_process_that_does_not_read_does_not_keep_its_events_from_being_read() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("go");
    let script = Script::new()
        .emit(r#"{"type":"one"}"#)
        .wait_for_file(&gate)
        .emit(r#"{"type":"two"}"#)
        .read_to_end();
    let (mut session, _agent) = start(&script).await;
    let sender = session.sender.clone();
    // More than any pipe holds: the writer is stuck until the process reads.
    let stuck = tokio::spawn(async move { sender.send("x".repeat(4 << 20)).await });
    assert_eq!(name(&next_event(&mut session.events).await), "one");
    assert!(!stuck.is_finished());
    std::fs::write(gate, "").unwrap();
    assert_eq!(name(&next_event(&mut session.events).await), "two");
    soon(stuck).await.unwrap().unwrap();
    session.sender.close().await;
    let read = next_event(&mut session.events).await;
    assert!(value(&read)["bytes"].as_u64().unwrap() > 4 << 20);
}

#[tokio::test]
async fn closing_ends_the_input_after_what_was_sent_and_further_messages_are_refused() {
    let (mut session, _agent) = start(&Script::new().read_to_end().emit(r#"{"type":"result"}"#)).await;
    let other = session.sender.clone();
    session.sender.send("one").await.unwrap();
    other.send("two").await.unwrap();
    session.sender.close().await;
    let read = next_event(&mut session.events).await;
    assert_eq!(value(&read)["lines"], 2);
    assert_eq!(names(&rest_of_events(&mut session.events).await), ["result"]);
    assert!(matches!(other.send("three").await, Err(Error::Closed)));
    assert!(soon(session.completion).await.unwrap().exit.success());
}

#[tokio::test]
async fn dropping_the_last_sender_ends_the_input() {
    let (session, _agent) = start(&Script::new().read_to_end()).await;
    let Session {
        mut events,
        sender,
        completion,
        ..
    } = session;
    let other = sender.clone();
    drop(sender);
    other.send("still here").await.unwrap();
    drop(other);
    assert_eq!(names(&rest_of_events(&mut events).await), ["fake_input"]);
    assert!(soon(completion).await.unwrap().exit.success());
}

#[tokio::test]
async fn ending_asks_the_cli_to_exit() {
    let script = Script::new()
        .expect_line(control("end_session"))
        .answer(DONE)
        .exit(0);
    let (mut session, _agent) = start(&script).await;
    soon(session.sender.end()).await.unwrap();
    assert_eq!(
        names(&rest_of_events(&mut session.events).await),
        ["control_response"]
    );
    assert!(soon(session.completion).await.unwrap().exit.success());
}

#[tokio::test]
async fn a_cli_that_is_too_old_to_be_asked_only_sees_the_end_of_its_input() {
    let agent = Script::new().read_to_end().install().unwrap();
    let client = builder(&agent)
        .capabilities(Capabilities::for_version(Version::new(2, 1, 9)))
        .build();
    let mut session = client.session(SessionRequest::new()).await.unwrap();
    soon(session.sender.end()).await.unwrap();
    assert_eq!(value(&next_event(&mut session.events).await)["lines"], 0);
}

#[tokio::test]
async fn dropping_the_events_stops_the_process_and_closes_the_session() {
    let directory = tempfile::tempdir().unwrap();
    let script = Script::new()
        .record_process(directory.path(), "main")
        .emit("{}")
        .sleep_forever();
    let (mut session, _agent) = start(&script).await;
    next_event(&mut session.events).await;
    drop(session.events);
    assert_eq!(soon(session.completion).await.unwrap().exit, Exit::Cancelled);
    assert_eq!(recorded::alive(directory.path()).unwrap(), []);
    assert!(matches!(
        soon(session.sender.interrupt()).await,
        Err(Error::Closed)
    ));
}

#[tokio::test]
async fn an_empty_message_is_refused() {
    let (session, _agent) = start(&Script::new().read_to_end()).await;
    for message in [UserMessage::text(" \n"), UserMessage::blocks([])] {
        assert!(matches!(
            session.sender.send(message).await,
            Err(Error::EmptyMessage)
        ));
    }
}

#[tokio::test]
async fn a_message_is_data_also_for_a_cli_that_cannot_be_told_so() {
    let script = Script::new().converse([(
        json!({"type": "user"}),
        Script::new().answer(r#"{"type":"heard","message":${/message}}"#),
    )]);
    let agent = script.install().unwrap();
    let old = Capabilities::for_version(Version::new(2, 1, 197));
    for (capabilities, expansion, heard) in [
        (Capabilities::current(), Expansion::Literal, "/cost"),
        (old, Expansion::Literal, " /cost"),
        (old, Expansion::Commands, "/cost"),
    ] {
        let client = builder(&agent).capabilities(capabilities).build();
        let request = SessionRequest::new()
            .replay(Replay::Off)
            .options(RunOptions::new().expansion(expansion));
        let mut session = client.session(request).await.unwrap();
        session.sender.send("/cost").await.unwrap();
        let event = until(&mut session.events, "heard").await;
        assert_eq!(value(&event)["message"]["content"], heard);
    }
}

#[tokio::test]
async fn broken_lines_do_not_end_a_session() {
    let script = Script::new()
        .emit("Welcome!")
        .expect_line(control("interrupt"))
        .emit("{\"type\":")
        .answer(DONE);
    let (mut session, _agent) = start(&script).await;
    soon(session.sender.interrupt()).await.unwrap();
    let items = rest(&mut session.events).await;
    assert_eq!(items.iter().filter(|item| item.is_err()).count(), 2);
    assert_eq!(items.len(), 3);
}

/// Lets a future begin, and no more.
async fn begin<T>(future: &mut Pin<Box<impl Future<Output = T>>>) {
    let is_ready = poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await;
    assert!(!is_ready, "it did not have to wait");
}

#[tokio::test]
async fn a_message_that_was_given_up_is_not_sent() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("go");
    let (mut session, _agent) = start(&Script::new().wait_for_file(&gate).read_to_end()).await;
    // More than any pipe holds: what comes after it waits.
    let mut stuck = Box::pin(session.sender.send("x".repeat(4 << 20)));
    begin(&mut stuck).await;
    let mut given_up = Box::pin(session.sender.send("Never mind."));
    begin(&mut given_up).await;
    drop(given_up);
    std::fs::write(gate, "").unwrap();
    soon(stuck).await.unwrap();
    soon(session.sender.send("Go on.")).await.unwrap();
    soon(session.sender.close()).await;
    assert_eq!(value(&next_event(&mut session.events).await)["lines"], 2);
}

#[tokio::test]
async fn closing_does_not_wait_for_ever_for_a_process_that_does_not_read() {
    const MESSAGE_BYTES: usize = 1 << 20;
    const MESSAGES: usize = 100;
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("go");
    let agent = Script::new()
        .wait_for_file(&gate)
        .read_to_end()
        .install()
        .unwrap();
    let client = builder(&agent)
        .control_deadline(Duration::from_millis(200))
        .build();
    let mut session = client.session(SessionRequest::new()).await.unwrap();
    // More than the queue takes.
    let mut stuck = Vec::new();
    for number in 0..MESSAGES {
        // The first fits into no pipe, so the others wait.
        let bytes = if number == 0 { MESSAGE_BYTES } else { 1 };
        let mut message = Box::pin(session.sender.send("x".repeat(bytes)));
        begin(&mut message).await;
        stuck.push(message);
    }
    let error = soon(session.sender.end()).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error:?}");
    for message in stuck {
        assert!(matches!(soon(message).await, Err(Error::Closed)));
    }
    // The process sees the end of its input once it reads.
    std::fs::write(gate, "").unwrap();
    let read = next_event(&mut session.events).await;
    assert!(value(&read)["bytes"].as_u64().unwrap() < MESSAGE_BYTES as u64);
    assert!(soon(session.completion).await.unwrap().exit.success());
}

#[tokio::test]
async fn a_message_without_an_id_gets_one() {
    let script = Script::new().converse([(
        json!({"type": "user"}),
        Script::new().answer(r#"{"type":"heard","id":"${/uuid}"}"#),
    )]);
    let (mut session, _agent) = start(&script).await;
    let id = session.sender.send(UserMessage::anonymous("Go.")).await.unwrap();
    let heard = until(&mut session.events, "heard").await;
    assert_eq!(value(&heard)["id"], id.to_string());
}

#[tokio::test]
async fn a_cli_that_is_silent_after_a_later_message_is_stopped() {
    let agent = Script::new()
        .read_line()
        .emit_lines([
            r#"{"type":"system","subtype":"init"}"#,
            r#"{"type":"result","subtype":"success","is_error":false}"#,
        ])
        .read_line()
        .sleep_forever()
        .install()
        .unwrap();
    let options = RunOptions::new().inactivity_limit(Duration::from_secs(1));
    let request = SessionRequest::new().options(options);
    let mut session = builder(&agent).build().session(request).await.unwrap();
    session.sender.send("first").await.unwrap();
    until(&mut session.events, "result").await;
    session.sender.send("second").await.unwrap();
    assert!(next(&mut session.events).await.is_none());
    assert!(!soon(session.completion).await.unwrap().exit.success());
}
