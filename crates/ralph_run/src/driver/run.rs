//! The loop.

use std::time::Duration;

use agent_api::{Completed, Event, MicroUsd, RunHandle};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::attempt::Attempt;
use super::changes::Change;
use super::record_keeper::RecordKeeper;
use super::session_keeper::SessionKeeper;
use super::spec::{DriveError, RunSpec};
use super::storage::Storage;
use super::timers::Timers;
use super::verify::{Verified, Verifying};
use crate::budget::Budget;
use crate::control::{ControlServer, Greeting, Incoming};
use crate::journal::JournalWriter;
use crate::lock::Lock;
use crate::machine::{Input, Machine, Signal};
use crate::reason::EndReason;
use crate::record::{RunBody, RunEnded, Warned, WarningKind};
use crate::sink::Sink;
use crate::state::{Durability, RunFile, name_in_files};

/// How soon a change that people wait for is in the run's file, and others are.
const SOON: Duration = Duration::from_millis(100);
const LATER: Duration = Duration::from_secs(3);
/// How many events are taken in one go.
const BATCH: usize = 128;

/// A run in progress.
pub(super) struct Driver<'a> {
    pub(super) spec: RunSpec,
    pub(super) machine: Machine,
    pub(super) keeper: RecordKeeper<'a>,
    pub(super) budget: Budget,
    pub(super) timers: Timers,
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
    pub(super) storage: Storage,
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
    Tick,
}

/// Drives a run to its end.
///
/// # Errors
/// When it could not even begin. Everything later is an end of the run, with a reason.
pub async fn drive(
    spec: RunSpec,
    run_file: RunFile,
    sink: &mut dyn Sink,
    signals: &mut mpsc::UnboundedReceiver<Signal>,
) -> Result<RunEnded, DriveError> {
    let journal = JournalWriter::create(&spec.directory.journal())?;
    let keeper = RecordKeeper::new(journal, spec.redactor.clone(), sink);
    let mut driver = Driver {
        machine: Machine::new(spec.plan.clone()),
        keeper,
        budget: Budget::new(spec.limits, spec.spent_before),
        timers: Timers::default(),
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
            name_in_files(&spec.started.backend),
            spec.started.mode.clone(),
        ),
        attempts: 0,
        verifications: 0,
        ended: None,
        started: Instant::now(),
        storage: Storage::default(),
        control: None,
        changes: Vec::new(),
        session_total: None,
        spec,
    };
    driver.begin().await;
    driver.follow(signals).await;
    Ok(driver.finish().await)
}

impl Driver<'_> {
    async fn begin(&mut self) {
        self.keeper
            .body(RunBody::RunStarted(Box::new(self.spec.started.clone())));
        for warning in std::mem::take(&mut self.spec.warnings) {
            self.warn(WarningKind::Degraded, warning);
        }
        self.keeper.flush();
        self.save_run_file(Durability::Cached);
        let bound = match self.spec.directory.prepare_socket() {
            Ok(path) => ControlServer::bind(path, Greeting::new(self.spec.directory.id(), "starting")).await,
            Err(error) => Err(error),
        };
        match bound {
            Ok(control) => self.control = Some(control),
            Err(error) => self.warn(
                WarningKind::Storage,
                format!("this run cannot be controlled from outside: {error}"),
            ),
        }
        self.step(Input::Begin).await;
    }

    async fn follow(&mut self, signals: &mut mpsc::UnboundedReceiver<Signal>) {
        while self.ended.is_none() {
            let timer = self.timers.next();
            let deltas = self.keeper.deadline();
            let tick = self.next_tick();
            let woken = tokio::select! {
                biased;
                Some(signal) = signals.recv() => Woken::Signal(signal),
                incoming = next_command(self.control.as_mut()) => Woken::Command(incoming),
                () = sleep_until(timer.unwrap_or_else(Instant::now)), if timer.is_some() => Woken::Timer,
                () = sleep_until(deltas.unwrap_or_else(Instant::now)), if deltas.is_some() => Woken::Deltas,
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
            Woken::Signal(signal) => self.step(Input::Signal(signal)).await,
            Woken::Command(incoming) => self.on_command(incoming).await,
            Woken::Event(Some(event)) => {
                if let Some(effects) = self.take_event(event) {
                    self.follow_event(effects).await;
                }
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
                while let Some(timer) = self.timers.take_due(Instant::now()) {
                    self.step(Input::Timer(timer)).await;
                }
            }
            Woken::Deltas => {
                self.keeper.on_deadline();
                self.keeper.flush();
            }
            Woken::Tick => self.on_tick().await,
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
            if let Some(effects) = self.take_event(event) {
                self.follow_event(effects).await;
            }
        }
    }

    /// A run that nobody watches, and where nothing is due, is woken by its agent and little else.
    fn next_tick(&self) -> Instant {
        let interval = self.keeper.tick_interval();
        self.ticked_at
            + match self.is_file_due || self.keeper.is_sync_owed() {
                true => interval.min(SOON),
                false => interval,
            }
    }

    async fn on_tick(&mut self) {
        self.ticked_at = Instant::now();
        self.keeper.tick();
        self.keeper.flush();
        self.keeper.sync_if_due();
        self.sessions.save_soon();
        if self.is_file_due || self.is_file_stale && self.saved_at.elapsed() >= LATER {
            self.save_run_file(Durability::Cached);
        }
        if self.keeper.is_closed() {
            self.step(Input::OutputClosed).await;
        }
        self.watch_storage().await;
    }

    async fn finish(mut self) -> RunEnded {
        self.sessions.finish().await;
        if !self.keeper.sync().await {
            self.end_unkept();
        }
        self.save_run_file(Durability::Synced);
        if let Some(control) = self.control.take() {
            control.close().await;
        }
        // The loop ends with an end.
        self.ended.unwrap_or_else(|| RunEnded {
            reason: EndReason::Lost,
            exit_code: EndReason::Lost.exit_code(),
            message: None,
            iterations: 0,
            totals: crate::record::Totals::default(),
        })
    }

    /// What cannot be shown later is not done: the journal, if it can be written after all, the run's file and whoever
    /// asked for the run say so alike.
    fn end_unkept(&mut self) {
        self.storage.note(self.keeper.write_error.take());
        self.storage.note(self.keeper.sync_error.clone());
        let message = self.storage_message();
        let lost = format!("the end of the journal is lost: {message}");
        let Some(mut ended) = self.ended.take() else {
            return;
        };
        if ended.reason == EndReason::StorageFailed {
            self.warn(WarningKind::Storage, lost);
        } else {
            ended.reason = EndReason::StorageFailed;
            ended.exit_code = ended.reason.exit_code();
            ended.message = Some(message);
            self.keeper.take_back_end();
            self.warn(WarningKind::Storage, lost);
            self.keeper.body(RunBody::RunEnded(ended.clone()));
        }
        self.run_file.reason = Some(ended.reason);
        self.run_file.exit_code = Some(ended.exit_code);
        self.ended = Some(ended);
    }

    pub(super) fn warn(&mut self, kind: WarningKind, message: String) {
        self.keeper.body(RunBody::Warned(Warned { kind, message }));
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
