//! The loop.

use std::time::Duration;

use agent_api::{Completed, Event, MicroUsd, RunHandle};
use agent_process::clock;
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::attempt::Attempt;
use super::changes::Change;
use super::record_keeper::RecordKeeper;
use super::session_keeper::SessionKeeper;
use super::spec::{DriveError, RunSpec};
use super::storage::StorageWatch;
use super::timers::TimerQueue;
use super::verify::{Verified, Verifying};
use crate::control::{ControlServer, Greeting, Incoming};
use crate::journal::JournalWriter;
use crate::lock::Lock;
use crate::machine::{Input, Machine, Signal};
use crate::model::RunState;
use crate::reason::EndReason;
use crate::record::{RunBody, RunEnded, Warned, WarningKind};
use crate::sink::Views;
use crate::state::{Durability, RunFile};

/// How soon a change that people wait for is in the run's file, and others are.
const SOON: Duration = Duration::from_millis(100);
const LATER: Duration = Duration::from_secs(3);
/// How often files are looked after when nothing is urgent: many idle runs at once are cheap only if each sleeps.
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(1);
/// How many events are taken in one go.
const BATCH: usize = 128;

/// A run in progress.
pub(super) struct Driver {
    pub(super) spec: RunSpec,
    pub(super) machine: Machine,
    pub(super) keeper: RecordKeeper,
    output_closed: Option<oneshot::Receiver<()>>,
    pub(super) timers: TimerQueue,
    pub(super) attempt: Option<Attempt>,
    /// The conversation that was begun last.
    pub(super) session_lock: Option<Lock>,
    /// The conversation that was locked last, whoever has the lock.
    pub(super) locked_session: Option<String>,
    pub(super) verifying: Option<(usize, Verifying)>,
    pub(super) run_file: RunFile,
    pub(super) is_file_stale: bool,
    /// A change that people wait for.
    pub(super) is_file_due: bool,
    pub(super) saved_at: Instant,
    /// When files were looked after last.
    ticked_at: Instant,
    pub(super) sessions: SessionKeeper,
    pub(super) attempts: u32,
    pub(super) verifications: u32,
    pub(super) ended: Option<RunEnded>,
    pub(super) started: Instant,
    pub(super) storage: StorageWatch,
    pub(super) control: Option<ControlServer>,
    /// Settings that the agent was told of and has not answered, by the command's id.
    pub(super) changes: Vec<(String, Change)>,
    /// What the conversation had cost when its last process ended.
    pub(super) session_total: Option<MicroUsd>,
}

/// What woke the loop.
enum Woken {
    Signal(Signal),
    Command(Incoming),
    Event(Option<Event>),
    Completed(Box<Result<Completed, agent_api::Error>>),
    Verified(Verified),
    Timer,
    Deltas,
    OutputClosed,
    Tick,
}

/// Drives a run to its end.
///
/// # Errors
/// When it could not even begin. Everything later is an end of the run, with a reason.
pub async fn drive(
    spec: RunSpec,
    run_file: RunFile,
    views: Views,
    signals: &mut mpsc::UnboundedReceiver<Signal>,
) -> Result<RunEnded, DriveError> {
    // First of all: a run that cannot be stopped or answered must not start.
    let greeting = Greeting::new(spec.directory.id(), RunState::Starting);
    let control = ControlServer::bind_for_run(&spec.directory, greeting)
        .await
        .map_err(DriveError::ControlSocket)?;
    let journal = JournalWriter::create(&spec.directory.journal())?;
    let keeper = RecordKeeper::new(journal, spec.redactor.clone(), views.sinks);
    let mut driver = Driver {
        machine: Machine::new(spec.plan.clone()),
        keeper,
        output_closed: views.output_closed,
        timers: TimerQueue::default(),
        attempt: None,
        session_lock: None,
        locked_session: None,
        verifying: None,
        run_file,
        is_file_stale: false,
        is_file_due: false,
        saved_at: Instant::now(),
        ticked_at: Instant::now(),
        sessions: SessionKeeper::new(
            // What cannot be gone on with need not be found.
            spec.files.clone().filter(|_| !spec.started.is_ephemeral),
            &spec.backend_name,
            spec.started.mode.clone(),
        ),
        attempts: 0,
        verifications: 0,
        ended: None,
        started: clock::now(),
        storage: StorageWatch::default(),
        control: Some(control),
        changes: Vec::new(),
        session_total: None,
        spec,
    };
    driver.begin().await;
    driver.follow(signals).await;
    Ok(driver.finish().await)
}

