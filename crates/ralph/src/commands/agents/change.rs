//! `ralph agents start`, `pause`, `stop` and `delete`: change what is wanted of an agent.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use jiff::Timestamp;
use ralph_agents::{
    Agent, AgentName, AgentStore, Desired, LocalRuns, NoWork, ProcessStatus, Reconciler, RunPhase,
    Storage as _, StoreError,
};
use ralph_run::Home;
use tokio::time::{Instant, sleep};

use super::create::check_prompt;
use super::launch::AgentRuns;
use super::{AgentDeleteArgs, AgentPauseArgs, AgentStartArgs, AgentStopArgs, warn_without_reconciler};
use crate::console::{render_json_pretty, write_text};

/// How long a run may take to end: the stop ladder, and a slow disk.
const END_LIMIT: Duration = Duration::from_secs(60);
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

pub(super) fn start(args: AgentStartArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    if let Some(prompt) = &args.prompt {
        check_prompt(prompt)?;
    }
    let store = AgentStore::new(home.clone());
    let state = store.state(&args.name)?;
    let is_error = state.process_status == ProcessStatus::Error;
    let mut is_at_work = false;
    let prompt = args.prompt;
    let agent = store.update(&args.name, |agent| {
        let is_new_work = prompt.is_some();
        // Otherwise the work that is under way, or waits for its next attempt, would begin again.
        let is_open = agent.prompt.is_some() && state.closed_start < agent.start_number;
        is_at_work = agent.desired == Desired::Active
            && !is_new_work
            && (state.run.is_some() || (is_open && !is_error));
        if is_at_work {
            return;
        }
        if is_error || is_new_work {
            agent.desired = Desired::Stopped;
        }
        agent.start();
        if prompt.is_some() {
            agent.prompt = prompt;
        }
    })?;
    let said = match is_at_work {
        true if state.run.is_some() => format!("agent {} is already running", agent.name),
        true => format!("agent {} is already active; its work is not finished", agent.name),
        false => format!("agent {} will start", agent.name),
    };
    report(out, args.json, &agent, &said)?;
    if !args.json {
        warn_without_reconciler(home);
    }
    Ok(0)
}

pub(super) fn pause(args: &AgentPauseArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let store = AgentStore::new(home.clone());
    let agent = store.update(&args.name, |agent| {
        // A stopped agent has nothing to continue.
        if agent.desired == Desired::Active {
            agent.desired = Desired::Paused;
        }
    })?;
    let said = match agent.desired {
        Desired::Stopped => format!("agent {} is stopped already", agent.name),
        Desired::Active | Desired::Paused => {
            format!(
                "agent {} will pause after its turn; `ralph agents start {0}` continues",
                agent.name
            )
        }
    };
    report(out, args.json, &agent, &said)?;
    if !args.json && store.state(&args.name)?.run.is_some() {
        warn_without_reconciler(home);
    }
    Ok(0)
}

pub(super) async fn stop(args: &AgentStopArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let store = AgentStore::new(home.clone());
    let agent = store.update(&args.name, |agent| agent.desired = Desired::Stopped)?;
    let said = match args.no_wait {
        true => format!("stopping agent {}", agent.name),
        false => {
            settle(home, &args.name).await?;
            format!("agent {} is stopped", agent.name)
        }
    };
    report(out, args.json, &agent, &said)?;
    Ok(0)
}

/// Waits until the agent has neither a run nor a task. If no reconciler is running, this process reconciles, for this agent only.
async fn settle(home: &Home, name: &AgentName) -> anyhow::Result<()> {
    let store = AgentStore::new(home.clone());
    let deadline = Instant::now() + END_LIMIT;
    let mut own = None;
    let is_at_work = || -> anyhow::Result<bool> {
        let state = store.state(name)?;
        Ok(state.run.is_some() || state.current_task.is_some())
    };
    while is_at_work()? {
        if Instant::now() > deadline {
            bail!("agent {name} does not end its run; `ralph agents show {name}` shows it");
        }
        if own.is_none() {
            let (storage, runs) = (AgentStore::new(home.clone()), AgentRuns::new(home.clone()));
            own = match Reconciler::open(storage, runs, Arc::new(NoWork), Timestamp::now()) {
                Ok(reconciler) => Some(reconciler.only(name.clone())),
                Err(StoreError::Locked(_)) => None,
                Err(error) => return Err(error.into()),
            };
        }
        if let Some(reconciler) = &mut own {
            reconciler.round(Timestamp::now()).await?;
        }
        sleep(LOOK_INTERVAL).await;
    }
    Ok(())
}

pub(super) fn delete(args: &AgentDeleteArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let store = AgentStore::new(home.clone());
    let agent = store.load(&args.name)?;
    let runs = LocalRuns::new(home.clone());
    store.delete(&args.name, |run| {
        matches!(
            runs.observe(run, Timestamp::now()),
            RunPhase::Ended(_) | RunPhase::Absent
        )
    })?;
    let said = format!("deleted agent {}; its runs are kept", agent.name);
    report(out, args.json, &agent, &said)?;
    Ok(0)
}

fn report(out: &mut dyn Write, is_json: bool, agent: &Agent, said: &str) -> anyhow::Result<()> {
    let text = match is_json {
        true => render_json_pretty(agent)?,
        false => format!("{said}\n"),
    };
    write_text(out, &text);
    Ok(())
}
