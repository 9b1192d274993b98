//! `Driver`: the one loop that owns a run. `drive` is how the program runs it.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::Duration;

use agent_api::{Completed, Event, MicroUsd, RunHandle};
use agent_process::clock;
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, sleep_until};

use super::attempt::Attempt;
use super::changes::Change;
use super::record_keeper::RecordKeeper;
use super::spec::{DriveError, RunSpec};
use super::storage::StorageWatch;
use super::timers::{Jitter, TimerQueue};
use super::verify::{Verified, Verifying};
use super::workspace_keeper::WorkspaceKeeper;
use crate::control::{ControlServer, Greeting, Incoming};
use crate::journal::JournalWriter;
use crate::lock::Lock;
use crate::machine::{Input, Machine, Moment, Signal};
use crate::model::RunState;
use crate::reason::EndReason;
use crate::record::{RunBody, RunEnded, Warned, WarningKind};
use crate::sink::Views;
use crate::state::{Durability, RunFile};
use crate::watchdog::Watchdog;

/// How soon a change that people wait for is in `run.json`, and how soon others are.
const URGENT_SAVE_INTERVAL: Duration = Duration::from_millis(100);
const SAVE_INTERVAL: Duration = Duration::from_secs(3);
/// How often `run.json` is written while the agent works, even if nothing has changed: a full quota shows only in a write
/// that fails, and an agent that cannot write its output may be silent.
const WRITE_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How often files are saved and checked when nothing is urgent: idle runs are cheap only if they sleep.
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(1);
/// How often while the run waits for hours and nothing has happened for some ticks.
const PARKED_INTERVAL: Duration = Duration::from_secs(30);
const QUIET_TICKS: u32 = 5;
/// How long the end of a run waits for the files in `.ralph`, which other processes may lock. What is not saved by then is
/// added to the account of the task by `reconcile`.
const STATE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long it waits for the disk, and how long after a signal.
const END_TIMEOUT: Duration = Duration::from_secs(30);
const SIGNALLED_END_TIMEOUT: Duration = Duration::from_secs(2);
/// How long it waits until the workspace is closed, which may commit many files.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(120);
/// How many events are taken in one go.
const BATCH: usize = 128;

pub(super) struct Driver {
    pub(super) spec: RunSpec,
    pub(super) machine: Machine,
    pub(super) keeper: RecordKeeper,
    output_closed: Option<oneshot::Receiver<()>>,
    view_warnings: Option<mpsc::UnboundedReceiver<Warned>>,
    pub(super) timers: TimerQueue,
    pub(super) attempt: Option<Attempt>,
    pub(super) session_lock: Option<Lock>,
    /// The session that was locked last, by this run or another one.
    pub(super) locked_session: Option<String>,
    pub(super) verifying: Option<(usize, Verifying)>,
    pub(super) run_file: RunFile,
    pub(super) is_file_stale: bool,
    /// A change that people wait for.
    pub(super) is_file_due: bool,
    pub(super) saved_at: Instant,
    ticked_at: Instant,
    /// Ticks since something else happened.
    quiet_ticks: u32,
    pub(super) jitter: Jitter,
    pub(super) workspace: WorkspaceKeeper,
    pub(super) attempts: u32,
    pub(super) verifications: u32,
    pub(super) ended: Option<RunEnded>,
    pub(super) started: Instant,
    pub(super) storage: StorageWatch,
    pub(super) control: Option<ControlServer>,
    /// Changed settings that the agent has not confirmed yet, by the command's id.
    pub(super) changes: Vec<(String, Change)>,
    /// What each session had cost when its last process ended. Roles that keep their sessions take turns.
    pub(super) session_totals: HashMap<String, MicroUsd>,
    /// Why there are no notes, as it was reported last.
    pub(super) notes_problem: Option<String>,
}

enum Wake {
    Signal(Signal),
    Command(Incoming),
    Event(Option<Event>),
    Completed(Box<Result<Completed, agent_api::Error>>),
    Verified(Verified),
    Timer,
    Deltas,
    OutputClosed,
    ViewWarned(Warned),
    Tick,
}

/// Drives a run to its end.
///
/// # Errors
/// When it could not start. Everything later is an end of the run, with a reason.
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
    let mut keeper = RecordKeeper::new(journal, spec.redactor.clone(), views.sinks);
    keeper.watchdog = Watchdog::new(spec.watch.clone());
    let mut driver = Driver {
        machine: Machine::new(spec.plan.clone()),
        keeper,
        output_closed: views.output_closed,
        view_warnings: views.warnings,
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
        quiet_ticks: 0,
        jitter: Jitter::new(RandomState::new().hash_one(spec.directory.id())),
        workspace: WorkspaceKeeper::new(spec.files.clone(), &spec.backend_name, spec.started.mode.clone()),
        attempts: 0,
        verifications: 0,
        ended: None,
        started: clock::now(),
        storage: StorageWatch::default(),
        control: Some(control),
        changes: Vec::new(),
        session_totals: HashMap::new(),
        notes_problem: None,
        spec,
    };
    driver.begin().await;
    driver.follow(signals).await;
    Ok(driver.finish(signals).await)
}

