//! Named agents: how long the plan for all of them takes.

use std::collections::HashMap;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use ralph_agents::{
    Agent, AgentEvent, AgentObservation, AgentRecord, AgentState, Observed, RunConclusion, RunOutcome,
    RunPhase, StartCount, plan,
};

use crate::arguments::Arguments;

/// Owed for 1,000 agents.
const OWED_MILLISECONDS: f64 = 5.0;

/// `bench agents_plan`.
pub fn plan_all(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["agents", "rounds"])?;
    let count = arguments.number("agents", 1_000)?;
    let rounds = arguments.number("rounds", 200)?;
    let now = Timestamp::now();
    let agents: Vec<Agent> = (0..count)
        .map(|index| agent(index, now))
        .collect::<Result<_, _>>()?;
    let states: Vec<AgentState> = (0..count).map(|index| state(index, now)).collect();
    let mut took: Vec<f64> = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let observed = observe(&agents, &states);
        let began = Instant::now();
        let decisions = plan(&agents, &observed, now);
        took.push(began.elapsed().as_secs_f64() * 1e3);
        if decisions.len() != count {
            return Err("a plan has one decision for each agent".to_owned());
        }
    }
    took.sort_by(f64::total_cmp);
    let at = |part: f64| {
        took.get((took.len() as f64 * part) as usize)
            .copied()
            .unwrap_or_default()
    };
    println!("\n## The plan for {count} agents, {rounds} rounds\n");
    println!("| median | 99% | owed |\n|---:|---:|---:|");
    println!(
        "| {:.2} ms | {:.2} ms | {OWED_MILLISECONDS} ms for 1,000 |",
        at(0.5),
        at(0.99)
    );
    Ok(())
}

fn agent(index: usize, now: Timestamp) -> Result<Agent, String> {
    let name = format!("agent-{index}")
        .parse()
        .map_err(|error| format!("{error}"))?;
    let mut agent = Agent::new(
        name,
        format!("id-{index}"),
        format!("/workspaces/{index}").into(),
        now,
    );
    agent.prompt = Some("Do it.".to_owned());
    agent.backend = Some(format!("backend-{}", index % 5));
    Ok(agent)
}

/// A quarter each: never started, at work, failed a moment ago, held by a usage limit.
fn state(index: usize, now: Timestamp) -> AgentState {
    let run = format!("20260101-000000-{index:08}");
    let counted = AgentEvent::StartCounted(StartCount {
        run: run.clone(),
        start_number: 1,
        task: None,
        resumes: None,
        why: "its work is not done".to_owned(),
    });
    let outcome = if index % 4 == 2 {
        RunOutcome::Interrupted
    } else {
        RunOutcome::UsageLimit
    };
    let ended = AgentEvent::RunEnded(RunConclusion {
        run: run.clone(),
        outcome,
        reason: None,
        message: None,
        cost: agent_api::MicroUsd::new(10_000),
        session_id: Some(format!("session-{index}")),
        backend: None,
        limit_until: Some(now + SignedDuration::from_mins(10)),
    });
    let events = match index % 4 {
        0 => vec![],
        1 => vec![counted, AgentEvent::Started { run }],
        _ => vec![counted, AgentEvent::Started { run }, ended],
    };
    let mut state = AgentState::default();
    for event in events {
        state.apply(&AgentRecord { at: now, event });
    }
    state
}

fn observe<'a>(agents: &[Agent], states: &'a [AgentState]) -> Observed<'a> {
    let observe = |(agent, state): (&Agent, &'a AgentState)| {
        let observation = AgentObservation {
            state,
            phase: state.run.as_ref().map(|_| RunPhase::Starting),
            is_busy: false,
            is_adopted: true,
        };
        (agent.name.clone(), observation)
    };
    Observed {
        agents: agents.iter().zip(states).map(observe).collect(),
        offers: HashMap::new(),
    }
}
