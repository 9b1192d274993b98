//! A run by hand, and a console to look at.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use agent_api::backends::claude_code::{ClaudeMapper, MapperSetup};
use agent_api::{
    AgentKind, Body, Delta, DeltaMode, Emitter, Event, ExitInfo, ItemId, Json, Mapper, MicroUsd, Outcome,
    Part, Piece, TextBlock, Tokens, ToolFinished, ToolKind, ToolStarted, ToolStatus,
};
use jiff::{SignedDuration, Timestamp};
use json_lines::LineFramer;
use ralph::console::{Console, Options};
use ralph_run::{
    AttemptEnded, AttemptStarted, EndReason, FORMAT_VERSION, IterationEnded, IterationOutcome,
    IterationStarted, Record, RunBody, RunEnded, RunEvent, RunStarted, Totals,
};

/// Where the runs of these tests work.
pub(crate) const WORKSPACE: &str = "/project";

/// Keeps what is written, each write on its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paper(Arc<Mutex<Vec<Vec<u8>>>>);

impl Paper {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().concat()).unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().concat()
    }

    pub(crate) fn writes(&self) -> Vec<Vec<u8>> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A console on paper, and a clock that only moves when it is told to.
pub(crate) struct Stage {
    pub(crate) console: Console,
    pub(crate) out: Paper,
    pub(crate) err: Paper,
    now: Arc<Mutex<Timestamp>>,
    seq: u64,
    iteration: u32,
    attempt: u32,
}

impl Stage {
    pub(crate) fn new(options: Options) -> Self {
        let (out, err) = (Paper::default(), Paper::default());
        Self {
            out: out.clone(),
            ..Self::on(options, out, err)
        }
    }

    /// On other streams.
    pub(crate) fn on(options: Options, out: impl Write + Send + 'static, err: Paper) -> Self {
        let now = Arc::new(Mutex::new(Timestamp::from_second(1_750_000_000).unwrap()));
        let clock = Arc::clone(&now);
        Self {
            console: Console::new(options, out, err.clone()).with_clock(move || *clock.lock().unwrap()),
            out: Paper::default(),
            err,
            now,
            seq: 0,
            iteration: 0,
            attempt: 0,
        }
    }

    /// All that was written.
    pub(crate) fn finish(mut self) -> (String, String) {
        self.console.finish();
        (self.out.text(), self.err.text())
    }

    pub(crate) fn tick(&mut self, milliseconds: i64) {
        *self.now.lock().unwrap() += SignedDuration::from_millis(milliseconds);
        self.console.tick();
    }

    pub(crate) fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    pub(crate) fn record(&mut self, event: RunEvent) {
        self.seq += 1;
        match &event {
            RunEvent::Run(RunBody::IterationStarted(started)) => self.iteration = started.number,
            RunEvent::Run(RunBody::AttemptStarted(started)) => self.attempt = started.number,
            _ => {}
        }
        let record = Record {
            seq: self.seq,
            at: *self.now.lock().unwrap(),
            iteration: self.iteration,
            attempt: self.attempt,
            event,
        };
        self.console.record(&record);
    }

    pub(crate) fn run(&mut self, body: RunBody) {
        self.record(RunEvent::Run(body));
    }

    /// As the driver does it: first live, then recorded.
    pub(crate) fn event(&mut self, event: Event) {
        if matches!(event.body, Body::Delta(_)) {
            self.console.delta(&event);
        }
        self.record(RunEvent::Agent(event));
    }

    pub(crate) fn agent(&mut self, body: Body) {
        self.event(event(body));
    }

    pub(crate) fn subagent(&mut self, parent: &str, body: Body) {
        let mut event = event(body);
        event.parent = Some(ItemId::new(parent));
        self.event(event);
    }

    pub(crate) fn begin(&mut self, max_iterations: u32) {
        self.begin_after(None, max_iterations);
    }

    /// After runs of the same task that have cost this much.
    pub(crate) fn begin_after(&mut self, spent_before: Option<MicroUsd>, max_iterations: u32) {
        self.run(RunBody::RunStarted(Box::new(RunStarted {
            format_version: FORMAT_VERSION,
            run_id: "run-1".to_owned(),
            ralph_version: "0.1.0".to_owned(),
            workspace: WORKSPACE.to_owned(),
            backend: AgentKind::CLAUDE_CODE,
            display_name: "Claude".to_owned(),
            model: None,
            mode: None,
            task: None,
            permission_mode: None,
            max_iterations,
            max_cost: Some(MicroUsd::new(10_000_000)),
            verify: Vec::new(),
            kind: ralph_run::RunKind::Loop.into(),
            by: None,
            resumed_from: None,
            is_ephemeral: false,
            start_commit: None,
            spent_before,
        })));
        self.begin_iteration(1);
    }

