//! `World`: agents, journals and runs in memory, with faults. It counts what must never happen.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use agent_api::MicroUsd;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use ralph_agents::{
    Agent, AgentEvent, AgentName, AgentRecord, AgentState, EndedRun, HeldLock, LiveRun, LoadedAgent, NoWork,
    ReadAgent, Reconciler, RoundReport, RunPhase, Runs, StartFailure, StartFailureKind, StartOrder, Storage,
    StoreError,
};
use ralph_run::model::RunState;
use ralph_run::{Durability, EndReason, LimitKind, Open};

pub(crate) const COST: MicroUsd = MicroUsd::new(1_000);

#[derive(Debug, Clone)]
pub(crate) struct WorldRun {
    pub(crate) agent: AgentName,
    pub(crate) workspace: std::path::PathBuf,
    pub(crate) phase: RunPhase,
    pub(crate) prompt: String,
    pub(crate) resumes: Option<String>,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) agents: BTreeMap<AgentName, Agent>,
    pub(crate) journals: HashMap<AgentName, Vec<AgentRecord>>,
    /// The folds of the journals.
    states: HashMap<AgentName, AgentState>,
    pub(crate) runs: BTreeMap<String, WorldRun>,
    pub(crate) next_id: u64,
    pub(crate) is_locked: bool,
    pub(crate) is_disk_full: bool,
    /// How a start fails, by agent.
    pub(crate) refused: HashMap<AgentName, StartFailureKind>,
    /// Starts before this moment run into the usage limit at once.
    pub(crate) limited_until: Option<Timestamp>,
    pub(crate) starts: u32,
    /// What must never happen.
    pub(crate) violations: Vec<String>,
    pub(crate) now: Timestamp,
}

#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Inner>>);

pub(crate) type WorldReconciler = Reconciler<World, World>;

impl World {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    pub(crate) fn with(agents: impl IntoIterator<Item = Agent>) -> Self {
        let world = Self::default();
        {
            let mut inner = world.lock();
            inner.now = "2026-01-01T12:00:00Z".parse().unwrap();
            inner.agents = agents
                .into_iter()
                .map(|agent| (agent.name.clone(), agent))
                .collect();
        }
        world
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.lock().now
    }

    pub(crate) fn wait(&self, seconds: i64) {
        self.lock().now += SignedDuration::from_secs(seconds);
    }

    pub(crate) fn reconciler(&self) -> WorldReconciler {
        Reconciler::open(self.clone(), self.clone(), Arc::new(NoWork), self.now()).unwrap()
    }

    pub(crate) fn change(&self, name: &str, change: impl FnOnce(&mut Agent)) {
        change(self.lock().agents.get_mut(name).unwrap());
    }

    pub(crate) fn state(&self, name: &str) -> AgentState {
        self.lock().states.get(name).cloned().unwrap_or_default()
    }

    /// The active run of an agent.
    pub(crate) fn live(&self, name: &str) -> Option<String> {
        let inner = self.lock();
        let mut live = inner
            .runs
            .iter()
            .filter(|(_, run)| run.agent.as_str() == name && matches!(run.phase, RunPhase::Live(_)));
        live.next().map(|(id, _)| id.clone())
    }

    /// Lets the active run of an agent end.
    pub(crate) fn end(&self, name: &str, reason: EndReason) {
        let id = self.live(name).unwrap();
        self.lock().end(&id, reason, None);
    }

