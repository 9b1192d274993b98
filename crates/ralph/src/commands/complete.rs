//! `ralph __complete`: words that only this machine knows, for the completion scripts. One per line, with a description
//! after a tab.

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Args, ValueEnum};
use ralph_run::Home;

use super::run_client;
use crate::console::write_stdout;
use crate::settings::find_workspace;
use crate::trust::{self, Policy};
use run_view::one_line;

/// More are not useful in a shell.
const MAX_RUNS: usize = 50;
const COLUMNS: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CompleteArgs {
    pub kind: WordKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WordKind {
    /// Runs: active ones first, then the newest.
    Runs,
    Modes,
}

/// Prints the words. There are no errors: a shell could not show them.
pub fn execute(args: &CompleteArgs, home: &Home, cwd: &Path) -> u8 {
    let words = match args.kind {
        WordKind::Runs => runs(home),
        WordKind::Modes => modes(home, cwd),
    };
    write_stdout(&words);
    0
}

fn runs(home: &Home) -> String {
    let mut runs: Vec<_> = home
        .list()
        .unwrap_or_default()
        .into_iter()
        .take(MAX_RUNS)
        .filter_map(|run| Some((run_client::load(&run).ok()?, run)))
        .collect();
    runs.sort_by_key(|(file, _)| !file.is_live());
    let line = |(file, run): &(ralph_run::RunFile, ralph_run::RunDirectory)| {
        let state = if file.is_live() { "active" } else { "ended" };
        let about = file.task.as_deref().unwrap_or(&file.prompt);
        format!(
            "{}\t{}\n",
            run.short_id(),
            one_line(&format!("{state}, {}: {about}", file.workspace), COLUMNS)
        )
    };
    runs.iter().map(line).collect()
}

fn modes(home: &Home, cwd: &Path) -> String {
    let mut names = BTreeSet::from(["planner".to_owned(), "coder".to_owned()]);
    let workspace = find_workspace(None, cwd).ok();
    let loaded = workspace.and_then(|workspace| trust::load(&workspace, &Policy::as_stored(home)).ok()?);
    for entry in loaded.iter().flat_map(|loaded| loaded.file.entries()) {
        let name = entry
            .key
            .strip_prefix("modes.")
            .and_then(|rest| rest.rsplit_once('.'));
        names.extend(name.map(|(name, _)| one_line(name, COLUMNS)));
    }
    names.iter().map(|name| format!("{name}\tmode\n")).collect()
}
