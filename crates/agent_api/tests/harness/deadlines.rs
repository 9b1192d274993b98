//! Time limits, with a clock that the test moves.

use std::time::Duration;

use agent_api::{Body, Close, Outcome, RunOptions, RunRequest};
use agent_process::Limits;
use test_support::script::{Script, Signal};

use super::clock::Clock;
use super::line_agent::{ANSWER_LIMIT, EXIT_AFTER_IDLE};
use super::stage::{
    ending, folder, is_resolved, let_others_run, next, open, play, play_request, request, shell_with, soon,
    text, two_way,
};

const LIMIT: Duration = Duration::from_secs(60);
const ALMOST: Duration = Duration::from_secs(59);

fn silent_for(limit: Duration) -> RunOptions {
    let mut options = RunOptions::new();
    options.inactivity_limit = Some(limit);
    options
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_stopped() {
    let clock = Clock::stop();
    let mut options = RunOptions::new();
    options.timeout = Some(LIMIT);
    let mut played = play_request(&Script::new().emit("S").sleep_forever(), request(options)).await;
    next(&mut played.handle.events).await;
    clock.advance(LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::TimedOut);
    assert_eq!(completed.finished.error.unwrap().code, "timed_out");
    assert!(completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_stopped_even_if_nobody_reads() {
    let clock = Clock::stop();
    let mut options = RunOptions::new();
    options.timeout = Some(LIMIT);
    let script = Script::new().emit_bytes("S\nN 1000\n").sleep_forever();
    let mut played = play_request(&script, request(options)).await;
    next(&mut played.handle.events).await;
    clock.advance(LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::TimedOut);
}

#[tokio::test]
async fn a_run_that_was_done_in_time_is_not_undone_by_the_timeout() {
    let clock = Clock::stop();
    let mut options = RunOptions::new();
    options.timeout = Some(LIMIT);
    let script = Script::new().emit_lines(["S", "F"]).sleep_forever();
    let mut played = play_request(&script, request(options)).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    clock.advance(LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn a_run_that_was_done_in_time_stays_done_even_if_nobody_reads() {
    let clock = Clock::stop();
    let mut options = RunOptions::new();
    options.timeout = Some(LIMIT);
    let script = Script::new().emit_bytes("S\nN 1000\nF\n").sleep_forever();
    let mut played = play_request(&script, request(options)).await;
    next(&mut played.handle.events).await;
    clock.advance(LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn what_an_agent_says_about_its_timeout_is_no_end_of_its_own() {
    let clock = Clock::stop();
    let mut options = RunOptions::new();
    options.timeout = Some(LIMIT);
    let script = Script::new()
        .on_signal(Signal::Interrupt, Script::new().emit("X").exit(0))
        .emit_bytes("S\nN 1000\n")
        .sleep_forever();
    let mut played = play_request(&script, request(options)).await;
    next(&mut played.handle.events).await;
    clock.advance(LIMIT).await;
    clock.go_on();
    let (events, completed) = ending(played.handle).await;
    assert!(matches!(events.last().unwrap().body, Body::TurnFinished(_)));
    assert_eq!(completed.finished.outcome, Outcome::TimedOut);
    assert_eq!(completed.finished.error.unwrap().code, "timed_out");
}

#[tokio::test]
async fn an_announced_retry_is_not_silence() {
    let clock = Clock::stop();
    let script = Script::new().emit_lines(["S", "P 600"]).sleep_forever();
    let mut played = play_request(&script, request(silent_for(LIMIT))).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    clock.advance(Duration::from_secs(600) + ALMOST).await;
    let_others_run().await;
    assert!(!is_resolved(&mut played.handle.completion).await);
    clock.advance(LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Stalled);
}

#[tokio::test]
async fn an_agent_that_closes_its_output_and_stays_has_not_used_up_its_time() {
    let mut options = RunOptions::new();
    options.limits = Some(Limits::default().exit_after_end_of_output(Duration::from_millis(1)));
    let script = Script::new().emit("S").close_stdout().sleep_forever();
    let played = play_request(&script, request(options)).await;
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::TimedOut);
    assert_eq!(completed.finished.error.unwrap().code, "lingered");
}

#[tokio::test]
async fn the_time_that_a_consumer_takes_is_not_the_agents() {
    let clock = Clock::stop();
    let alive_before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let played = play(&Script::new().emit_bytes("S\nN 1000\nF\n")).await;
    while tokio::runtime::Handle::current().metrics().num_alive_tasks() > alive_before + 1 {
        tokio::task::yield_now().await;
    }
    clock.advance(LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert!(
        completed.finished.duration_ms < 60_000,
        "{:?}",
        completed.finished
    );
}

#[tokio::test]
async fn an_agent_that_is_silent_for_too_long_is_stopped() {
    let clock = Clock::stop();
    let script = Script::new().emit("S").sleep_forever();
    let mut played = play_request(&script, request(silent_for(LIMIT))).await;
    next(&mut played.handle.events).await;
    clock.advance(LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Stalled);
    assert_eq!(completed.finished.error.unwrap().code, "stalled");
}

#[tokio::test]
async fn stdout_and_stderr_are_signs_of_life() {
    let clock = Clock::stop();
    let folder = folder();
    let gate = |number: u32| folder.path().join(number.to_string());
    let script = Script::new()
        .emit("S")
        .wait_for_file(gate(1))
        .stderr("still here\n")
        .wait_for_file(gate(2))
        .emit("T and here")
        .wait_for_file(gate(3))
        .emit("F");
    let mut played = play_request(&script, request(silent_for(LIMIT))).await;
    for (number, name) in [(1, "turn_started"), (2, "notice"), (3, "text_block")] {
        assert_eq!(next(&mut played.handle.events).await.body.name(), name);
        clock.advance(ALMOST).await;
        open(&gate(number));
    }
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn dots_without_a_newline_are_signs_of_life() {
    for (stream, dots) in [(1, "printf . "), (2, "printf . >&2")] {
        let clock = Clock::stop();
        let folder = folder();
        let gate = |number: u32| folder.path().join(number.to_string());
        let script = (1..=3).map(|number| {
            format!(
                "{dots}; : >'{}'; read _ <'{}'\n",
                gate(10 * number).display(),
                gate(number).display()
            )
        });
        let script: String = script.collect();
        for number in 1..=3 {
            let made = std::process::Command::new("mkfifo")
                .arg(gate(number))
                .status()
                .unwrap();
            assert!(made.success());
        }
        let handle = shell_with(&script, silent_for(LIMIT)).await;
        for number in 1..=3 {
            while !gate(10 * number).exists() {
                tokio::task::yield_now().await;
            }
            let_others_run().await;
            clock.advance(ALMOST).await;
            let gate = gate(number);
            tokio::task::spawn_blocking(move || std::fs::write(gate, "\n"))
                .await
                .unwrap()
                .unwrap();
        }
        clock.go_on();
        let (_, completed) = ending(handle).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded, "stream {stream}");
    }
}

#[tokio::test]
async fn an_agent_that_waits_for_an_answer_is_not_stuck() {
    let clock = Clock::stop();
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new()
        .emit_lines(["S", "A may-i"])
        .wait_for_file(&gate)
        .emit_lines(["T thanks", "F"]);
    let mut played = play_request(&script, request(silent_for(LIMIT))).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    for _ in 0..5 {
        clock.advance(LIMIT).await;
    }
    open(&gate);
    clock.go_on();
    let (events, completed) = ending(played.handle).await;
    assert_eq!(text(&events), "thanks");
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn the_time_in_which_an_agent_waits_for_a_message_is_not_its_silence() {
    let clock = Clock::stop();
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new()
        .read_line()
        .emit_lines(["S", "F"])
        .read_line()
        .wait_for_file(&gate)
        .emit_lines(["S", "F"])
        .read_to_end();
    let mut wanted = two_way(Close::ByCaller);
    wanted.options.inactivity_limit = Some(LIMIT);
    let mut played = play_request(&script, wanted).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    for _ in 0..5 {
        clock.advance(ALMOST).await;
    }
    // From here on it has something to do.
    played.handle.control.send("go on").unwrap();
    clock.advance(ALMOST).await;
    open(&gate);
    played.handle.control.close_input();
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.turns, 2);
    assert_eq!(completed.finished.exit.code, Some(0));
}

#[tokio::test]
async fn the_silence_of_an_agent_that_nobody_reads_is_not_its_fault() {
    let clock = Clock::stop();
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new()
        .emit_bytes("S\nN 1000\n")
        .wait_for_file(&gate)
        .emit("F");
    let mut played = play_request(&script, request(silent_for(LIMIT))).await;
    next(&mut played.handle.events).await;
    clock.advance(LIMIT * 5).await;
    for _ in 0..1_000 {
        next(&mut played.handle.events).await;
    }
    let_others_run().await;
    open(&gate);
    clock.go_on();
    let (events, completed) = ending(played.handle).await;
    assert!(matches!(events[0].body, Body::TurnFinished(_)));
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn limits_without_end_never_pass() {
    for limit in [Duration::ZERO, Duration::MAX] {
        let mut options = silent_for(limit);
        options.timeout = Some(Duration::MAX);
        let played = play_request(&Script::new().emit_lines(["S", "F"]), request(options)).await;
        let (_, completed) = ending(played.handle).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    }
}

#[tokio::test]
async fn an_agent_that_does_not_leave_is_stopped_and_has_succeeded_all_the_same() {
    let clock = Clock::stop();
    let script = Script::new().emit_lines(["S", "F"]).sleep_forever();
    let mut played = play(&script).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    clock.advance(EXIT_AFTER_IDLE).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn an_agent_that_owes_an_answer_fails_at_the_deadline_even_if_its_caller_would_wait() {
    let clock = Clock::stop();
    // Stays until its input ends.
    let script = Script::new().emit_lines(["W", "T ready"]).read_line().read_line();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    clock.advance(ANSWER_LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    let finished = completed.finished;
    assert_eq!(finished.outcome, Outcome::Failed);
    assert_eq!(finished.error.unwrap().code, "no_answer");
}

#[tokio::test]
async fn an_agent_that_does_not_react_to_a_cancel_message_is_stopped_after_a_grace() {
    let clock = Clock::stop();
    let script = Script::new()
        .emit_lines(["C", "S"])
        .read_line()
        .expect_line(serde_json::json!({"cancel": true}))
        .emit("T heard")
        .sleep_forever();
    let mut played = play_request(&script, two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    played.handle.control.cancel();
    next(&mut played.handle.events).await;
    clock.advance(LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Cancelled);
    assert!(completed.finished.exit.was_stopped);
}

const GRACE: Duration = Duration::from_secs(30);
/// Timers round up to this. A test that waits for an event while the clock stands still must go past it.
const TIMER_STEP: Duration = Duration::from_millis(1);

fn background(close: Close) -> RunRequest {
    let mut wanted = two_way(close);
    wanted.options.inactivity_limit = Some(LIMIT);
    wanted.options.background_grace = Some(GRACE);
    wanted
}

#[tokio::test]
async fn a_finished_turn_with_a_background_task_is_concluded_from_its_result() {
    let clock = Clock::stop();
    // Like a development server: it says nothing more and does not end with the input.
    let script = Script::new()
        .read_line()
        .emit_lines(["S", "G 1", "F"])
        .sleep_forever();
    let mut played = play_request(&script, background(Close::WhenIdle)).await;
    for name in ["turn_started", "text_block", "turn_finished"] {
        assert_eq!(next(&mut played.handle.events).await.body.name(), name);
    }
    clock.advance(GRACE + TIMER_STEP).await;
    assert_eq!(next(&mut played.handle.events).await.body.name(), "notice");
    clock.advance(EXIT_AFTER_IDLE).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(!completed.finished.is_synthetic && completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn a_background_task_that_still_writes_is_waited_for() {
    let clock = Clock::stop();
    let folder = folder();
    let gate = |number: u32| folder.path().join(number.to_string());
    let script = Script::new()
        .read_line()
        .emit_lines(["S", "G 1", "F"])
        .wait_for_file(gate(1))
        .emit("T progress")
        .wait_for_file(gate(2))
        .emit_lines(["S", "G 0", "T done", "F"])
        .read_to_end();
    let mut played = play_request(&script, background(Close::WhenIdle)).await;
    for _ in 0..3 {
        next(&mut played.handle.events).await;
    }
    clock.advance(GRACE - Duration::from_secs(1)).await;
    open(&gate(1));
    assert_eq!(text(&[next(&mut played.handle.events).await]), "progress");
    clock.advance(GRACE - Duration::from_secs(1)).await;
    open(&gate(2));
    clock.go_on();
    let (events, completed) = ending(played.handle).await;
    assert!(text(&events).contains("done"), "{events:?}");
    assert_eq!(completed.finished.turns, 2);
    assert!(!completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn a_background_task_that_writes_for_ever_does_not_keep_a_run_open() {
    const LINES: u32 = 25;
    let clock = Clock::stop();
    let folder = folder();
    let gate = |number: u32| folder.path().join(number.to_string());
    let mut script = Script::new().read_line().emit_lines(["S", "G 1", "F"]);
    for number in 0..LINES {
        script = script.wait_for_file(gate(number)).emit("T progress");
    }
    let script = script.sleep_forever();
    let mut played = play_request(&script, background(Close::WhenIdle)).await;
    for _ in 0..3 {
        next(&mut played.handle.events).await;
    }
    let mut waited = Duration::ZERO;
    for number in 0..LINES {
        clock.advance(GRACE - Duration::from_secs(1)).await;
        waited += GRACE - Duration::from_secs(1);
        open(&gate(number));
        if next(&mut played.handle.events).await.body.name() == "notice" {
            break;
        }
    }
    assert!(
        waited >= 19 * GRACE && waited <= 21 * GRACE,
        "stopped after {waited:?}"
    );
    clock.advance(EXIT_AFTER_IDLE).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert!(completed.finished.exit.was_stopped);
}

#[tokio::test]
async fn a_conversation_with_a_background_task_waits_for_its_caller() {
    let clock = Clock::stop();
    let script = Script::new()
        .read_line()
        .emit_lines(["S", "G 1", "F"])
        .read_line()
        .emit_lines(["S", "F"])
        .read_to_end();
    let mut played = play_request(&script, background(Close::ByCaller)).await;
    for _ in 0..3 {
        next(&mut played.handle.events).await;
    }
    clock.advance(GRACE + TIMER_STEP).await;
    // The caller is told once that the agent waits, and nothing else happens.
    assert_eq!(
        next(&mut played.handle.events).await.body.name(),
        "status_changed"
    );
    for _ in 0..5 {
        clock.advance(LIMIT).await;
    }
    played.handle.control.send("more").unwrap();
    assert_eq!(next(&mut played.handle.events).await.body.name(), "turn_started");
    assert_eq!(next(&mut played.handle.events).await.body.name(), "turn_finished");
    played.handle.control.close_input();
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.turns, 2);
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn a_tool_call_may_be_silent_for_longer_than_the_model() {
    let clock = Clock::stop();
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new()
        .emit_lines(["S", "B tool"])
        .wait_for_file(&gate)
        .emit_lines(["E tool", "F"]);
    let mut options = silent_for(LIMIT);
    options.tool_inactivity_limit = Some(5 * LIMIT);
    let mut played = play_request(&script, request(options.clone())).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    clock.advance(4 * LIMIT).await;
    open(&gate);
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);

    let clock = Clock::stop();
    let script = Script::new().emit_lines(["S", "B tool"]).sleep_forever();
    let mut played = play_request(&script, request(options)).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    clock.advance(5 * LIMIT).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Stalled);
}

#[tokio::test]
async fn a_tool_call_may_be_silent_for_a_quarter_of_an_hour_by_default() {
    let limit = Duration::from_secs(15 * 60);
    let script = Script::new().emit_lines(["S", "B tool"]).sleep_forever();
    let clock = Clock::stop();
    let mut played = play_request(&script, request(silent_for(LIMIT))).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    clock.advance(limit - Duration::from_secs(1)).await;
    assert!(!is_resolved(&mut played.handle.completion).await);
    assert!(played.handle.events.try_next().is_none());
    clock.advance(Duration::from_secs(1) + TIMER_STEP).await;
    clock.go_on();
    let (_, completed) = ending(played.handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Stalled);
    assert!(Duration::from_millis(completed.finished.duration_ms) >= limit);
}

/// Writes until it is stopped.
fn flooding(lines: [&str; 2]) -> Script {
    Script::new().emit_lines(lines).flood(u64::MAX, 50_000)
}

#[tokio::test]
async fn an_agent_that_is_done_and_writes_without_end_is_stopped() {
    let clock = Clock::stop();
    let mut played = play(&flooding(["S", "F"])).await;
    next(&mut played.handle.events).await;
    next(&mut played.handle.events).await;
    let reading = tokio::spawn(played.handle.wait());
    clock.advance(EXIT_AFTER_IDLE).await;
    clock.go_on();
    let finished = soon(reading).await.unwrap().unwrap().finished;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(finished.exit.was_stopped);
}

#[tokio::test]
async fn an_agent_that_answers_a_cancel_message_with_endless_output_is_stopped() {
    let clock = Clock::stop();
    let mut played = play_request(&flooding(["C", "S"]), two_way(Close::ByCaller)).await;
    next(&mut played.handle.events).await;
    played.handle.control.cancel();
    let reading = tokio::spawn(played.handle.wait());
    clock.advance(LIMIT).await;
    clock.go_on();
    let finished = soon(reading).await.unwrap().unwrap().finished;
    assert_eq!(finished.outcome, Outcome::Cancelled);
    assert!(finished.exit.was_stopped);
}

#[tokio::test]
async fn the_time_in_which_nobody_reads_is_not_part_of_the_time_to_exit() {
    let clock = Clock::stop();
    // The rest of its output fits into no pipe.
    let script = Script::new().emit_bytes("S\nF\nN 1000\n").flood(1_000, 50_000);
    let mut played = play(&script).await;
    next(&mut played.handle.events).await;
    clock.advance(2 * EXIT_AFTER_IDLE).await;
    let finished = soon(played.handle.wait()).await.unwrap().finished;
    drop(clock);
    assert_eq!(finished.exit.code, Some(0), "{finished:?}");
    assert!(!finished.exit.was_stopped);
}
