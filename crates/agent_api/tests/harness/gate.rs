//! The completion gate: after the process's exit and the stream's end, never before.

use agent_api::{CancelOutcome, Close, Outcome};
use test_support::script::Script;

use super::stage::{
    ending, folder, gone, is_finished, is_resolved, let_others_run, next, open, play, play_request, rest,
    shell, soon, text, two_way,
};

#[tokio::test]
async fn the_first_event_arrives_before_the_process_exits() {
    let folder = folder();
    let gate = folder.path().join("gate");
    let mut played = play(&Script::new().emit("T early").wait_for_file(&gate)).await;
    let first = next(&mut played.handle.events).await;
    assert_eq!(text(&[first]), "early");
    open(&gate);
    ending(played.handle).await;
}

#[tokio::test]
async fn completion_waits_for_the_end_of_the_stream_long_after_the_exit() {
    let folder = folder();
    let script = Script::new()
        .record_process(folder.path(), "agent")
        .emit_lines(["T one", "S", "F"]);
    let mut played = play(&script).await;
    let handle = &mut played.handle;
    next(&mut handle.events).await;
    gone(folder.path()).await;
    let_others_run().await;
    assert!(!is_resolved(&mut handle.completion).await);
    assert_eq!(next(&mut handle.events).await.body.name(), "turn_started");
    assert_eq!(next(&mut handle.events).await.body.name(), "turn_finished");
    let_others_run().await;
    assert!(!is_resolved(&mut handle.completion).await);
    assert!(is_finished(&next(&mut handle.events).await));
    let completed = soon(&mut handle.completion).await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(soon(handle.events.next()).await, None);
}

#[tokio::test]
async fn a_consumer_that_only_takes_what_is_there_sees_the_end_too() {
    let mut handle = shell("echo one").await;
    let last = soon(async {
        loop {
            match handle.events.try_next() {
                Some(event) if is_finished(&event) => return event,
                _ => tokio::task::yield_now().await,
            }
        }
    });
    assert!(is_finished(&last.await));
    assert!(soon(handle.completion).await.unwrap().is_success());
    assert_eq!(handle.events.try_next(), None);
}

#[tokio::test]
async fn completion_waits_for_the_exit_when_nobody_reads() {
    let folder = folder();
    let gate = folder.path().join("gate");
    let mut played = play(&Script::new().emit_lines(["S", "F"]).wait_for_file(&gate)).await;
    next(&mut played.handle.events).await;
    played.handle.events.detach();
    let_others_run().await;
    assert!(!is_resolved(&mut played.handle.completion).await);
    open(&gate);
    let completed = soon(played.handle.completion).await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn dropping_the_events_stops_the_agent() {
    let folder = folder();
    let script = Script::new()
        .record_process(folder.path(), "agent")
        .emit("S")
        .sleep_forever();
    let mut played = play(&script).await;
    next(&mut played.handle.events).await;
    drop(played.handle.events);
    let completed = soon(played.handle.completion).await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    assert!(completed.finished.exit.was_stopped);
    assert_eq!(played.handle.control.cancel(), CancelOutcome::AlreadyRequested);
    gone(folder.path()).await;
}

#[tokio::test]
async fn dropping_the_events_of_an_agent_that_is_done_does_not_undo_what_it_did() {
    let script = Script::new().emit_lines(["S", "F"]).sleep_forever();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    for name in ["turn_started", "turn_finished", "status_changed"] {
        assert_eq!(next(&mut played.handle.events).await.body.name(), name);
    }
    drop(played.handle.events);
    let completed = soon(played.handle.completion).await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn waiting_for_a_run_needs_no_consumer() {
    // More events than the stream holds.
    let completed = soon(shell("seq 1 1000; exit 2").await.wait()).await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Failed);
    assert_eq!(completed.finished.exit.code, Some(2));
}

#[tokio::test]
async fn waiting_for_a_conversation_ends_it_when_everything_is_done() {
    let script = Script::new().read_line().emit_lines(["S", "F"]).read_to_end();
    let played = play_request(&script, two_way(Close::ByCaller)).await;
    let completed = soon(played.handle.wait()).await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.finished.exit.code, Some(0));
}

#[tokio::test]
async fn collecting_returns_every_event() {
    let played = play(&Script::new().emit_lines(["S", "N 500", "F"])).await;
    let (events, completed) = soon(played.handle.collect()).await.unwrap();
    assert_eq!(events.len(), 503);
    assert!(is_finished(events.last().unwrap()));
    assert!(completed.is_success());
}

#[tokio::test]
async fn a_completion_that_is_polled_again_stays_pending() {
    let mut handle = shell("echo one").await;
    rest(&mut handle.events).await;
    soon(&mut handle.completion).await.unwrap();
    assert!(!is_resolved(&mut handle.completion).await);
}

#[tokio::test]
async fn completion_may_be_awaited_before_the_events_are_read() {
    let mut handle = shell("echo one").await;
    let waiting = tokio::spawn(handle.completion);
    let events = rest(&mut handle.events).await;
    assert_eq!(text(&events), "one\n");
    let completed = soon(waiting).await.unwrap().unwrap();
    assert!(completed.is_success());
}

#[tokio::test]
async fn dropping_completion_and_control_changes_nothing() {
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new()
        .emit("S")
        .wait_for_file(&gate)
        .emit_lines(["T late", "F"]);
    let mut played = play(&script).await;
    next(&mut played.handle.events).await;
    drop(played.handle.completion);
    drop(played.handle.control);
    open(&gate);
    let mut events = rest(&mut played.handle.events).await;
    let finished = super::stage::take_finished(&mut events);
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert_eq!(text(&events), "late");
}

#[tokio::test]
async fn a_detached_run_continues_to_its_end() {
    let folder = folder();
    let (gate, end) = (folder.path().join("gate"), folder.path().join("end"));
    // More than pipe and channel hold: without a reader it would never get to its end.
    let script = Script::new()
        .record_process(folder.path(), "agent")
        .emit("S")
        .wait_for_file(&gate)
        .flood(1_000, 4_096)
        .create_file(&end);
    let mut played = play(&script).await;
    next(&mut played.handle.events).await;
    drop(played.handle.detach());
    open(&gate);
    gone(folder.path()).await;
    assert!(end.exists());
}
