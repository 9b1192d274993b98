//! `ralph runs`: what runs and what ran.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use jiff::Timestamp;
use ralph_run::model::RunState;
use ralph_run::{EndReason, Home, Open, RunFile, reconcile, short_run_id};
use serde::Serialize;

use super::listing::{columns, render_table};
use super::run_client;
use crate::console::{format_clock, format_cost, one_line, render_json_pretty, write_stderr, write_stdout};
use crate::settings::find_workspace;

/// List runs, the newest first
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph runs
  ralph runs --active
  ralph runs --json | jq -r '.[].run_id'")]
pub struct RunsArgs {
    /// Only runs that are not over
    #[arg(long)]
    pub active: bool,

    /// Only runs of this workspace
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// At most so many
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<usize>,

    /// List as JSON
    #[arg(long)]
    pub json: bool,
}

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
        write_stdout(&render_json_pretty(&listed)?);
    } else if listed.is_empty() {
        let what = if args.active {
            "no active runs"
        } else {
            "there are no runs yet; start one with `ralph run`"
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
    for (id, error) in found.failed {
        let error = one_line(&format!("{:#}", anyhow::Error::new(error)), 500);
        write_stderr(&format!("ralph: cannot check run {id}: {error}\n"));
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
    let listed = runs.iter().map(|run| match run_client::load(run) {
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
                    short_run_id(run_id).to_owned(),
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
        short_run_id(&file.run_id).to_owned(),
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
    if !file.is_ended() && file.runner.is_stopped() {
        return "suspended";
    }
    match &file.status.state {
        RunState::Starting => "starting",
        RunState::Thinking | RunState::Responding | RunState::Tool { .. } => "running",
        RunState::Verifying => "verifying",
        RunState::Waiting { .. } => "waiting",
        RunState::Cooling { .. } => "paused",
        RunState::Stopping => "stopping",
        RunState::Ended { reason } => match reason {
            Open::Unknown(_) => "ended",
            Open::Known(EndReason::Lost) => "lost",
            Open::Known(EndReason::Completed) => "completed",
            Open::Known(EndReason::Limit(_)) => "limit",
            Open::Known(EndReason::Interrupted) => "interrupted",
            Open::Known(reason) if reason.is_failure() => "failed",
            Open::Known(_) => "stopped",
        },
    }
}

/// What it is doing now, or why it ended; and what it was asked.
fn what(file: &RunFile) -> String {
    let asked = file.task.as_deref().unwrap_or(&file.prompt);
    let now = match &file.status.state {
        // The state says it.
        RunState::Starting
        | RunState::Verifying
        | RunState::Stopping
        | RunState::Ended {
            reason: Open::Known(EndReason::Completed | EndReason::Interrupted | EndReason::Stopped),
        } => None,
        RunState::Ended { reason } => Some(reason.describe()),
        state => Some(state.to_string()),
    };
    match (now, asked.trim()) {
        (None, asked) => asked.to_owned(),
        (Some(now), "") => now,
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
