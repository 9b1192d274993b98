//! What `ralph show` does.

use std::path::PathBuf;

use jiff::Timestamp;
use ralph_run::{Home, RunDirectory, RunFile};
use serde::Serialize;

use super::render::render;
use super::story::Story;
use crate::cli::ShowArgs;
use crate::commands::listing::{columns, render_json};
use crate::commands::reach;
use crate::commands::runs::note_lost;
use crate::console::write_stdout;

/// Everything about a run, for programs; people get a part of it.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pub(super) run: RunFile,
    pub(super) directory: PathBuf,
    #[serde(flatten)]
    pub(super) story: Story,
    pub(super) files: Vec<File>,
}

/// A file of a run.
#[derive(Debug, Serialize)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) size_bytes: u64,
}

/// Shows a run.
///
/// # Errors
/// When there is no such run, or nothing is known about it.
pub fn execute(args: &ShowArgs, home: &Home) -> anyhow::Result<u8> {
    note_lost(home)?;
    let run = reach::find(home, &args.run)?;
    let shown = Shown {
        run: reach::load(&run)?,
        directory: run.path().to_owned(),
        story: Story::read(&run),
        files: files(&run),
    };
    write_stdout(&if args.json {
        render_json(&shown)?
    } else {
        render(&shown, Timestamp::now(), columns())
    });
    Ok(0)
}

/// What there is to read, in the order in which people want it.
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
