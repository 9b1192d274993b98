//! `Reconciler`: brings all agents of a home to what is wanted of them, round by round.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ralph_run::Durability;

use super::actions::{Actions, Finished, PlannedStart};
use super::entries::Entries;
use crate::agent::Agent;
use crate::name::AgentName;
use crate::plan::{Action, Decision, StartPlan, plan};
use crate::record::{AgentEvent, AgentRecord, StartCount};
use crate::runs::Runs;
use crate::store::{HeldLock as _, LoadedAgent, Storage, StoreError};
use crate::work::{Work, WorkSource};

/// How long a reconciler that ends waits for starts that are under way. Runs whose start it does not see are adopted
/// by the next one.
const END_PATIENCE: Duration = Duration::from_secs(5);
const MIN_INTERVAL: Duration = Duration::from_millis(100);
const IDLE_INTERVAL: Duration = Duration::from_millis(500);
/// Rounds take at most a tenth of the time, however many agents there are.
const REST_FACTOR: u32 = 9;
/// Even if rounds are slow, what a person asks for is soon seen.
const MAX_REST: Duration = Duration::from_secs(2);

/// What a round found, decided and recorded.
#[derive(Debug, Default)]
pub struct RoundReport {
    pub decisions: Vec<Decision>,
    /// What was added to the journals, in order.
    pub records: Vec<(AgentName, AgentRecord)>,
    /// What could not be read or written, for people.
    pub problems: Vec<String>,
}

impl RoundReport {
    /// The first moment for which a decision waits.
    pub fn next_wait(&self) -> Option<Timestamp> {
        let waits = self
            .decisions
            .iter()
            .filter_map(|decision| match decision.action {
                Action::Wait { until } => until,
                _ => None,
            });
        waits.min()
    }

    /// Whether nothing has happened and there is nothing to do.
    pub fn is_settled(&self) -> bool {
        let is_at_rest = |decision: &Decision| matches!(decision.action, Action::Nothing);
        self.records.is_empty() && self.decisions.iter().all(is_at_rest)
    }
}

/// The only one that starts and stops the runs of agents. It holds the lock of the home.
pub struct Reconciler<S: Storage, R> {
    pub(super) storage: S,
    pub(super) runs: Arc<R>,
    pub(super) work: Arc<dyn WorkSource>,
    pub(super) entries: Entries,
    pub(super) problems: Vec<String>,
    actions: Actions<R>,
    lock: S::Lock,
    /// The only agent that is looked at.
    only: Option<AgentName>,
}

impl<S: Storage, R: Runs> Reconciler<S, R> {
    /// Takes the lock of the home.
    ///
    /// # Errors
    /// If another reconciler has it.
    pub fn open(storage: S, runs: R, work: Arc<dyn WorkSource>, now: Timestamp) -> Result<Self, StoreError> {
        let lock = storage.lock(now)?;
        let runs = Arc::new(runs);
        Ok(Self {
            actions: Actions::new(runs.clone(), work.clone(), storage.reader()),
            storage,
            runs,
            work,
            entries: Entries::default(),
            problems: Vec::new(),
            lock,
            only: None,
        })
    }

    /// Leaves all other agents alone.
    #[must_use]
    pub fn only(mut self, name: AgentName) -> Self {
        self.only = Some(name);
        self
    }

    /// Observes, plans, acts and records once. Waits until all actions have finished; each has a deadline of its own.
    pub async fn round(&mut self, now: Timestamp) -> Result<RoundReport, StoreError> {
        let decisions = self.begin_round(now).await?;
        while let Some((name, finished)) = self.actions.next_or_none().await {
            self.finish(name, finished, now);
        }
        Ok(self.report(decisions))
    }

    /// A round that does not wait: results of its actions are recorded when they are there.
    async fn begin_round(&mut self, now: Timestamp) -> Result<Vec<Decision>, StoreError> {
        self.lock.beat(now);
        self.record_finished(now, Duration::ZERO).await;
        let agents = self.load_agents()?;
        let phases = self.observe_runs(&agents, now);
        self.release_tasks(&agents, now).await;
        let offers = self.ask_for_work(&agents).await;
        let observed = self.observed(&agents, phases, offers);
        let decisions = plan(&agents, &observed, now);
        drop(observed);
        for (agent, decision) in agents.iter().zip(&decisions) {
            self.act(agent, decision, now);
        }
        Ok(decisions)
    }

    fn report(&mut self, decisions: Vec<Decision>) -> RoundReport {
        RoundReport {
            decisions,
            records: self.entries.take_records(),
            problems: std::mem::take(&mut self.problems),
        }
    }

    /// Runs rounds until `end` resolves. Each report is shown to `view`.
    pub async fn run(
        &mut self,
        end: impl Future<Output = ()>,
        mut view: impl FnMut(&RoundReport),
    ) -> Result<(), StoreError> {
        let mut end = std::pin::pin!(end);
        loop {
            let begun = Instant::now();
            let decisions = self.begin_round(Timestamp::now()).await?;
            let report = self.report(decisions);
            view(&report);
            let pause = self.pause_after(&report, begun.elapsed());
            let is_over = tokio::select! {
                biased;
                () = &mut end => true,
                (name, finished) = self.actions.next() => {
                    self.finish(name, finished, Timestamp::now());
                    false
                }
                () = tokio::time::sleep(pause) => false,
            };
            if is_over {
                self.record_finished(Timestamp::now(), END_PATIENCE).await;
                view(&self.report(Vec::new()));
                return Ok(());
            }
        }
    }

    /// The runs that are active, with their agents.
    pub fn active_runs(&self) -> Vec<(AgentName, String)> {
        let runs = self.entries.active_runs();
        let mut runs: Vec<_> = runs.map(|(name, run)| (name.clone(), run.to_owned())).collect();
        runs.sort_unstable();
        runs
    }

