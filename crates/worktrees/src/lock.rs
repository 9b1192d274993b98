//! `FileLock`: one process at a time for a repository, or for merges into one branch.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::Error;

const POLL_INTERVAL: Duration = Duration::from_millis(15);

/// Held until it is dropped or the process ends. Lock files are never removed.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock. `what` names it in the error.
    pub(crate) async fn take(path: &Path, what: &str, timeout: Duration) -> Result<Self, Error> {
        let fail = || Error::io("lock", path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = options.open(path).map_err(fail())?;
        let deadline = Instant::now() + timeout;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(error)) => return Err(fail()(error)),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(POLL_INTERVAL).await,
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Locked {
                        what: what.to_owned(),
                        seconds: timeout.as_secs(),
                    });
                }
            }
        }
    }
}
