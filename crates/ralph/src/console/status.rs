//! `render_status()`: the line at the bottom of the terminal.

use agent_api::{ContextUse, MicroUsd};
use jiff::Timestamp;
use ralph_run::model::{RunModel, RunState, WaitingFor};
use ralph_run::short_run_id;

use super::figures::{format_cents, format_clock};
use super::one_line::one_line;
use super::tool_line::in_workspace;

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// `⠋ iteration 2/50 · 01:23 · $0.12 of $10.00 · context 34% · Bash: cargo test`, at most `columns` wide.
pub(super) fn render_status(run: &RunModel, frame: usize, now: Timestamp, columns: usize) -> String {
    let mut parts = Vec::new();
    let started = run.started();
    match (
        run.iteration(),
        started.map_or(0, |started| started.max_iterations),
    ) {
        (0, _) | (_, 1) => {}
        (number, 0) => parts.push(format!("iteration {number}")),
        (number, max) => parts.push(format!("iteration {number}/{max}")),
    }
    let totals = run.totals();
    if let Some(last_at) = run.last_at() {
        // A clock that was set back shows no negative time.
        let since = u64::try_from(now.duration_since(last_at).as_millis()).unwrap_or(0);
        parts.push(format_clock(totals.duration_ms.saturating_add(since) / 1_000));
    }
    let max_cost = started.and_then(|started| started.max_cost);
    let cost = format!(
        "{}{}",
        if totals.is_estimate && totals.cost.is_some() {
            "~"
        } else {
            ""
        },
        format_cents(totals.cost.unwrap_or_default())
    );
    match max_cost.filter(|max| *max > MicroUsd::ZERO) {
        Some(max) => parts.push(format!("{cost} of {}", format_cents(max))),
        None if totals.cost.is_some() => parts.push(cost),
        None => {}
    }
    if let Some(ContextUse {
        used,
        size: Some(size @ 1..),
    }) = run.context()
    {
        parts.push(format!("context {}%", used.saturating_mul(100) / size));
    }
    parts.push(describe_state(run));
    let spinner = SPINNER[frame % SPINNER.len()];
    one_line(&format!("{spinner} {}", parts.join(" · ")), columns)
}

fn describe_state(run: &RunModel) -> String {
    let (id, workspace) = run.started().map_or(("", ""), |started| {
        (started.run_id.as_str(), started.workspace.as_str())
    });
    match run.state() {
        RunState::Tool {
            name,
            subject: Some(subject),
        } => format!("{name}: {}", in_workspace(subject, workspace)),
        RunState::Tool { name, subject: None } => name.clone(),
        RunState::Waiting {
            what: WaitingFor::Message,
        } => format!("waiting for a message: ralph send {} TEXT", short_run_id(id)),
        state => state.to_string(),
    }
}