impl Driver {
    async fn begin(&mut self) {
        self.keeper
            .body(RunBody::RunStarted(Box::new(self.spec.started.clone())));
        for warning in std::mem::take(&mut self.spec.warnings) {
            self.warn(WarningKind::Degraded, warning);
        }
        self.keeper.flush();
        self.save_run_file(Durability::Cached);
        self.step(Input::Begin).await;
        self.publish_state();
    }

    async fn follow(&mut self, signals: &mut mpsc::UnboundedReceiver<Signal>) {
        while self.ended.is_none() {
            let timer = self.timers.next_deadline();
            let deltas = self.keeper.deadline();
            let tick = self.next_tick();
            let woken = tokio::select! {
                biased;
                Some(signal) = signals.recv() => Woken::Signal(signal),
                incoming = next_command(self.control.as_mut()) => Woken::Command(incoming),
                () = clock::sleep_until(timer.unwrap_or_else(clock::now)), if timer.is_some() => Woken::Timer,
                () = sleep_until(deltas.unwrap_or_else(Instant::now)), if deltas.is_some() => Woken::Deltas,
                () = closed(&mut self.output_closed) => Woken::OutputClosed,
                () = sleep_until(tick) => Woken::Tick,
                verified = next_verified(self.verifying.as_mut()) => Woken::Verified(verified),
                woken = next_of_attempt(self.attempt.as_mut()) => woken,
            };
            self.wake(woken).await;
        }
    }

    async fn wake(&mut self, woken: Woken) {
        self.keeper.begin_moment();
        match woken {
            Woken::Signal(Signal::Suspend) => self.suspend().await,
            Woken::Signal(signal) => self.step(Input::Signal(signal)).await,
            Woken::Command(incoming) => self.on_command(incoming).await,
            Woken::Event(Some(event)) => {
                let effects = self.take_event(event);
                self.perform_all(effects).await;
                self.drain_events().await;
                self.keeper.on_deadline();
                self.keeper.flush();
            }
            Woken::Event(None) => {
                if let Some(attempt) = &mut self.attempt {
                    attempt.has_ended = true;
                }
            }
            Woken::Completed(completed) => self.on_completed(*completed).await,
            Woken::Verified(verified) => self.on_verified(verified).await,
            Woken::Timer => {
                while let Some(timer) = self.timers.pop_expired(clock::now()) {
                    self.step(Input::Timer(timer)).await;
                }
            }
            Woken::Deltas => {
                self.keeper.on_deadline();
                self.keeper.flush();
            }
            Woken::OutputClosed => self.step(Input::OutputClosed).await,
            Woken::Tick => self.on_tick().await,
        }
        self.publish_state();
    }

    /// What the journal says that the run is doing.
    pub(super) fn state(&self) -> &RunState {
        self.keeper.model.state()
    }

    /// Brings `run.json` and the greeting of the control socket up to date.
    fn publish_state(&mut self) {
        let state = self.keeper.model.state();
        if self.run_file.status.state == *state {
            return;
        }
        self.run_file.status.state.clone_from(state);
        self.is_file_stale = true;
        self.is_file_due |= matches!(state, RunState::Waiting { .. });
        if let Some(control) = &self.control {
            control.set_state(state);
        }
    }

    /// Takes the events that are there already: one write for all of them.
    async fn drain_events(&mut self) {
        for _ in 0..BATCH {
            let next = self
                .attempt
                .as_mut()
                .and_then(|attempt| attempt.handle.events.try_next());
            let Some(event) = next else { break };
            let effects = self.take_event(event);
            self.perform_all(effects).await;
        }
    }

    fn next_tick(&self) -> Instant {
        self.ticked_at
            + match self.is_file_due || self.keeper.is_sync_owed() {
                true => SOON,
                false => HOUSEKEEPING_INTERVAL,
            }
    }

