//! The user's state directory.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::error::{FindError, HomeError};
use super::private::{check_directory, make_directory, make_directory_all, new_file};
use super::run_directory::RunDirectory;

/// How many names are tried for a new run. A name is taken only if two runs start in the same quarter of a
/// millisecond and draw the same number.
const ATTEMPTS: usize = 100;
const MOST_CANDIDATES: usize = 10;

/// Where runs, locks and lists of them are kept: `$XDG_STATE_HOME/ralph`, found by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    state: PathBuf,
    runtime: Option<PathBuf>,
}

impl Home {
    /// A home in `state`; `runtime` is the user's directory for sockets, if there is one. Makes nothing yet.
    #[must_use]
    pub fn new(state: impl Into<PathBuf>, runtime: Option<PathBuf>) -> Self {
        Self {
            state: state.into(),
            runtime,
        }
    }

    /// The state directory.
    #[must_use]
    pub fn state_directory(&self) -> &Path {
        &self.state
    }

    /// Where the runs are.
    #[must_use]
    pub fn runs_directory(&self) -> PathBuf {
        self.state.join("runs")
    }

    /// Where lock files are.
    pub(crate) fn locks_directory(&self) -> PathBuf {
        self.state.join("locks")
    }

    /// A file for each run that may not have ended, so that finding the lost ones does not take a look at all runs.
    pub(crate) fn active_directory(&self) -> PathBuf {
        self.state.join("active")
    }

    /// Makes the state directory and what must be in it.
    ///
    /// # Errors
    /// When it cannot be made, or cannot be trusted: another user owns it or can write to it.
    pub fn prepare(&self) -> Result<(), HomeError> {
        make_directory_all(&self.state).map_err(|source| HomeError::unusable(&self.state, source))?;
        check_directory(&self.state)?;
        for directory in [
            self.runs_directory(),
            self.locks_directory(),
            self.active_directory(),
        ] {
            match make_directory(&directory) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_directory(&directory)?,
                Err(source) => return Err(HomeError::unusable(&directory, source)),
            }
        }
        Ok(())
    }

    /// Makes the directory of a new run, and names it by the time.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    pub fn create_run(&self, at: Timestamp) -> Result<RunDirectory, HomeError> {
        self.prepare()?;
        let runs = self.runs_directory();
        let mut problem = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            match self.make_run(random_id(at))? {
                Ok(run) => return Ok(run),
                Err(taken) => problem = taken,
            }
        }
        Err(HomeError::unusable(&runs, problem))
    }

    /// A name for a new run, for whoever must know it before there is one. Nobody has it yet.
    #[must_use]
    pub fn new_run_id(&self, at: Timestamp) -> String {
        let names = (0..ATTEMPTS).map(|_| random_id(at));
        let free = names.into_iter().find(|id| self.run(id).is_none());
        free.unwrap_or_else(|| random_id(at))
    }

    /// Makes the directory of a new run under a name from [`Self::new_run_id`].
    ///
    /// # Errors
    /// As [`Self::prepare`], and when there is such a run.
    pub fn create_run_as(&self, id: &str) -> Result<RunDirectory, HomeError> {
        self.prepare()?;
        let path = self.runs_directory().join(id);
        if !is_id(id) {
            return Err(HomeError::unusable(&path, io::ErrorKind::InvalidInput.into()));
        }
        self.make_run(id.to_owned())?
            .map_err(|taken| HomeError::unusable(&path, taken))
    }

    /// Makes the directory of a run; the inner error says that there is one.
    fn make_run(&self, id: String) -> Result<io::Result<RunDirectory>, HomeError> {
        let path = self.runs_directory().join(&id);
        match make_directory(&path).and_then(|()| make_directory(&path.join("raw"))) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Err(error)),
            Err(source) => return Err(HomeError::unusable(&path, source)),
        }
        let active = self.active_directory().join(&id);
        match new_file(&active) {
            // One that was begun under this name and came to nothing.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => drop(made.map_err(|source| HomeError::unusable(&active, source))?),
        }
        Ok(Ok(self.run_directory(id)))
    }

    /// Takes a run off the list of those that may not have ended, because it has no directory.
    pub(crate) fn unmark_gone(&self, run: &RunDirectory) {
        let active = self.active_directory().join(run.id());
        let _ = fs::remove_file(&active);
        // One that is started again under this name makes its directory first: had it found this file, it is put back,
        // and if not, it puts it there itself.
        if run.path().is_dir() {
            drop(new_file(&active));
        }
    }

    /// The run that is meant: by its name, by the start of its name if only one starts so, or `last`.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find(&self, asked: &str) -> Result<RunDirectory, FindError> {
        let mut runs = self.list()?;
        if asked == "last" {
            return runs.into_iter().next().ok_or(FindError::NoRuns);
        }
        if let Some(exact) = runs.iter().position(|run| run.id() == asked) {
            return Ok(runs.swap_remove(exact));
        }
        if asked.is_empty() {
            return Err(FindError::Unknown(String::new()));
        }
        runs.retain(|run| run.id().starts_with(asked));
        match runs.len() {
            0 | 1 => runs.pop().ok_or_else(|| FindError::Unknown(asked.to_owned())),
            _ => Err(FindError::Ambiguous {
                asked: asked.to_owned(),
                candidates: runs
                    .iter()
                    .take(MOST_CANDIDATES)
                    .map(|run| run.id().to_owned())
                    .collect(),
            }),
        }
    }

    /// All runs, newest first.
    ///
    /// # Errors
    /// When they cannot be looked at. A home that does not exist yet has none.
    pub fn list(&self) -> Result<Vec<RunDirectory>, HomeError> {
        let mut ids = self.names_in(&self.runs_directory())?;
        ids.sort_unstable_by(|first, second| second.cmp(first));
        Ok(ids.into_iter().map(|id| self.run_directory(id)).collect())
    }

    /// The run of exactly this name, without a look at the others; none if it is not there.
    #[must_use]
    pub fn run(&self, id: &str) -> Option<RunDirectory> {
        let run = is_id(id).then(|| self.run_directory(id.to_owned()))?;
        run.path().is_dir().then_some(run)
    }

    /// Whether this run may not have ended.
    #[must_use]
    pub fn is_active(&self, id: &str) -> bool {
        is_id(id) && self.active_directory().join(id).exists()
    }

    /// The runs that may not have ended; all runs where nobody keeps the list.
    ///
    /// # Errors
    /// As [`Self::list`].
    pub fn list_active(&self) -> Result<Vec<RunDirectory>, HomeError> {
        let active = self.active_directory();
        if !active.is_dir() {
            return self.list();
        }
        let ids = self.names_in(&active)?;
        Ok(ids.into_iter().map(|id| self.run_directory(id)).collect())
    }

    fn names_in(&self, directory: &Path) -> Result<Vec<String>, HomeError> {
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|source| HomeError::unusable(directory, source))?,
        };
        check_directory(&self.state)?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| HomeError::unusable(directory, source))?;
            names.extend(entry.file_name().into_string().ok().filter(|name| is_id(name)));
        }
        Ok(names)
    }

    pub(crate) fn run_directory(&self, id: String) -> RunDirectory {
        RunDirectory::new(&self.runs_directory(), self.runtime.as_deref(), id)
    }
}

