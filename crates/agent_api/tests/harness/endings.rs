//! Every run ends with exactly one `Finished`, which says why.

use std::process::Command;

use agent_api::{Answer, Body, CancelOutcome, Close, Error, ErrorClass, Outcome, RequestId, RunOptions};
use agent_process::{Limits, SpawnError};
use std::time::Duration;
use test_support::script::{ChildKind, Script, Signal};

use super::stage::{
    ending, folder, gone, names, next, open, play, play_request, request, rest, shell, shell_with, soon,
    take_finished, text, two_way,
};

#[tokio::test]
async fn a_command_that_exits_with_zero_has_succeeded() {
    let (events, completed) = ending(shell("cat; echo; echo done").await).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(completed.is_success() && completed.finished.is_synthetic);
    assert_eq!(completed.finished.exit.code, Some(0));
    assert_eq!(completed.finished.error, None);
    assert_eq!(text(&events), "Go.\ndone\n");
    assert_eq!(completed.final_text.as_deref(), Some("Go.\ndone\n"));
}

#[tokio::test]
async fn a_command_that_exits_with_another_code_has_failed() {
    let (_, completed) = ending(shell("echo no such model >&2; exit 3").await).await;
    let finished = completed.finished;
    assert_eq!(finished.outcome, Outcome::Failed);
    assert_eq!(finished.exit.code, Some(3));
    let error = finished.error.unwrap();
    assert_eq!(
        (error.class, error.code.as_str()),
        (ErrorClass::Process, "exit_code")
    );
    assert_eq!(
        error.message,
        "the command failed (exited with code 3): no such model"
    );
}

