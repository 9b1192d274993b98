//! `Runs`: what the reconciler needs of runners, and `LocalRuns`, which does it for the runs of this machine.

use std::path::PathBuf;
use std::time::SystemTime;

use agent_api::{Body, MicroUsd, RateLimitStatus};
use async_trait::async_trait;
use jiff::Timestamp;
use ralph_run::control::{ControlClient, ControlCommand};
use ralph_run::model::{RunState, WaitingFor};
use ralph_run::{
    CooldownCause, EndReason, Home, LimitKind, Open, RunBody, RunDirectory, RunEvent, RunFile, RunKind,
    RunnerSignal, read_journal_tail,
};
use serde::{Deserialize, Serialize};

use crate::agent::Agent;

/// How much of a journal's end is searched for the reset of a usage limit.
const TAIL_BYTES: u64 = 256 << 10;

/// A run to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct StartOrder {
    /// Chosen by the reconciler and recorded before the start, so that one run is started for it at most.
    pub run: String,
    pub agent: Agent,
    pub prompt: String,
    pub workspace: PathBuf,
    /// The run whose session is continued.
    pub resumes: Option<String>,
    /// What is left of the agent's limit for the day.
    pub max_cost: Option<MicroUsd>,
}

/// Why a run was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StartFailure {
    pub kind: StartFailureKind,
    pub message: String,
}

/// What follows from a start that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartFailureKind {
    /// Another run has the workspace or the session, or another agent the task. Does not count; tried again a little
    /// later.
    Busy,
    /// The agent was paused, stopped or deleted before its runner was started. Does not count.
    Barred,
    /// It fails again until a person does something.
    NeedsPerson,
    Other,
}

impl StartFailureKind {
    pub(crate) fn is_failure(self) -> bool {
        match self {
            Self::Busy | Self::Barred => false,
            Self::NeedsPerson | Self::Other => true,
        }
    }
}

/// What is known about a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunPhase {
    /// There is no such run, and nobody is starting it.
    Absent,
    /// A runner is alive and has not begun the run.
    Starting,
    /// Its runner is alive, or not proven to be dead.
    Live(LiveRun),
    /// Its runner is dead or about to exit, and its end is recorded.
    Ended(EndedRun),
}

#[derive(Debug, Clone, PartialEq)]
pub struct LiveRun {
    pub state: RunState,
    pub iteration: u32,
    pub cost: MicroUsd,
    pub started_at: Timestamp,
    pub backend: String,
    pub session_id: Option<String>,
    /// When its runner last wrote something.
    pub heartbeat: Option<Timestamp>,
}