    pub(crate) fn set_live(&self, name: &str, change: impl FnOnce(&mut LiveRun)) {
        let id = self.live(name).unwrap();
        match &mut self.lock().runs.get_mut(&id).unwrap().phase {
            RunPhase::Live(live) => change(live),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn check(&self) {
        assert_eq!(self.lock().violations, [""; 0]);
    }
}

impl Inner {
    pub(crate) fn end(&mut self, id: &str, reason: EndReason, limit_until: Option<Timestamp>) {
        let ended_at = Some(self.now);
        if let Some(run) = self.runs.get_mut(id) {
            run.phase = RunPhase::Ended(EndedRun {
                reason: Some(Open::Known(reason)),
                message: None,
                ended_at,
                cost: COST,
                backend: Some("one".to_owned()),
                session_id: Some(format!("session-{}", run.agent)),
                limit_until,
            });
        }
    }

    pub(crate) fn live_runs(&self) -> Vec<String> {
        let live = self
            .runs
            .iter()
            .filter(|(_, run)| matches!(run.phase, RunPhase::Live(_) | RunPhase::Starting));
        live.map(|(id, _)| id.clone()).collect()
    }
}

/// One reconciler at a time.
pub(crate) struct WorldLock(World);

impl HeldLock for WorldLock {
    fn beat(&mut self, _now: Timestamp) {}
}

impl Drop for WorldLock {
    fn drop(&mut self) {
        self.0.lock().is_locked = false;
    }
}

impl Storage for World {
    type Lock = WorldLock;

    fn lock(&self, _now: Timestamp) -> Result<WorldLock, StoreError> {
        let mut inner = self.0.lock().unwrap();
        if std::mem::replace(&mut inner.is_locked, true) {
            return Err(StoreError::Locked(None));
        }
        Ok(WorldLock(self.clone()))
    }

    fn agents(&mut self) -> Result<Vec<LoadedAgent>, StoreError> {
        let inner = self.0.lock().unwrap();
        let load = |(name, agent): (&AgentName, &Agent)| LoadedAgent {
            name: name.clone(),
            agent: Ok(agent.clone()),
        };
        Ok(inner.agents.iter().map(load).collect())
    }

    fn reader(&self) -> ReadAgent {
        let world = self.clone();
        Arc::new(move |name| Ok(world.0.lock().unwrap().agents.get(name).cloned()))
    }

    fn state(&self, name: &AgentName) -> Result<AgentState, StoreError> {
        Ok(World::state(self, name.as_str()))
    }

    fn append(
        &mut self,
        name: &AgentName,
        record: &AgentRecord,
        _durability: Durability,
    ) -> Result<(), StoreError> {
        let mut inner = self.0.lock().unwrap();
        if inner.is_disk_full {
            return Err(StoreError::Io {
                path: "journal.ndjson".into(),
                source: std::io::ErrorKind::StorageFull.into(),
            });
        }
        // What is written is what is read back.
        let text = serde_json::to_string(record).unwrap();
        let record: AgentRecord = serde_json::from_str(&text).unwrap();
        inner.states.entry(name.clone()).or_default().apply(&record);
        inner.journals.entry(name.clone()).or_default().push(record);
        Ok(())
    }
}

#[async_trait]
impl Runs for World {
    fn new_id(&self, _now: Timestamp) -> String {
        let mut inner = self.lock();
        inner.next_id += 1;
        format!("run-{}", inner.next_id)
    }

    fn observe(&self, run: &str, _now: Timestamp) -> RunPhase {
        let inner = self.lock();
        inner
            .runs
            .get(run)
            .map_or(RunPhase::Absent, |run| run.phase.clone())
    }

    async fn start(&self, order: &StartOrder) -> Result<(), StartFailure> {
        let mut inner = self.lock();
        let name = order.agent.name.clone();
        if let Some(kind) = inner.refused.get(&name) {
            return Err(StartFailure {
                kind: *kind,
                message: "refused".to_owned(),
            });
        }
        let others: HashSet<&str> = inner
            .runs
            .values()
            .filter(|run| matches!(run.phase, RunPhase::Live(_) | RunPhase::Starting))
            .filter(|run| run.agent == name || run.workspace == order.workspace)
            .map(|run| run.agent.as_str())
            .collect();
        if !others.is_empty() {
            let violation = format!("{name} was started beside {others:?}");
            inner.violations.push(violation);
        }
        let is_counted = inner.journals.get(&name).is_some_and(|records| {
            records.iter().any(
                |record| matches!(&record.event, AgentEvent::StartCounted(count) if count.run == order.run),
            )
        });
        if !is_counted {
            inner
                .violations
                .push(format!("{} was started before it was counted", order.run));
        }
        inner.starts += 1;
        let live = LiveRun {
            state: RunState::Thinking,
            iteration: 1,
            cost: MicroUsd::ZERO,
            started_at: inner.now,
            backend: "one".to_owned(),
            session_id: None,
            heartbeat: None,
        };
        let run = WorldRun {
            agent: name,
            workspace: order.workspace.clone(),
            phase: RunPhase::Live(live),
            prompt: order.prompt.clone(),
            resumes: order.resumes.clone(),
        };
        inner.runs.insert(order.run.clone(), run);
        let now = inner.now;
        if let Some(until) = inner.limited_until.filter(|until| now < *until) {
            inner.end(&order.run, EndReason::Limit(LimitKind::Usage), Some(until));
        }
        Ok(())
    }

    async fn stop(&self, run: &str) -> Result<(), String> {
        self.lock().end(run, EndReason::Stopped, None);
        Ok(())
    }

    async fn close_input(&self, run: &str) -> Result<(), String> {
        // As a conversation does whose turn has ended.
        self.lock().end(run, EndReason::Completed, None);
        Ok(())
    }
}

/// An active agent with a prompt and a workspace of its own.
pub(crate) fn agent(name: &str) -> Agent {
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut agent = Agent::new(
        name.parse().unwrap(),
        format!("id-{name}"),
        format!("/w/{name}").into(),
        at,
    );
    agent.prompt = Some("Do it.".to_owned());
    agent
}

/// Runs a round at the world's time.
pub(crate) async fn round(reconciler: &mut WorldReconciler, world: &World) -> RoundReport {
    reconciler.round(world.now()).await.unwrap()
}
