//! `RunFold`: turns the lines of a journal into the rows of an index. Does no I/O.

use agent_api::{Body, ItemId, Part, RunUsage, Usage};
use jiff::Timestamp;
use ralph_run::model::{Change, Message};
use ralph_run::{EndReason, LimitKind, Open, Record, RunBody, RunEnded, RunEvent, Totals, UsageStep};
use serde::Deserialize;

use super::approvals::Approvals;
use super::begin::Beginning;
use super::state::FoldState;
use super::title::title_of;
use super::usage_rows::{Stamp, UsageRows};
use crate::rows::{ApprovalState, Batch, MAX_KEPT_LINE_BYTES, MessageRow, Progress, RecordRow, SignedTokens};
use crate::summary::RunSummary;
use ralph_run::{JournalItem, RecordHead};

/// Reads a journal from any position on and keeps the rows that an index needs.
#[derive(Debug, Default)]
pub struct RunFold {
    beginning: Beginning,
    summary: Option<RunSummary>,
    state: FoldState,
    start: u64,
    offset: u64,
    records: Vec<RecordRow>,
    has_no_rows: bool,
    keeps_lines: bool,
    /// How many bytes the lines of `records` have.
    line_bytes: usize,
    usage: UsageRows,
    approvals: Approvals,
    /// Messages that are new or changed.
    messages: Vec<MessageRow>,
}

/// The result of reading a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folded {
    /// A record.
    Record {
        /// Its number.
        seq: u64,
    },
    /// A fragment of text, which gets no row.
    Delta {
        /// Its number.
        seq: u64,
    },
    /// Not a record, or one whose number was seen before.
    Damaged,
}

impl RunFold {
    /// Starts at the beginning of a journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts at the beginning of the journal in the directory `run`. A copied directory is another run.
    #[must_use]
    pub fn named(run: impl Into<String>) -> Self {
        Self {
            beginning: Beginning::of(run.into()),
            ..Self::default()
        }
    }

    /// Continues where an index stopped.
    #[must_use]
    pub fn resume(progress: Progress) -> Self {
        Self {
            beginning: Beginning::default(),
            summary: Some(progress.summary),
            state: progress.state,
            start: progress.offset,
            offset: progress.offset,
            records: Vec::new(),
            has_no_rows: false,
            keeps_lines: false,
            line_bytes: 0,
            usage: UsageRows::resume(progress.usage),
            approvals: Approvals::resume(progress.approvals),
            messages: Vec::new(),
        }
    }

    /// Keeps no rows of records and usage, for callers that have no index.
    #[must_use]
    pub fn without_rows(mut self) -> Self {
        self.has_no_rows = true;
        self.records = Vec::new();
        self.usage.turn_off();
        self
    }

    /// Keeps the line of each record, for an index that [wants them](crate::Store::keeps_lines).
    #[must_use]
    pub fn keeping_lines(mut self, keeps_lines: bool) -> Self {
        self.keeps_lines = keeps_lines;
        self
    }

    /// Whether the line of each record is kept.
    #[must_use]
    pub fn keeps_lines(&self) -> bool {
        self.keeps_lines
    }

    /// The run so far; `None` before its first record.
    #[must_use]
    pub fn summary(&self) -> Option<&RunSummary> {
        self.summary.as_ref()
    }

