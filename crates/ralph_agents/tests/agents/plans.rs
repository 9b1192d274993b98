//! What the plan says about agents that need no reconciler.

use std::collections::HashMap;

use jiff::Timestamp;
use ralph_agents::{Action, Agent, AgentObservation, AgentState, Desired, Observed, plan};

use crate::world::agent;

fn decide(agents: &[Agent], state: &AgentState) -> Vec<String> {
    let observe = |agent: &Agent| {
        let observation = AgentObservation {
            state,
            phase: None,
            is_busy: false,
            is_adopted: false,
        };
        (agent.name.clone(), observation)
    };
    let observed = Observed {
        agents: agents.iter().map(observe).collect(),
        offers: HashMap::new(),
    };
    let now = Timestamp::UNIX_EPOCH;
    let decisions = plan(agents, &observed, now);
    assert_eq!(decisions, plan(agents, &observed, now), "the same again");
    let words = decisions.iter().map(|decision| {
        let action = match &decision.action {
            Action::Start(_) => "start",
            Action::Wait { .. } => "wait",
            Action::Nothing => "nothing",
            other => unreachable!("{other:?}"),
        };
        format!("{}: {action}: {}", decision.agent, decision.reason)
    });
    words.collect()
}

#[test]
fn every_decision_has_a_reason_in_plain_words() {
    let mut agents = ["a", "b", "c", "d"].map(agent);
    agents[1].desired = Desired::Paused;
    agents[2].desired = Desired::Stopped;
    agents[3].prompt = None;
    assert_eq!(
        decide(&agents, &AgentState::default()),
        [
            "a: start: its prompt is not finished",
            "b: nothing: it is paused",
            "c: nothing: it is stopped",
            "d: nothing: it is idle: there is nothing to do",
        ]
    );
}

#[test]
fn an_agent_whose_journal_cannot_be_read_is_left_alone() {
    let agents = [agent("a")];
    let decisions = plan(&agents, &Observed::default(), Timestamp::UNIX_EPOCH);
    assert_eq!(decisions[0].action, Action::Nothing);
    assert_eq!(decisions[0].reason, "its journal cannot be read");
}
