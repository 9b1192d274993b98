//! `RunModel`: everything that views, `run.json`, reconciliation and the index know about a run, folded from its
//! records.

use std::collections::VecDeque;

use agent_api::{Body, CloseReason, ContextUse, Event, MicroUsd, Part, ToolStatus};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::activity_tracker::{ActivityTracker, ScheduledRetry};
use super::changed_files::ChangedFiles;
use super::message_log::MessageLog;
use super::permission_tracker::PermissionTracker;
use super::run_facts::{Change, Counts, Iteration};
use super::run_state::{RunState, WaitingFor};
use super::text_tail::{TextTail, head_chars};
use crate::control::{PendingRequest, PendingRequests};
use crate::reason::LimitKind;
use crate::record::{
    BudgetAwaited, IterationEnded, LimitRaised, Record, RunBody, RunEnded, RunEvent, RunStarted, Totals,
    VerifyFinished, Warned,
};
use crate::usage_account::UsageAccount;

/// Bounds of the lists, so that the model of a run that lasts weeks stays below a megabyte or so.
const MAX_ITERATIONS: usize = 500;
const MAX_SESSIONS: usize = 5_000;
const MAX_WARNINGS: usize = 100;
const MAX_VERIFY: usize = 100;
const FAILURE_CHARS: usize = 500;

/// A run, folded from its records one at a time. Pure: no clock, no file.
///
/// Feeding it in parts, with a round trip through JSON in between, gives the same as feeding it at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunModel {
    detail: Detail,
    seq: u64,
    started_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    suspended_ms: u64,
    iteration: u32,
    attempt: u32,
    started: Option<Box<RunStarted>>,
    ended: Option<(Timestamp, RunEnded)>,
    state: RunState,
    /// When the state became this one.
    state_since: Option<Timestamp>,
    activity: ActivityTracker,
    account: UsageAccount,
    requests: PendingRequests,
    messages: MessageLog,
    iterations: VecDeque<Iteration>,
    verify: Vec<VerifyFinished>,
    warnings: VecDeque<Warned>,
    files: ChangedFiles,
    session_ids: Vec<String>,
    model: Option<String>,
    agent_version: Option<String>,
    #[serde(flatten)]
    permission_mode: PermissionTracker,
    context: Option<ContextUse>,
    last_text: TextTail,
    /// The item that the last text belongs to.
    last_item: Option<String>,
    counts: Counts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Detail {
    #[default]
    Full,
    Summary,
}

impl RunModel {
    pub fn new() -> Self {
        Self::default()
    }

    /// A model without lists (iterations, checks, warnings, files, sessions, settled messages) and without the last
    /// text.
    pub fn summary_only() -> Self {
        Self {
            detail: Detail::Summary,
            ..Self::default()
        }
    }

    /// Applies the next record. One whose number was seen before is ignored.
    pub fn apply(&mut self, record: &Record) -> Vec<Change> {
        let mut changes = Vec::new();
        if !self.stamp(record.seq, record.at, (record.iteration, record.attempt)) {
            return changes;
        }
        self.apply_usage(record, &mut changes);
        let mut messages = Vec::new();
        self.messages.apply(record, &mut messages);
        if self.detail == Detail::Summary {
            self.messages.forget_settled();
        }
        changes.extend(messages.into_iter().map(Change::Message));
        match &record.event {
            RunEvent::Agent(event) => {
                self.activity.on_agent(event, record.at);
                self.on_agent(event, &mut changes);
            }
            RunEvent::Run(body) => {
                self.activity.on_run(body);
                self.on_run(record, body, &mut changes);
            }
            RunEvent::Unknown(_) => increment(&mut self.counts.unknown_records),
        }
        self.apply_requests(record, &mut changes);
        self.refresh_state();
        changes
    }

    /// Applies a piece of text of which only the part is known, for callers that do not need the last text.
    pub fn apply_delta(
        &mut self,
        seq: u64,
        at: Timestamp,
        position: (u32, u32),
        part: Part,
        is_subagent: bool,
    ) {
        if self.stamp(seq, at, position) && !is_subagent {
            self.activity.on_delta(part);
            self.refresh_state();
        }
    }

    /// Notes the position of a record that cannot be read.
    pub fn skip(&mut self, seq: u64, at: Timestamp, position: (u32, u32)) {
        self.stamp(seq, at, position);
    }

