//! What an index says about a run is what the model of the run says, for every journal.

use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, proptest};
use ralph_run::Record;
use ralph_run::model::RunModel;
use ralph_store::{ApprovalState, RunFold};
use serde_json::{Value, json};

const STARTED: &str = r#"{"format_version":1,"run_id":"r","ralph_version":"0","workspace":"/w","backend":"demo","display_name":"Demo","max_iterations":5,"model":"claude-opus-4-5"}"#;

fn event() -> impl Strategy<Value = Value> {
    let item = prop::sample::select(vec!["a", "b", "c"]);
    let part = prop::sample::select(vec!["text", "thinking", "tool_input", "tool_output"]);
    let agent = |kind: &'static str, data: Value| json!({"agent_kind": "demo", "type": kind, "data": data});
    let run = |kind: &'static str, data: Value| json!({"type": kind, "data": data});
    proptest::prop_oneof![
        (item.clone(), part, any::<bool>()).prop_map(|(item, part, is_subagent)| {
            let parent = is_subagent.then_some("t");
            json!({"agent_kind": "demo", "parent": parent, "type": "delta", "data": {"item": item, "part": part, "text": "x"}})
        }),
        item.clone()
            .prop_map(move |item| agent("text_block", json!({"item": item, "text": item}))),
        item.clone()
            .prop_map(move |item| agent("thinking_block", json!({"item": item, "text": item}))),
        item.clone().prop_map(move |item| agent(
            "tool_started",
            json!({"item": item, "name": item, "kind": "execute", "state": "running"})
        )),
        item.clone().prop_map(move |item| agent(
            "tool_finished",
            json!({"item": item, "status": "completed", "output": ""})
        )),
        item.clone().prop_map(move |item| agent(
            "permission_requested",
            json!({"request": item, "item": item, "tool": "Bash", "kind": "execute"})
        )),
        (
            item.clone(),
            prop::sample::select(vec!["answered", "denied", "withdrawn"])
        )
            .prop_map(move |(item, reason)| agent("request_closed", json!({"request": item, "reason": reason}))),
        (prop::option::of(0..99_999_u64), any::<bool>(), 0..99_999_u64).prop_map(move |(cost, is_partial, input)| {
            let cost = cost.map(|cost| json!({"micro_usd": cost, "source": "reported"}));
            let usage = json!({"tokens": {"input": input}, "cost": cost, "is_partial": is_partial});
            agent("usage", json!({"scope": "step", "tokens": {}, "run": usage}))
        }),
        Just(agent("turn_finished", json!({"number": 1, "outcome": "succeeded"}))),
        Just(agent("error", json!({"class": "vendor", "code": "x", "message": "y"}))),
        Just(agent("session_started", json!({"session_id": "s", "model": "claude-haiku-4-5"}))),
        item.prop_map(move |item| run(
            "command_received",
            json!({"command_id": "c", "command": "send", "message_id": item, "text": item})
        )),
        Just(run("iteration_started", json!({"number": 1, "prompt": "x"}))),
        Just(run("attempt_started", json!({"number": 1, "pid": 1, "raw_log": "x", "program": "p"}))),
        (0..9_999_u64).prop_map(move |cost| run(
            "attempt_ended",
            json!({"outcome": "succeeded", "exit": {}, "totals": {"cost": cost, "turns": 1}, "session_id": "s2"})
        )),
        Just(run("verify_started", json!({"command": "x"}))),
        Just(run("cooldown_started", json!({"until": "2027-01-15T08:05:00Z"}))),
        Just(run("a_kind_of_tomorrow", json!({"x": 1}))),
    ]
}

proptest! {
    #[test]
    fn a_summary_is_what_the_model_says(events in prop::collection::vec(event(), 0..80)) {
        let mut fold = RunFold::new();
        let mut model = RunModel::new();
        let started: Value = serde_json::from_str(STARTED).unwrap();
        let first = json!({"type": "run_started", "data": started});
        let mut open = 0;
        for (seq, event) in (1..).zip(std::iter::once(&first).chain(&events)) {
            let at = jiff::Timestamp::from_second(1_800_000_000 + seq).unwrap();
            let line = json!({"seq": seq, "at": at, "iteration": 1, "attempt": 1, "event": event}).to_string();
            fold.push(line.as_bytes());
            if let Ok(record) = serde_json::from_str::<Record>(&line) {
                model.apply(&record);
            } else {
                model.skip(seq.unsigned_abs(), at, (1, 1));
            }
            let batch = fold.take().unwrap();
            let summary = &batch.summary;
            prop_assert_eq!(&summary.activity, model.state());
            prop_assert_eq!(summary.totals, model.totals());
            prop_assert_eq!(summary.pending as usize, model.requests().len());
            prop_assert_eq!((summary.iteration, summary.attempt), (model.iteration(), model.attempt()));
            prop_assert_eq!((summary.head_seq, Some(summary.updated_at)), (model.seq(), model.last_at()));
            prop_assert_eq!(&summary.session_ids, model.session_ids());
            prop_assert_eq!(summary.model.as_deref(), model.model());
            prop_assert_eq!(summary.errors, model.counts().errors);
            for row in &batch.approvals {
                open += match row.state {
                    ApprovalState::Pending => 1,
                    ApprovalState::Answered | ApprovalState::Withdrawn => -1,
                };
            }
            prop_assert_eq!(open, i64::from(summary.pending));
        }
    }
}
