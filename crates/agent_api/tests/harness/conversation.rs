//! Speaking to an agent, and what is left open at its end.

use agent_api::bounds::CHANNEL_EVENTS;
use agent_api::{
    Answer, Body, Close, CloseReason, CommandError, Event, Input, MessageState, Outcome, PermissionMode,
    RequestId, RunHandle, RunOptions, ToolStatus, capability,
};
use serde_json::json;
use test_support::script::{Script, Signal};

use super::stage::{ending, folder, names, next, open, play, play_request, request, rest, soon, two_way};

#[tokio::test]
async fn messages_and_answers_reach_the_agent_in_order() {
    let script = Script::new()
        .expect_line(json!({"say": "Go."}))
        .emit_lines(["S", "A may-i"])
        .expect_line(json!({"answer": "may-i"}))
        .expect_line(json!({"say": "one"}))
        .expect_line(json!({"say": "two"}))
        .emit_lines(["T done", "F"])
        .read_to_end();
    let mut played = play_request(&script, two_way(Close::WhenIdle)).await;
    let handle = &mut played.handle;
    next(&mut handle.events).await;
    let asked = next(&mut handle.events).await;
    assert!(matches!(asked.body, Body::PermissionRequested(_)));
    let control = &handle.control;
    control.answer(&RequestId::new("may-i"), Answer::Allow).unwrap();
    let first = control.send("one").unwrap();
    let second = control.send("two").unwrap();
    assert_ne!(first, second);
    let (events, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.finished.exit.code, Some(0), "{events:?}");
    assert_eq!(names(&events)[0], "request_closed");
}

#[tokio::test]
async fn a_run_that_its_caller_closes_says_that_it_waits_for_messages() {
    let script = Script::new()
        .read_line()
        .emit_lines(["S", "F"])
        .expect_line(json!({"say": "again"}))
        .emit_lines(["S", "T again", "F"])
        .read_to_end();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    let handle = &mut played.handle;
    for name in ["turn_started", "turn_finished", "status_changed"] {
        assert_eq!(next(&mut handle.events).await.body.name(), name);
    }
    handle.control.send("again").unwrap();
    handle.control.close_input();
    assert_eq!(handle.control.send("   "), Err(CommandError::Empty));
    let (events, completed) = ending(played.handle).await;
    assert_eq!(
        names(&events)[..3],
        ["turn_started", "text_block", "turn_finished"]
    );
    assert_eq!(completed.finished.turns, 2);
    assert_eq!(completed.finished.exit.code, Some(0));
}

#[tokio::test]
async fn a_message_after_the_input_was_closed_is_refused_by_an_event() {
    let script = Script::new().read_to_end().emit_lines(["S", "F"]);
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    played.handle.control.close_input();
    let message_id = played.handle.control.send("too late").unwrap();
    let events = rest(&mut played.handle.events).await;
    let Body::CommandAnswered(answered) = &events[0].body else {
        panic!("{events:?}");
    };
    assert_eq!(answered.command_id, message_id);
    assert!(answered.error.is_some());
    soon(played.handle.completion).await.unwrap();
}

#[tokio::test]
async fn a_run_says_at_once_what_it_cannot_be_told() {
    let script = Script::new().emit_lines(["S", "F"]);
    let one_way = play(&script).await;
    assert_eq!(
        one_way.handle.control.send("hello"),
        Err(CommandError::Unsupported {
            capability: capability::SEND,
            reason: "it was started with its prompt only: ask for `Input::Messages`",
        })
    );
    ending(one_way.handle).await;
    let two_way = play_request(&script, two_way(Close::WhenIdle)).await;
    let set = two_way.handle.control.set_permission_mode(PermissionMode::Plan);
    assert_eq!(
        set,
        Err(CommandError::Unsupported {
            capability: capability::SET,
            reason: "the backend cannot do that",
        })
    );
    let control = two_way.handle.control.clone();
    ending(two_way.handle).await;
    assert_eq!(control.send("hello"), Err(CommandError::Closed));
}

