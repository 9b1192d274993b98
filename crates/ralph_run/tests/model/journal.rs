//! `Journal`: records for tests, stamped one second apart.

use agent_api::Body;
use ralph_run::model::{Change, RunModel, RunState};
use ralph_run::{Record, RunEvent};
use serde_json::{Value, json};

pub(crate) struct Journal {
    pub(crate) records: Vec<Record>,
    pub(crate) model: RunModel,
    pub(crate) changes: Vec<Change>,
    position: (u32, u32),
}

impl Journal {
    /// A loop whose first process has been started.
    pub(crate) fn started() -> Self {
        let mut journal = Self::of("loop");
        journal.position = (1, 1);
        journal.run("iteration_started", json!({"number": 1, "prompt": "Fix it."}));
        journal.run(
            "attempt_started",
            json!({"number": 1, "pid": 7, "raw_log": "raw/1.ndjson", "program": "demo", "agent_version": "1.2.3"}),
        );
        journal
    }

    /// A run that has only begun.
    pub(crate) fn of(kind: &str) -> Self {
        let mut journal = Self {
            records: Vec::new(),
            model: RunModel::new(),
            changes: Vec::new(),
            position: (0, 0),
        };
        journal.run(
            "run_started",
            json!({"format_version": 1, "run_id": "r", "ralph_version": "0", "workspace": "/w", "backend": "demo",
                "display_name": "Demo", "max_iterations": 5, "model": "claude-opus-4-5", "kind": kind}),
        );
        journal
    }

    pub(crate) fn run(&mut self, kind: &str, data: Value) {
        self.push(&json!({"type": kind, "data": data}));
    }

    pub(crate) fn agent(&mut self, kind: &str, data: Value) {
        self.push(&json!({"agent_kind": "demo", "type": kind, "data": data}));
    }

    /// An event of a subagent.
    pub(crate) fn subagent(&mut self, parent: &str, kind: &str, data: Value) {
        self.push(&json!({"agent_kind": "demo", "parent": parent, "type": kind, "data": data}));
    }

    pub(crate) fn push(&mut self, event: &Value) {
        let seq = self.records.len() as u64 + 1;
        let at = jiff::Timestamp::from_second(1_800_000_000 + i64::try_from(seq).unwrap()).unwrap();
        let line = json!({"seq": seq, "at": at, "iteration": self.position.0, "attempt": self.position.1, "event": event});
        let record: Record = serde_json::from_str(&line.to_string()).unwrap();
        if let RunEvent::Agent(event) = &record.event {
            assert!(!matches!(event.body, Body::Unknown(_)), "{line}");
        }
        self.changes = self.model.apply(&record);
        self.records.push(record);
    }

    pub(crate) fn tool(&mut self, item: &str, name: &str, subject: &str) {
        self.agent(
            "tool_started",
            json!({"item": item, "name": name, "kind": "execute", "subject": subject, "state": "running"}),
        );
    }

    pub(crate) fn tool_done(&mut self, item: &str) {
        self.agent(
            "tool_finished",
            json!({"item": item, "status": "completed", "output": ""}),
        );
    }

    pub(crate) fn delta(&mut self, part: &str) {
        self.agent("delta", json!({"item": "d", "part": part, "text": "x"}));
    }

    pub(crate) fn ask(&mut self, request: &str, item: Option<&str>) {
        self.agent(
            "permission_requested",
            json!({"request": request, "item": item, "tool": "Bash", "kind": "execute", "subject": "cargo test"}),
        );
    }

    pub(crate) fn close(&mut self, request: &str, reason: &str) {
        self.agent("request_closed", json!({"request": request, "reason": reason}));
    }

    pub(crate) fn attempt_ended(&mut self, cost: u64) {
        self.run(
            "attempt_ended",
            json!({"outcome": "succeeded", "exit": {"code": 0}, "session_id": "s1",
                "totals": {"tokens": {"input": 10}, "cost": cost, "turns": 1, "duration_ms": 5}}),
        );
    }

    pub(crate) fn ended(&mut self, reason: &str) {
        self.run(
            "run_ended",
            json!({"reason": reason, "exit_code": 1, "iterations": 1, "totals": {"turns": 3, "duration_ms": 9}}),
        );
    }

    pub(crate) fn state(&self) -> &RunState {
        self.model.state()
    }

    #[track_caller]
    pub(crate) fn is(&self, words: &str) {
        assert_eq!(self.state().to_string(), words);
    }
}
