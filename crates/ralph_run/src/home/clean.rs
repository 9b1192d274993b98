//! `clean`: removes old runs for the command of that name.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;

use super::error::HomeError;
use super::place::Home;
use super::run_directory::RunDirectory;
use crate::lock::remove_unused;
use crate::state::RunFile;

/// Prefix of a run directory that is being removed, so that a half of it is not taken for a run.
const REMOVING: &str = ".removing-";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanMode {
    /// Only say what would be removed.
    DryRun,
    Remove,
}

/// What was removed, or would be.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// The runs, oldest first.
    pub removed: Vec<String>,
    /// Disk space that is freed: files with other hard links do not count.
    pub freed_bytes: u64,
    /// What could not be removed, and why.
    pub failed: Vec<(String, io::Error)>,
}

/// Removes runs that ended before `before`. What has not ended stays, however old it is.
pub fn clean(home: &Home, before: Timestamp, mode: CleanMode) -> Result<Cleaned, HomeError> {
    let mut cleaned = Cleaned::default();
    for run in home.list()?.into_iter().rev() {
        if !is_over(&run, before) {
            continue;
        }
        let size_bytes = run.size_bytes();
        if mode == CleanMode::Remove
            && let Err(error) = remove(home, &run)
        {
            cleaned.failed.push((run.id().to_owned(), error));
            continue;
        }
        cleaned.freed_bytes += size_bytes;
        cleaned.removed.push(run.id().to_owned());
    }
    if mode == CleanMode::Remove {
        remove_leftovers(home);
        remove_unused(home, SystemTime::from(before));
    }
    Ok(cleaned)
}

/// Removes these runs, and what an earlier removal that was cut short left behind. What has not ended stays, and one that
/// is not there counts as removed.
pub fn remove_ended(home: &Home, runs: &[String]) -> Cleaned {
    let mut cleaned = Cleaned::default();
    for run in runs.iter().filter_map(|run| home.run(run)) {
        if !is_over(&run, Timestamp::MAX) {
            continue;
        }
        let size_bytes = run.size_bytes();
        match remove(home, &run) {
            Ok(()) => {
                cleaned.freed_bytes += size_bytes;
                cleaned.removed.push(run.id().to_owned());
            }
            Err(error) => cleaned.failed.push((run.id().to_owned(), error)),
        }
    }
    remove_leftovers(home);
    cleaned
}

fn is_over(run: &RunDirectory, before: Timestamp) -> bool {
    let Ok(file) = RunFile::load(&run.run_file()) else {
        return false;
    };
    file.is_ended()
        && file.ended_at.unwrap_or(file.started_at) < before
        // A runner that is about to leave still has its journal.
        && !is_written(&run.journal())
}

fn is_written(journal: &Path) -> bool {
    File::open(journal).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn remove(home: &Home, run: &RunDirectory) -> io::Result<()> {
    let doomed = home.runs_directory().join(format!("{REMOVING}{}", run.id()));
    let socket = run.socket();
    fs::rename(run.path(), &doomed)?;
    for file in [&socket, &home.active_directory().join(run.id())] {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    fs::remove_dir_all(&doomed)
}

fn remove_leftovers(home: &Home) {
    for entry in fs::read_dir(home.runs_directory())
        .into_iter()
        .flatten()
        .flatten()
    {
        if entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(REMOVING))
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