#[tokio::test]
async fn an_agent_that_does_not_read_makes_the_caller_stop() {
    let script = Script::new().emit("S").sleep_forever();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    let control = played.handle.control.clone();
    let message = "x".repeat(4_096);
    let mut accepted = 0_u32;
    let refused = loop {
        match control.send(message.as_str()) {
            Ok(_) => accepted += 1,
            Err(error) => break error,
        }
        tokio::task::yield_now().await;
        assert!(accepted < 10_000, "everything is accepted");
    };
    assert_eq!(refused, CommandError::Busy);
    control.cancel();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn the_first_lines_of_the_input_are_no_commands() {
    let script = Script::new()
        .read_line()
        .emit("S")
        .read_line()
        .emit("T heard")
        .sleep_forever();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    let control = played.handle.control.clone();
    control.send("one").unwrap();
    next(&mut played.handle.events).await;
    // Nothing waits any more: the full number fits.
    for _ in 0..1_024 {
        control.send("x".repeat(4_096)).unwrap();
    }
    assert_eq!(control.send("one too many"), Err(CommandError::Busy));
    control.kill();
    ending(played.handle).await;
}

#[tokio::test]
async fn refusals_that_nobody_takes_make_the_caller_stop() {
    let script = Script::new().emit_bytes("S\nN 1000\n").sleep_forever();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    let control = played.handle.control.clone();
    control.close_input();
    let mut refused = 0;
    while control.send("too late").is_ok() {
        refused += 1;
        let_others_run_a_little().await;
        // As many as may wait, and those that the consumer had room for before.
        assert!(refused <= 1_024 + CHANNEL_EVENTS, "they are not counted");
    }
    assert!(refused >= 1_024, "{refused}");
    control.kill();
    let (events, _) = ending(played.handle).await;
    let told = names(&events)
        .iter()
        .filter(|name| **name == "command_answered")
        .count();
    assert_eq!(told, refused);
}

async fn let_others_run_a_little() {
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn no_command_that_was_accepted_stays_without_an_event() {
    let script = Script::new().read_line().emit("S").sleep_forever();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    let control = played.handle.control.clone();
    // More than any pipe holds, so that the last ones are never written.
    let large = "x".repeat(1 << 20);
    let ids: Vec<String> = (0..8).map(|_| control.send(large.as_str()).unwrap()).collect();
    control.kill();
    let (events, _) = ending(played.handle).await;
    let cancelled: Vec<&String> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::MessageUpdated(message) if message.state == MessageState::Cancelled => {
                Some(&message.message_id)
            }
            _ => None,
        })
        .collect();
    assert_eq!(cancelled.last(), Some(&ids.last().unwrap()), "{events:?}");
    assert!(cancelled.len() >= 6, "{cancelled:?}");
}

#[tokio::test]
async fn a_run_that_nobody_holds_ends_when_all_is_done() {
    let folder = folder();
    let script = Script::new()
        .record_process(folder.path(), "agent")
        .read_line()
        .emit_lines(["S", "F"])
        .read_to_end();
    let played = play_request(&script, two_way(Close::ByCaller)).await;
    let RunHandle {
        mut events,
        completion,
        control,
    } = played.handle;
    for name in ["turn_started", "turn_finished", "status_changed"] {
        assert_eq!(next(&mut events).await.body.name(), name);
    }
    drop(control);
    rest(&mut events).await;
    let completed = soon(completion).await.unwrap();
    assert_eq!(completed.finished.exit.code, Some(0));
}

#[tokio::test]
async fn what_nobody_can_answer_is_not_waited_for() {
    let folder = folder();
    let gate = folder.path().join("gate");
    for asks_before in [true, false] {
        let script = Script::new().read_line().emit("S");
        let script = if asks_before {
            script.emit("A may-i")
        } else {
            script.wait_for_file(&gate).emit("A may-i")
        };
        let played = play_request(&script.read_to_end().emit("F"), two_way(Close::ByCaller)).await;
        let RunHandle {
            mut events,
            completion,
            control,
        } = played.handle;
        next(&mut events).await;
        if asks_before {
            next(&mut events).await;
        }
        drop(control);
        open(&gate);
        rest(&mut events).await;
        let completed = soon(completion).await.unwrap();
        assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    }
}

