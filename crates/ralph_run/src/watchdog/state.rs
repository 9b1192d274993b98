//! `Watchdog`: all rules together. The driver feeds it the records that it writes, and the clock.

use std::collections::{HashMap, HashSet};

use agent_api::{Body, ContextUse, Event, ItemId, TaskState, ToolFinished, ToolStarted, ToolStatus};
use jiff::Timestamp;

use super::answers::RepeatedAnswers;
use super::burn_rate::BurnRate;
use super::calls::{EndedCall, RepeatedCalls};
use super::file_states::FileStates;
use super::finding::{Finding, quoted};
use super::rules::{WatchAction, WatchRules};
use super::scope::ScopeWatch;
use super::silence::{SilenceWatch, WaitingOn};
use super::workspace::Workspace;
use crate::control::PendingRequests;
use crate::record::{Evidence, Record, RunBody, RunEvent, WarningKind};
use crate::usage_account::UsageAccount;

const MAX_OPEN_CALLS: usize = 256;
/// An agent with more unknown types than this was reported often enough.
const MAX_UNKNOWN_TYPES: usize = 10;
/// Below this part of the threshold a full context counts as cleared.
const CONTEXT_CLEARED_PERCENT: u32 = 80;

/// Finds what goes wrong in a run, from its records. Its memory is bounded.
#[derive(Debug, Default)]
pub struct Watchdog {
    rules: WatchRules,
    workspace: Workspace,
    open_calls: HashMap<ItemId, ToolStarted>,
    /// Subagents and background commands.
    tasks: HashSet<String>,
    requests: PendingRequests,
    account: UsageAccount,
    agent: String,
    agent_version: Option<String>,
    unknown_types: HashSet<String>,
    is_context_reported: bool,
    calls: RepeatedCalls,
    answers: RepeatedAnswers,
    files: FileStates,
    scope: ScopeWatch,
    silence: SilenceWatch,
    burn_rate: BurnRate,
}

impl Watchdog {
    pub fn new(rules: WatchRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// Takes the next record.
    pub fn observe(&mut self, record: &Record) -> Vec<Finding> {
        let mut found = Vec::new();
        if matches!(&record.event, RunEvent::Run(RunBody::Warned(_))) {
            self.on_warned(record);
            return found;
        }
        let silence = self
            .silence
            .between(record.at, self.rules.silence, self.waiting());
        found.extend(silence);
        self.account.apply(&record.event);
        if PendingRequests::is_concerned(&record.event) {
            let has_waited = self.waiting() == WaitingOn::Person;
            self.requests.observe_record(record);
            if has_waited && self.waiting() != WaitingOn::Person {
                self.burn_rate.on_resumed(record.at);
            }
        }
        match &record.event {
            RunEvent::Agent(event) => self.on_event(record, event, &mut found),
            RunEvent::Run(body) => self.on_run(record, body, &mut found),
            RunEvent::Unknown(_) => {}
        }
        self.silence.note(record.seq, record.at, &record.event);
        found
    }

    /// Tells the time, at least every few seconds while the run is active.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Finding> {
        let waiting = self.waiting();
        let silence = self.silence.tick(now, self.rules.silence, waiting);
        silence.into_iter().collect()
    }

    fn waiting(&self) -> WaitingOn {
        if self.requests.iter().next().is_some() {
            WaitingOn::Person
        } else if self.open_calls.is_empty() {
            WaitingOn::Model
        } else {
            WaitingOn::Call
        }
    }

    fn on_warned(&mut self, record: &Record) {
        if let RunEvent::Run(RunBody::Warned(warned)) = &record.event
            && warned.kind == WarningKind::OtherDirectory
        {
            self.scope.on_other_directory();
        }
    }

    fn on_run(&mut self, record: &Record, body: &RunBody, found: &mut Vec<Finding>) {
        self.silence.on_run(body);
        match body {
            RunBody::RunStarted(started) => {
                self.workspace = Workspace::new(&started.workspace);
                self.agent.clone_from(&started.display_name);
            }
            RunBody::IterationStarted(started) => self.answers.on_iteration_started(started),
            RunBody::Continued(_) => self.burn_rate.on_resumed(record.at),
            RunBody::AttemptStarted(_) => {
                self.clear_turn();
                self.tasks.clear();
                self.is_context_reported = false;
                self.scope.on_attempt_started();
                self.burn_rate.on_turn_started(record.at);
            }
            RunBody::AttemptEnded(_) => {
                self.clear_turn();
                self.judge_cost(record, found);
            }
            RunBody::IterationEnded(ended) => {
                let rule = self.rules.repeated_answer;
                found.extend(self.answers.on_iteration_ended(ended, rule));
            }
            RunBody::MessageSent(_) => self.calls.reset(),
            _ => {}
        }
    }

