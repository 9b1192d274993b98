//! `StartLedger`: which run was started with which token, as a file in the state directory, so that limits hold over
//! restarts and without the index; and the runs that are being started just now.

use std::collections::HashSet;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use ralph_run::{Durability, open_regular_file, write_atomic};
use serde::{Deserialize, Serialize};

const FILE_NAME: &str = "server-starts.json";
/// A run that ended longer ago is part of no sum any more.
const KEPT: SignedDuration = SignedDuration::from_hours(48);
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Which run was started with which token.
#[derive(Debug)]
pub(crate) struct StartLedger {
    path: PathBuf,
    /// Held from the moment that the runs are counted until the next one counts.
    pub(super) turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// None until the file was read.
    entries: Option<Vec<StartEntry>>,
    starting: Vec<Starting>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct StartEntry {
    run: String,
    /// The digest of the token.
    token: String,
    at: Timestamp,
}

/// A run that is being started, and what it may cost.
#[derive(Debug, Clone)]
pub(super) struct Starting {
    pub(super) run: String,
    pub(super) cost_ceiling_micro_usd: Option<u64>,
}

impl StartLedger {
    pub(crate) fn in_state_directory(state_directory: &Path) -> Self {
        Self {
            path: state_directory.join(FILE_NAME),
            turn: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// The runs of a token, as far as they can still count.
    pub(super) fn runs_of(&self, token: &str) -> io::Result<HashSet<String>> {
        let mut state = self.lock();
        let entries = state.entries(&self.path)?.iter();
        let own = entries.filter(|entry| entry.token == token);
        Ok(own.map(|entry| entry.run.clone()).collect())
    }

    pub(super) fn starting(&self) -> Vec<Starting> {
        self.lock().starting.clone()
    }

    /// Notes a run before it is started. `is_live` says which of the older ones still count.
    pub(super) fn begin(
        &self,
        starting: Starting,
        token: Option<&str>,
        is_live: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        let mut state = self.lock();
        if let Some(token) = token {
            let now = Timestamp::now();
            let entry = StartEntry {
                run: starting.run.clone(),
                token: token.to_owned(),
                at: now,
            };
            let mut entries = state.entries(&self.path)?.clone();
            entries.retain(|old| {
                let is_recent = now.duration_since(old.at) < KEPT;
                old.run != entry.run && (is_recent || is_live(&old.run))
            });
            entries.push(entry);
            self.save(&entries)?;
            state.entries = Some(entries);
        }
        state.starting.push(starting);
        Ok(())
    }

    /// The start is over. A run that failed to start is forgotten.
    pub(super) fn finish(&self, run: &str, has_failed: bool) {
        let mut state = self.lock();
        state.starting.retain(|starting| starting.run != run);
        if !has_failed {
            return;
        }
        let Some(entries) = &mut state.entries else {
            return;
        };
        let before = entries.len();
        entries.retain(|entry| entry.run != run);
        // A run that is not there costs nothing, so it does no harm in the file.
        if entries.len() < before
            && let Err(error) = self.save(entries)
        {
            tracing::warn!(%error, "cannot forget a run that did not start");
        }
    }

    fn save(&self, entries: &[StartEntry]) -> io::Result<()> {
        write_atomic(&self.path, &serde_json::to_vec(entries)?, Durability::Cached)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn entries(&mut self, path: &Path) -> io::Result<&Vec<StartEntry>> {
        let entries = match self.entries.take() {
            Some(entries) => entries,
            None => read(path)?,
        };
        Ok(self.entries.insert(entries))
    }
}

fn read(path: &Path) -> io::Result<Vec<StartEntry>> {
    let file = match open_regular_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    let damaged = |error: serde_json::Error| {
        let message = format!(
            "`{}` is damaged ({error}): delete it to count from zero",
            path.display()
        );
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    serde_json::from_slice(&bytes).map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::{StartLedger, Starting};

    fn starting(run: &str) -> Starting {
        Starting {
            run: run.to_owned(),
            cost_ceiling_micro_usd: None,
        }
    }

    #[test]
    fn a_run_counts_for_its_token_over_a_restart_unless_it_did_not_start() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = StartLedger::in_state_directory(directory.path());
        for (run, token) in [("a", "1"), ("b", "1"), ("c", "2")] {
            ledger.begin(starting(run), Some(token), |_| false).unwrap();
        }
        assert_eq!(ledger.starting().len(), 3);
        ledger.finish("a", false);
        ledger.finish("b", true);
        assert_eq!(ledger.starting().len(), 1);
        let again = StartLedger::in_state_directory(directory.path());
        let runs = again.runs_of("1").unwrap();
        assert_eq!(runs.into_iter().collect::<Vec<_>>(), ["a"]);
        assert_eq!(again.runs_of("2").unwrap().len(), 1);
    }

    #[test]
    fn old_runs_are_forgotten_unless_they_are_live() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(super::FILE_NAME);
        let old = r#"[{"run":"live","token":"1","at":"2020-01-01T00:00:00Z"},
            {"run":"over","token":"1","at":"2020-01-01T00:00:00Z"}]"#;
        std::fs::write(&path, old).unwrap();
        let ledger = StartLedger::in_state_directory(directory.path());
        ledger
            .begin(starting("new"), Some("1"), |run| run == "live")
            .unwrap();
        let mut runs: Vec<_> = ledger.runs_of("1").unwrap().into_iter().collect();
        runs.sort();
        assert_eq!(runs, ["live", "new"]);
    }

    #[test]
    fn a_damaged_ledger_is_not_taken_for_an_empty_one() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(super::FILE_NAME), "{").unwrap();
        let ledger = StartLedger::in_state_directory(directory.path());
        assert!(ledger.runs_of("1").is_err());
        assert!(ledger.begin(starting("a"), Some("1"), |_| true).is_err());
    }
}
