//! `AgentState`: the fold of an agent's journal. The plan, the command line and the server use it.

use std::collections::VecDeque;
use std::fmt;

use agent_api::MicroUsd;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::backoff::MAX_FAILURES;
use crate::outcome::RunOutcome;
use crate::record::{AgentEvent, AgentRecord, RunConclusion, StartCount};
use crate::runs::StartFailureKind;
use crate::work::WorkEnding;

/// How many failures of the reconciler are kept for people.
pub const MAX_RECONCILE_FAILURES: usize = 20;

/// What is known about an agent from its journal.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AgentState {
    pub process_status: ProcessStatus,
    /// The run that was started last and has not ended.
    pub run: Option<ActiveRun>,
    /// The run before that.
    pub last_run: Option<String>,
    pub last_outcome: Option<RunOutcome>,
    /// Why the last run ended or did not start, for people.
    pub last_message: Option<String>,
    /// The session of the last run.
    pub session_id: Option<String>,
    /// The run whose session the next run continues.
    pub resumes: Option<String>,
    /// The task that the agent has claimed.
    pub current_task: Option<String>,
    /// How the claimed task must be given back before anything else is started.
    pub owed_release: Option<WorkEnding>,
    /// Attempts in a row without success; the current one counts until it succeeds.
    pub failures: u32,
    pub failed_at: Option<Timestamp>,
    /// Why the agent cannot work until a person has done something.
    pub needs_person: Option<String>,
    /// When the workspace was found to be in use.
    pub busy_at: Option<Timestamp>,
    /// Starts in a row for which it was.
    pub busy_starts: u32,
    /// When the usage limit of its account resets, as far as this agent knows.
    pub limit_until: Option<Timestamp>,
    limit_noted_at: Option<Timestamp>,
    /// The coding agent of its last run.
    pub backend: Option<String>,
    /// Which request for its work the last start was about.
    pub start_number: u64,
    /// The newest request for its work that is done with.
    pub closed_start: u64,
    /// What it has used today, without the run that is active.
    pub today: DayUse,
    pub reconcile_failures: VecDeque<ReconcileFailure>,
    pub last_recorded_at: Option<Timestamp>,
    /// Records that only a newer version can read.
    pub unknown_records: u32,
}

/// A run that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActiveRun {
    pub id: String,
    pub start_number: u64,
    pub counted_at: Timestamp,
    /// Whether its runner has begun.
    pub has_begun: bool,
    /// Whether it has worked long enough to take earlier failures back.
    pub has_recovered: bool,
    /// The iteration during which it was asked to pause.
    pub pause_iteration: Option<u32>,
    pub stop_requested_at: Option<Timestamp>,
    /// How many failures there were before it.
    failures_before: u32,
    resumes_before: Option<String>,
    failed_before: Option<Timestamp>,
}

impl ActiveRun {
    pub fn new(id: &str, start_number: u64, counted_at: Timestamp) -> Self {
        Self {
            id: id.to_owned(),
            start_number,
            counted_at,
            has_begun: false,
            has_recovered: false,
            pause_iteration: None,
            stop_requested_at: None,
            failures_before: 0,
            resumes_before: None,
            failed_before: None,
        }
    }
}

/// What the process of an agent is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStatus {
    /// It was never started, or was paused or stopped.
    #[default]
    Stopped,
    Starting,
    Running,
    /// Its last run has ended.
    Exited,
    /// It is not started again until a person asks for it.
    Error,
}

impl fmt::Display for ProcessStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Stopped => "stopped",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Error => "error",
        })
    }
}

/// What an agent has used on one day (UTC). A run counts on the day on which it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DayUse {
    pub day: Option<Date>,
    pub cost: MicroUsd,
    /// Runs that were started.
    pub runs: u32,
}

/// Something that the reconciler could not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReconcileFailure {
    pub at: Timestamp,
    pub message: String,
}

