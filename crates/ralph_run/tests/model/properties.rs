//! What holds for every journal.

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use ralph_run::model::RunModel;
use ralph_run::{RunBody, RunEvent, Totals};
use serde_json::{Value, json};

use crate::journal::Journal;

fn totals() -> impl Strategy<Value = Value> {
    (0..9_000_u64, prop::option::of(0..5_000_000_u64), any::<bool>(), 0..9_u32).prop_map(
        |(input, cost, is_estimate, turns)| {
            json!({"tokens": {"input": input}, "cost": cost, "is_estimate": is_estimate, "turns": turns, "duration_ms": 3})
        },
    )
}

/// Events of an agent and of a run, in any order.
fn event() -> impl Strategy<Value = Value> {
    let item = prop::sample::select(vec!["a", "b", "c"]);
    let part = prop::sample::select(vec!["text", "thinking", "tool_input", "tool_output"]);
    let agent = |kind: &'static str, data: Value| json!({"agent_kind": "demo", "type": kind, "data": data});
    let run = |kind: &'static str, data: Value| json!({"type": kind, "data": data});
    proptest::prop_oneof![
        (item.clone(), part).prop_map(move |(item, part)| agent("delta", json!({"item": item, "part": part, "text": "x"}))),
        (item.clone(), any::<bool>()).prop_map(move |(item, is_running)| agent("tool_started",
            json!({"item": item, "name": item, "kind": "execute", "state": if is_running { "running" } else { "preparing" }}))),
        (item.clone(), prop::sample::select(vec!["completed", "failed", "denied"])).prop_map(move |(item, status)| agent(
            "tool_finished", json!({"item": item, "status": status, "output": "",
                "changes": [{"path": item, "kind": "modified", "lines": [1, 2]}]}))),
        item.clone().prop_map(move |item| agent("permission_requested",
            json!({"request": item, "item": item, "tool": "Bash", "kind": "execute"}))),
        item.clone().prop_map(move |item| agent("question_asked", json!({"request": item, "questions": []}))),
        (item.clone(), prop::sample::select(vec!["answered", "denied", "withdrawn"]))
            .prop_map(move |(item, reason)| agent("request_closed", json!({"request": item, "reason": reason}))),
        item.clone().prop_map(move |item| agent("text_block", json!({"item": item, "text": item}))),
        (prop::option::of(0..99_999_u64), any::<bool>(), 0..99_999_u64).prop_map(move |(cost, is_partial, input)| {
            let cost = cost.map(|cost| json!({"micro_usd": cost, "source": "reported"}));
            agent("usage", json!({"scope": "step", "tokens": {}, "run": {"tokens": {"input": input}, "cost": cost, "is_partial": is_partial}}))
        }),
        Just(agent("turn_started", json!({"number": 1}))),
        Just(agent("turn_finished", json!({"number": 1, "outcome": "succeeded"}))),
        Just(agent("status_changed", json!({"status": "idle"}))),
        Just(agent("session_started", json!({"session_id": "s", "model": "claude-haiku-4-5"}))),
        item.clone().prop_map(move |item| run("command_received",
            json!({"command_id": "c", "command": "send", "message_id": item, "text": item}))),
        item.clone().prop_map(move |item| run("message_sent", json!({"message_id": item}))),
        item.prop_map(move |item| agent("message_updated", json!({"message_id": item, "state": "started"}))),
        Just(run("iteration_started", json!({"number": 1, "prompt": "x"}))),
        Just(run("attempt_started", json!({"number": 1, "pid": 1, "raw_log": "x", "program": "p"}))),
        totals().prop_map(move |totals| run("attempt_ended", json!({"outcome": "succeeded", "exit": {}, "totals": totals}))),
        totals().prop_map(move |totals| run("iteration_ended", json!({"number": 1, "outcome": "failed", "totals": totals}))),
        Just(run("verify_started", json!({"command": "x"}))),
        Just(run("cooldown_started", json!({"until": "2027-01-15T08:05:00Z"}))),
        Just(run("stop_started", json!({"reason": "stopped"}))),
    ]
}

proptest! {
    #[test]
    fn a_journal_in_parts_gives_the_same_as_at_once(
        events in prop::collection::vec(event(), 0..60),
        is_session: bool,
        splits in prop::collection::vec(0..60_usize, 0..4),
    ) {
        let mut journal = Journal::of(if is_session { "session" } else { "loop" });
        events.iter().for_each(|event| journal.push(event));
        let mut parts = RunModel::new();
        let mut at_once = Vec::new();
        for (index, record) in journal.records.iter().enumerate() {
            if splits.contains(&index) {
                let kept = serde_json::to_string(&parts).unwrap();
                parts = serde_json::from_str(&kept).unwrap();
            }
            at_once.extend(parts.apply(record));
        }
        prop_assert_eq!(&parts, &journal.model);

        let mut summary = RunModel::summary_only();
        journal.records.iter().for_each(|record| { summary.apply(record); });
        prop_assert_eq!(summary.state(), journal.model.state());
        prop_assert_eq!(summary.totals(), journal.model.totals());
        prop_assert_eq!(summary.requests(), journal.model.requests());
        prop_assert!(summary.messages().open().eq(journal.model.messages().open()));
        prop_assert_eq!(summary.counts(), journal.model.counts());
    }

    #[test]
    fn totals_are_the_sum_of_attempts(events in prop::collection::vec(event(), 0..60)) {
        let mut journal = Journal::of("loop");
        events.iter().for_each(|event| journal.push(event));
        // Whatever is open is closed, so that only what the attempts say counts.
        journal.run("attempt_ended", json!({"outcome": "succeeded", "exit": {}, "totals": {"turns": 1}}));
        let mut sum = Totals::default();
        for record in &journal.records {
            if let RunEvent::Run(RunBody::AttemptEnded(ended)) = &record.event {
                sum = sum + ended.totals;
            }
        }
        sum.duration_ms = journal.model.totals().duration_ms;
        prop_assert_eq!(journal.model.totals(), sum);
        prop_assert!(journal.model.requests().is_empty());
    }
}