impl Driver {
    async fn begin(&mut self) {
        self.keeper
            .body(RunBody::RunStarted(Box::new(self.spec.started.clone())));
        for warning in std::mem::take(&mut self.spec.warnings) {
            self.warn(WarningKind::Degraded, warning);
        }
        self.keeper.flush();
        self.publish_figures();
        self.save_run_file(Durability::Cached);
        self.step(Input::Begin).await;
        self.act_on_findings().await;
        self.publish_state();
    }

    async fn follow(&mut self, signals: &mut mpsc::UnboundedReceiver<Signal>) {
        while self.ended.is_none() {
            let timer = self.timers.next_deadline();
            let deltas = self.keeper.deadline();
            let tick = self.next_tick();
            let wake = tokio::select! {
                biased;
                Some(signal) = signals.recv() => Wake::Signal(signal),
                incoming = next_command(self.control.as_mut()) => Wake::Command(incoming),
                () = clock::sleep_until(timer.unwrap_or_else(clock::now)), if timer.is_some() => Wake::Timer,
                () = sleep_until(deltas.unwrap_or_else(Instant::now)), if deltas.is_some() => Wake::Deltas,
                () = closed(&mut self.output_closed) => Wake::OutputClosed,
                warned = next_view_warning(self.view_warnings.as_mut()) => Wake::ViewWarned(warned),
                () = sleep_until(tick) => Wake::Tick,
                verified = next_verified(self.verifying.as_mut()) => Wake::Verified(verified),
                wake = next_of_attempt(self.attempt.as_mut()) => wake,
            };
            self.wake(wake).await;
        }
    }

    async fn wake(&mut self, wake: Wake) {
        self.keeper.begin_moment();
        self.quiet_ticks = match wake {
            Wake::Tick => self.quiet_ticks.saturating_add(1),
            _ => 0,
        };
        match wake {
            Wake::Signal(Signal::Suspend) => self.suspend().await,
            Wake::Signal(signal) => self.step(Input::Signal(signal)).await,
            Wake::Command(incoming) => self.on_command(incoming).await,
            Wake::Event(Some(event)) => {
                let effects = self.take_event(event);
                self.perform_all(effects).await;
                self.drain_events().await;
                self.keeper.on_deadline();
                self.keeper.flush();
            }
            Wake::Event(None) => {
                if let Some(attempt) = &mut self.attempt {
                    attempt.has_ended = true;
                }
            }
            Wake::Completed(completed) => self.on_completed(*completed).await,
            Wake::Verified(verified) => self.on_verified(verified).await,
            Wake::Timer => {
                self.timers.check_wall_clock();
                while let Some(timer) = self.timers.pop_expired(clock::now(), Timestamp::now()) {
                    self.step(Input::Timer(timer)).await;
                }
            }
            Wake::Deltas => {
                self.keeper.on_deadline();
                self.keeper.flush();
            }
            Wake::OutputClosed => self.step(Input::OutputClosed).await,
            Wake::ViewWarned(warned) => self.keeper.body(RunBody::Warned(warned)),
            Wake::Tick => self.on_tick().await,
        }
        self.act_on_findings().await;
        self.publish_state();
    }

    /// What the journal says that the run is doing.
    pub(super) fn state(&self) -> &RunState {
        self.keeper.model.state()
    }

    /// Brings `run.json` and the greeting of the control socket up to date.
    fn publish_state(&mut self) {
        self.publish_figures();
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
        let is_urgent = self.is_file_due || self.keeper.is_sync_owed();
        let is_quiet = self.machine.is_parked() && !self.is_file_stale && self.quiet_ticks >= QUIET_TICKS;
        self.ticked_at
            + match (
                is_urgent,
                is_quiet && !self.keeper.has_unwritten() && !self.storage.has_problem(),
            ) {
                (true, _) => URGENT_SAVE_INTERVAL,
                (false, true) => PARKED_INTERVAL,
                (false, false) => HOUSEKEEPING_INTERVAL,
            }
    }

    /// Now, for the machine.
    pub(super) fn moment(&mut self) -> Moment {
        Moment {
            at: Timestamp::now(),
            elapsed: clock::elapsed_since(self.started),
            random: self.jitter.next(),
        }
    }