impl AgentState {
    /// Takes in a record of the journal, in order.
    pub fn apply(&mut self, record: &AgentRecord) {
        let at = record.at;
        self.last_recorded_at = Some(at);
        match &record.event {
            AgentEvent::StartCounted(count) => self.count_start(at, count),
            AgentEvent::Started { run } => {
                self.busy_starts = 0;
                self.with_run(run, |active| active.has_begun = true);
            }
            AgentEvent::StartFailed { run, kind, message } => self.fail_start(at, run, *kind, message),
            AgentEvent::Adopted { run } => self.with_run(run, |active| active.has_begun = true),
            AgentEvent::PauseRequested { run, iteration } => {
                self.with_run(run, |active| active.pause_iteration = Some(*iteration));
            }
            AgentEvent::StopRequested { run } => {
                self.with_run(run, |active| active.stop_requested_at = Some(at));
            }
            AgentEvent::Recovered { run } => {
                self.with_run(run, |active| active.has_recovered = true);
                self.failures = 0;
                self.failed_at = None;
                self.needs_person = None;
            }
            AgentEvent::RunEnded(conclusion) => self.end_run(at, conclusion),
            AgentEvent::TaskReleased { task, .. } => {
                if self.current_task.as_deref() == Some(task) {
                    self.current_task = None;
                    self.owed_release = None;
                }
            }
            AgentEvent::ReconcileFailed { message } => {
                if self.reconcile_failures.len() == MAX_RECONCILE_FAILURES {
                    self.reconcile_failures.pop_front();
                }
                self.reconcile_failures.push_back(ReconcileFailure {
                    at,
                    message: message.clone(),
                });
            }
            AgentEvent::Unknown => self.unknown_records += 1,
        }
        self.process_status = self.status();
    }

    /// A record about another run than the active one changes nothing.
    fn with_run(&mut self, run: &str, change: impl FnOnce(&mut ActiveRun)) {
        if let Some(active) = self.run.as_mut().filter(|active| active.id == run) {
            change(active);
        }
    }

    fn count_start(&mut self, at: Timestamp, count: &StartCount) {
        if count.start_number != self.start_number {
            // A person asked for the work again: what went wrong before does not count against it.
            self.start_number = count.start_number;
            self.busy_starts = 0;
            self.failures = 0;
            self.failed_at = None;
            self.needs_person = None;
        }
        let mut run = ActiveRun::new(&count.run, count.start_number, at);
        run.failures_before = self.failures;
        run.failed_before = self.failed_at;
        run.resumes_before = self.resumes.take();
        self.run = Some(run);
        self.current_task.clone_from(&count.task);
        self.failures += 1;
        self.failed_at = Some(at);
        self.busy_at = None;
        self.on_day(at).runs += 1;
    }

    fn fail_start(&mut self, at: Timestamp, run: &str, kind: StartFailureKind, message: &str) {
        let Some(active) = self.run.take_if(|active| active.id == run) else {
            return;
        };
        self.last_message = Some(message.to_owned());
        // The session that should have been resumed still can be.
        self.resumes.clone_from(&active.resumes_before);
        if !kind.is_failure() {
            self.uncount(&active);
            self.on_day(at).runs = self.today.runs.saturating_sub(1);
        } else {
            self.failed_at = Some(at);
        }
        match kind {
            StartFailureKind::Busy => {
                self.busy_at = Some(at);
                self.busy_starts += 1;
            }
            StartFailureKind::NeedsPerson => self.needs_person = Some(message.to_owned()),
            StartFailureKind::Other | StartFailureKind::Barred => {}
        }
        self.give_up_task(kind);
    }