    pub(crate) fn begin_iteration(&mut self, number: u32) {
        let prompt = "Repair it".to_owned();
        self.run(RunBody::IterationStarted(IterationStarted {
            number,
            prompt,
            role: None,
        }));
        self.begin_attempt(1);
    }

    pub(crate) fn begin_attempt(&mut self, number: u32) {
        self.run(RunBody::AttemptStarted(AttemptStarted {
            number,
            pid: 4711,
            raw_log: "raw/1.ndjson".to_owned(),
            program: "claude".to_owned(),
            agent_version: None,
        }));
    }

    pub(crate) fn end_attempt(&mut self, outcome: Outcome) {
        self.run(RunBody::AttemptEnded(Box::new(AttemptEnded {
            outcome: outcome.into(),
            error: None,
            exit: ExitInfo {
                code: Some(0),
                ..ExitInfo::default()
            },
            totals: totals(),
            is_degraded: false,
            session_id: None,
            will_retry: outcome == Outcome::Crashed,
        })));
    }

    pub(crate) fn end_iteration(&mut self, number: u32, outcome: IterationOutcome) {
        self.end_attempt(Outcome::Succeeded);
        self.run(RunBody::IterationEnded(IterationEnded {
            number,
            outcome: outcome.into(),
            totals: totals(),
            failure: None,
        }));
    }

    pub(crate) fn end(&mut self, reason: EndReason, message: Option<&str>) {
        self.run(RunBody::RunEnded(RunEnded {
            reason: reason.into(),
            exit_code: reason.exit_code(),
            message: message.map(str::to_owned),
            iterations: self.iteration,
            totals: totals(),
        }));
    }
}

pub(crate) fn totals() -> Totals {
    Totals {
        tokens: Tokens {
            input: 200,
            cache_read: 1_000,
            cache_write: 0,
            output: 34,
            reasoning: 10,
        },
        cost: Some(MicroUsd::new(9_600)),
        is_estimate: false,
        turns: 3,
        duration_ms: 1_234,
    }
}

pub(crate) fn event(body: Body) -> Event {
    Event::new(AgentKind::CLAUDE_CODE, body)
}

pub(crate) fn delta(item: &str, part: Part, text: &str) -> Body {
    Body::Delta(Delta {
        item: ItemId::new(item),
        part,
        mode: DeltaMode::Append,
        text: text.to_owned(),
    })
}

pub(crate) fn text(item: &str, text: &str) -> Body {
    piece(item, text, Piece::WHOLE)
}

pub(crate) fn piece(item: &str, text: &str, piece: Piece) -> Body {
    Body::TextBlock(TextBlock {
        item: ItemId::new(item),
        text: text.to_owned(),
        piece,
        is_aborted: false,
    })
}

pub(crate) fn tool(item: &str, name: &str, kind: ToolKind, subject: &str) -> Body {
    Body::ToolStarted(Box::new({
        let mut tool = ToolStarted::new(ItemId::new(item), name.to_owned(), kind);
        tool.subject = Some(subject.to_owned());
        tool.input = Json::from_text("{}".to_owned()).ok();
        tool
    }))
}

pub(crate) fn tool_finished(item: &str, status: ToolStatus, output: &str) -> Body {
    Body::ToolFinished(Box::new({
        let mut tool = ToolFinished::new(ItemId::new(item), status);
        tool.output = output.to_owned();
        tool
    }))
}

/// The events of what Claude wrote.
pub(crate) fn claude_events(bytes: &[u8]) -> Vec<Event> {
    let mut framer = LineFramer::default();
    framer.push(bytes::Bytes::copy_from_slice(bytes));
    let mut mapper = ClaudeMapper::new(MapperSetup::default());
    let mut emitter = Emitter::new(AgentKind::CLAUDE_CODE);
    let mut events = Vec::new();
    while let Some(framed) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(framed, &mut emitter);
        events.extend(std::iter::from_fn(|| emitter.next_event()));
    }
    mapper.map_end(&mut emitter);
    events.extend(std::iter::from_fn(|| emitter.next_event()));
    events
}
