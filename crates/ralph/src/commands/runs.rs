//! `ralph runs`: what runs and what ran.

use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use ralph_run::{EndReason, Home, RunFile, RunState, reconcile};
use serde::Serialize;

use super::listing::{columns, render_json, render_table};
use super::reach;
use crate::cli::RunsArgs;
use crate::console::{format_clock, format_cost, one_line, write_stderr, write_stdout};
use crate::settings::find_workspace;

const HEAD: [&str; 8] = [
    "RUN",
    "STATE",
    "AGENT",
    "ITER",
    "COST",
    "TIME",
    "WORKSPACE",
    "WHAT",
];

/// In a terminal with fewer columns, agent and workspace are left out.
const WIDE_COLUMNS: usize = 110;

/// How much of a path is shown: its end says more than its beginning.
const WORKSPACE_COLUMNS: usize = 28;

/// One run of the list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Listed {
    Known(Box<RunFile>),
    /// It is being made, or its file is damaged.
    Unknown {
        run_id: String,
        error: String,
    },
}

/// Lists runs.
///
/// # Errors
/// When they cannot be looked at.
pub fn execute(args: &RunsArgs, home: &Home, cwd: &Path) -> anyhow::Result<u8> {
    note_lost(home)?;
    let listed = list(args, home, cwd)?;
    if args.json {
        write_stdout(&render_json(&listed)?);
    } else if listed.is_empty() {
        let what = if args.active {
            "no run is going on"
        } else {
            "there are no runs yet; `ralph run` starts one"
        };
        write_stdout(&format!("{what}\n"));
    } else {
        write_stdout(&render(&listed, Timestamp::now(), columns()));
    }
    Ok(0)
}

/// Ends runs whose runner died, and says so.
///
/// # Errors
/// When the runs cannot be looked at.
pub(super) fn note_lost(home: &Home) -> anyhow::Result<()> {
    let found = reconcile(home, Timestamp::now())?;
    for lost in &found.lost {
        write_stderr(&format!("ralph: run {} was lost: {}\n", lost.id, lost.evidence));
    }
    for (id, error) in &found.failed {
        let error = one_line(&format!("{:#}", anyhow::anyhow!("{error}")), 500);
        write_stderr(&format!("ralph: run {id} could not be looked at: {error}\n"));
    }
    Ok(())
}

fn list(args: &RunsArgs, home: &Home, cwd: &Path) -> anyhow::Result<Vec<Listed>> {
    let asked = args
        .directory
        .as_deref()
        .map(|directory| find_workspace(Some(directory), cwd))
        .transpose()?;
    let is_asked = |listed: &Listed| match listed {
        Listed::Known(file) => {
            !(args.active && file.is_ended())
                && asked
                    .as_deref()
                    .is_none_or(|asked| Path::new(&file.workspace) == asked)
        }
        Listed::Unknown { .. } => !args.active && asked.is_none(),
    };
    let runs = home.list().context("cannot list the runs")?;
    let listed = runs.iter().map(|run| match reach::load(run) {
        Ok(file) => Listed::Known(Box::new(file)),
        Err(error) => Listed::Unknown {
            run_id: run.id().to_owned(),
            error: format!("{error:#}"),
        },
    });
    let most = args.limit.unwrap_or(usize::MAX);
    Ok(listed.filter(is_asked).take(most).collect())
}

fn render(listed: &[Listed], now: Timestamp, columns: usize) -> String {
    let rows: Vec<[String; HEAD.len()]> = listed
        .iter()
        .map(|listed| match listed {
            Listed::Known(file) => row(file, now),
            Listed::Unknown { run_id, error } => {
                let empty = String::new;
                [
                    run_id.clone(),
                    "unknown".to_owned(),
                    empty(),
                    empty(),
                    empty(),
                    empty(),
                    empty(),
                    error.clone(),
                ]
            }
        })
        .collect();
    if columns >= WIDE_COLUMNS {
        return render_table(HEAD, &rows, columns);
    }
    let narrow: Vec<_> = rows.into_iter().map(narrow).collect();
    render_table(self::narrow(HEAD), &narrow, columns)
}

fn narrow<T>([run, state, _, iteration, cost, time, _, what]: [T; HEAD.len()]) -> [T; 6] {
    [run, state, iteration, cost, time, what]
}

fn row(file: &RunFile, now: Timestamp) -> [String; HEAD.len()] {
    let totals = &file.status.totals;
    let estimate = if totals.is_estimate { "~" } else { "" };
    [
        file.run_id.clone(),
        state(file).to_owned(),
        one_line(&file.display_name, 16),
        file.status.iteration.to_string(),
        totals
            .cost
            .map(|cost| format!("{estimate}{}", format_cost(cost)))
            .unwrap_or_default(),
        format_clock(seconds(file, now)),
        end_of(&one_line(&file.workspace, usize::MAX), WORKSPACE_COLUMNS),
        what(file),
    ]
}

/// How long it took, or has taken so far.
pub(super) fn seconds(file: &RunFile, now: Timestamp) -> u64 {
    let end = file.ended_at.unwrap_or(now);
    // A clock that went back makes nothing negative.
    u64::try_from(end.duration_since(file.started_at).as_secs()).unwrap_or(0)
}

/// A run's state in one word.
pub(super) fn state(file: &RunFile) -> &'static str {
    match (file.status.state, file.reason) {
        (RunState::Starting, _) => "starting",
        (RunState::Running | RunState::ResultSeen, _) => "running",
        (RunState::Draining, _) => "ending",
        (RunState::Verifying, _) => "verifying",
        (RunState::Idle, _) => "idle",
        (RunState::Ended, None) => "ended",
        (RunState::Ended, Some(EndReason::Lost)) => "lost",
        (RunState::Ended, Some(reason)) if reason.is_failure() => "failed",
        (RunState::Ended, Some(EndReason::Completed)) => "completed",
        (RunState::Ended, Some(EndReason::Limit(_))) => "limit",
        (RunState::Ended, Some(EndReason::Interrupted)) => "interrupted",
        // Somebody or something made it stop.
        (RunState::Ended, Some(_)) => "stopped",
    }
}

/// What it is doing now, or why it ended; and what it was asked.
fn what(file: &RunFile) -> String {
    let asked = file.task.as_deref().unwrap_or(&file.prompt);
    let now = match (file.is_ended(), file.reason) {
        // The state says it.
        (true, None | Some(EndReason::Completed | EndReason::Interrupted | EndReason::Stopped)) => None,
        (true, Some(reason)) => Some(reason.describe()),
        (false, _) => file.status.activity.as_deref(),
    };
    match (now, asked.trim()) {
        (None, asked) => asked.to_owned(),
        (Some(now), "") => now.to_owned(),
        (Some(now), asked) => format!("{now} · {asked}"),
    }
}

/// The end of a path, from a whole name on where it can be.
fn end_of(path: &str, columns: usize) -> String {
    let count = path.chars().count();
    if count <= columns {
        return path.to_owned();
    }
    let end: String = path.chars().skip(count - columns + 1).collect();
    let from = end.find('/').filter(|place| *place + 1 < end.len()).unwrap_or(0);
    format!("…{}", end.get(from..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn a_long_path_is_known_by_its_end() {
        assert_eq!(end_of("/a/b", 10), "/a/b");
        assert_eq!(end_of("/home/somebody/projects/ralph", 16), "…/projects/ralph");
        assert_eq!(end_of("/home/somebody/projects/ralph", 12), "…/ralph");
        assert_eq!(end_of("/aaaaaaaaaaaaaaaaaaaaaaaa", 6), "…aaaaa");
    }
}