impl LiveRun {
    /// When the usage limit resets that the run waits for.
    pub fn limit_until(&self) -> Option<Timestamp> {
        match self.state {
            RunState::Waiting {
                what: WaitingFor::Limit { until },
            } => Some(until),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct EndedRun {
    pub reason: Option<Open<EndReason>>,
    pub message: Option<String>,
    pub ended_at: Option<Timestamp>,
    pub cost: MicroUsd,
    pub backend: Option<String>,
    /// The session that can be resumed.
    pub session_id: Option<String>,
    /// When the usage limit resets that ended the run, or for which it was waiting at its end, if it is known.
    pub limit_until: Option<Timestamp>,
}

/// Runners. All methods may be called again with the same arguments.
#[async_trait]
pub trait Runs: Send + Sync + 'static {
    /// A run id that no run has.
    fn new_id(&self, now: Timestamp) -> String;

    /// What is known about a run. Whether its runner is dead is proven, not assumed from its silence.
    fn observe(&self, run: &str, now: Timestamp) -> RunPhase;

    /// Starts a run and returns when it has begun. A run of this id that exists already is not started again.
    async fn start(&self, order: &StartOrder) -> Result<(), StartFailure>;

    /// Asks a run to end, and does not wait for it.
    async fn stop(&self, run: &str) -> Result<(), String>;

    /// Asks a conversation to end when the agent has answered. A loop cannot do that: it is stopped between iterations.
    async fn close_input(&self, run: &str) -> Result<(), String>;
}

/// Observes and stops the runs of a home. Starting one needs settings, which the program has.
#[derive(Debug, Clone)]
pub struct LocalRuns {
    home: Home,
}

impl LocalRuns {
    pub fn new(home: Home) -> Self {
        Self { home }
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    pub fn new_id(&self, now: Timestamp) -> String {
        self.home.new_run_id(now)
    }

    /// As [`Runs::observe`]. A run whose files do not exist yet counts as being started.
    pub fn observe(&self, run: &str, now: Timestamp) -> RunPhase {
        let Some(directory) = self.home.run(run) else {
            return RunPhase::Absent;
        };
        let load = || RunFile::load(&directory.run_file()).ok();
        let Some(mut file) = load() else {
            return RunPhase::Starting;
        };
        if !file.is_ended() && !file.runner.is_alive() {
            // Proves it by the journal's lock, ends what it left running and records the end.
            if let Err(error) = ralph_run::reconcile(&self.home, now) {
                tracing::warn!(%error, "cannot record the end of lost runs");
            }
            match load() {
                Some(again) => file = again,
                None => return RunPhase::Starting,
            }
        }
        match file.is_ended() {
            true => RunPhase::Ended(ended(&directory, file)),
            false => RunPhase::Live(live(&directory, file)),
        }
    }

    pub async fn stop(&self, run: &str) -> Result<(), String> {
        let Err(error) = self.send(run, ControlCommand::Stop).await else {
            return Ok(());
        };
        // A runner without a socket, or one that does not answer, still handles signals.
        let file = self
            .home
            .run(run)
            .and_then(|run| RunFile::load(&run.run_file()).ok());
        match file {
            Some(file) if file.is_ended() => Ok(()),
            Some(file) if file.runner.signal(RunnerSignal::Terminate).is_ok() => Ok(()),
            _ => Err(error),
        }
    }

    pub async fn close_input(&self, run: &str) -> Result<(), String> {
        self.send(run, ControlCommand::CloseInput).await
    }

    async fn send(&self, run: &str, command: ControlCommand) -> Result<(), String> {
        let directory = self
            .home
            .run(run)
            .ok_or_else(|| format!("there is no run {run}"))?;
        let client = ControlClient::connect(directory.socket()).await;
        let client = client.map_err(|error| error.to_string())?;
        let mut client = client.named("reconciler");
        let receipt = client.request(command).await;
        receipt.map(drop).map_err(|error| error.to_string())
    }
}

fn live(directory: &RunDirectory, file: RunFile) -> LiveRun {
    let modified = |path: PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let heartbeat = modified(directory.journal()).max(modified(directory.run_file()));
    LiveRun {
        state: file.status.state,
        iteration: file.status.iteration,
        cost: file.status.totals.cost.unwrap_or_default(),
        started_at: file.started_at,
        backend: file.backend.as_str().to_owned(),
        session_id: file.session_ids.last().cloned(),
        heartbeat: heartbeat.and_then(timestamp),
    }
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}

fn ended(directory: &RunDirectory, file: RunFile) -> EndedRun {
    let tail = Tail::read(directory);
    let is_usage_limit = matches!(
        &file.reason,
        Some(Open::Known(EndReason::Limit(LimitKind::Usage)))
    );
    EndedRun {
        reason: file.reason,
        message: tail.message,
        ended_at: file.ended_at,
        cost: file.status.totals.cost.unwrap_or_default(),
        backend: Some(file.backend.as_str().to_owned()),
        session_id: file.session_ids.last().cloned().filter(|_| !file.is_ephemeral),
        limit_until: match is_usage_limit {
            true => tail.limit_until,
            false => tail.waits_until,
        },
    }
}

/// What the end of a journal says about the end of its run.
#[derive(Default)]
struct Tail {
    message: Option<String>,
    limit_until: Option<Timestamp>,
    /// When the usage limit resets for which the run was waiting at its end.
    waits_until: Option<Timestamp>,
}

impl Tail {
    fn read(directory: &RunDirectory) -> Self {
        let mut tail = Self::default();
        let Ok(records) = read_journal_tail(&directory.journal(), TAIL_BYTES) else {
            return tail;
        };
        for record in records.flatten() {
            match record.event {
                RunEvent::Agent(event) => tail.observe(&event.body),
                RunEvent::Run(RunBody::RunEnded(ended)) => tail.message = ended.message,
                RunEvent::Run(RunBody::CooldownStarted(cooldown)) => {
                    let is_reset = cooldown.cause == CooldownCause::UsageLimit && !cooldown.is_retry;
                    tail.waits_until = is_reset.then_some(cooldown.until);
                }
                RunEvent::Run(RunBody::IterationStarted(_) | RunBody::AttemptStarted(_)) => {
                    tail.waits_until = None;
                }
                _ => {}
            }
        }
        tail
    }

    fn observe(&mut self, body: &Body) {
        if let Body::RateLimit(limit) = body
            && limit.status == RateLimitStatus::Rejected
        {
            let seconds = limit.resets_at.and_then(|seconds| i64::try_from(seconds).ok());
            self.limit_until = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        }
    }
}

/// What kind of run an agent's work is.
impl Agent {
    pub fn run_kind(&self) -> RunKind {
        match self.accepts_input {
            true => RunKind::Session,
            false => RunKind::Loop,
        }
    }
}
