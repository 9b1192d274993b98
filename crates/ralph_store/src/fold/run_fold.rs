//! The fold itself.

use jiff::Timestamp;
use ralph_run::{Activity, EndReason};

use super::activity::after;
use super::asks::Asks;
use super::begin::Beginning;
use super::data::{AttemptOver, Command, Forked, MessageNews, Over, Prompted, Session, Used};
use super::messages::Messages;
use super::state::FoldState;
use super::title::title_of;
use super::usage_rows::{Stamp, UsageRows};
use crate::glance::{Glance, Memory};
use crate::rows::{ApprovalKind, Batch, Progress, RecordRow};

use crate::summary::RunSummary;

/// Reads a journal from somewhere on and keeps what an index needs. Pure: lines in, rows out.
#[derive(Debug, Default)]
pub struct RunFold {
    beginning: Beginning,
    summary: Option<RunSummary>,
    state: FoldState,
    memory: Memory,
    start: u64,
    offset: u64,
    records: Vec<RecordRow>,
    has_no_rows: bool,
    usage: UsageRows,
    asks: Asks,
    messages: Messages,
}

/// What came of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folded {
    /// A record.
    Record {
        /// Its number.
        seq: u64,
    },
    /// A piece of text: it is not kept.
    Delta {
        /// Its number.
        seq: u64,
    },
    /// No record, or one whose number was there before.
    Damaged,
}

impl RunFold {
    /// Begins at the start of a journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins at the start of the journal of the run whose directory is called so. A copied directory is another run.
    #[must_use]
    pub fn named(run: impl Into<String>) -> Self {
        Self {
            beginning: Beginning::of(run.into()),
            ..Self::default()
        }
    }

    /// Goes on where an index stopped.
    #[must_use]
    pub fn resume(progress: Progress) -> Self {
        Self {
            beginning: Beginning::default(),
            summary: Some(progress.summary),
            state: progress.state,
            memory: Memory::default(),
            start: progress.offset,
            offset: progress.offset,
            records: Vec::new(),
            has_no_rows: false,
            usage: UsageRows::resume(progress.usage),
            asks: Asks::resume(progress.approvals),
            messages: Messages::resume(progress.messages),
        }
    }

    /// For who watches and has no index: keeps no rows of records and usage.
    #[must_use]
    pub fn without_rows(mut self) -> Self {
        self.has_no_rows = true;
        self.records = Vec::new();
        self.usage.turn_off();
        self
    }

    /// The run so far; none before record 1.
    #[must_use]
    pub fn summary(&self) -> Option<&RunSummary> {
        self.summary.as_ref()
    }