    /// How much of the journal has been read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many lines were not records.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.state.damaged
    }

    /// How many records have not been [taken](Self::take) yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.records.len()
    }

    /// How many bytes the lines of these records have.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        self.line_bytes
    }

    /// Whether what was not [taken](Self::take) yet is something that people wait for: the run has begun or ended, or a
    /// request or a message is new or has changed.
    #[must_use]
    pub fn is_urgent(&self) -> bool {
        let has_ended = self
            .summary
            .as_ref()
            .is_some_and(|summary| summary.ended_at.is_some());
        self.offset > self.start
            && (self.start == 0 || has_ended || self.approvals.has_news() || !self.messages.is_empty())
    }

    /// Skips a line that is too long; `bytes` includes its newline.
    pub fn skip(&mut self, bytes: u64) {
        self.beginning.note(&[]);
        self.offset += bytes;
        self.state.damaged += 1;
    }

    /// Reads an item of a journal: a line as it is written, or with all of its text if lines are kept.
    pub fn push_item(&mut self, item: &JournalItem<'_>) -> Folded {
        match item {
            JournalItem::Line(line) if self.keeps_lines => {
                self.push_restored(&line.restored(), line.end() - line.start)
            }
            JournalItem::Line(line) => self.push(line.bytes),
            JournalItem::Overlong(bytes) => {
                self.skip(*bytes);
                Folded::Damaged
            }
        }
    }

    /// Reads a line, given without its newline.
    pub fn push(&mut self, line: &[u8]) -> Folded {
        self.push_restored(line, line.len() as u64 + 1)
    }

    /// Reads a line with all of its text. In the journal it has `bytes` with the newline.
    pub fn push_restored(&mut self, line: &[u8], bytes: u64) -> Folded {
        let offset = self.offset;
        self.offset += bytes;
        let Some(head) = RecordHead::parse(line) else {
            self.beginning.note(line);
            self.state.damaged += 1;
            return Folded::Damaged;
        };
        let at = head.at();
        if self.summary.is_none() {
            self.summary = self.beginning.begin(line, &head, at);
            self.state.is_newer = self.beginning.is_newer();
        }
        if self.state.is_newer {
            return Folded::Damaged;
        }
        let known = self
            .summary
            .as_mut()
            .filter(|summary| summary.head_seq < head.seq);
        let Some(summary) = known else {
            self.state.damaged += 1;
            return Folded::Damaged;
        };
        summary.head_seq = head.seq;
        let seq = head.seq;
        let is_delta = head.is_delta();
        if !is_delta && !self.has_no_rows {
            let line = str::from_utf8(line)
                .ok()
                .filter(|line| self.keeps_lines && line.len() <= MAX_KEPT_LINE_BYTES);
            self.line_bytes += line.map_or(0, str::len);
            self.records.push(RecordRow {
                seq,
                at,
                kind: head.event.kind.as_ref().to_owned(),
                offset,
                line: line.map(Into::into),
            });
        }
        self.apply(line, &head, at);
        self.update_summary();
        if is_delta {
            Folded::Delta { seq }
        } else {
            Folded::Record { seq }
        }
    }

    /// The rows since the last call; `None` if nothing was read since, or the run has no record yet.
    pub fn take(&mut self) -> Option<Batch> {
        let summary = self.summary.clone().filter(|_| self.offset > self.start)?;
        let start = std::mem::replace(&mut self.start, self.offset);
        self.line_bytes = 0;
        Some(Batch {
            summary,
            start,
            offset: self.offset,
            state: self.state.clone(),
            records: std::mem::take(&mut self.records),
            usage: self.usage.take(),
            approvals: self.approvals.take(),
            messages: std::mem::take(&mut self.messages),
        })
    }

    /// Feeds the model. Texts, which are most of a journal, are not read: that there is one is enough.
    fn apply(&mut self, line: &[u8], head: &RecordHead<'_>, at: Timestamp) {
        let position = (head.iteration, head.attempt);
        let text = match &*head.event.kind {
            "delta" => head.data::<Fragment>().map(|fragment| fragment.part),
            "text_block" => Some(Part::Text),
            "thinking_block" => Some(Part::Thinking),
            _ => None,
        };
        let is_subagent = head.event.parent.is_some();
        match text {
            Some(part) => self
                .state
                .model
                .apply_delta(head.seq, at, position, part, is_subagent),
            None => match serde_json::from_slice(line) {
                Ok(Record {
                    event: RunEvent::Unknown(_),
                    ..
                })
                | Err(_) => match end_of_newer(head, at, self.state.model.totals()) {
                    Some(record) => self.apply_record(&record, head, at),
                    None => self.state.model.skip(head.seq, at, position),
                },
                Ok(record) => self.apply_record(&record, head, at),
            },
        }
    }

    fn apply_record(&mut self, record: &Record, head: &RecordHead<'_>, at: Timestamp) {
        let model = self.state.model.account().model().map(str::to_owned);
        let stamp = Stamp {
            seq: record.seq,
            at,
            model: model.as_deref(),
        };
        if let RunEvent::Run(RunBody::RunEnded(ended)) = &record.event {
            self.settle_run(ended, stamp);
        }
        if let RunEvent::Run(RunBody::LimitRaised(raised)) = &record.event
            && raised.limit.known() == Some(&LimitKind::Cost)
            && let Some(summary) = &mut self.summary
        {
            summary.max_cost_micro_usd = Some(raised.to);
        }
        let changes = self.state.model.apply(record);
        if let RunEvent::Run(body) = &record.event {
            match body {
                RunBody::AttemptStarted(_) => self.start_rows(),
                RunBody::AttemptEnded(ended) => {
                    self.usage.settle(&mut self.state, stamp, &ended.totals);
                    self.start_rows();
                }
                RunBody::IterationStarted(started) => self.note_title(&started.prompt),
                RunBody::CommandReceived(command)
                    if command.command == "send" && command.refused.is_none() =>
                {
                    self.note_title(command.text.as_deref().unwrap_or_default());
                }
                _ => {}
            }
        }
        let Some(run) = self.summary.as_ref().map(|summary| summary.id.clone()) else {
            return;
        };
        for change in changes {
            match change {
                Change::Usage(step) => {
                    if let RunEvent::Agent(event) = &record.event
                        && let Body::Usage(usage) = &event.body
                    {
                        self.add_usage(event.parent.as_ref(), usage, step, (record.seq, at));
                    }
                }
                Change::RequestOpened(request) => self.approvals.open(&run, request.as_str(), head, at),
                Change::RequestClosed {
                    request,
                    was_answered,
                } => {
                    let state = match was_answered {
                        true => ApprovalState::Answered,
                        false => ApprovalState::Withdrawn,
                    };
                    self.approvals.close(request.as_str(), state, at);
                }
                Change::Message(message) => self.note_message(&run, message),
                Change::Session(id) => self.note_session(id),
            }
        }
    }

    fn add_usage(
        &mut self,
        parent: Option<&ItemId>,
        usage: &Usage,
        step: UsageStep,
        (seq, at): (u64, Timestamp),
    ) {
        let model = usage.model.as_deref().or(self.state.model.account().model());
        let model = model.map(str::to_owned);
        let stamp = Stamp {
            seq,
            at,
            model: model.as_deref(),
        };
        let RunUsage { is_partial, .. } = usage.run;
        if is_partial {
            let lane = parent.map(ItemId::as_str);
            self.usage
                .add(&mut self.state, lane, usage.model.is_some(), stamp, step);
        } else {
            let totals = self.state.model.account().attempt().unwrap_or_default();
            self.usage.settle(&mut self.state, stamp, &totals);
        }
    }

    /// Settles the whole run. The runner may have died, or not reported how its last process ended: then what that process
    /// used is what the end of the run adds to the others.
    fn settle_run(&mut self, ended: &RunEnded, stamp: Stamp<'_>) {
        self.usage.settle_run(&mut self.state, stamp, &ended.totals);
    }

    fn start_rows(&mut self) {
        self.state.rows_tokens = SignedTokens::default();
        self.state.rows_cost = 0;
    }

    fn note_title(&mut self, text: &str) {
        if let Some(summary) = self.summary.as_mut().filter(|summary| summary.title.is_empty()) {
            summary.title = title_of(text);
        }
    }

    fn note_session(&mut self, id: String) {
        if let Some(summary) = self
            .summary
            .as_mut()
            .filter(|summary| !summary.session_ids.contains(&id))
        {
            summary.session_ids.push(id);
        }
    }

    /// One row for each message: engines take a row once in a batch.
    fn note_message(&mut self, run: &str, message: Message) {
        let row = MessageRow::new(run, message);
        match self.messages.iter_mut().find(|known| known.id == row.id) {
            Some(known) => *known = row,
            None => self.messages.push(row),
        }
    }

    /// What a list shows is what the model knows.
    fn update_summary(&mut self) {
        let Some(summary) = &mut self.summary else { return };
        let model = &self.state.model;
        summary.updated_at = model.last_at().unwrap_or(summary.updated_at);
        summary.iteration = model.iteration();
        summary.attempt = model.attempt();
        summary.totals = model.totals();
        summary.context = model.context();
        summary.errors = model.counts().errors;
        summary.pending = u32::try_from(model.requests().len()).unwrap_or(u32::MAX);
        if summary.activity != *model.state() {
            summary.activity.clone_from(model.state());
        }
        update(&mut summary.model, model.model());
        update(&mut summary.permission_mode, model.permission_mode());
        if let (None, Some(ended)) = (summary.ended_at, model.ended()) {
            summary.ended_at = model.ended_at();
            summary.reason = Some(ended.reason.clone());
            summary.exit_code = Some(ended.exit_code);
            // A remark about the journal itself still holds.
            summary.message = ended.message.clone().or(summary.message.take());
        }
    }
}

/// The end of a run in a shape that this version does not know. Whether it went well is known nonetheless.
fn end_of_newer(head: &RecordHead<'_>, at: Timestamp, totals: Totals) -> Option<Record> {
    #[derive(Deserialize)]
    struct End {
        exit_code: u8,
        #[serde(default)]
        reason: Option<Open<EndReason>>,
        #[serde(default)]
        message: Option<String>,
    }
    let end: End = (head.event.kind == "run_ended").then(|| head.data())??;
    let ended = RunEnded {
        reason: end.reason.unwrap_or(Open::Known(match end.exit_code {
            0 => EndReason::Completed,
            _ => EndReason::AgentError,
        })),
        exit_code: end.exit_code,
        message: end.message,
        iterations: head.iteration,
        totals,
    };
    Some(Record {
        seq: head.seq,
        at,
        iteration: head.iteration,
        attempt: head.attempt,
        event: RunEvent::Run(RunBody::RunEnded(ended)),
    })
}

/// The part of a text that a delta belongs to.
#[derive(Deserialize)]
struct Fragment {
    part: Part,
}

fn update(known: &mut Option<String>, new: Option<&str>) {
    if new.is_some() && known.as_deref() != new {
        *known = new.map(str::to_owned);
    }
}
