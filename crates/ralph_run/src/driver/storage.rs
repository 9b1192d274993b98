//! `StorageWatch`: finds out whether the run's files can be written. The machine decides what follows.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::run::Driver;
use crate::machine::{Input, StorageStatus};
use crate::state::StateError;

const FREE_SPACE_INTERVAL: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct StorageWatch {
    last_error: Option<String>,
    checked_at: Option<Instant>,
    is_full: bool,
    /// Why `run.json` could not be written, if there was no room for it.
    save_error: Option<String>,
}

impl StorageWatch {
    /// Notes whether `run.json` could be written. Returns whether to try again soon, because there was no room.
    pub(super) fn note_saved(&mut self, saved: &Result<(), StateError>) -> bool {
        self.save_error = match saved {
            Err(StateError::Io { source, .. }) if is_out_of_space(source) => Some(source.to_string()),
            // A directory that is gone is not a full disk.
            _ => None,
        };
        self.save_error.is_some()
    }

    /// Whether the last try to write failed.
    pub(super) fn has_problem(&self) -> bool {
        self.is_full || self.save_error.is_some()
    }

    /// The agent writes its output itself. If that fails it may be silent forever, so that there is nothing to write
    /// for us either: the free space is looked at now and then.
    fn check_free_space(&mut self, directory: &Path, now: Instant) {
        let is_due = self
            .checked_at
            .is_none_or(|at| now.duration_since(at) >= FREE_SPACE_INTERVAL);
        if is_due {
            self.checked_at = Some(now);
            self.is_full = is_full(directory);
        }
    }
}

fn is_out_of_space(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(
        error.kind(),
        StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem
    )
}

#[cfg(unix)]
fn is_full(directory: &Path) -> bool {
    let Ok(space) = rustix::fs::statvfs(directory) else {
        // A directory that is gone is not a full disk.
        return false;
    };
    let free = match rustix::process::geteuid().is_root() {
        true => space.f_bfree,
        false => space.f_bavail,
    };
    // File systems without a size report no blocks at all.
    space.f_blocks > 0 && free == 0
}

#[cfg(not(unix))]
fn is_full(_directory: &Path) -> bool {
    false
}

impl Driver {
    /// To be called after a try to write.
    pub(super) async fn watch_storage(&mut self) {
        let status = self.storage_status();
        self.step(Input::Storage(status)).await;
    }

    fn storage_status(&mut self) -> StorageStatus {
        if self.keeper.sync_error.is_some() || self.keeper.has_failed {
            return StorageStatus::Lost(self.storage_problem());
        }
        if self.attempt.is_some() {
            self.storage
                .check_free_space(self.spec.directory.path(), Instant::now());
        }
        if self.keeper.write_error.is_some() || self.storage.is_full || self.storage.save_error.is_some() {
            return StorageStatus::Failing(self.storage_problem());
        }
        StorageStatus::Writable
    }

    /// Which directory cannot be written, and why.
    pub(super) fn storage_problem(&mut self) -> String {
        let error = self.keeper.sync_error.clone().or(self.keeper.write_error.take());
        let full = || self.storage.is_full.then(|| "no space left on device".to_owned());
        if let Some(error) = error.or_else(|| self.storage.save_error.clone()).or_else(full) {
            self.storage.last_error = Some(error);
        }
        let directory = self.spec.directory.path().display();
        match &self.storage.last_error {
            Some(error) => format!("cannot write to `{directory}`: {error}"),
            None => format!("cannot write the journal in `{directory}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::StorageWatch;
    use crate::state::StateError;

    #[test]
    fn a_full_quota_is_noticed_and_a_missing_directory_is_no_full_disk() {
        let mut watch = StorageWatch::default();
        let failed = |kind: io::ErrorKind| Err(StateError::io(Path::new("run.json"), kind.into()));
        for kind in [io::ErrorKind::QuotaExceeded, io::ErrorKind::StorageFull] {
            assert!(watch.note_saved(&failed(kind)), "{kind}");
            assert!(watch.save_error.is_some(), "{kind}");
            assert!(!watch.note_saved(&Ok(())));
            assert_eq!(watch.save_error, None);
        }
        assert!(!watch.note_saved(&failed(io::ErrorKind::NotFound)));
    }
}
