//! A disk that takes nothing.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::run::Driver;
use crate::home::new_file;
use crate::machine::Input;
use crate::record::WarningKind;

/// How long the run's files may be impossible to write. What is to be written waits in memory meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

const PROBE_EVERY: Duration = Duration::from_secs(2);
/// What the smallest piece of a disk has.
const PROBE_BYTES: usize = 4096;
const PROBE_FILE: &str = ".room";

/// Whether the run's files can be written.
#[derive(Debug, Default)]
pub(super) struct Storage {
    failing_since: Option<Instant>,
    last_error: Option<String>,
    probed_at: Option<Instant>,
    /// How long the journal was then.
    journal_bytes: u64,
    /// What the last probe came to.
    probe_error: Option<String>,
}

/// What there is to do about it.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fine,
    /// It has just begun to fail.
    Failing,
    /// It has just ended, and nothing is lost.
    Recovered,
    /// It has failed for too long.
    Failed,
}

impl Storage {
    /// What is the matter, if anything is.
    pub(super) fn note(&mut self, error: Option<String>) {
        self.last_error = error.or(self.last_error.take());
    }

    /// Finds out now and then whether there is room: the agent writes its output itself, and one whose writes fail may
    /// be silent for ever, so that we would never write anything either.
    fn probe(&mut self, directory: &Path, journal_bytes: u64, now: Instant) {
        if self
            .probed_at
            .is_some_and(|at| now.duration_since(at) < PROBE_EVERY)
        {
            return;
        }
        self.probed_at = Some(now);
        let has_grown = std::mem::replace(&mut self.journal_bytes, journal_bytes) != journal_bytes;
        if has_grown && self.probe_error.is_none() {
            // What was written just now was a try of its own. Once there was no room it proves nothing: a short record
            // fits into what the journal has already.
            return;
        }
        self.probe_error = match try_room(&directory.join(PROBE_FILE)) {
            Ok(()) => None,
            // A directory that is gone is no full disk.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(error.to_string()),
        };
    }

    /// What the last try to write came to.
    fn observe(&mut self, error: Option<String>, now: Instant) -> Verdict {
        match (error, self.failing_since) {
            (None, None) => Verdict::Fine,
            (None, Some(_)) => {
                self.failing_since = None;
                Verdict::Recovered
            }
            (Some(error), None) => {
                self.failing_since = Some(now);
                self.last_error = Some(error);
                Verdict::Failing
            }
            (Some(error), Some(since)) => {
                self.last_error = Some(error);
                if now.duration_since(since) >= PATIENCE {
                    Verdict::Failed
                } else {
                    Verdict::Fine
                }
            }
        }
    }
}

fn try_room(path: &Path) -> io::Result<()> {
    // One that was killed here has left it behind.
    let _ = fs::remove_file(path);
    let written = new_file(path).and_then(|mut file| file.write_all(&[0; PROBE_BYTES]));
    let _ = fs::remove_file(path);
    written
}

impl Driver<'_> {
    /// To be called after a try to write.
    pub(super) async fn watch_storage(&mut self) {
        if let Some(error) = &self.keeper.sync_error {
            // Trying again would only hide what is lost.
            self.storage.note(Some(error.clone()));
            return self.step(Input::StorageFailed).await;
        }
        let now = Instant::now();
        if self.attempt.is_some() {
            self.storage
                .probe(self.spec.directory.path(), self.keeper.journal_bytes(), now);
        }
        let error = self.keeper.write_error.take();
        let error = error.or_else(|| self.storage.probe_error.clone());
        let verdict = self.storage.observe(error, now);
        match verdict {
            Verdict::Fine => {}
            Verdict::Failing => {
                let message = format!("{}; it is tried again", self.storage_message());
                self.warn(WarningKind::Storage, message);
            }
            Verdict::Recovered => {
                let message = "the journal can be written again, and nothing of it is lost".to_owned();
                self.warn(WarningKind::Storage, message);
            }
            Verdict::Failed => self.step(Input::StorageFailed).await,
        }
        if self.keeper.has_failed {
            self.step(Input::StorageFailed).await;
        }
    }

    /// Which disk, and what is the matter with it.
    pub(super) fn storage_message(&self) -> String {
        let directory = self.spec.directory.path().display();
        match &self.storage.last_error {
            Some(error) => format!("the disk of `{directory}` takes nothing more: {error}"),
            None => format!("the journal in `{directory}` cannot be written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{PATIENCE, PROBE_EVERY, Storage, Verdict};

    #[test]
    fn a_full_disk_is_waited_for_and_given_up_in_the_end() {
        let full = || Some("no space".to_owned());
        let mut storage = Storage::default();
        let start = Instant::now();
        assert_eq!(storage.observe(None, start), Verdict::Fine);
        assert_eq!(storage.observe(full(), start), Verdict::Failing);
        let later = start + PATIENCE - Duration::from_millis(1);
        assert_eq!(storage.observe(full(), later), Verdict::Fine);
        assert_eq!(storage.observe(None, later), Verdict::Recovered);
        // The next time begins anew.
        assert_eq!(storage.observe(full(), start + PATIENCE), Verdict::Failing);
        assert_eq!(storage.observe(full(), start + 2 * PATIENCE), Verdict::Failed);
    }
    #[test]
    fn a_journal_that_grows_is_a_probe_only_while_nothing_is_wrong() {
        let full = tempfile::tempdir().unwrap();
        // Nobody can make a file beneath a file.
        let blocked = full.path().join("file");
        std::fs::write(&blocked, "").unwrap();
        let mut storage = Storage::default();
        let mut now = Instant::now();
        let mut probe = |directory: &std::path::Path, bytes| {
            now += PROBE_EVERY;
            storage.probe(directory, bytes, now);
            storage.probe_error.is_some()
        };
        assert!(!probe(&blocked, 10), "it has grown");
        assert!(probe(&blocked, 10), "it has not");
        assert!(probe(&blocked, 500), "our own warning is no proof");
        assert!(!probe(full.path(), 500), "there is room again");
    }
}
