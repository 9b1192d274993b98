//! `ReconcilerLock`: one reconciler for each home. The lock ends with its process, however that happens.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use ralph_run::{Home, Runner, make_directory_all, open_regular_file, private_file};
use serde::{Deserialize, Serialize};

use crate::store::HeldLock;

const LOCK_FILE: &str = "reconciler.lock";
/// Longer than the holder's description ever is.
const TEXT_BYTES: usize = 512;
/// How often the file says that the reconciler is at work.
const BEAT_INTERVAL: Duration = Duration::from_secs(5);

/// The process that holds the lock, as the lock file names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningReconciler {
    pub process: Runner,
    pub since: Timestamp,
    /// When it last looked at all agents.
    pub last_round_at: Timestamp,
}

impl RunningReconciler {
    /// The reconciler of this home, if one is alive.
    pub fn find(home: &Home) -> Option<Self> {
        let file = open_regular_file(&lock_path(home)).ok()?;
        let found: Self = serde_json::from_reader(file).ok()?;
        found.process.is_alive().then_some(found)
    }
}

/// Held until it is dropped.
#[derive(Debug)]
#[must_use = "a lock is held only as long as it is kept"]
pub struct ReconcilerLock {
    file: File,
    holder: RunningReconciler,
}

impl ReconcilerLock {
    /// Takes the lock; `None` if another process has it.
    pub fn try_take(home: &Home, now: Timestamp) -> io::Result<Option<Self>> {
        make_directory_all(&home.agents_directory())?;
        let file = open(&lock_path(home))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let holder = RunningReconciler {
            process: Runner::current(),
            since: now,
            last_round_at: now,
        };
        let mut lock = Self { file, holder };
        lock.file.set_len(0)?;
        lock.write()?;
        Ok(Some(lock))
    }

    /// In one write and always of the same length, so that a reader never sees a part of it.
    fn write(&mut self) -> io::Result<()> {
        let mut text = serde_json::to_vec(&self.holder)?;
        text.resize(text.len().max(TEXT_BYTES), b' ');
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)
    }
}

impl HeldLock for ReconcilerLock {
    fn beat(&mut self, now: Timestamp) {
        let last = self.holder.last_round_at;
        if now.duration_since(last).unsigned_abs() >= BEAT_INTERVAL {
            self.holder.last_round_at = now;
            // It is only for people.
            let _ = self.write();
        }
    }
}

impl Drop for ReconcilerLock {
    fn drop(&mut self) {
        // So that nobody reads our name. Closing the file releases the lock.
        let _ = self.file.set_len(0);
    }
}

fn lock_path(home: &Home) -> PathBuf {
    home.agents_directory().join(LOCK_FILE)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    private_file(&mut options);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use ralph_run::Home;

    use super::{ReconcilerLock, RunningReconciler};

    #[test]
    fn one_reconciler_holds_a_home_and_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("state"), None);
        let now = Timestamp::now();
        assert_eq!(RunningReconciler::find(&home), None);
        let first = ReconcilerLock::try_take(&home, now).unwrap().unwrap();
        assert!(ReconcilerLock::try_take(&home, now).unwrap().is_none());
        let named = RunningReconciler::find(&home).unwrap();
        assert_eq!((named.process.pid, named.since), (std::process::id(), now));
        drop(first);
        assert_eq!(RunningReconciler::find(&home), None);
        assert!(ReconcilerLock::try_take(&home, now).unwrap().is_some());
    }
}
