//! Totals, requests, messages, iterations, files and texts of a run.

use ralph_run::model::{Change, MessageState, RunModel};
use ralph_run::{IterationOutcome, Record};
use serde_json::json;

use crate::journal::Journal;

#[test]
fn totals_are_those_of_ended_processes_and_of_the_open_one() {
    let mut journal = Journal::started();
    journal.attempt_ended(500);
    journal.run(
        "attempt_started",
        json!({"number": 2, "pid": 8, "raw_log": "x", "program": "demo"}),
    );
    journal.agent(
        "usage",
        json!({"scope": "turn", "tokens": {"input": 3}, "context": {"used": 900, "size": 1000},
            "run": {"tokens": {"input": 3}, "cost": {"micro_usd": 70, "source": "reported"}, "is_partial": false}}),
    );
    assert!(
        matches!(journal.changes.as_slice(), [Change::Usage(_)]),
        "{:?}",
        journal.changes
    );
    let totals = journal.model.totals();
    assert_eq!(totals.tokens.input, 13);
    assert_eq!(totals.cost.unwrap().as_micro_usd(), 570);
    assert_eq!(totals.duration_ms, 1_000 * (journal.records.len() as u64 - 1));
    journal.ended("completed");
    assert_eq!(
        (journal.model.totals().turns, journal.model.totals().duration_ms),
        (3, 9)
    );
    assert_eq!(journal.model.ended().unwrap().exit_code, 1);
    assert_eq!(journal.model.ended_at(), journal.model.last_at());
}

#[test]
fn requests_are_open_until_they_are_closed() {
    let mut journal = Journal::started();
    journal.ask("a", None);
    assert!(matches!(&journal.changes[..], [Change::RequestOpened(id)] if id.as_str() == "a"));
    journal.ask("b", None);
    journal.close("a", "denied");
    assert!(matches!(
        &journal.changes[..],
        [Change::RequestClosed {
            was_answered: true,
            ..
        }]
    ));
    journal.attempt_ended(1);
    assert!(
        journal
            .changes
            .iter()
            .any(|change| matches!(change, Change::RequestClosed { request, was_answered: false } if request.as_str() == "b"))
    );
}

#[test]
fn messages_are_followed_to_their_end() {
    let send = |id: &str, mode: &str| json!({"command_id": format!("c-{id}"), "command": "send", "message_id": id, "mode": mode, "text": id});
    let mut journal = Journal::started();
    for id in ["delivered", "withdrawn", "edited", "lost", "never"] {
        journal.run("command_received", send(id, "queue"));
        assert!(
            matches!(&journal.changes[..], [Change::Message(message)] if message.state == MessageState::Queued)
        );
    }
    journal.run(
        "command_received",
        json!({"command_id": "c", "command": "withdraw_message", "message_id": "withdrawn"}),
    );
    journal.run(
        "command_received",
        json!({"command_id": "c", "command": "edit_message", "message_id": "edited", "text": "better"}),
    );
    for id in ["delivered", "lost"] {
        journal.run("message_sent", json!({"message_id": id}));
    }
    journal.agent(
        "message_updated",
        json!({"message_id": "delivered", "state": "completed"}),
    );
    let open: Vec<_> = journal
        .model
        .messages()
        .open()
        .map(|message| message.text.as_str())
        .collect();
    assert_eq!(open, ["better", "lost", "never"]);
    journal.attempt_ended(1);
    journal.ended("stopped");
    let settled: Vec<_> = journal
        .model
        .messages()
        .settled()
        .map(|message| (message.id.as_str(), message.state))
        .collect();
    assert_eq!(
        settled,
        [
            ("withdrawn", MessageState::Withdrawn),
            ("delivered", MessageState::Delivered),
            ("lost", MessageState::Lost),
            ("edited", MessageState::Lost),
            ("never", MessageState::Lost),
        ]
    );
    assert_eq!(journal.model.messages().open().count(), 0);
}

#[test]
fn a_message_of_an_older_runner_was_sent_at_once() {
    let mut journal = Journal::started();
    journal.run(
        "command_received",
        json!({"command_id": "c", "command": "send", "text": "hi"}),
    );
    let message = journal.model.messages().open().next().unwrap();
    assert_eq!((message.id.as_str(), message.state), ("c", MessageState::Sent));
    journal.attempt_ended(1);
    assert_eq!(journal.model.messages().open().count(), 1);
}