    fn stamp(&mut self, seq: u64, at: Timestamp, (iteration, attempt): (u32, u32)) -> bool {
        if seq <= self.seq {
            return false;
        }
        self.seq = seq;
        self.started_at.get_or_insert(at);
        self.last_at = Some(at);
        if iteration > 0 {
            (self.iteration, self.attempt) = (iteration, attempt);
        }
        true
    }

    fn apply_usage(&mut self, record: &Record, changes: &mut Vec<Change>) {
        if let RunEvent::Agent(event) = &record.event
            && let Body::Usage(usage) = &event.body
        {
            let step = self.account.apply_usage(usage.model.as_deref(), &usage.run);
            // A subagent has its own.
            if let Some(context) = usage.context.filter(|_| event.parent.is_none()) {
                self.context = Some(self.account.sized_context(context, usage.model.as_deref()));
            }
            changes.push(Change::Usage(step));
        } else {
            self.account.apply(&record.event);
        }
    }

    fn apply_requests(&mut self, record: &Record, changes: &mut Vec<Change>) {
        if !PendingRequests::is_concerned(&record.event) {
            return;
        }
        let before: Vec<PendingRequest> = self.requests.iter().cloned().collect();
        self.requests.observe_record(record);
        let closed = match &record.event {
            RunEvent::Agent(event) => match &event.body {
                Body::RequestClosed(closed) => Some(closed.reason),
                _ => None,
            },
            RunEvent::Run(_) | RunEvent::Unknown(_) => None,
        };
        for request in &before {
            if self.requests.get(request.id()).is_none() {
                self.activity.on_request_closed();
                if let (PendingRequest::Permission(asked), Some(CloseReason::Answered)) = (request, closed) {
                    self.activity.on_granted(
                        asked.item.as_ref(),
                        &asked.tool,
                        asked.subject.as_deref(),
                        record.at,
                    );
                }
                changes.push(Change::RequestClosed {
                    request: request.id().clone(),
                    was_answered: matches!(closed, Some(CloseReason::Answered | CloseReason::Denied)),
                });
            }
        }
        for request in self.requests.iter() {
            if !before.contains(request) {
                changes.push(Change::RequestOpened(request.id().clone()));
            }
        }
    }

    fn on_agent(&mut self, event: &Event, changes: &mut Vec<Change>) {
        match &event.body {
            Body::SessionStarted(session) => {
                update(&mut self.model, session.model.as_ref());
                update(&mut self.agent_version, session.agent_version.as_ref());
                self.permission_mode.report(session.permission_mode.as_ref());
                self.note_session(session.session_id.as_ref(), changes);
            }
            Body::SessionUpdated(session) => {
                update(&mut self.model, session.model.as_ref());
                self.permission_mode.report(session.permission_mode.as_ref());
                self.note_session(session.session_id.as_ref(), changes);
            }
            Body::ToolFinished(finished) => {
                increment(&mut self.counts.tool_calls);
                match finished.status {
                    ToolStatus::Failed => increment(&mut self.counts.failed_calls),
                    ToolStatus::Denied => increment(&mut self.counts.denials),
                    ToolStatus::Completed | ToolStatus::Background | ToolStatus::Cancelled => {}
                }
                if self.detail == Detail::Full && finished.status == ToolStatus::Completed {
                    finished
                        .changes
                        .iter()
                        .for_each(|change| self.files.apply(change));
                }
            }
            Body::CommandAnswered(answered) => self.permission_mode.on_answer(answered),
            Body::Error(_) => increment(&mut self.counts.errors),
            Body::TextBlock(block) if event.parent.is_none() => {
                let is_first = block.piece.index == 0;
                self.note_text(block.item.as_str(), &block.text, is_first);
            }
            _ => {}
        }
    }