    fn pause_after(&self, report: &RoundReport, took: Duration) -> Duration {
        let is_idle = self.entries.active_runs().next().is_none();
        let interval = if is_idle { IDLE_INTERVAL } else { MIN_INTERVAL };
        let until_wait = report.next_wait().map(|until| {
            let left = until.duration_since(Timestamp::now());
            Duration::try_from(left).unwrap_or_default()
        });
        let interval = until_wait.map_or(interval, |left| interval.min(left));
        interval.max((took * REST_FACTOR).min(MAX_REST))
    }

    fn load_agents(&mut self) -> Result<Vec<Agent>, StoreError> {
        let mut agents = Vec::new();
        for LoadedAgent { name, agent } in self.storage.agents()? {
            if self.only.as_ref().is_some_and(|only| *only != name) {
                continue;
            }
            match agent {
                Ok(agent) => agents.push(agent),
                // What is wanted of it is not known, so it is left as it is.
                Err(error) => self.problems.push(format!("agent {name}: {error}")),
            }
        }
        for (name, error) in self.entries.keep(&agents, &self.storage) {
            self.problems.push(format!("agent {name}: {error}"));
        }
        // One under the name of a deleted agent, of which an action is still under way, comes later.
        agents.retain(|agent| self.entries.knows(agent));
        Ok(agents)
    }

    fn act(&mut self, agent: &Agent, decision: &Decision, now: Timestamp) {
        let name = &agent.name;
        match &decision.action {
            Action::Start(start) => self.begin_start(agent, start, &decision.reason, now),
            Action::PauseAtTurnEnd { run, iteration } => {
                let event = AgentEvent::PauseRequested {
                    run: run.clone(),
                    iteration: *iteration,
                };
                // Recorded first: an end of the run that follows is the end of the pause.
                if self.record(name, now, event, Durability::Synced) && agent.accepts_input {
                    self.actions.close_input(name.clone(), run.clone());
                    self.set_busy(name);
                }
            }
            Action::Stop { run } => {
                let event = AgentEvent::StopRequested { run: run.clone() };
                // Even if it cannot be recorded: a full disk must not keep an agent from being stopped.
                self.record(name, now, event, Durability::Cached);
                self.actions.stop(name.clone(), run.clone());
                self.set_busy(name);
            }
            Action::Adopt { run } => {
                let event = AgentEvent::Adopted { run: run.clone() };
                if self.record(name, now, event, Durability::Cached)
                    && let Some(entry) = self.entries.get_mut(name)
                {
                    entry.adopted = Some(run.clone());
                }
            }
            Action::Wait { .. } | Action::Nothing => {}
        }
    }

    fn begin_start(&mut self, agent: &Agent, start: &StartPlan, why: &str, now: Timestamp) {
        let name = &agent.name;
        let run = self.runs.new_id(now);
        let count = StartCount {
            run: run.clone(),
            start_number: agent.start_number,
            task: match &start.work {
                Work::Task(task) => Some(task.clone()),
                Work::Prompt => None,
            },
            resumes: start.resumes.clone(),
            why: why.to_owned(),
        };
        // Nothing is started that is not on disk: after a crash, this is how the run is found again.
        if !self.record(name, now, AgentEvent::StartCounted(count), Durability::Synced) {
            return;
        }
        let spent = self.entries.get(name).map(|entry| entry.state.used_on(now).cost);
        let max_cost = agent
            .limits_per_day
            .cost
            .map(|limit| limit.saturating_sub(spent.unwrap_or_default()));
        self.actions.start(PlannedStart {
            agent: agent.clone(),
            run,
            plan: start.clone(),
            max_cost,
        });
        self.set_busy(name);
    }

    fn set_busy(&mut self, name: &AgentName) {
        if let Some(entry) = self.entries.get_mut(name) {
            entry.is_busy = true;
        }
    }

    async fn record_finished(&mut self, now: Timestamp, patience: Duration) {
        for (name, finished) in self.actions.collect(patience).await {
            self.finish(name, finished, now);
        }
    }

    fn finish(&mut self, name: AgentName, finished: Finished, now: Timestamp) {
        if let Some(entry) = self.entries.get_mut(&name) {
            entry.is_busy = false;
            if let Finished::Started { run } = &finished {
                entry.adopted = Some(run.clone());
            }
        }
        match finished {
            Finished::Started { run } => {
                self.record(&name, now, AgentEvent::Started { run }, Durability::Cached);
            }
            Finished::NotStarted { run, failure } => {
                let event = AgentEvent::StartFailed {
                    run,
                    kind: failure.kind,
                    message: failure.message,
                };
                self.record(&name, now, event, Durability::Synced);
            }
            Finished::Asked { result: Ok(()), .. } | Finished::Panicked => {}
            Finished::Asked {
                run,
                result: Err(error),
            } => {
                self.note_failure(&name, now, format!("cannot ask run {run} to end: {error}"));
            }
        }
    }

    /// Writes and takes in a record. `false` if it could not be written, which is reported.
    pub(super) fn record(
        &mut self,
        name: &AgentName,
        at: Timestamp,
        event: AgentEvent,
        durability: Durability,
    ) -> bool {
        let recorded = self
            .entries
            .record(&mut self.storage, name, at, event, durability);
        recorded
            .map_err(|error| self.problems.push(format!("agent {name}: {error}")))
            .is_ok()
    }

    pub(super) fn note_failure(&mut self, name: &AgentName, at: Timestamp, message: String) {
        let noted = self.entries.note_failure(&mut self.storage, name, at, message);
        if let Err(error) = noted {
            self.problems.push(format!("agent {name}: {error}"));
        }
    }
}
