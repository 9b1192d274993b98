//! `ralph agents show`: one agent, and `AgentView`, what lists and JSON say about it.

use std::io::Write;

use agent_api::MicroUsd;
use jiff::Timestamp;
use ralph_agents::{
    Agent, AgentName, AgentState, AgentStore, LocalRuns, RunPhase, RunningReconciler, Storage as _,
};
use ralph_run::{Home, short_run_id};
use run_view::{format_cost, one_line};
use serde::Serialize;

use super::AgentShowArgs;
use crate::console::{render_json_pretty, write_text};
use crate::settings::permission_name;

const PROMPT_COLUMNS: usize = 200;
const MESSAGE_COLUMNS: usize = 500;

/// What is wanted of an agent and what is known about it.
#[derive(Debug, Serialize)]
pub(super) struct AgentView {
    #[serde(flatten)]
    pub(super) agent: Agent,
    pub(super) state: AgentState,
    /// What the active run is doing.
    pub(super) activity: Option<String>,
    /// When its runner last wrote something.
    pub(super) last_heartbeat: Option<Timestamp>,
    pub(super) last_reconcile_at: Option<Timestamp>,
    pub(super) cost_today_micro_usd: MicroUsd,
}

impl AgentView {
    pub(super) fn load(store: &AgentStore, name: &AgentName) -> anyhow::Result<Self> {
        let agent = store.load(name)?;
        let state = store.state(name)?;
        let now = Timestamp::now();
        let run = state.run.as_ref().map(|run| run.id.as_str());
        let phase = run.map(|run| LocalRuns::new(store.home().clone()).observe(run, now));
        let mut cost_today_micro_usd = state.used_on(now).cost;
        let (mut activity, mut last_heartbeat) = (None, None);
        match phase {
            Some(RunPhase::Live(live)) => {
                activity = Some(live.state.to_string());
                last_heartbeat = live.heartbeat;
                cost_today_micro_usd += live.cost;
            }
            Some(RunPhase::Ended(_)) => activity = Some("has ended; the end is not recorded yet".to_owned()),
            Some(RunPhase::Starting | RunPhase::Absent) => activity = Some("starting".to_owned()),
            None => {}
        }
        Ok(Self {
            agent,
            state,
            activity,
            last_heartbeat,
            last_reconcile_at: RunningReconciler::find(store.home()).map(|found| found.last_round_at),
            cost_today_micro_usd,
        })
    }
}

pub(super) fn execute(args: &AgentShowArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let view = AgentView::load(&AgentStore::new(home.clone()), &args.name)?;
    let text = match args.json {
        true => render_json_pretty(&view)?,
        false => render(&view),
    };
    write_text(out, &text);
    Ok(0)
}

fn render(view: &AgentView) -> String {
    let AgentView { agent, state, .. } = view;
    let mut text = String::new();
    let mut row = |label: &str, value: Option<String>| {
        if let Some(value) = value {
            let value = one_line(&value, MESSAGE_COLUMNS);
            text.push_str(&format!("{label:<12}{value}\n"));
        }
    };
    row("agent", Some(format!("{} ({})", agent.name, agent.role)));
    row("wanted", Some(agent.desired.to_string()));
    row("process", Some(state.process_status.to_string()));
    let run = state.run.as_ref().map(|run| short_run_id(&run.id));
    row(
        "run",
        run.map(|run| match &view.activity {
            Some(activity) => format!("{run}: {activity}"),
            None => run.to_owned(),
        }),
    );
    let last = state.last_run.as_deref().map(short_run_id);
    row(
        "last run",
        last.map(|run| match &state.last_message {
            Some(message) => format!("{run}: {message}"),
            None => run.to_owned(),
        }),
    );
    row("task", state.current_task.clone());
    row("session", state.session_id.clone());
    row("needs you", state.needs_person.clone());
    row(
        "failures",
        (state.failures > 0).then(|| format!("{} in a row", state.failures)),
    );
    row("workspace", Some(agent.workspace.display().to_string()));
    row("backend", agent.backend.clone().or(state.backend.clone()));
    row("model", agent.model.clone());
    row("mode", agent.mode.clone());
    row(
        "permissions",
        agent.permission_mode.map(|mode| permission_name(mode).to_owned()),
    );
    let limit = agent
        .limits_per_day
        .cost
        .map(|limit| format!(" of {}", format_cost(limit)));
    row(
        "cost today",
        Some(format!(
            "{}{}",
            format_cost(view.cost_today_micro_usd),
            limit.unwrap_or_default()
        )),
    );
    let runs = state.used_on(Timestamp::now()).runs;
    let limit = agent.limits_per_day.runs.map(|limit| format!(" of {limit}"));
    row("runs today", Some(format!("{runs}{}", limit.unwrap_or_default())));
    row("heartbeat", view.last_heartbeat.map(show_time));
    row("reconciled", view.last_reconcile_at.map(show_time));
    row(
        "prompt",
        agent
            .prompt
            .as_deref()
            .map(|prompt| one_line(prompt, PROMPT_COLUMNS)),
    );
    for failure in &state.reconcile_failures {
        row(
            "error",
            Some(format!("{} {}", show_time(failure.at), failure.message)),
        );
    }
    text
}

pub(super) fn show_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}
