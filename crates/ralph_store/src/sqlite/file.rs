//! The files of a database that is moved aside or replaced: `ralph.db`, `search.db` and their logs.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::error::StoreError;

/// What SQLite keeps beside a file. It belongs to that file alone and would damage another one of the same name.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Moves a damaged file to a new name, where it can be examined.
pub(crate) fn move_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let now = Timestamp::now().strftime("%Y%m%dT%H%M%S").to_string();
    let target = (0..1_000)
        .map(|attempt| match attempt {
            0 => with_suffix(path, &format!(".corrupt-{now}")),
            _ => with_suffix(path, &format!(".corrupt-{now}-{attempt}")),
        })
        .find(|target| !target.exists())
        .unwrap_or_else(|| with_suffix(path, ".corrupt"));
    move_to(path, &target)?;
    Ok(target)
}

/// Moves a file out of the way of a new one. Only the last one is kept. Returns `None` if there is no file.
pub(crate) fn replace(path: &Path) -> Result<Option<PathBuf>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let target = with_suffix(path, ".replaced");
    remove_logs(&target);
    move_to(path, &target)?;
    Ok(Some(target))
}

/// Deletes a file.
pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    remove_logs(path);
    std::fs::remove_file(path).map_err(|error| unavailable(path, &error))
}

fn move_to(path: &Path, target: &Path) -> Result<(), StoreError> {
    std::fs::rename(path, target).map_err(|error| unavailable(path, &error))?;
    for log in LOGS {
        // There may be none.
        let _ = std::fs::rename(with_suffix(path, log), with_suffix(target, log));
    }
    remove_logs(path);
    Ok(())
}

fn remove_logs(path: &Path) {
    for log in LOGS {
        // There may be none.
        let _ = std::fs::remove_file(with_suffix(path, log));
    }
}

/// An error of the file system as an error of the index.
pub(crate) fn unavailable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("`{}`: {error}", path.display()))
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