    fn end_run(&mut self, at: Timestamp, conclusion: &RunConclusion) {
        let outcome = conclusion.outcome;
        let Some(active) = self.run.take_if(|active| active.id == conclusion.run) else {
            return;
        };
        self.last_run = Some(active.id.clone());
        self.last_outcome = Some(outcome);
        self.last_message.clone_from(&conclusion.message);
        if let Some(session) = &conclusion.session_id {
            self.session_id = Some(session.clone());
        }
        if let Some(backend) = &conclusion.backend {
            self.backend = Some(backend.clone());
        }
        self.on_day(at).cost += conclusion.cost;
        self.resumes = match (outcome.keeps_session(), &conclusion.session_id) {
            (true, Some(_)) => Some(active.id.clone()),
            // It was cut off before its agent had a session: the one before it is still to be continued.
            (true, None) => active.resumes_before.clone(),
            (false, _) => None,
        };
        self.limit_until = match outcome {
            RunOutcome::UsageLimit => conclusion.limit_until,
            _ => None,
        };
        self.limit_noted_at = self.limit_until.and(Some(at));
        if outcome == RunOutcome::Finished {
            self.failures = 0;
            self.failed_at = None;
            self.needs_person = None;
        } else if outcome.is_failure() {
            if active.has_recovered {
                // Being cut off begins a new count. Work that fails continues the old one, however long it takes.
                self.failures = match outcome {
                    RunOutcome::Interrupted => 1,
                    _ => active.failures_before + 1,
                };
            }
            self.failed_at = Some(at);
        } else {
            self.uncount(&active);
        }
        if outcome == RunOutcome::NeedsPerson {
            let message = conclusion.message.clone();
            let reason = conclusion.reason.as_ref().map(|reason| reason.describe());
            self.needs_person = Some(message.or(reason).unwrap_or_default());
        }
        if outcome.closes_work() {
            self.closed_start = self.closed_start.max(active.start_number);
        }
        if self.current_task.is_some() {
            self.owed_release = match outcome {
                RunOutcome::Finished => Some(WorkEnding::Finished),
                RunOutcome::Stopped => Some(WorkEnding::GivenUp),
                RunOutcome::Failed | RunOutcome::NeedsPerson => Some(WorkEnding::Failed),
                RunOutcome::Interrupted if self.failures >= MAX_FAILURES => Some(WorkEnding::Failed),
                // The agent continues it.
                RunOutcome::Interrupted
                | RunOutcome::Paused
                | RunOutcome::UsageLimit
                | RunOutcome::DailyLimit => None,
            };
        }
    }

    /// The attempt does not count as a failure.
    fn uncount(&mut self, active: &ActiveRun) {
        self.failures = match active.has_recovered {
            true => 0,
            false => active.failures_before,
        };
        self.failed_at = active.failed_before;
    }

    /// After a start that failed, the task is free for others unless the agent continues it.
    fn give_up_task(&mut self, kind: StartFailureKind) {
        let has_failed = kind == StartFailureKind::NeedsPerson || self.failures >= MAX_FAILURES;
        self.owed_release = match (&self.current_task, &self.resumes) {
            (None, _) => None,
            (Some(_), _) if has_failed => Some(WorkEnding::Failed),
            (Some(_), None) => Some(WorkEnding::NotStarted),
            (Some(_), Some(_)) => None,
        };
    }

    fn on_day(&mut self, at: Timestamp) -> &mut DayUse {
        self.today = self.used_on(at);
        &mut self.today
    }

    /// What it has used on the day of this moment.
    pub fn used_on(&self, at: Timestamp) -> DayUse {
        let day = Some(TimeZone::UTC.to_datetime(at).date());
        match self.today.day == day {
            true => self.today,
            false => DayUse {
                day,
                ..DayUse::default()
            },
        }
    }

    /// When the usage limit of its account resets, as far as it is known. Nothing is, after the clock was set back: then
    /// one start finds it out.
    pub fn limit_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.limit_until
            .filter(|_| self.limit_noted_at.is_some_and(|noted_at| noted_at <= now))
    }

    /// Failures in a row that count against a start for this request.
    pub fn failures_for(&self, start_number: u64) -> u32 {
        match start_number == self.start_number {
            true => self.failures,
            false => 0,
        }
    }

    fn status(&self) -> ProcessStatus {
        match &self.run {
            Some(run) if run.has_begun => return ProcessStatus::Running,
            Some(_) => return ProcessStatus::Starting,
            None => {}
        }
        if self.needs_person.is_some() || self.failures >= MAX_FAILURES {
            return ProcessStatus::Error;
        }
        match self.last_outcome {
            None | Some(RunOutcome::Stopped | RunOutcome::Paused) => ProcessStatus::Stopped,
            Some(
                RunOutcome::Finished
                | RunOutcome::Interrupted
                | RunOutcome::Failed
                | RunOutcome::NeedsPerson
                | RunOutcome::UsageLimit
                | RunOutcome::DailyLimit,
            ) => ProcessStatus::Exited,
        }
    }
}
