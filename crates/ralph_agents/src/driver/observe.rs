//! What happened since the last round: runs that have ended, starts that came to nothing, tasks that are to be given
//! back. These are facts, which are recorded before anything is planned.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use ralph_run::Durability;

use super::reconciler::Reconciler;
use crate::agent::{Agent, Desired};
use crate::name::AgentName;
use crate::outcome::{RunOutcome, conclude};
use crate::plan::{AgentObservation, Observed};
use crate::record::{AgentEvent, RunConclusion};
use crate::runs::{EndedRun, RunPhase, Runs, StartFailureKind};
use crate::state::ActiveRun;
use crate::store::Storage;
use crate::work::{Offer, WorkEnding};

/// A run that has worked this long takes earlier failures back. Longer than the longest delay between attempts, so that
/// a crash that comes back again and again is still counted.
const RECOVERY_TIME: SignedDuration = SignedDuration::from_mins(10);
/// How long to wait if a usage limit is reached and nothing says when it resets.
const UNKNOWN_RESET: SignedDuration = SignedDuration::from_mins(15);
/// A run that ends at a limit whose reset is in the past is not followed by the next one at once.
const LATE_RESET: SignedDuration = SignedDuration::from_mins(1);

impl<S: Storage, R: Runs> Reconciler<S, R> {
    /// Looks at all active runs and records those that have ended. Gives the phases of the others.
    pub(super) fn observe_runs(&mut self, agents: &[Agent], now: Timestamp) -> HashMap<AgentName, RunPhase> {
        let mut phases = HashMap::new();
        for agent in agents {
            let Some(entry) = self.entries.get(&agent.name) else {
                continue;
            };
            let Some(run) = entry.state.run.clone().filter(|_| !entry.is_busy) else {
                continue;
            };
            let phase = self.runs.observe(&run.id, now);
            let event = match &phase {
                RunPhase::Ended(ended) => {
                    Some(AgentEvent::RunEnded(self.conclusion(agent, &run, ended, now)))
                }
                RunPhase::Absent => Some(absent(&run)),
                RunPhase::Live(_)
                    if !run.has_recovered && now.duration_since(run.counted_at) >= RECOVERY_TIME =>
                {
                    Some(AgentEvent::Recovered { run: run.id.clone() })
                }
                RunPhase::Live(_) | RunPhase::Starting => None,
            };
            if let Some(event) = event {
                self.record(&agent.name, now, event, Durability::Synced);
            }
            phases.insert(agent.name.clone(), phase);
        }
        phases
    }

    fn conclusion(&self, agent: &Agent, run: &ActiveRun, ended: &EndedRun, now: Timestamp) -> RunConclusion {
        let used = self
            .entries
            .get(&agent.name)
            // Its own limit was what was left of the day of its start, whenever its end is seen.
            .map(|entry| entry.state.used_on(run.counted_at));
        let cost_of_day = used.map(|used| used.cost).unwrap_or_default() + ended.cost;
        let is_daily_limit_reached = agent
            .limits_per_day
            .cost
            .is_some_and(|limit| cost_of_day >= limit);
        let outcome = conclude(
            ended.reason.as_ref(),
            run,
            agent.accepts_input,
            is_daily_limit_reached,
        );
        let outcome = match (outcome, ended.limit_until) {
            // It was cut off while it waited for the reset, as by a reboot: the others of its account go on waiting.
            (RunOutcome::Interrupted, Some(reset)) if now < reset => RunOutcome::UsageLimit,
            (outcome, _) => outcome,
        };
        let limit_until = (outcome == RunOutcome::UsageLimit).then(|| limit_until(ended, now));
        RunConclusion {
            run: run.id.clone(),
            outcome,
            reason: ended.reason.clone(),
            message: ended.message.clone(),
            cost: ended.cost,
            session_id: ended.session_id.clone(),
            backend: ended.backend.clone(),
            limit_until,
        }
    }