    fn on_run(&mut self, record: &Record, body: &RunBody, changes: &mut Vec<Change>) {
        let is_full = self.detail == Detail::Full;
        match body {
            RunBody::RunStarted(started) => {
                self.model.clone_from(&started.model);
                self.permission_mode.start(started.permission_mode.as_deref());
                if is_full {
                    self.started = Some(started.clone());
                }
            }
            RunBody::CommandReceived(command) => self.permission_mode.on_command(command),
            RunBody::IterationStarted(started) => {
                increment(&mut self.counts.iterations);
                self.verify.clear();
                if is_full {
                    push_bounded(
                        &mut self.iterations,
                        MAX_ITERATIONS,
                        Iteration {
                            number: started.number,
                            role: started.role.clone(),
                            started_at: record.at,
                            outcome: None,
                            totals: Totals::default(),
                            failure: None,
                        },
                    );
                }
            }
            RunBody::AttemptStarted(started) => {
                self.permission_mode.on_attempt_started();
                increment(&mut self.counts.attempts);
                update(&mut self.agent_version, started.agent_version.as_ref());
            }
            RunBody::AttemptEnded(ended) => self.note_session(ended.session_id.as_ref(), changes),
            RunBody::VerifyFinished(verify) if is_full && self.verify.len() < MAX_VERIFY => {
                self.verify.push(verify.clone());
            }
            RunBody::IterationEnded(ended) if is_full => self.end_iteration(record.at, ended),
            RunBody::Warned(warned) => {
                increment(&mut self.counts.warnings);
                if is_full {
                    push_bounded(&mut self.warnings, MAX_WARNINGS, warned.clone());
                }
            }
            RunBody::SessionForked(forked) => self.note_session(Some(&forked.actual), changes),
            RunBody::MessageAwaited(awaited) => self.note_session(awaited.session_id.as_ref(), changes),
            RunBody::Continued(continued) => {
                self.suspended_ms = self.suspended_ms.saturating_add(continued.suspended_ms);
            }
            RunBody::LimitRaised(raised) => self.raise_limit(raised),
            RunBody::RunEnded(ended) => self.ended = Some((record.at, ended.clone())),
            RunBody::VerifyStarted(_)
            | RunBody::VerifyFinished(_)
            | RunBody::IterationEnded(_)
            | RunBody::CooldownStarted(_)
            | RunBody::BudgetAwaited(_)
            | RunBody::StopStarted(_)
            | RunBody::Suspended(_)
            | RunBody::MessageSent(_) => {}
        }
    }

    /// Views show how much of the limits is used.
    fn raise_limit(&mut self, raised: &LimitRaised) {
        let Some(started) = &mut self.started else { return };
        match raised.limit.known() {
            Some(LimitKind::Cost) => started.max_cost = Some(MicroUsd::new(raised.to)),
            Some(LimitKind::Iterations) => {
                started.max_iterations = u32::try_from(raised.to).unwrap_or(u32::MAX);
            }
            Some(
                LimitKind::Runtime
                | LimitKind::Tokens
                | LimitKind::IterationTimeout
                | LimitKind::Turns
                | LimitKind::Usage,
            )
            | None => {}
        }
    }

    fn end_iteration(&mut self, at: Timestamp, ended: &IterationEnded) {
        let known = self
            .iterations
            .back()
            .is_some_and(|last| last.number == ended.number);
        if !known {
            // A conversation has one iteration, which does not announce itself.
            push_bounded(
                &mut self.iterations,
                MAX_ITERATIONS,
                Iteration {
                    number: ended.number,
                    role: None,
                    started_at: at,
                    outcome: None,
                    totals: Totals::default(),
                    failure: None,
                },
            );
        }
        if let Some(iteration) = self.iterations.back_mut() {
            iteration.outcome = Some(ended.outcome.clone());
            iteration.totals = ended.totals;
            iteration.failure = ended
                .failure
                .as_deref()
                .map(|failure| head_chars(failure, FAILURE_CHARS).to_owned());
        }
    }

    fn note_session(&mut self, id: Option<&String>, changes: &mut Vec<Change>) {
        let Some(id) = id else { return };
        if self.detail == Detail::Full {
            if self.session_ids.contains(id) {
                return;
            }
            if self.session_ids.len() == MAX_SESSIONS {
                self.session_ids.remove(0);
            }
            self.session_ids.push(id.clone());
        }
        changes.push(Change::Session(id.clone()));
    }

    fn note_text(&mut self, item: &str, text: &str, is_first: bool) {
        if self.detail == Detail::Summary {
            return;
        }
        if is_first || self.last_item.as_deref() != Some(item) {
            self.last_text.set(text);
            self.last_item = Some(item.to_owned());
        } else {
            self.last_text.push(text);
        }
    }

    fn refresh_state(&mut self) {
        let request = self.requests.iter().next().map(|request| match request {
            PendingRequest::Permission(_) => WaitingFor::Permission,
            PendingRequest::Question(_) => WaitingFor::Question,
            PendingRequest::Plan(_) => WaitingFor::Plan,
        });
        let state = self.activity.state(request);
        if self.state != state || self.state_since.is_none() {
            self.state_since = self.last_at;
        }
        self.state = state;
    }
}

impl RunModel {
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Since when the run is in this state; for a tool, since when the call runs.
    pub fn state_since(&self) -> Option<Timestamp> {
        match self.state {
            RunState::Tool { .. } => self.activity.call_started_at().or(self.state_since),
            _ => self.state_since,
        }
    }

