//! `Entries`: the state of every agent in memory. A record counts once it is in the journal, so memory never says more
//! than the disk.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use ralph_run::Durability;

use crate::agent::Agent;
use crate::name::AgentName;
use crate::record::{AgentEvent, AgentRecord};
use crate::state::AgentState;
use crate::store::{Storage, StoreError};

/// The same failure of the reconciler is recorded again only after this time.
const FAILURE_INTERVAL: SignedDuration = SignedDuration::from_mins(1);

/// What the reconciler knows about an agent.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The agent's id; another one under the same name is another agent.
    id: String,
    pub(super) state: AgentState,
    /// An action has not finished.
    pub(super) is_busy: bool,
    /// The run that this reconciler has started or adopted.
    pub(super) adopted: Option<String>,
}

/// All agents that can be read.
#[derive(Debug, Default)]
pub(super) struct Entries {
    entries: HashMap<AgentName, Entry>,
    /// What was recorded since the last call of `take_records`.
    recorded: Vec<(AgentName, AgentRecord)>,
}

impl Entries {
    pub(super) fn get(&self, name: &AgentName) -> Option<&Entry> {
        self.entries.get(name)
    }

    pub(super) fn get_mut(&mut self, name: &AgentName) -> Option<&mut Entry> {
        self.entries.get_mut(name)
    }

    /// Whether this is the agent that the entry of its name is about.
    pub(super) fn knows(&self, agent: &Agent) -> bool {
        self.entries
            .get(&agent.name)
            .is_some_and(|entry| entry.id == agent.id)
    }

    /// Reads the journals of new agents and forgets those that were deleted.
    pub(super) fn keep(&mut self, agents: &[Agent], storage: &impl Storage) -> Vec<(AgentName, StoreError)> {
        let by_name: HashMap<&AgentName, &Agent> = agents.iter().map(|agent| (&agent.name, agent)).collect();
        let is_kept = |name: &AgentName, entry: &Entry| {
            // The result of its action must not be taken for that of another agent.
            entry.is_busy || by_name.get(name).is_some_and(|agent| agent.id == entry.id)
        };
        self.entries.retain(|name, entry| is_kept(name, entry));
        let mut failed = Vec::new();
        for agent in agents {
            if self.entries.contains_key(&agent.name) {
                continue;
            }
            match storage.state(&agent.name) {
                Ok(state) => {
                    let entry = Entry {
                        id: agent.id.clone(),
                        state,
                        ..Entry::default()
                    };
                    self.entries.insert(agent.name.clone(), entry);
                }
                Err(error) => failed.push((agent.name.clone(), error)),
            }
        }
        failed
    }

    /// Writes a record, then takes it in.
    pub(super) fn record(
        &mut self,
        storage: &mut impl Storage,
        name: &AgentName,
        at: Timestamp,
        event: AgentEvent,
        durability: Durability,
    ) -> Result<(), StoreError> {
        let Some(entry) = self.entries.get_mut(name) else {
            return Ok(());
        };
        let record = AgentRecord { at, event };
        storage.append(name, &record, durability)?;
        entry.state.apply(&record);
        self.recorded.push((name.clone(), record));
        Ok(())
    }

    /// Notes what the reconciler could not do, unless it has just said so.
    pub(super) fn note_failure(
        &mut self,
        storage: &mut impl Storage,
        name: &AgentName,
        at: Timestamp,
        message: String,
    ) -> Result<(), StoreError> {
        let last = self
            .get(name)
            .and_then(|entry| entry.state.reconcile_failures.back());
        let is_repeated = last.is_some_and(|last| {
            last.message == message && at.duration_since(last.at).abs() < FAILURE_INTERVAL
        });
        if is_repeated {
            return Ok(());
        }
        let event = AgentEvent::ReconcileFailed { message };
        self.record(storage, name, at, event, Durability::Cached)
    }

    pub(super) fn take_records(&mut self) -> Vec<(AgentName, AgentRecord)> {
        std::mem::take(&mut self.recorded)
    }

    pub(super) fn active_runs(&self) -> impl Iterator<Item = (&AgentName, &str)> {
        let runs = self.entries.iter();
        runs.filter_map(|(name, entry)| Some((name, entry.state.run.as_ref()?.id.as_str())))
    }
}
