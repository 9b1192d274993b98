//! `ralph runs`: lists runs.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use jiff::Timestamp;
use ralph_run::model::RunState;
use ralph_run::{EndReason, Home, Open, RunDirectory, RunFile, reconcile, short_run_id};
use serde::Serialize;

use super::listing::{columns, render_table};
use super::run_client;
use crate::console::{
    format_cost, format_duration, one_line, render_json_pretty, write_stderr, write_stdout,
};
use crate::settings::find_workspace;

/// List runs, newest first
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph runs
  ralph runs --active
  ralph runs --all
  ralph runs --json | jq -r '.[].run_id'

Shows every active run and the newest 20 others. --json lists all runs.")]
pub struct RunsArgs {
    /// Only active runs
    #[arg(long)]
    pub active: bool,

    /// All runs, without a limit
    #[arg(short, long, conflicts_with = "limit")]
    pub all: bool,

    /// Only runs of this workspace
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Show at most N runs [default: 20, plus active ones]
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<usize>,

    /// Print JSON
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

/// How many runs that have ended are shown if nothing else is said.
const DEFAULT_LIMIT: usize = 20;

/// How much of a path is shown. Its end says more than its beginning.
const WORKSPACE_COLUMNS: usize = 28;

/// One run of the list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Listed {
    Known(Box<RunFile>),
    /// It is being created, or its file is damaged.
    Unknown {
        run_id: String,
        error: String,
    },
}

/// A part of the runs.
struct Page {
    runs: Vec<Listed>,
    /// How many older runs were not read. With `--directory` some of them may be of other workspaces.
    unread: usize,
}

/// Lists runs.
pub fn execute(args: &RunsArgs, home: &Home, cwd: &Path) -> anyhow::Result<u8> {
    note_lost(home)?;
    let Page { runs, unread } = list(args, home, cwd)?;
    if args.json {
        write_stdout(&render_json_pretty(&runs)?);
    } else if runs.is_empty() {
        let what = if args.active {
            "no active runs"
        } else {
            "there are no runs yet; start one with `ralph run`"
        };
        write_stdout(&format!("{what}\n"));
    } else {
        write_stdout(&render(&runs, Timestamp::now(), columns()));
        if unread > 0 {
            let runs = if unread == 1 { "run" } else { "runs" };
            write_stdout(&format!(
                "{unread} older {runs} not shown; use `--all` or `-n N` to see more\n"
            ));
        }
    }
    Ok(0)
}

/// Records the end of runs whose runner died, and reports them.
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

/// Reads only the files of runs that are listed, and of newer ones that the filters leave out.
fn list(args: &RunsArgs, home: &Home, cwd: &Path) -> anyhow::Result<Page> {
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
    let (limit, extra_active) = match args.limit {
        Some(limit) => (limit, false),
        None if args.all || args.active || args.json => (usize::MAX, false),
        None => (DEFAULT_LIMIT, true),
    };
    let runs = match args.active {
        true => home.list_active().map(newest_first),
        false => home.list(),
    };
    let mut page = Page {
        runs: Vec::new(),
        unread: 0,
    };
    for run in runs.context("cannot list the runs")? {
        let is_over_limit = page.runs.len() >= limit;
        if is_over_limit && !(extra_active && home.is_active(run.id())) {
            page.unread += 1;
            continue;
        }
        let listed = match run_client::load(&run) {
            Ok(file) => Listed::Known(Box::new(file)),
            Err(error) => Listed::Unknown {
                run_id: run.id().to_owned(),
                error: format!("{error:#}"),
            },
        };
        if is_asked(&listed) {
            page.runs.push(listed);
        }
    }
    Ok(page)
}

fn newest_first(mut runs: Vec<RunDirectory>) -> Vec<RunDirectory> {
    runs.sort_unstable_by(|first, second| second.id().cmp(first.id()));
    runs
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
        format_duration(seconds(file, now).saturating_mul(1_000)),
        end_of(&one_line(&file.workspace, usize::MAX), WORKSPACE_COLUMNS),
        what(file),
    ]
}

/// The duration so far, or in total.
pub(super) fn seconds(file: &RunFile, now: Timestamp) -> u64 {
    let end = file.ended_at.unwrap_or(now);
    // Not negative, even if the clock was set back.
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

/// The activity or the reason of the end, and the task or prompt.
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

/// The end of a path, if possible from the beginning of a name.
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