/// Nobody can learn what it asks for.
#[tokio::test]
async fn a_detached_run_that_asks_is_not_waited_for() {
    let script = Script::new()
        .read_line()
        .emit_lines(["S", "A may-i"])
        .read_to_end()
        .emit("F");
    let played = play_request(&script, two_way(Close::ByCaller)).await;
    let detached = played.handle.detach();
    let completed = soon(detached.completion).await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn an_interrupt_is_told_under_its_id_and_refused_after_the_end() {
    let script = Script::new()
        .on_signal(Signal::Interrupt, Script::new().emit("F").exit(0))
        .emit("S")
        .sleep_forever();
    let mut played = play(&script).await;
    next(&mut played.handle.events).await;
    let control = played.handle.control.clone();
    let id = control.interrupt().unwrap();
    let (events, _) = ending(played.handle).await;
    let answered = events.iter().any(|event| {
        matches!(&event.body, Body::CommandAnswered(answered) if answered.command_id == id && answered.error.is_none())
    });
    assert!(answered, "{events:?}");
    assert_eq!(control.interrupt(), Err(CommandError::Closed));
}

#[tokio::test]
async fn what_nobody_ended_is_ended_in_order_and_where_it_belongs() {
    let script = Script::new().emit_lines([
        "S",
        "B tool-1",
        "B tool-2 tool-1",
        "B tool-3",
        "A ask-1 tool-2",
        "A ask-2",
        "E tool-3",
        "B tool-4",
        "F",
    ]);
    let mut events = ending(play(&script).await.handle).await.0;
    let last: Vec<(String, Option<String>)> = events.split_off(9).iter().map(closed).collect();
    let expected = [
        ("tool-1", None),
        ("tool-2", Some("tool-1")),
        ("tool-4", None),
        ("ask-1", Some("tool-2")),
        ("ask-2", None),
    ]
    .map(|(id, parent)| (id.to_owned(), parent.map(str::to_owned)));
    assert_eq!(last, expected);
}

/// What was closed, and its parent.
fn closed(event: &Event) -> (String, Option<String>) {
    assert_eq!(event.raw, None, "the agent did not say that");
    let id = match &event.body {
        Body::ToolFinished(tool) if tool.status == ToolStatus::Cancelled => tool.item.to_string(),
        Body::RequestClosed(closed) if closed.reason == CloseReason::Ended => closed.request.to_string(),
        other => panic!("not expected at the end: {other:?}"),
    };
    (id, event.parent.as_ref().map(ToString::to_string))
}

#[tokio::test]
async fn the_completion_names_the_session_unless_its_id_is_too_long() {
    let long = "x".repeat(agent_api::bounds::SESSION_ID_BYTES + 1);
    for (id, expected) in [("one", Some("one")), (long.as_str(), None)] {
        let script = Script::new().emit(format!("I {id}")).emit_lines(["S", "F"]);
        let (_, completed) = ending(play(&script).await.handle).await;
        assert_eq!(completed.session_id.as_deref(), expected);
    }
}

#[tokio::test]
async fn a_request_for_messages_needs_a_backend_that_takes_them() {
    let registry = agent_api::AgentRegistry::new()
        .with(agent_api::backends::custom::Custom::new(
            "/bin/sh",
            ["-c", "true"],
        ))
        .unwrap();
    let wanted = request(RunOptions::new()).input(Input::Messages(Close::WhenIdle));
    let error = registry.run("custom", wanted).await.unwrap_err();
    assert!(
        matches!(&error, agent_api::Error::UnsupportedCapability { capability: missing, .. }
        if missing == capability::SEND)
    );
}