    fn on_event(&mut self, record: &Record, event: &Event, found: &mut Vec<Finding>) {
        self.silence.on_event(event);
        self.answers.on_event(record.seq, event);
        match &event.body {
            Body::SessionStarted(session) => {
                self.agent_version.clone_from(&session.agent_version);
                self.scope
                    .on_working_directory(session.cwd.as_deref(), &mut self.workspace);
            }
            Body::TurnStarted(_) if event.parent.is_none() => {
                self.clear_turn();
                self.burn_rate.on_turn_started(record.at);
            }
            Body::TurnFinished(_) if event.parent.is_none() => self.clear_turn(),
            Body::ToolStarted(started) => self.on_tool_started(started),
            Body::ToolFinished(finished) => self.on_tool_finished(record.seq, event, finished, found),
            Body::ItemDiscarded(discarded) => drop(self.open_calls.remove(&discarded.item)),
            Body::TaskUpdated(task) => {
                if task.state == TaskState::Running {
                    self.tasks.insert(task.task_id.clone());
                } else {
                    self.tasks.remove(&task.task_id);
                    // What it has done may be what the agent waited for.
                    self.calls.reset();
                }
            }
            Body::Usage(usage) => {
                if let Some(context) = usage.context.filter(|_| event.parent.is_none()) {
                    found.extend(self.judge_context(record.seq, context, usage.model.as_deref()));
                }
                self.judge_cost(record, found);
            }
            Body::Unknown(unknown) => found.extend(self.on_unknown(record.seq, &unknown.type_name)),
            _ => {}
        }
    }

    fn clear_turn(&mut self) {
        self.open_calls.clear();
        self.calls.reset();
    }

    fn on_tool_started(&mut self, started: &ToolStarted) {
        if self.open_calls.len() >= MAX_OPEN_CALLS && !self.open_calls.contains_key(&started.item) {
            self.open_calls.clear();
        }
        let known = self.open_calls.remove(&started.item);
        let mut started = started.clone();
        if let Some(known) = known {
            started.input = started.input.or(known.input);
            started.subject = started.subject.or(known.subject);
        }
        self.open_calls.insert(started.item.clone(), started);
    }

    fn on_tool_finished(
        &mut self,
        seq: u64,
        event: &Event,
        finished: &ToolFinished,
        found: &mut Vec<Finding>,
    ) {
        let Some(started) = self.open_calls.remove(&finished.item) else {
            return;
        };
        let call = EndedCall {
            seq,
            parent: event.parent.as_ref(),
            started: &started,
            finished,
        };
        let is_task_running = !self.tasks.is_empty() || finished.status == ToolStatus::Background;
        let rules = &self.rules;
        found.extend(
            self.calls
                .observe(call, is_task_running, rules.repeated_call, rules.repeated_failure),
        );
        found.extend(self.files.observe(call, &self.workspace, rules.flipped_file));
        found.extend(self.scope.observe(call, &self.workspace, &rules.out_of_scope));
        self.answers.on_call(call, &self.workspace);
    }

    fn judge_cost(&mut self, record: &Record, found: &mut Vec<Finding>) {
        let totals = self.account.totals();
        let rule = self.rules.burn_rate;
        found.extend(self.burn_rate.observe(record.seq, record.at, totals, rule));
    }

    fn judge_context(&mut self, seq: u64, context: ContextUse, model: Option<&str>) -> Option<Finding> {
        let rule = self.rules.context;
        let context = self.account.sized_context(context, model);
        let size = context.size.filter(|size| *size > 0)?;
        let percent = u32::try_from(context.used.saturating_mul(100) / size).unwrap_or(u32::MAX);
        if percent < rule.percent {
            self.is_context_reported &= percent >= rule.percent * CONTEXT_CLEARED_PERCENT / 100;
            return None;
        }
        if rule.action == WatchAction::Off || std::mem::replace(&mut self.is_context_reported, true) {
            return None;
        }
        let message = format!("the agent's context is {percent}% full");
        let finding = Finding::new(WarningKind::ContextNearlyFull, rule.action, message);
        Some(finding.with([Evidence {
            seq,
            text: format!("{} of {size} tokens", context.used),
        }]))
    }

    fn on_unknown(&mut self, seq: u64, type_name: &str) -> Option<Finding> {
        let rule = self.rules.unknown_events;
        if rule.action == WatchAction::Off
            || self.unknown_types.len() >= MAX_UNKNOWN_TYPES
            || !self.unknown_types.insert(type_name.to_owned())
        {
            return None;
        }
        let version = self
            .agent_version
            .as_deref()
            .map_or_else(String::new, |it| format!(" {it}"));
        let name = quoted(type_name);
        let message = format!(
            "{}{version} writes events of a type that this version of ralph does not know: `{name}`",
            self.agent
        );
        let finding = Finding::new(WarningKind::UnknownEvents, rule.action, message);
        Some(finding.with([Evidence {
            seq,
            text: format!("the first event of type `{name}`"),
        }]))
    }
}
