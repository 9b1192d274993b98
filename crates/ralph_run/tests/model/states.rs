//! What a run is said to be doing is what it does.

use serde_json::json;

use crate::journal::Journal;

#[test]
fn a_run_starts_thinks_writes_and_runs_tools() {
    let mut journal = Journal::of("loop");
    journal.is("starting");
    journal = Journal::started();
    journal.is("starting");
    journal.agent("turn_started", json!({"number": 1}));
    journal.is("thinking");
    journal.delta("text");
    journal.is("responding");
    journal.agent(
        "tool_started",
        json!({"item": "t", "name": "Bash", "kind": "execute", "state": "preparing"}),
    );
    journal.is("responding");
    journal.tool("t", "Bash", "cargo test");
    journal.is("running Bash: cargo test");
    journal.delta("tool_output");
    journal.is("running Bash: cargo test");
    journal.tool_done("t");
    journal.is("thinking");
}

#[test]
fn an_approved_tool_is_running_and_not_waiting() {
    let mut journal = Journal::started();
    journal.tool("t", "Bash", "cargo test");
    journal.ask("r", Some("t"));
    journal.is("waiting for permission");
    journal.run(
        "command_received",
        json!({"command_id": "c", "command": "answer", "request": "r"}),
    );
    journal.close("r", "answered");
    journal.is("running Bash: cargo test");
    // The wait for the answer is not a part of its time.
    assert_eq!(journal.model.state_since(), journal.model.last_at());
    journal.tool_done("t");
    journal.is("thinking");
}

#[test]
fn a_tool_that_is_known_from_its_request_only_runs_after_the_approval() {
    let mut journal = Journal::started();
    journal.delta("thinking");
    journal.ask("r", Some("t"));
    journal.close("r", "answered");
    journal.is("running Bash: cargo test");
    journal.tool_done("t");
    journal.is("thinking");
}

#[test]
fn a_denied_tool_is_not_running() {
    let mut journal = Journal::started();
    journal.delta("thinking");
    journal.ask("r", Some("t"));
    journal.close("r", "denied");
    journal.is("thinking");
}

#[test]
fn thinking_after_a_tool_is_thinking() {
    let mut journal = Journal::started();
    journal.tool("t", "Bash", "cargo test");
    journal.delta("thinking");
    journal.is("thinking");
    journal.tool_done("t");
    journal.is("thinking");
    journal.delta("text");
    journal.is("responding");
}

#[test]
fn verifying_lasts_until_the_last_check() {
    let mut journal = Journal::started();
    journal.tool("t", "Bash", "sleep 9 &");
    journal.attempt_ended(5);
    journal.is("starting");
    let finished =
        json!({"command": "true", "is_ok": true, "exit": {"code": 0}, "output": "", "duration_ms": 1});
    for _ in 0..2 {
        journal.run("verify_started", json!({"command": "true"}));
        journal.is("verifying");
        journal.run("verify_finished", finished.clone());
        journal.is("verifying");
    }
}

#[test]
fn between_iterations_a_run_pauses() {
    let mut journal = Journal::started();
    journal.delta("text");
    journal.attempt_ended(5);
    journal.run(
        "iteration_ended",
        json!({"number": 1, "outcome": "continues", "totals": {}}),
    );
    journal.run("cooldown_started", json!({"until": "2027-01-15T08:05:00Z"}));
    journal.is("paused until 08:05:00 UTC");
    journal.run("iteration_started", json!({"number": 2, "prompt": "x"}));
    journal.is("starting");
    journal.run(
        "cooldown_started",
        json!({"until": "2027-01-15T08:05:00Z", "cause": "usage_limit"}),
    );
    journal.is("waiting for the usage limit to reset at 08:05:00 UTC");
}

#[test]
fn with_two_open_requests_an_answer_to_one_leaves_it_waiting() {
    let mut journal = Journal::started();
    journal.ask("a", Some("t"));
    journal.agent(
        "question_asked",
        json!({"request": "b", "questions": [{"text": "Colour?"}]}),
    );
    journal.is("waiting for permission");
    journal.close("a", "answered");
    journal.is("waiting for an answer");
    journal.agent("plan_proposed", json!({"request": "c", "plan": "# Plan"}));
    journal.close("b", "answered");
    journal.is("waiting for plan approval");
    journal.close("c", "withdrawn");
    journal.is("running Bash: cargo test");
}

#[test]
fn of_parallel_tools_the_one_that_is_left_is_shown() {
    let mut journal = Journal::started();
    journal.tool("a", "Bash", "make");
    journal.tool("b", "Read", "src/lib.rs");
    journal.is("running Read: src/lib.rs");
    journal.tool_done("b");
    journal.is("running Bash: make");
    journal.tool("c", "Grep", "x");
    journal.tool_done("a");
    journal.is("running Grep: x");
    journal.tool_done("c");
    journal.is("thinking");
}