    /// How much of the journal has been read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many lines were no records.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.state.damaged
    }

    /// How many records wait to be [taken](Self::take).
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.records.len()
    }

    /// Leaves out a line that is too long to be read, newline included.
    pub fn skip(&mut self, bytes: u64) {
        self.beginning.note(&[]);
        self.offset += bytes;
        self.state.damaged += 1;
    }

    /// Takes a line, without its newline.
    pub fn push(&mut self, line: &[u8]) -> Folded {
        let offset = self.offset;
        self.offset += line.len() as u64 + 1;
        let (Some(glance), Ok(length)) = (Glance::of(line, &mut self.memory), u32::try_from(line.len()))
        else {
            self.beginning.note(line);
            self.state.damaged += 1;
            return Folded::Damaged;
        };
        let at = glance.at;
        if self.summary.is_none() {
            self.summary = self.beginning.begin(line, &glance, at);
        }
        let known = self
            .summary
            .as_mut()
            .filter(|summary| summary.head_seq < glance.seq);
        let Some(summary) = known else {
            self.state.damaged += 1;
            return Folded::Damaged;
        };
        summary.head_seq = glance.seq;
        summary.updated_at = at;
        if glance.iteration > 0 {
            summary.iteration = glance.iteration;
            summary.attempt = glance.attempt;
        }
        let seq = glance.seq;
        let is_delta = glance.kind == "delta";
        if !is_delta {
            if !self.has_no_rows {
                self.records.push(RecordRow {
                    seq,
                    at,
                    kind: glance.kind.as_ref().to_owned(),
                    offset,
                    length,
                });
            }
            self.learn(&glance, at);
        }
        self.set_activity(&glance);
        if is_delta {
            Folded::Delta { seq }
        } else {
            Folded::Record { seq }
        }
    }

    /// What has come since the last time; none if nothing has, or it is no run yet.
    pub fn take(&mut self) -> Option<Batch> {
        let summary = self.summary.clone().filter(|_| self.offset > self.start)?;
        let start = std::mem::replace(&mut self.start, self.offset);
        Some(Batch {
            summary,
            start,
            offset: self.offset,
            state: self.state.clone(),
            records: std::mem::take(&mut self.records),
            usage: self.usage.take(),
            approvals: self.asks.take(),
            messages: self.messages.take(),
        })
    }

    fn set_activity(&mut self, glance: &Glance<'_>) {
        let Some(summary) = &mut self.summary else { return };
        // What is being ended stays so, whatever the agent still says.
        if let (Some(next), false) = (after(glance), self.state.activity == Activity::Stopping)
            && self.state.activity != next
        {
            self.state.activity = next;
        }
        let ended = summary.ended_at.and(summary.reason);
        if let Some(reason) = ended {
            summary.activity = Activity::Ended { reason };
        } else if let Some(what) = self.asks.waiting_for() {
            summary.activity = Activity::Waiting { what };
        } else if summary.activity != self.state.activity {
            summary.activity = self.state.activity.clone();
        }
        summary.pending = self.asks.pending();
        if ended.is_none() {
            let elapsed = summary.updated_at.as_millisecond() - summary.started_at.as_millisecond();
            // A clock that went back makes nothing negative.
            summary.totals.duration_ms = u64::try_from(elapsed).unwrap_or(0);
        }
    }

    fn learn(&mut self, glance: &Glance<'_>, at: Timestamp) {
        let Some(summary) = &mut self.summary else { return };
        match &*glance.kind {
            "usage" => self.on_usage(glance, at),
            "turn_finished" => {
                self.state.account.add_turn();
                summary.totals = self.state.account.run();
            }
            "error" => summary.errors = summary.errors.saturating_add(1),
            "permission_requested" => self.asks.ask(&summary.id, ApprovalKind::Permission, glance, at),
            "question_asked" => self.asks.ask(&summary.id, ApprovalKind::Question, glance, at),
            "plan_proposed" => self.asks.ask(&summary.id, ApprovalKind::Plan, glance, at),
            "request_closed" => self.asks.on_closed(glance, at),
            "message_updated" => {
                if let Some(news) = glance.data::<MessageNews<'_>>() {
                    self.messages.on_news(&news);
                }
            }
            "message_sent" => {
                if let Some(news) = glance.data::<MessageNews<'_>>() {
                    self.messages.on_sent(&news);
                }
            }
            "command_received" => self.on_command(glance, at),
            "session_started" | "session_updated" | "message_awaited" => self.on_session(glance),
            "session_forked" => {
                if let Some(forked) = glance.data::<Forked>() {
                    note_session(summary, &forked.actual);
                }
            }
            "iteration_started" if summary.title.is_empty() => {
                if let Some(prompted) = glance.data::<Prompted<'_>>() {
                    summary.title = title_of(&prompted.prompt);
                }
            }
            "attempt_started" => self.state.account.start_attempt(summary.model.as_deref()),
            "attempt_ended" => self.on_attempt_ended(glance, at),
            "run_ended" => self.on_run_ended(glance, at),
            _ => {}
        }
    }

    fn on_usage(&mut self, glance: &Glance<'_>, at: Timestamp) {
        let (Some(summary), Some(used)) = (&mut self.summary, glance.data::<Used<'_>>()) else {
            return;
        };
        let step = self.state.account.apply(used.model.as_ref(), &used.run);
        let model = used.model.as_deref().map(str::to_owned);
        let model = model.or_else(|| self.state.account.model().map(str::to_owned));
        let stamp = Stamp {
            seq: glance.seq,
            at,
            model: model.as_deref(),
        };
        let state = &mut self.state;
        if used.run.is_partial {
            let lane = glance.parent.as_deref();
            self.usage.add(state, lane, used.model.is_some(), stamp, step);
        } else {
            let totals = state.account.attempt().unwrap_or_default();
            self.usage.settle(state, stamp, &totals);
        }
        summary.totals = state.account.run();
        summary.context = used.context.or(summary.context);
    }

    fn on_command(&mut self, glance: &Glance<'_>, at: Timestamp) {
        let (Some(summary), Some(command)) = (&mut self.summary, glance.data::<Command<'_>>()) else {
            return;
        };
        if command.refused.is_some() {
            return;
        }
        match (&*command.command, &command.text) {
            ("stop" | "kill", _) => self.state.activity = Activity::Stopping,
            ("send", Some(text)) if summary.title.is_empty() => summary.title = title_of(text),
            _ => {}
        }
        self.messages.on_command(&summary.id, command, glance.seq, at);
    }

    fn on_session(&mut self, glance: &Glance<'_>) {
        let (Some(summary), Some(session)) = (&mut self.summary, glance.data::<Session<'_>>()) else {
            return;
        };
        if let Some(model) = session.model {
            self.state.account.set_model(&model);
            summary.model = Some(model.into_owned());
        }
        if let Some(mode) = session.permission_mode {
            summary.permission_mode = Some(mode.into_owned());
        }
        if let Some(id) = session.session_id {
            note_session(summary, &id);
        }
    }

    fn on_attempt_ended(&mut self, glance: &Glance<'_>, at: Timestamp) {
        let Some(summary) = &mut self.summary else { return };
        let ended: AttemptOver = glance.data().unwrap_or_default();
        let model = self.state.account.model().map(str::to_owned);
        let stamp = Stamp {
            seq: glance.seq,
            at,
            model: model.as_deref(),
        };
        self.usage.settle(&mut self.state, stamp, &ended.totals);
        self.state.account.end_attempt(ended.totals);
        summary.totals = self.state.account.run();
        if let Some(id) = ended.session_id {
            note_session(summary, &id);
        }
        self.asks.withdraw_all(at);
        self.messages.end_attempt();
    }

    fn on_run_ended(&mut self, glance: &Glance<'_>, at: Timestamp) {
        let Some(summary) = &mut self.summary else { return };
        let ended: Over<'_> = glance.data().unwrap_or_default();
        let reason = ended
            .reason
            .and_then(|reason| serde_json::from_str(reason.get()).ok());
        // A word of a newer version: whether it went well is known nonetheless.
        let reason = reason.unwrap_or(match ended.exit_code {
            0 => EndReason::Completed,
            _ => EndReason::AgentError,
        });
        if let Some(mut open) = self.state.account.attempt() {
            // The runner died. What its last process used is what it said, but for money that nobody told.
            let closed = self.state.account.closed();
            open.tokens = ended.totals.tokens.since(closed.tokens);
            let told = ended
                .totals
                .cost
                .map(|cost| cost.saturating_sub(closed.cost.unwrap_or_default()));
            if let Some(told) = told.filter(|told| *told != agent_api::MicroUsd::ZERO) {
                open.cost = Some(told);
            }
            let model = self.state.account.model().map(str::to_owned);
            let stamp = Stamp {
                seq: glance.seq,
                at,
                model: model.as_deref(),
            };
            self.usage.settle(&mut self.state, stamp, &open);
        }
        summary.ended_at = Some(at);
        summary.reason = Some(reason);
        summary.exit_code = Some(ended.exit_code);
        // What was said before of the journal itself still holds.
        summary.message = ended.message.or(summary.message.take());
        summary.totals = ended.totals;
        self.asks.withdraw_all(at);
        self.messages.end();
    }
}

fn note_session(summary: &mut RunSummary, id: &str) {
    if !summary.session_ids.iter().any(|known| known == id) {
        summary.session_ids.push(id.to_owned());
    }
}