    /// Gives tasks back whose work is over. One that cannot be given back is tried again in the next round.
    pub(super) async fn release_tasks(&mut self, agents: &[Agent], now: Timestamp) {
        for agent in agents {
            let Some(entry) = self.entries.get(&agent.name) else {
                continue;
            };
            let state = &entry.state;
            let Some(task) = state.current_task.clone() else {
                continue;
            };
            let is_given_up = agent.desired == Desired::Stopped;
            let ending = state.owed_release.or(is_given_up.then_some(WorkEnding::GivenUp));
            let Some(ending) = ending.filter(|_| state.run.is_none() && !entry.is_busy) else {
                continue;
            };
            match self.work.release(&task, agent, ending).await {
                Ok(()) => {
                    let event = AgentEvent::TaskReleased { task, ending };
                    self.record(&agent.name, now, event, Durability::Synced);
                }
                Err(error) => {
                    self.note_failure(&agent.name, now, format!("cannot give back task {task}: {error}"))
                }
            }
        }
    }

    /// Asks for tasks for the agents that could take one.
    pub(super) async fn ask_for_work(&mut self, agents: &[Agent]) -> HashMap<AgentName, Offer> {
        let is_idle = |agent: &&Agent| {
            agent.takes_tasks()
                && agent.desired == Desired::Active
                && self.entries.get(&agent.name).is_some_and(|entry| {
                    !entry.is_busy && entry.state.run.is_none() && entry.state.current_task.is_none()
                })
        };
        let idle: Vec<&Agent> = agents.iter().filter(is_idle).collect();
        if idle.is_empty() {
            return HashMap::new();
        }
        match self.work.offers(&idle).await {
            Ok(offers) => {
                let named = |(index, offer): (usize, Offer)| Some((idle.get(index)?.name.clone(), offer));
                offers.into_iter().filter_map(named).collect()
            }
            Err(error) => {
                self.problems.push(format!("cannot look for tasks: {error}"));
                HashMap::new()
            }
        }
    }

    pub(super) fn observed<'a>(
        &'a self,
        agents: &[Agent],
        mut phases: HashMap<AgentName, RunPhase>,
        offers: HashMap<AgentName, Offer>,
    ) -> Observed<'a> {
        let observe = |agent: &Agent| {
            let entry = self.entries.get(&agent.name)?;
            let run = entry.state.run.as_ref();
            let observation = AgentObservation {
                state: &entry.state,
                phase: phases.remove(&agent.name).filter(|_| run.is_some()),
                is_busy: entry.is_busy,
                is_adopted: run.is_some_and(|run| entry.adopted.as_ref() == Some(&run.id)),
            };
            Some((agent.name.clone(), observation))
        };
        Observed {
            agents: agents.iter().filter_map(observe).collect(),
            offers,
        }
    }
}

/// When the usage limit resets that a run ended at.
fn limit_until(ended: &EndedRun, now: Timestamp) -> Timestamp {
    let ended_at = ended.ended_at.unwrap_or(now);
    let left = match ended.limit_until {
        Some(reset) => reset.duration_since(ended_at).max(LATE_RESET),
        None => UNKNOWN_RESET,
    };
    // If the clock was set back since, the end is in the future.
    ended_at.min(now).checked_add(left).unwrap_or(Timestamp::MAX)
}

/// There is nothing of a run that was counted.
fn absent(run: &ActiveRun) -> AgentEvent {
    if run.has_begun {
        return AgentEvent::RunEnded(RunConclusion {
            run: run.id.clone(),
            outcome: RunOutcome::Interrupted,
            reason: None,
            message: Some("the directory of its run is gone".to_owned()),
            cost: agent_api::MicroUsd::ZERO,
            session_id: None,
            backend: None,
            limit_until: None,
        });
    }
    AgentEvent::StartFailed {
        run: run.id.clone(),
        kind: StartFailureKind::Other,
        message: "the reconciler was interrupted before it started the run".to_owned(),
    }
}
