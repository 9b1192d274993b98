//! A run in the hands of a test: records with a clock, and what the watchdog finds in them.

use agent_api::{
    AgentKind, Body, ChangeKind, Event, ExitInfo, FileChange, ItemId, Json, Outcome, SessionStarted,
    ToolFinished, ToolKind, ToolStarted, ToolStatus, TurnFinished, TurnStarted,
};
use jiff::{SignedDuration, Timestamp};
use ralph_run::watchdog::{Finding, WatchRules, Watchdog};
use ralph_run::{
    AttemptEnded, AttemptStarted, FORMAT_VERSION, IterationEnded, IterationOutcome, IterationStarted, Record,
    RunBody, RunEvent, RunKind, RunStarted, Totals, WarningKind,
};
use serde_json::{Value, json};

pub(crate) const WORKSPACE: &str = "/home/me/project";

pub(crate) struct Stage {
    watchdog: Watchdog,
    seq: u64,
    pub(crate) now: Timestamp,
    iteration: u32,
    calls: u32,
    pub(crate) found: Vec<Finding>,
}

impl Stage {
    /// In the first turn of the first iteration.
    pub(crate) fn new(rules: WatchRules) -> Self {
        let mut stage = Self {
            watchdog: Watchdog::new(rules),
            seq: 0,
            now: Timestamp::UNIX_EPOCH,
            iteration: 0,
            calls: 0,
            found: Vec::new(),
        };
        stage.run(RunBody::RunStarted(Box::new(started())));
        stage.begin_iteration();
        stage
    }

    pub(crate) fn run(&mut self, body: RunBody) {
        self.record(RunEvent::Run(body));
    }

    pub(crate) fn event(&mut self, body: Body) {
        self.record(RunEvent::Agent(Event::new(AgentKind::DEMO, body)));
    }

    pub(crate) fn record(&mut self, event: RunEvent) {
        self.seq += 1;
        let record = Record {
            seq: self.seq,
            at: self.now,
            iteration: self.iteration,
            attempt: 1,
            event,
        };
        self.found.extend(self.watchdog.observe(&record));
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
    }