fn random_id(at: Timestamp) -> String {
    new_id(at, RandomState::new().hash_one(std::process::id()))
}

/// `20261115-235959-4f2a9c`: the time in UTC, and six digits, of which the first three go on with the time. So
/// names sort by time.
fn new_id(at: Timestamp, random: u64) -> String {
    let part_of_second = u64::from(at.subsec_nanosecond().unsigned_abs()) * 4096 / 1_000_000_000;
    format!(
        "{}-{part_of_second:03x}{:03x}",
        at.strftime("%Y%m%d-%H%M%S"),
        random & 0xfff
    )
}

fn is_id(name: &str) -> bool {
    let mut parts = name.split('-');
    let mut part = |length: usize| {
        parts
            .next()
            .is_some_and(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    part(8) && part(6) && part(6) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::{Home, is_id, new_id};
    use jiff::Timestamp;

    #[test]
    fn a_run_that_is_made_again_while_the_old_one_is_found_gone_stays_on_the_list() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let run = home.create_run(Timestamp::now()).unwrap();
        std::fs::remove_dir_all(run.path()).unwrap();
        // Between the look at the directory and this.
        home.create_run_as(run.id()).unwrap();
        home.unmark_gone(&run);
        assert!(home.is_active(run.id()));
        std::fs::remove_dir_all(run.path()).unwrap();
        home.unmark_gone(&run);
        assert!(!home.is_active(run.id()));
    }

    #[test]
    fn a_name_says_when_and_sorts_by_time() {
        let at: Timestamp = "2026-11-15T23:59:59.5Z".parse().unwrap();
        let later: Timestamp = "2026-11-15T23:59:59.501Z".parse().unwrap();
        assert_eq!(new_id(at, 0xabc), "20261115-235959-800abc");
        assert!(new_id(later, 0) > new_id(at, 0xfff));
        assert!(is_id(&new_id(at, u64::MAX)));
    }

    #[test]
    fn only_names_of_our_making_are_runs() {
        for name in [
            "",
            "..",
            ".removing-20261115-235959-800abc",
            "20261115-235959",
            "20261115-235959-800ab/",
            "20261115-235959-800abc-1",
        ] {
            assert!(!is_id(name), "{name}");
        }
    }
}