#[tokio::test]
async fn a_process_that_dies_by_its_own_signal_has_crashed() {
    let (_, completed) = ending(shell("kill -TERM $$").await).await;
    assert_eq!(completed.finished.outcome, Outcome::Crashed);
    assert_eq!(completed.finished.exit.signal, Some(15));
    assert!(!completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn a_process_that_somebody_kills_has_crashed() {
    let mut played = play(&Script::new().emit("S").sleep_forever()).await;
    next(&mut played.handle.events).await;
    let pid = played.handle.control.pid().to_string();
    let kill = Command::new("kill").args(["-KILL", &pid]).status().unwrap();
    assert!(kill.success());
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Crashed);
    assert_eq!(completed.finished.exit.signal, Some(9));
    assert!(
        completed.finished.usage.is_partial,
        "a turn was open: what is known is not all"
    );
}

#[tokio::test]
async fn a_turn_that_ended_decides_whatever_the_exit_code() {
    for (script, outcome) in [
        (Script::new().emit_lines(["S", "F"]).exit(1), Outcome::Succeeded),
        (Script::new().emit_lines(["S", "X"]).exit(0), Outcome::Failed),
        (
            Script::new().emit_lines(["S", "X", "S", "F"]).die(Signal::Abort),
            Outcome::Succeeded,
        ),
    ] {
        let (_, completed) = ending(play(&script).await.handle).await;
        assert_eq!(completed.finished.outcome, outcome);
        assert!(!completed.finished.is_synthetic);
    }
}

#[tokio::test]
async fn an_agent_that_owes_a_result_does_not_succeed_without_one() {
    for (script, outcome) in [
        (Script::new().emit("I one").exit(0), Outcome::NoResult),
        (Script::new().emit_lines(["I one", "S"]).exit(1), Outcome::Crashed),
        (
            Script::new().emit_lines(["I one", "S", "F", "S"]).exit(1),
            Outcome::Crashed,
        ),
        (Script::new().stderr("bad option\n").exit(1), Outcome::Failed),
    ] {
        let (_, completed) = ending(play(&script).await.handle).await;
        assert_eq!(completed.finished.outcome, outcome);
        assert!(completed.finished.is_synthetic);
        assert!(completed.finished.error.is_some());
    }
}

#[tokio::test]
async fn a_cancelled_run_says_so_once() {
    let mut played = play(&Script::new().emit("S").sleep_forever()).await;
    next(&mut played.handle.events).await;
    let control = played.handle.control.clone();
    assert_eq!(control.cancel(), CancelOutcome::Requested);
    assert_eq!(control.cancel(), CancelOutcome::AlreadyRequested);
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    assert_eq!(completed.finished.error, None);
    assert!(completed.finished.exit.was_stopped);
    assert_eq!(control.cancel(), CancelOutcome::AlreadyRequested);
}

#[tokio::test]
async fn a_run_that_has_ended_cannot_be_cancelled() {
    let handle = shell("true").await;
    let control = handle.control.clone();
    let (_, completed) = ending(handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(control.cancel(), CancelOutcome::AlreadyEnded);
    assert_eq!(control.kill(), CancelOutcome::AlreadyEnded);
}

#[tokio::test]
async fn a_detached_run_can_be_cancelled() {
    let folder = folder();
    let script = Script::new()
        .record_process(folder.path(), "agent")
        .emit("S")
        .sleep_forever();
    let mut played = play(&script).await;
    next(&mut played.handle.events).await;
    let detached = played.handle.detach();
    assert_eq!(detached.control.cancel(), CancelOutcome::Requested);
    let completed = soon(detached.completion).await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    gone(folder.path()).await;
}

#[tokio::test]
async fn an_agent_that_ignores_signals_can_be_killed() {
    let script = Script::new()
        .ignore_signals([Signal::Interrupt, Signal::Terminate])
        .emit("S")
        .sleep_forever();
    let mut played = play(&script).await;
    next(&mut played.handle.events).await;
    assert_eq!(played.handle.control.kill(), CancelOutcome::Requested);
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    assert_eq!(completed.finished.exit.signal, Some(9));
}

#[tokio::test]
async fn cancelling_an_agent_that_is_done_does_not_undo_what_it_did() {
    let script = Script::new().emit_lines(["S", "F"]).sleep_forever();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    played.handle.control.cancel();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn cancelling_a_later_turn_is_a_cancelled_run() {
    let script = Script::new().emit_lines(["S", "F", "S"]).sleep_forever();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    // Between the turns it may be told that the agent is idle.
    let mut begun = 0;
    while begun < 2 {
        let event = next(&mut played.handle.events).await;
        begun += u32::from(matches!(event.body, agent_api::Body::TurnStarted(_)));
    }
    played.handle.control.cancel();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    assert_eq!(completed.finished.turns, 1);
}

#[tokio::test]
async fn a_silent_process_has_an_end_too() {
    let (events, completed) = ending(shell("cat >/dev/null").await).await;
    assert!(events.is_empty(), "{events:?}");
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.final_text, None);
}

#[tokio::test]
async fn a_run_whose_output_a_grandchild_holds_open_ends() {
    let folder = folder();
    let script = Script::new()
        .emit_lines(["S", "F"])
        .spawn_child(ChildKind::HoldsStdout, folder.path())
        .exit(0);
    let mut options = RunOptions::new();
    options.limits = Some(Limits::default().drain(Duration::from_millis(50)));
    let played = play_request(&script, request(options)).await;
    let (events, completed) = ending(played.handle).await;
    assert_eq!(names(&events), ["turn_started", "turn_finished"]);
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    gone(folder.path()).await;
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_is_an_error_and_no_run() {
    let agent = Script::new().install().unwrap();
    let registry = agent_api::AgentRegistry::new()
        .with(super::line_agent::LineAgent::new(&agent))
        .unwrap();
    let mut options = RunOptions::new();
    options.stderr_log = Some("/no/such/folder/log".into());
    let error = registry.run("line_agent", request(options)).await.unwrap_err();
    assert!(
        matches!(&error, Error::Spawn(SpawnError::Log { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_mapping_with_a_bug_loses_the_run_but_leaves_no_process() {
    let folder = folder();
    let script = Script::new()
        .record_process(folder.path(), "agent")
        .emit("T fine")
        .emit("!")
        .sleep_forever();
    let mut played = play(&script).await;
    let events = rest(&mut played.handle.events).await;
    assert_eq!(text(&events), "fine");
    let error = soon(played.handle.completion).await.unwrap_err();
    assert!(matches!(error, Error::Lost), "{error:?}");
    gone(folder.path()).await;
}

#[tokio::test]
async fn every_transport_ends_alike() {
    let folder = folder();
    for (name, transport) in [
        ("pipe", agent_process::StdoutMode::Pipe),
        ("spool", agent_process::StdoutMode::Spool),
        (
            "pty",
            agent_process::StdoutMode::Pty {
                columns: 80,
                rows: 24,
            },
        ),
    ] {
        let mut options = RunOptions::new();
        options.raw_log = Some(folder.path().join(name));
        options.transport = Some(transport);
        let mut handle = shell_with("printf 'one\\ntwo'; exit 4", options).await;
        let mut events = rest(&mut handle.events).await;
        let finished = take_finished(&mut events);
        assert_eq!(finished.outcome, Outcome::Failed, "{name}");
        assert_eq!(finished.exit.code, Some(4), "{name}");
        assert_eq!(text(&events), "one\ntwo", "{name}");
        assert_eq!(
            std::fs::read(folder.path().join(name)).unwrap(),
            b"one\ntwo",
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_agent_that_obeys_a_cancel_message_exits_without_a_signal() {
    let script = Script::new()
        .emit_lines(["C", "S"])
        .read_line()
        .expect_line(serde_json::json!({"cancel": true}))
        .emit("X")
        .step(test_support::script::Step::ReadToEnd);
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    played.handle.control.cancel();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    assert_eq!(completed.finished.exit.code, Some(0));
    assert!(!completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn an_agent_that_is_being_cancelled_gets_no_answers_any_more() {
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new()
        .emit_lines(["C", "S", "A may-i"])
        .read_line()
        .expect_line(serde_json::json!({"cancel": true}))
        .emit("T cancelling")
        .wait_for_file(&gate)
        .emit("X")
        .read_to_end();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    for name in ["turn_started", "permission_requested"] {
        assert_eq!(next(&mut played.handle.events).await.body.name(), name);
    }
    played.handle.control.cancel();
    assert_eq!(next(&mut played.handle.events).await.body.name(), "text_block");
    let request = RequestId::new("may-i");
    played.handle.control.answer(&request, Answer::Allow).unwrap();
    let refused = next(&mut played.handle.events).await;
    let Body::CommandAnswered(answered) = &refused.body else {
        panic!("{refused:?}");
    };
    assert!(answered.command_id == "may-i" && answered.error.is_some());
    open(&gate);
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
}