    /// Lets time pass as the driver does: a tick every second.
    pub(crate) fn wait(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.pass(1);
            self.found.extend(self.watchdog.tick(self.now));
        }
    }

    /// The machine was suspended.
    pub(crate) fn sleep(&mut self, seconds: i64) {
        self.pass(seconds);
        self.found.extend(self.watchdog.tick(self.now));
    }

    pub(crate) fn begin_iteration(&mut self) {
        self.begin_iteration_of(None);
    }

    pub(crate) fn begin_iteration_of(&mut self, role: Option<&str>) {
        self.iteration += 1;
        let number = self.iteration;
        self.run(RunBody::IterationStarted(IterationStarted {
            role: role.map(str::to_owned),
            number,
            prompt: "Do it.".to_owned(),
        }));
        self.run(RunBody::AttemptStarted(AttemptStarted {
            number: 1,
            pid: 7,
            raw_log: String::new(),
            program: "demo".to_owned(),
            agent_version: None,
        }));
        let session = SessionStarted {
            cwd: Some(WORKSPACE.to_owned()),
            agent_version: Some("1.2.3".to_owned()),
            ..SessionStarted::default()
        };
        self.event(Body::SessionStarted(Box::new(session)));
        self.event(Body::TurnStarted(TurnStarted { number: 1 }));
    }

    pub(crate) fn end_iteration(&mut self, answer: &str, outcome: IterationOutcome) {
        let mut turn = TurnFinished::new(1, Outcome::Succeeded);
        turn.text = Some(answer.to_owned());
        self.event(Body::TurnFinished(Box::new(turn)));
        self.end_attempt();
        self.run(RunBody::IterationEnded(IterationEnded {
            number: self.iteration,
            outcome: outcome.into(),
            totals: Totals::default(),
            failure: None,
        }));
    }

    pub(crate) fn end_attempt(&mut self) {
        self.run(RunBody::AttemptEnded(Box::new(AttemptEnded {
            outcome: Outcome::Succeeded.into(),
            error: None,
            exit: ExitInfo::default(),
            totals: Totals::default(),
            is_degraded: false,
            session_id: None,
            will_retry: false,
        })));
    }

    pub(crate) fn start_call(&mut self, name: &str, kind: ToolKind, input: &Value) -> ItemId {
        self.calls += 1;
        let item = ItemId::new(&format!("call-{}", self.calls));
        let mut started = ToolStarted::new(item.clone(), name, kind);
        started.input = Some(Json::from(input));
        started.subject = input
            .as_object()
            .and_then(|fields| fields.values().next())
            .and_then(|value| value.as_str())
            .map(str::to_owned);
        self.event(Body::ToolStarted(Box::new(started)));
        item
    }

    pub(crate) fn end_call(
        &mut self,
        item: ItemId,
        status: ToolStatus,
        output: &str,
        changes: Vec<FileChange>,
    ) {
        let mut finished = ToolFinished::new(item, status);
        finished.output = output.to_owned();
        finished.changes = changes;
        self.event(Body::ToolFinished(Box::new(finished)));
    }

    pub(crate) fn call(
        &mut self,
        name: &str,
        kind: ToolKind,
        input: &Value,
        status: ToolStatus,
        output: &str,
    ) {
        let item = self.start_call(name, kind, input);
        self.end_call(item, status, output, Vec::new());
    }

    pub(crate) fn command(&mut self, line: &str, status: ToolStatus, output: &str) {
        self.call(
            "Bash",
            ToolKind::Execute,
            &json!({"command": line}),
            status,
            output,
        );
    }

    pub(crate) fn read(&mut self, path: &str, output: &str) {
        self.call(
            "Read",
            ToolKind::Read,
            &json!({"file_path": path}),
            ToolStatus::Completed,
            output,
        );
    }

    pub(crate) fn edit(&mut self, path: &str, old: &str, new: &str) {
        let input = json!({"file_path": path, "old_string": old, "new_string": new});
        let item = self.start_call("Edit", ToolKind::Edit, &input);
        let change = FileChange::new(
            path,
            ChangeKind::Modified,
            Some(format!("@@ -1 +1 @@\n-{old}\n+{new}\n")),
        );
        self.end_call(item, ToolStatus::Completed, "ok", vec![change]);
    }

    /// A change that only a diff shows, as agents without arguments report it.
    pub(crate) fn patch(&mut self, path: &str, old: &str, new: &str) {
        let item = self.start_call(
            "apply_patch",
            ToolKind::Edit,
            &json!({"patch": format!("-{old}\n+{new}")}),
        );
        let change = FileChange::new(
            path,
            ChangeKind::Modified,
            Some(format!("@@ -1 +1 @@\n-{old}\n+{new}\n")),
        );
        self.end_call(item, ToolStatus::Completed, "ok", vec![change]);
    }

    pub(crate) fn write(&mut self, path: &str, content: &str) {
        let input = json!({"file_path": path, "content": content});
        let item = self.start_call("Write", ToolKind::Edit, &input);
        let change = FileChange::new(path, ChangeKind::Modified, None);
        self.end_call(item, ToolStatus::Completed, "ok", vec![change]);
    }

    /// What was found since the last call.
    pub(crate) fn kinds(&mut self) -> Vec<WarningKind> {
        self.take().iter().map(|finding| finding.kind).collect()
    }

    pub(crate) fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }
}

pub(crate) fn started() -> RunStarted {
    RunStarted {
        start_commit: None,
        spent_before: None,
        format_version: FORMAT_VERSION,
        run_id: "20260101-000000-aaaaaaaa".to_owned(),
        ralph_version: "0.1.0".to_owned(),
        workspace: WORKSPACE.to_owned(),
        backend: AgentKind::DEMO,
        display_name: "Demo".to_owned(),
        model: None,
        mode: None,
        task: None,
        permission_mode: None,
        max_iterations: 50,
        max_cost: None,
        verify: Vec::new(),
        kind: RunKind::Loop.into(),
        by: None,
        resumed_from: None,
        is_ephemeral: false,
    }
}