    async fn on_tick(&mut self) {
        self.ticked_at = Instant::now();
        self.keeper.flush();
        self.keeper.sync_if_due();
        self.workspace.save_soon();
        self.take_accounted();
        let unsaved_for = self.saved_at.elapsed();
        if self.is_file_due
            || self.is_file_stale && unsaved_for >= SAVE_INTERVAL
            || self.is_working() && unsaved_for >= WRITE_CHECK_INTERVAL
        {
            self.save_run_file(Durability::Cached);
        }
        self.watch_storage().await;
        self.tick_watchdog();
    }

    /// Writes the end of the run: last, and only after everything before it is on disk, because a follower acts on it.
    async fn finish(mut self, signals: &mut mpsc::UnboundedReceiver<Signal>) -> RunEnded {
        // The loop ends with an end.
        let mut ended = self.ended.take().unwrap_or_else(|| RunEnded {
            reason: EndReason::Lost.into(),
            exit_code: EndReason::Lost.exit_code(),
            message: None,
            iterations: 0,
            totals: crate::record::Totals::default(),
        });
        self.close_workspace(signals).await;
        let now = Instant::now();
        let (mut state_deadline, mut deadline) = (now + STATE_TIMEOUT, now + END_TIMEOUT);
        let saved = self.workspace.save_all();
        let synced = self.keeper.sync_all();
        if self
            .wait_at_end(saved, &mut state_deadline, signals)
            .await
            .is_none()
        {
            let message = "the session and the cost of this run are not saved in `.ralph`: the disk is slow, or \
                           another process locks the files";
            self.warn(WarningKind::Storage, message.to_owned());
        }
        self.take_accounted();
        let failures = self.wait_at_end(synced, &mut deadline, signals).await;
        if !self.keeper.note_synced(failures) {
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
        if let Some(mut warnings) = self.view_warnings.take() {
            // A view that has a warning from now on learns that nobody records it.
            warnings.close();
            while let Ok(warned) = warnings.try_recv() {
                self.keeper.body(RunBody::Warned(warned));
            }
        }
        self.keeper.body(RunBody::RunEnded(ended.clone()));
        self.keeper.flush();
        self.set_ended(&ended);
        self.run_file.ended_at = Some(Timestamp::now());
        self.publish_figures();
        self.run_file.status.totals = ended.totals;
        // At once, because a follower that has seen the end reads this file.
        self.save_run_file(Durability::Cached);
        deadline = deadline.max(Instant::now() + SIGNALLED_END_TIMEOUT);
        let synced = self.keeper.sync_all();
        let failures = wait_until(synced, &mut deadline, signals).await;
        self.keeper.note_synced(failures);
        if self.keeper.has_unwritten() {
            let problem = self.storage_problem();
            fail_as_unsaved(&mut ended, problem);
            self.set_ended(&ended);
        }
        let (file, path) = (self.run_file.clone(), self.spec.directory.run_file());
        let failure = self.spec.directory.storage_failure();
        let saved = tokio::task::spawn_blocking(move || {
            let saved = file.save(&path, Durability::Synced);
            if saved.is_err() {
                // What still works on a full disk. `reconcile` finds it.
                let _ = std::fs::File::create(failure);
            }
            saved
        });
        if let Some(Err(error)) = wait_until(saved, &mut deadline, signals).await {
            tracing::warn!(%error, "the run's file could not be written");
        }
        if let Some(control) = self.control.take() {
            control.close().await;
        }
        ended
    }

    /// Lets the caller of the run leave the workspace as it should be, and records what it says.
    async fn close_workspace(&mut self, signals: &mut mpsc::UnboundedReceiver<Signal>) {
        let Some(closer) = self.spec.closer.take() else {
            return;
        };
        let closing = tokio::spawn(async move { closer.close().await });
        let mut deadline = Instant::now() + CLOSE_TIMEOUT;
        match self.wait_at_end(closing, &mut deadline, signals).await {
            Some(warnings) => {
                for warned in warnings {
                    self.keeper.body(RunBody::Warned(warned));
                }
            }
            None => self.warn(
                WarningKind::Degraded,
                "the workspace was not closed in time; look at `git status` there".to_owned(),
            ),
        }
    }

    /// As [`wait_until`], and answers commands meanwhile.
    async fn wait_at_end<T>(
        &mut self,
        mut work: JoinHandle<T>,
        deadline: &mut Instant,
        signals: &mut mpsc::UnboundedReceiver<Signal>,
    ) -> Option<T> {
        loop {
            tokio::select! {
                biased;
                done = wait_until(&mut work, deadline, signals) => return done,
                incoming = next_command(self.control.as_mut()) => self.on_command(incoming).await,
            }
        }
    }

    fn set_ended(&mut self, ended: &RunEnded) {
        self.run_file.status.state = RunState::Ended {
            reason: ended.reason.clone(),
        };
        self.run_file.reason = Some(ended.reason.clone());
        self.run_file.exit_code = Some(ended.exit_code);
    }

    /// Notes in `run.json` how much of the cost is in the account of the task. The account names only the last runs.
    fn take_accounted(&mut self) {
        if let Some(cost) = self.workspace.take_accounted() {
            self.run_file.status.accounted_cost = Some(cost);
            self.is_file_stale = true;
            self.is_file_due = true;
        }
    }

    pub(super) fn warn(&mut self, kind: WarningKind, message: String) {
        self.keeper.body(RunBody::Warned(Warned::new(kind, message)));
    }

    /// Whether the agent has a turn to work on.
    fn is_working(&self) -> bool {
        self.attempt.is_some() && !self.machine.is_idle()
    }

    pub(super) fn save_run_file(&mut self, durability: Durability) {
        let saved = self.run_file.save(&self.spec.directory.run_file(), durability);
        self.is_file_stale = self.storage.note_saved(&saved);
        self.is_file_due = false;
        self.saved_at = Instant::now();
        if let Err(error) = saved {
            tracing::warn!(%error, "the run's file could not be written");
        }
    }
}

/// Waits for work on another thread until the deadline, which a signal brings closer. `None` if it is not done by then.
async fn wait_until<T>(
    work: impl Future<Output = Result<T, JoinError>>,
    deadline: &mut Instant,
    signals: &mut mpsc::UnboundedReceiver<Signal>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done.ok(),
            Some(_) = signals.recv() => *deadline = (*deadline).min(Instant::now() + SIGNALLED_END_TIMEOUT),
            () = sleep_until(*deadline) => return None,
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

/// A run whose end is not on disk has not succeeded.
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

async fn next_view_warning(warnings: Option<&mut mpsc::UnboundedReceiver<Warned>>) -> Warned {
    if let Some(warnings) = warnings
        && let Some(warned) = warnings.recv().await
    {
        return warned;
    }
    std::future::pending().await
}

async fn next_verified(verifying: Option<&mut (usize, Verifying)>) -> Verified {
    match verifying {
        Some((_, verifying)) => verifying.finished().await,
        None => std::future::pending().await,
    }
}

/// Events until they end, then the completion.
async fn next_of_attempt(attempt: Option<&mut Attempt>) -> Wake {
    let Some(attempt) = attempt else {
        return std::future::pending().await;
    };
    let RunHandle {
        events, completion, ..
    } = &mut attempt.handle;
    if attempt.has_ended {
        Wake::Completed(Box::new(completion.await))
    } else {
        Wake::Event(events.next().await)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;
    use tokio::task::JoinError;
    use tokio::time::Instant;

    use super::{END_TIMEOUT, SIGNALLED_END_TIMEOUT, wait_until};
    use crate::machine::Signal;

    fn stalled() -> std::future::Pending<Result<(), JoinError>> {
        std::future::pending()
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_disk_delays_the_end_of_a_run_only_until_the_deadline() {
        let (_sender, mut signals) = mpsc::unbounded_channel();
        let started = Instant::now();
        let mut deadline = started + END_TIMEOUT;
        assert_eq!(wait_until(stalled(), &mut deadline, &mut signals).await, None);
        assert_eq!(started.elapsed(), END_TIMEOUT);
        // The deadline is for all waits together.
        assert_eq!(wait_until(stalled(), &mut deadline, &mut signals).await, None);
        assert_eq!(started.elapsed(), END_TIMEOUT);
        let work = std::future::ready(Ok(7));
        assert_eq!(wait_until(work, &mut deadline, &mut signals).await, Some(7));
    }

    #[tokio::test(start_paused = true)]
    async fn a_signal_brings_the_end_of_a_run_closer_and_never_delays_it() {
        let (sender, mut signals) = mpsc::unbounded_channel();
        let started = Instant::now();
        let mut deadline = started + END_TIMEOUT;
        let signalling = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            sender.send(Signal::Interrupt).unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
            sender.send(Signal::Interrupt).unwrap();
        };
        let (done, ()) = tokio::join!(wait_until(stalled(), &mut deadline, &mut signals), signalling);
        assert_eq!(done, None);
        assert_eq!(started.elapsed(), Duration::from_secs(1) + SIGNALLED_END_TIMEOUT);
    }
}