#[test]
fn iterations_checks_and_warnings_are_listed() {
    let mut journal = Journal::started();
    let finished =
        json!({"command": "true", "is_ok": false, "exit": {"code": 1}, "output": "no", "duration_ms": 1});
    journal.run("verify_finished", finished);
    journal.run("warned", json!({"kind": "degraded", "message": "careful"}));
    journal.run(
        "iteration_ended",
        json!({"number": 1, "outcome": "verify_failed", "totals": {"turns": 2}, "failure": "no".repeat(900)}),
    );
    let iteration = &journal.model.iterations()[0];
    assert_eq!(iteration.outcome, Some(IterationOutcome::VerifyFailed.into()));
    assert_eq!((iteration.number, iteration.totals.turns), (1, 2));
    assert_eq!(iteration.failure.as_ref().unwrap().len(), 500);
    assert_eq!(journal.model.verify().len(), 1);
    assert_eq!(journal.model.warnings()[0].message, "careful");
    for number in 2..=700 {
        journal.run("iteration_started", json!({"number": number, "prompt": "x"}));
        journal.run(
            "iteration_ended",
            json!({"number": number, "outcome": "continues", "totals": {}}),
        );
    }
    assert!(journal.model.verify().is_empty());
    assert_eq!(journal.model.counts().iterations, 700);
    let numbers: Vec<u32> = journal.model.iterations().iter().map(|one| one.number).collect();
    assert_eq!((numbers.len(), numbers[0], numbers[499]), (500, 201, 700));
}

#[test]
fn the_end_of_a_conversation_is_an_iteration_though_none_was_announced() {
    let mut journal = Journal::of("session");
    journal.run(
        "iteration_ended",
        json!({"number": 1, "outcome": "completed", "totals": {}}),
    );
    assert_eq!(journal.model.iterations().len(), 1);
}

#[test]
fn files_calls_and_errors_are_counted() {
    let mut journal = Journal::started();
    let done = |item: &str, status: &str| {
        json!({"item": item, "status": status, "output": "",
            "changes": [{"path": "/w/a", "kind": "modified", "lines": [2, 1]}]})
    };
    journal.agent("tool_finished", done("a", "completed"));
    journal.agent("tool_finished", done("b", "failed"));
    journal.agent("tool_finished", done("c", "denied"));
    journal.subagent("t", "tool_finished", done("d", "completed"));
    journal.agent("error", json!({"class": "network", "code": "x", "message": "x"}));
    assert_eq!(journal.model.files().lines(), (4, 2));
    let counts = journal.model.counts();
    assert_eq!(
        (counts.tool_calls, counts.failed_calls, counts.denials),
        (4, 1, 1)
    );
    assert_eq!((counts.errors, counts.attempts), (1, 1));
}

#[test]
fn who_works_is_known() {
    let mut journal = Journal::started();
    assert_eq!(journal.model.agent_version(), Some("1.2.3"));
    assert_eq!(journal.model.model(), Some("claude-opus-4-5"));
    journal.agent(
        "session_started",
        json!({"session_id": "s1", "model": "m2", "permission_mode": "default"}),
    );
    journal.agent("session_updated", json!({"permission_mode": "plan"}));
    journal.run("session_forked", json!({"asked": "s1", "actual": "s2"}));
    journal.attempt_ended(1);
    assert_eq!(journal.model.session_ids(), ["s1", "s2"]);
    assert_eq!(
        (journal.model.model(), journal.model.permission_mode()),
        (Some("m2"), Some("plan"))
    );
    assert_eq!(journal.model.agent_version(), Some("1.2.3"));
    assert_eq!(journal.model.started().unwrap().run_id, "r");
}

#[test]
fn the_last_text_is_the_main_conversations() {
    let mut journal = Journal::started();
    journal.agent("text_block", json!({"item": "a", "text": "first"}));
    journal.agent(
        "text_block",
        json!({"item": "b", "text": "se", "piece": {"index": 0, "is_last": false}}),
    );
    journal.agent(
        "text_block",
        json!({"item": "b", "text": "cond", "piece": {"index": 1, "is_last": true}}),
    );
    journal.subagent("t", "text_block", json!({"item": "c", "text": "other"}));
    assert_eq!(journal.model.last_text(), "second");
}

#[test]
fn a_record_that_comes_again_counts_once() {
    let mut journal = Journal::started();
    journal.attempt_ended(5);
    let once = journal.model.clone();
    for record in journal.records.clone() {
        assert_eq!(journal.model.apply(&record), []);
    }
    assert_eq!(journal.model, once);
}

#[test]
fn a_summary_has_the_same_state_and_totals_and_no_lists() {
    let mut journal = Journal::started();
    journal.agent("text_block", json!({"item": "a", "text": "first"}));
    journal.tool("t", "Bash", "make");
    let mut summary = RunModel::summary_only();
    let apply = |record: &Record| summary.apply(record);
    let changes: Vec<Change> = journal.records.iter().flat_map(apply).collect();
    assert_eq!(changes, []);
    assert_eq!(summary.state(), journal.state());
    assert_eq!(summary.totals(), journal.model.totals());
    assert!(summary.iterations().is_empty() && summary.last_text().is_empty());
    assert!(serde_json::to_string(&summary).unwrap().len() < 2_000);
}