#[test]
fn a_subagent_is_shown_as_the_call_that_started_it() {
    let mut journal = Journal::started();
    journal.tool("task", "Task", "look around");
    journal.subagent(
        "task",
        "delta",
        json!({"item": "x", "part": "thinking", "text": "x"}),
    );
    journal.is("running Task: look around");
    journal.subagent(
        "task",
        "tool_started",
        json!({"item": "sub", "name": "Bash", "kind": "execute", "subject": "ls", "state": "running"}),
    );
    journal.subagent("task", "text_block", json!({"item": "y", "text": "x"}));
    journal.agent("status_changed", json!({"status": "requesting"}));
    journal.is("running Task: look around");
    // Its requests are everybody's.
    journal.subagent(
        "task",
        "permission_requested",
        json!({"request": "r", "item": "sub", "tool": "Bash", "kind": "execute", "subject": "ls"}),
    );
    journal.is("waiting for permission");
    journal.close("r", "answered");
    journal.is("running Bash: ls");
    journal.subagent(
        "task",
        "tool_finished",
        json!({"item": "sub", "status": "completed", "output": ""}),
    );
    journal.is("running Task: look around");
    journal.tool_done("task");
    journal.is("thinking");
}

#[test]
fn a_stop_is_shown_until_the_end() {
    for stop in [
        json!({"type": "command_received", "data": {"command_id": "c", "command": "stop"}}),
        json!({"type": "command_received", "data": {"command_id": "c", "command": "interrupt"}}),
        json!({"type": "stop_started", "data": {"reason": {"limit": "cost"}}}),
    ] {
        let mut journal = Journal::started();
        journal.tool("t", "Bash", "make");
        journal.push(&stop);
        journal.is("stopping");
        journal.tool_done("t");
        journal.delta("text");
        journal.ask("r", None);
        journal.is("stopping");
        journal.attempt_ended(5);
        journal.is("stopping");
        journal.ended("stopped");
        journal.is("ended: stopped");
    }
}

#[test]
fn a_refused_stop_changes_nothing() {
    let mut journal = Journal::started();
    journal.delta("text");
    journal.run(
        "command_received",
        json!({"command_id": "c", "command": "stop", "refused": "not now"}),
    );
    journal.is("responding");
}

#[test]
fn an_interrupted_conversation_is_not_stopping() {
    let mut journal = Journal::of("session");
    journal.delta("text");
    journal.run(
        "command_received",
        json!({"command_id": "c", "command": "interrupt"}),
    );
    journal.is("responding");
}

#[test]
fn a_conversation_waits_for_messages_and_a_loop_does_not() {
    let idle = json!({"status": "idle"});
    let mut journal = Journal::of("session");
    journal.run("message_awaited", json!({"session_id": "s"}));
    journal.is("waiting for a message");
    journal.run(
        "attempt_started",
        json!({"number": 1, "pid": 7, "raw_log": "x", "program": "demo"}),
    );
    journal.is("starting");
    journal.delta("text");
    journal.agent("status_changed", idle.clone());
    journal.is("waiting for a message");
    journal.run("message_sent", json!({"message_id": "m"}));
    journal.is("thinking");

    let mut journal = Journal::started();
    journal.delta("text");
    journal.agent("status_changed", idle);
    journal.is("responding");
}

#[test]
fn what_a_dead_runner_left_open_is_over() {
    let mut journal = Journal::started();
    journal.tool("t", "Bash", "sleep 1000");
    journal.ask("r", Some("t"));
    journal.ended("lost");
    journal.is("ended: the runner died");
    assert!(journal.model.requests().is_empty());

    // A process that died without a word is over when the next one begins.
    let mut journal = Journal::started();
    journal.tool("t", "Bash", "sleep 1000");
    journal.run(
        "attempt_started",
        json!({"number": 2, "pid": 8, "raw_log": "x", "program": "demo"}),
    );
    journal.is("starting");
    journal.agent("turn_started", json!({"number": 1}));
    journal.is("thinking");
}

#[test]
fn a_call_that_goes_on_reports_itself() {
    let mut journal = Journal::started();
    journal.tool("a", "Bash", "make");
    journal.delta("thinking");
    journal.agent("tool_progressed", json!({"item": "a", "elapsed_ms": 30_000}));
    journal.is("running Bash: make");
    journal.agent("item_discarded", json!({"item": "a", "reason": "retry"}));
    journal.is("thinking");
}
