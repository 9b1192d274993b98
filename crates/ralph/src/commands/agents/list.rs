//! `ralph agents list`: all agents at a glance.

use std::io::Write;

use jiff::Timestamp;
use ralph_agents::{AgentStore, Desired, ProcessStatus};
use ralph_run::{Home, short_run_id};
use run_view::{end_of_path, format_cost, one_line};

use super::show::AgentView;
use super::{AgentListArgs, warn_without_reconciler};
use crate::commands::listing::{columns, render_table};
use crate::console::{render_json_pretty, write_stderr, write_text};

const HEAD: [&str; 8] = [
    "AGENT",
    "WANTED",
    "PROCESS",
    "RUN",
    "FAILURES",
    "TODAY",
    "WORKSPACE",
    "WHAT",
];
const WORKSPACE_COLUMNS: usize = 24;
const WHAT_COLUMNS: usize = 120;

pub(super) fn execute(args: &AgentListArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let store = AgentStore::new(home.clone());
    let mut views = Vec::new();
    let mut exit_code = 0;
    for name in store.names()? {
        match AgentView::load(&store, &name) {
            Ok(view) => views.push(view),
            Err(error) => {
                exit_code = 1;
                write_stderr(&format!("ralph: {}\n", one_line(&format!("{error:#}"), 500)));
            }
        }
    }
    if args.json {
        write_text(out, &render_json_pretty(&views)?);
        return Ok(exit_code);
    }
    if views.is_empty() && exit_code == 0 {
        write_text(
            out,
            "no agents; create one with `ralph agents create NAME -p PROMPT`\n",
        );
        return Ok(0);
    }
    let rows: Vec<[String; HEAD.len()]> = views.iter().map(row).collect();
    write_text(out, &render_table(HEAD, &rows, columns()));
    if views.iter().any(|view| view.agent.desired == Desired::Active) {
        warn_without_reconciler(home);
    }
    Ok(exit_code)
}

fn row(view: &AgentView) -> [String; HEAD.len()] {
    let AgentView { agent, state, .. } = view;
    [
        agent.name.to_string(),
        agent.desired.to_string(),
        state.process_status.to_string(),
        state
            .run
            .as_ref()
            .map(|run| short_run_id(&run.id).to_owned())
            .unwrap_or_default(),
        match state.failures {
            0 => String::new(),
            failures => failures.to_string(),
        },
        format_cost(view.cost_today_micro_usd),
        end_of_path(&agent.workspace.to_string_lossy(), WORKSPACE_COLUMNS),
        one_line(&what(view, Timestamp::now()), WHAT_COLUMNS),
    ]
}

/// What is most worth knowing about an agent.
fn what(view: &AgentView, now: Timestamp) -> String {
    let AgentView { agent, state, .. } = view;
    if let Some(message) = &state.needs_person {
        return format!("needs you: {message}");
    }
    if let Some(activity) = &view.activity {
        return activity.clone();
    }
    if let Some(until) = state.limit_until.filter(|until| *until > now) {
        return format!("usage limit, resets at {}", super::show::show_time(until));
    }
    match (state.process_status, &agent.prompt) {
        (ProcessStatus::Error, _) => state.last_message.clone().unwrap_or_default(),
        (_, Some(_)) if state.closed_start >= agent.start_number => "idle".to_owned(),
        (_, Some(prompt)) => prompt.clone(),
        (_, None) => "no prompt".to_owned(),
    }
}
