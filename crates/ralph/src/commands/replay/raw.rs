//! `RawRecords`: maps an agent's recorded output to the records that a run of it would have written.

use std::collections::VecDeque;
use std::io::BufRead;
use std::path::PathBuf;

use agent_api::{Body, Emitter, Event, Outcome, SessionStarted};
use jiff::Timestamp;
use json_lines::{DEFAULT_MAX_LINE_BYTES, LineFramer};
use ralph_run::{
    EndReason, FORMAT_VERSION, LimitKind, Record, RunBody, RunEnded, RunEvent, RunStarted, UsageAccount,
    Warned, WarningKind,
};

use super::author::Author;

/// How many events may precede the session's start.
const MAX_BEFORE_SESSION: usize = 100;

/// The records that a run with this output would have written. The output has no times: all records have the time at
/// which the file was last written.
pub(super) struct RawRecords<R> {
    source: R,
    path: PathBuf,
    at: Timestamp,
    seq: u64,
    framer: LineFramer,
    author: Author,
    events: Emitter,
    /// Events before the run's start could be recorded.
    early: Vec<Event>,
    ready: VecDeque<Record>,
    has_begun: bool,
    account: UsageAccount,
    duration_ms: u64,
    outcome: Option<Outcome>,
    line_errors: u64,
    other_events: u64,
    is_over: bool,
}

impl<R: BufRead> RawRecords<R> {
    pub(super) fn new(source: R, path: PathBuf, author: Author, at: Timestamp) -> Self {
        let mut account = UsageAccount::default();
        account.start_attempt();
        Self {
            source,
            at,
            seq: 0,
            framer: LineFramer::new(DEFAULT_MAX_LINE_BYTES),
            events: Emitter::new(author.kind.clone()),
            author,
            path,
            early: Vec::new(),
            ready: VecDeque::new(),
            has_begun: false,
            account,
            duration_ms: 0,
            outcome: None,
            line_errors: 0,
            other_events: 0,
            is_over: false,
        }
    }

    /// Reads the next chunk. Fails only if that is not possible.
    fn read_more(&mut self) -> Result<(), String> {
        let chunk = match self.source.fill_buf() {
            Ok(chunk) => chunk.to_vec(),
            Err(error) => {
                self.end();
                return Err(format!("{}: {error}", self.path.display()));
            }
        };
        self.source.consume(chunk.len());
        let is_end = chunk.is_empty();
        self.framer.push(chunk.into());
        while let Some(line) = self.framer.next_line() {
            self.author.mapper.map_line(line, &mut self.events);
        }
        if is_end {
            if let Some(line) = self.framer.finish() {
                self.author.mapper.map_line(line, &mut self.events);
            }
            self.author.mapper.map_end(&mut self.events);
        }
        while let Some(event) = self.events.next_event() {
            self.take(event);
        }
        if is_end {
            self.end();
        }
        Ok(())
    }

    fn take(&mut self, event: Event) {
        self.note(&event.body);
        if self.has_begun {
            self.push(RunEvent::Agent(event));
            return;
        }
        let session = match &event.body {
            Body::SessionStarted(session) => Some((**session).clone()),
            _ => None,
        };
        self.early.push(event);
        if session.is_some() || self.early.len() >= MAX_BEFORE_SESSION {
            self.begin(session.as_ref());
        }
    }

    fn note(&mut self, body: &Body) {
        self.account.observe(body);
        match body {
            Body::Error(error) if error.position.is_some() => self.line_errors += 1,
            Body::Unknown(_) => {}
            Body::Usage(_) => {}
            Body::TurnFinished(turn) => {
                self.duration_ms += turn.duration_ms.unwrap_or(0);
                self.outcome = Some(turn.outcome);
                self.other_events += 1;
            }
            _ => self.other_events += 1,
        }
    }

    fn begin(&mut self, session: Option<&SessionStarted>) {
        self.has_begun = true;
        let name = self.path.file_stem().unwrap_or_default();
        let started = RunStarted {
            format_version: FORMAT_VERSION,
            run_id: name.to_string_lossy().into_owned(),
            ralph_version: env!("CARGO_PKG_VERSION").to_owned(),
            workspace: session.and_then(|it| it.cwd.clone()).unwrap_or_default(),
            backend: self.author.kind.clone(),
            display_name: self.author.display_name.clone(),
            model: session.and_then(|it| it.model.clone()),
            mode: None,
            task: None,
            permission_mode: session.and_then(|it| it.permission_mode.clone()),
            max_iterations: 1,
            max_cost: None,
            verify: Vec::new(),
            kind: ralph_run::RunKind::Loop.into(),
            by: None,
            resumed_from: None,
            is_ephemeral: false,
            start_commit: None,
            spent_before: None,
        };
        self.push(RunEvent::Run(RunBody::RunStarted(Box::new(started))));
        for event in std::mem::take(&mut self.early) {
            self.push(RunEvent::Agent(event));
        }
    }

    /// The end of the file.
    fn end(&mut self) {
        self.is_over = true;
        if self.other_events == 0 {
            // Not the output of an agent: the caller reports that.
            self.early.clear();
            return;
        }
        if !self.has_begun {
            self.begin(None);
        }
        if self.line_errors > 0 {
            let lines = if self.line_errors == 1 { "line" } else { "lines" };
            self.push(RunEvent::Run(RunBody::Warned(Warned::new(
                WarningKind::UnreadableLines,
                format!("{} {lines} could not be read", self.line_errors),
            ))));
        }
        let reason = reason(self.outcome);
        let mut totals = self.account.totals();
        totals.duration_ms = self.duration_ms;
        totals.is_estimate &= totals.cost.is_some();
        self.push(RunEvent::Run(RunBody::RunEnded(RunEnded {
            reason: reason.into(),
            exit_code: reason.exit_code(),
            message: None,
            iterations: 1,
            totals,
        })));
    }

    fn push(&mut self, event: RunEvent) {
        self.seq += 1;
        let has_process = u32::from(self.seq > 1);
        self.ready.push_back(Record {
            seq: self.seq,
            at: self.at,
            iteration: has_process,
            attempt: has_process,
            event,
        });
    }
}

impl<R: BufRead> Iterator for RawRecords<R> {
    type Item = Result<Record, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Some(Ok(record));
            }
            if self.is_over {
                return None;
            }
            if let Err(problem) = self.read_more() {
                return Some(Err(problem));
            }
        }
    }
}

fn reason(outcome: Option<Outcome>) -> EndReason {
    match outcome {
        None | Some(Outcome::NoResult) => EndReason::NoResult,
        Some(Outcome::Succeeded) => EndReason::Completed,
        Some(Outcome::LimitReached(limit)) => EndReason::Limit(match limit {
            agent_api::Limit::Turns => LimitKind::Turns,
            agent_api::Limit::Budget => LimitKind::Cost,
            agent_api::Limit::Tokens => LimitKind::Tokens,
        }),
        Some(Outcome::Interrupted | Outcome::Cancelled) => EndReason::Interrupted,
        Some(Outcome::TimedOut) => EndReason::Limit(LimitKind::Runtime),
        Some(Outcome::Crashed) => EndReason::Crashed,
        Some(Outcome::Lost) => EndReason::Lost,
        Some(_) => EndReason::AgentError,
    }
}
