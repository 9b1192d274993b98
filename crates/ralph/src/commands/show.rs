//! `ralph show`: state, cost, changes and files of a run.

mod render;

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use ralph_run::model::{ChangedFile, Iteration, RunModel};
use ralph_run::{Home, RunDirectory, RunEnded, RunFile, VerifyFinished, Warned, read_journal};
use serde::Serialize;

use self::render::render;
use crate::commands::listing::columns;
use crate::commands::run_client;
use crate::commands::runs::note_lost;
use crate::console::{render_json_pretty, write_stdout};
use ralph_run::git::{Commits, commits_since};

/// Show the state, cost, changes and files of a run
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph show
  ralph show g4k7m2 --json")]
pub struct ShowArgs {
    /// Run id or a unique beginning of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Everything about a run, for programs; people get a part of it.
#[derive(Debug, Serialize)]
struct Shown {
    run: RunFile,
    directory: PathBuf,
    /// The newest 500.
    iterations: Vec<Iteration>,
    iteration_count: u32,
    /// The verify commands of the last iteration.
    verify: Vec<VerifyFinished>,
    /// The newest 100.
    warnings: Vec<Warned>,
    /// Files that the agent changed, at most 1,000.
    changes: Vec<ChangedFile>,
    /// Commits that were made during the run, newest first; `None` if git cannot say.
    commits: Option<Commits>,
    last_text: String,
    ended: Option<RunEnded>,
    open_requests: usize,
    /// What is wrong with the journal.
    damage: Vec<String>,
    unknown_records: u32,
    /// The files in the run's directory.
    files: Vec<File>,
}

/// A file of a run.
#[derive(Debug, Serialize)]
struct File {
    path: PathBuf,
    size_bytes: u64,
}

/// Shows a run.
pub async fn execute(args: &ShowArgs, home: &Home) -> anyhow::Result<u8> {
    note_lost(home)?;
    let run = run_client::find(home, &args.run)?;
    let mut file = run_client::load(&run)?;
    let (model, damage) = read(&run);
    if model.seq() > 0 && !file.is_ended() {
        // The journal is newer than the run's file.
        file.status.state.clone_from(model.state());
    }
    let commits = commits(&model).await;
    let shown = Shown {
        run: file,
        directory: run.path().to_owned(),
        iterations: model.iterations().iter().cloned().collect(),
        iteration_count: model.counts().iterations,
        verify: model.verify().to_vec(),
        warnings: model.warnings().iter().cloned().collect(),
        changes: model.files().iter().cloned().collect(),
        commits,
        last_text: model.last_text().to_owned(),
        ended: model.ended().cloned(),
        open_requests: model.requests().len(),
        damage,
        unknown_records: model.counts().unknown_records,
        files: files(&run),
    };
    write_stdout(&if args.json {
        render_json_pretty(&shown)?
    } else {
        render(&shown, Timestamp::now(), columns())
    });
    Ok(0)
}

async fn commits(model: &RunModel) -> Option<Commits> {
    let started = model.started()?;
    let start = started.start_commit.as_deref()?;
    let until = model.ended_at().unwrap_or_else(Timestamp::now);
    commits_since(Path::new(&started.workspace), start, until).await
}

fn read(run: &RunDirectory) -> (RunModel, Vec<String>) {
    let mut model = RunModel::new();
    let mut damage = Vec::new();
    match read_journal(&run.journal()) {
        Ok(journal) => {
            for record in journal {
                match record {
                    Ok(record) => drop(model.apply(&record)),
                    Err(error) => damage.push(error.to_string()),
                }
            }
        }
        Err(error) => damage.push(format!("cannot read the journal: {error}")),
    }
    (model, damage)
}

/// The most useful files first.
fn files(run: &RunDirectory) -> Vec<File> {
    let mut logs: Vec<PathBuf> = std::fs::read_dir(run.path().join("raw"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    logs.sort_by_cached_key(|path| (number(path), path.clone()));
    let files = [run.journal(), run.run_file()].into_iter().chain(logs);
    files
        .filter_map(|path| {
            let size_bytes = std::fs::metadata(&path).ok()?.len();
            Some(File { path, size_bytes })
        })
        .collect()
}

/// `raw/10.ndjson` comes after `raw/9.ndjson`.
fn number(path: &std::path::Path) -> Option<u32> {
    let name = path.file_stem()?.to_str()?;
    name.trim_start_matches(|character: char| !character.is_ascii_digit())
        .parse()
        .ok()
}
