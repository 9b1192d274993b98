//! A disk that takes nothing.

use std::time::Duration;

use tokio::time::Instant;

use super::run::Driver;
use crate::machine::Input;
use crate::record::WarningKind;

/// How long the run's files may be impossible to write. What is to be written waits in memory meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether the run's files can be written.
#[derive(Debug, Default)]
pub(super) struct Storage {
    failing_since: Option<Instant>,
    last_error: Option<String>,
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

impl Driver<'_> {
    /// To be called after a try to write.
    pub(super) async fn watch_storage(&mut self) {
        let verdict = self
            .storage
            .observe(self.keeper.write_error.take(), Instant::now());
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

    use super::{PATIENCE, Storage, Verdict};

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
}