    /// When the wait of this state ends by itself.
    pub fn waits_until(&self) -> Option<Timestamp> {
        match self.state {
            RunState::Cooling { until }
            | RunState::Waiting {
                what: WaitingFor::Limit { until },
            } => Some(until),
            RunState::Waiting {
                what: WaitingFor::Budget,
            } => self.awaited_budget()?.until,
            _ => None,
        }
    }

    /// The limit that has to be raised before the run continues.
    pub fn awaited_budget(&self) -> Option<&BudgetAwaited> {
        let is_waiting = matches!(
            self.state,
            RunState::Waiting {
                what: WaitingFor::Budget
            }
        );
        self.activity.budget().filter(|_| is_waiting)
    }

    /// The agent's pause before it asks its model again.
    pub fn retry(&self) -> Option<&ScheduledRetry> {
        self.activity.retry()
    }

    /// The verify command that runs, at most 120 characters of it.
    pub fn verifying(&self) -> Option<&str> {
        self.activity.verifying()
    }

    /// Usage and cost so far. The duration is that of the run: until its last record, without the time it was suspended, or as its end says.
    pub fn totals(&self) -> Totals {
        if let Some((_, ended)) = &self.ended {
            return ended.totals;
        }
        let mut totals = self.account.totals();
        totals.duration_ms = match (self.started_at, self.last_at) {
            // The clock may have been set back.
            (Some(from), Some(to)) => u64::try_from(to.duration_since(from).as_millis())
                .unwrap_or(0)
                .saturating_sub(self.suspended_ms),
            _ => 0,
        };
        totals
    }

    pub fn account(&self) -> &UsageAccount {
        &self.account
    }

    /// What counts against the cost limit, which is the task's: the cost of this run and of those before it.
    pub fn spent_of_limit(&self) -> MicroUsd {
        let before = self.started.as_ref().and_then(|started| started.spent_before);
        before.unwrap_or_default() + self.totals().cost.unwrap_or_default()
    }

    /// Requests of the agent that wait for an answer, oldest first. Redacted, as the journal is.
    pub fn requests(&self) -> &PendingRequests {
        &self.requests
    }

    pub fn messages(&self) -> &MessageLog {
        &self.messages
    }

    /// The newest 500 iterations, oldest first; [`Counts::iterations`] has their number.
    pub fn iterations(&self) -> &VecDeque<Iteration> {
        &self.iterations
    }

    /// Finished verify commands of the current iteration.
    pub fn verify(&self) -> &[VerifyFinished] {
        &self.verify
    }

    /// The newest 100 warnings, oldest first.
    pub fn warnings(&self) -> &VecDeque<Warned> {
        &self.warnings
    }

    pub fn files(&self) -> &ChangedFiles {
        &self.files
    }

    /// The newest 5,000 sessions of the agent, oldest first.
    pub fn session_ids(&self) -> &[String] {
        &self.session_ids
    }

    /// The model: as requested, then as the agent reports it.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub fn agent_version(&self) -> Option<&str> {
        self.agent_version.as_deref()
    }

    pub fn permission_mode(&self) -> Option<&str> {
        self.permission_mode.mode()
    }

    pub fn context(&self) -> Option<ContextUse> {
        self.context
    }

    /// The end of the agent's last text, at most 16 KiB.
    pub fn last_text(&self) -> &str {
        self.last_text.as_str()
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The first record, if it could be read, with the limits as they were raised since.
    pub fn started(&self) -> Option<&RunStarted> {
        self.started.as_deref()
    }

    pub fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    pub fn ended(&self) -> Option<&RunEnded> {
        self.ended.as_ref().map(|(_, ended)| ended)
    }

    pub fn ended_at(&self) -> Option<Timestamp> {
        self.ended.as_ref().map(|(at, _)| *at)
    }

    /// The number of the last record; 0 before the first.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn last_at(&self) -> Option<Timestamp> {
        self.last_at
    }

    /// The current prompt of the loop, from 1.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// The current process of the iteration, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }
}

fn update(known: &mut Option<String>, new: Option<&String>) {
    if let Some(new) = new
        && known.as_ref() != Some(new)
    {
        *known = Some(new.clone());
    }
}

fn increment(count: &mut u32) {
    *count = count.saturating_add(1);
}

fn push_bounded<T>(list: &mut VecDeque<T>, bound: usize, item: T) {
    if list.len() == bound {
        list.pop_front();
    }
    list.push_back(item);
}
