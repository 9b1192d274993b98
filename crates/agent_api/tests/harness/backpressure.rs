//! A consumer that does not read holds the agent up; nothing is lost and commands still work.

use agent_api::bounds::CHANNEL_EVENTS;
use agent_api::{Body, CancelOutcome, Close, Outcome, RunOptions, VendorEvents};
use serde_json::json;
use test_support::script::Script;

use super::stage::{
    ending, folder, gone, let_others_run, next, open, play, play_request, request, rest, soon, take_finished,
    text, two_way,
};

/// With 4 KiB each they fit into no pipe and no channel.
const MANY_LINES: usize = 4_000;

#[tokio::test]
async fn a_consumer_that_does_not_read_stops_the_reading() {
    let script = Script::new()
        .flood(MANY_LINES as u64, 4_096)
        .emit_lines(["S", "F"]);
    let played = play(&script).await;
    // Another run is read to its end: whatever could pile up in this one has done so by then.
    let (events, _) = ending(play(&script).await.handle).await;
    assert_eq!(events.len(), MANY_LINES + 2);
    let_others_run().await;
    let mapped = played.lines_mapped();
    assert!(
        (CHANNEL_EVENTS..=CHANNEL_EVENTS + 1).contains(&mapped),
        "{mapped}"
    );
    let (late, completed) = ending(played.handle).await;
    assert!(late == events, "both runs say the same");
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn events_that_carry_long_lines_wait_in_smaller_numbers() {
    const MIB: usize = 1 << 20;
    let line = format!("E x {}", "p".repeat(MIB));
    let script = Script::new().emit_lines(vec![line; 40]).emit_lines(["S", "F"]);
    let mut wanted = request(RunOptions::new());
    wanted.options.vendor_events = Some(VendorEvents::Attached);
    let played = play_request(&script, wanted.clone()).await;
    // Another run is read to its end: whatever could pile up in this one has done so by then.
    ending(play_request(&script, wanted).await.handle).await;
    let_others_run().await;
    let mapped = played.lines_mapped();
    assert!((1..10).contains(&mapped), "{mapped} lines of a MiB");
    let (events, _) = ending(played.handle).await;
    assert_eq!(events.len(), 42);
}

#[tokio::test]
async fn a_line_with_many_events_is_handed_over_piece_by_piece() {
    let script = Script::new().emit_lines(["N 1000", "N 500", "S", "F"]);
    let played = play(&script).await;
    ending(play(&script).await.handle).await;
    while played.lines_mapped() == 0 {
        tokio::task::yield_now().await;
    }
    let_others_run().await;
    assert_eq!(played.lines_mapped(), 1);
    let (events, _) = ending(played.handle).await;
    assert_eq!(events.len(), 1_502);
}

#[tokio::test]
async fn an_agent_can_be_cancelled_while_nobody_reads() {
    let folder = folder();
    let script = Script::new()
        .emit_lines(vec!["T x"; 200])
        .record_process(folder.path(), "agent")
        .sleep_forever();
    let mut played = play(&script).await;
    // The other lines wait in the pipe, so the agent is past them before the channel is full.
    next(&mut played.handle.events).await;
    let recorded = test_support::recorded::path_of(folder.path(), "agent");
    while !recorded.exists() {
        tokio::task::yield_now().await;
    }
    assert_eq!(played.handle.control.cancel(), CancelOutcome::Requested);
    gone(folder.path()).await;
    let (events, completed) = ending(played.handle).await;
    assert_eq!(text(&events).len(), 199);
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn messages_reach_the_agent_while_nobody_reads() {
    let folder = folder();
    let script = Script::new()
        .record_process(folder.path(), "agent")
        .emit("S")
        .read_line()
        .emit_lines(vec!["T x"; 300])
        .expect_line(json!({"say": "more"}))
        .emit("F");
    let mut played = play_request(&script, two_way(Close::WhenIdle)).await;
    next(&mut played.handle.events).await;
    played.handle.control.send("more").unwrap();
    gone(folder.path()).await;
    let (events, completed) = ending(played.handle).await;
    assert_eq!(text(&events).len(), 300);
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn a_message_that_comes_after_the_exit_is_refused_by_an_event() {
    let alive_before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let script = Script::new().emit_lines(vec!["T x"; 300]).emit_lines(["S", "F"]);
    let played = play_request(&script, two_way(Close::ByCaller)).await;
    // Only the run's loop, which waits for a consumer, and its writer are left once the process is dealt with.
    while tokio::runtime::Handle::current().metrics().num_alive_tasks() > alive_before + 2 {
        tokio::task::yield_now().await;
    }
    let_others_run().await;
    let mut handle = played.handle;
    let sent = handle.control.send("too late");
    let mut events = rest(&mut handle.events).await;
    take_finished(&mut events);
    soon(handle.completion).await.unwrap();
    let message_id = sent.unwrap();
    let refused = events.iter().any(|event| {
        matches!(&event.body, Body::CommandAnswered(answered)
            if answered.command_id == message_id && answered.error.is_some())
    });
    assert!(refused, "nobody says what became of the message");
    assert!(handle.control.send("far too late").is_err());
}

/// The agent may be unable to read before it has written the rest of its output.
#[tokio::test]
async fn an_agent_that_gets_a_long_answer_is_read_on() {
    let script = Script::new()
        .emit_lines(["S", "R 2000000"])
        .flood(100, 50_000)
        .read_line()
        .read_line()
        .emit("F")
        .read_to_end();
    let played = play_request(&script, two_way(Close::WhenIdle)).await;
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

/// Otherwise its answers would fill the memory.
#[tokio::test]
async fn an_agent_that_does_not_read_its_answers_is_not_read_either() {
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new()
        .emit_lines(["S", "R 2000000", "R 2000000", "R 2000000", "T more"])
        .wait_for_file(&gate)
        .read_line()
        .read_line()
        .read_line()
        .read_line()
        .emit("F")
        .read_to_end();
    let played = play_request(&script, two_way(Close::WhenIdle)).await;
    // One answer is being written, and one waits.
    while played.lines_mapped() < 3 {
        tokio::task::yield_now().await;
    }
    // Another run is read to its end: whatever could be read of this one has been by then.
    ending(play(&Script::new().emit_lines(["S", "F"])).await.handle).await;
    let_others_run().await;
    assert_eq!(played.lines_mapped(), 3);
    open(&gate);
    let (events, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(text(&events).contains("more"), "{events:?}");
}