    async fn on_tick(&mut self) {
        self.ticked_at = Instant::now();
        self.keeper.flush();
        self.keeper.sync_if_due();
        self.sessions.save_soon();
        if self.is_file_due || self.is_file_stale && self.saved_at.elapsed() >= LATER {
            self.save_run_file(Durability::Cached);
        }
        self.watch_storage().await;
    }

    /// Writes the end of the run: last, and only after everything before it is on disk, because a follower acts on it.
    async fn finish(mut self) -> RunEnded {
        self.sessions.finish().await;
        // The loop ends with an end.
        let mut ended = self.ended.take().unwrap_or_else(|| RunEnded {
            reason: EndReason::Lost.into(),
            exit_code: EndReason::Lost.exit_code(),
            message: None,
            iterations: 0,
            totals: crate::record::Totals::default(),
        });
        if !self.keeper.sync().await {
            let problem = self.storage_problem();
            self.warn(
                WarningKind::Storage,
                format!("the end of the journal is lost: {problem}"),
            );
            fail_as_unsaved(&mut ended, problem);
        }
        // Checks and pauses take time, too; a suspended run does not.
        ended.totals.duration_ms =
            u64::try_from(clock::elapsed_since(self.started).as_millis()).unwrap_or(u64::MAX);
        self.keeper.body(RunBody::RunEnded(ended.clone()));
        self.keeper.flush();
        self.run_file.status.state = RunState::Ended {
            reason: ended.reason.clone(),
        };
        self.run_file.reason = Some(ended.reason.clone());
        self.run_file.exit_code = Some(ended.exit_code);
        self.run_file.ended_at = Some(Timestamp::now());
        self.run_file.status.totals = ended.totals;
        // At once, because a follower that has seen the end reads this file.
        self.save_run_file(Durability::Cached);
        self.keeper.sync().await;
        if self.keeper.has_unwritten() {
            let problem = self.storage_problem();
            fail_as_unsaved(&mut ended, problem);
            self.run_file.status.state = RunState::Ended {
                reason: ended.reason.clone(),
            };
            self.run_file.reason = Some(ended.reason.clone());
            self.run_file.exit_code = Some(ended.exit_code);
        }
        self.save_run_file(Durability::Synced);
        if let Some(control) = self.control.take() {
            control.close().await;
        }
        ended
    }

    pub(super) fn warn(&mut self, kind: WarningKind, message: String) {
        self.keeper.body(RunBody::Warned(Warned {
            kind: kind.into(),
            message,
        }));
    }

    pub(super) fn save_run_file(&mut self, durability: Durability) {
        self.is_file_stale = false;
        self.is_file_due = false;
        self.saved_at = Instant::now();
        if let Err(error) = self.run_file.save(&self.spec.directory.run_file(), durability) {
            tracing::warn!(%error, "the run's file could not be written");
        }
    }
}

/// Resolves once, when the output is closed.
async fn closed(output_closed: &mut Option<oneshot::Receiver<()>>) {
    if let Some(closed) = output_closed {
        let is_closed = closed.await.is_ok();
        *output_closed = None;
        if is_closed {
            return;
        }
    }
    std::future::pending().await
}

/// What cannot be shown later is not done.
fn fail_as_unsaved(ended: &mut RunEnded, problem: String) {
    if ended.reason != EndReason::StorageFailed {
        ended.reason = EndReason::StorageFailed.into();
        ended.exit_code = EndReason::StorageFailed.exit_code();
        ended.message = Some(problem);
    }
}

async fn next_command(control: Option<&mut ControlServer>) -> Incoming {
    match control {
        Some(control) => control.next().await,
        None => std::future::pending().await,
    }
}

async fn next_verified(verifying: Option<&mut (usize, Verifying)>) -> Verified {
    match verifying {
        Some((_, verifying)) => verifying.finished().await,
        None => std::future::pending().await,
    }
}

/// Events until they end, then the completion.
async fn next_of_attempt(attempt: Option<&mut Attempt>) -> Woken {
    let Some(attempt) = attempt else {
        return std::future::pending().await;
    };
    let RunHandle {
        events, completion, ..
    } = &mut attempt.handle;
    if attempt.has_ended {
        Woken::Completed(Box::new(completion.await))
    } else {
        Woken::Event(events.next().await)
    }
}
