//! `Home`: the user's state directory, with all runs. Commands, runners and the server find runs here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::error::{Candidate, FindError, HomeError};
use super::private::{check_directory, make_directory, make_directory_all, new_file};
use super::run_directory::RunDirectory;
use super::run_id::{is_id, match_id, random_id};
use crate::lock::fnv1a;
use crate::state::RunFile;

/// How many ids are tried for a new run. One is taken only if two runs start in the same millisecond and draw the same
/// number of 30 bits.
const ATTEMPTS: usize = 100;
const MAX_CANDIDATES: usize = 10;

/// Where runs, locks and lists of them are kept: `$XDG_STATE_HOME/ralph`, found by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    state: PathBuf,
    runtime: Option<PathBuf>,
}

impl Home {
    /// A home in `state`; `runtime` is the user's directory for sockets, if there is one. Makes nothing yet.
    pub fn new(state: impl Into<PathBuf>, runtime: Option<PathBuf>) -> Self {
        Self {
            state: state.into(),
            runtime,
        }
    }

    pub fn state_directory(&self) -> &Path {
        &self.state
    }

    pub fn runs_directory(&self) -> PathBuf {
        self.state.join("runs")
    }

    /// Where named agents are kept, each in a directory of its own.
    pub fn agents_directory(&self) -> PathBuf {
        self.state.join("agents")
    }

    pub(crate) fn locks_directory(&self) -> PathBuf {
        self.state.join("locks")
    }

    /// Where the sessions of a workspace's runs are remembered.
    pub(crate) fn sessions_directory(&self, workspace: &Path) -> PathBuf {
        let name = format!("{:016x}", fnv1a(workspace.as_os_str().as_encoded_bytes()));
        self.state.join("sessions").join(name)
    }

    /// Exists if a run of this user began the notes in a workspace. A repository can come with notes of its own, which
    /// must not become part of a prompt.
    pub(crate) fn own_notes_marker(&self, workspace: &Path) -> PathBuf {
        self.sessions_directory(workspace).join("own-notes")
    }

    /// Where the control sockets of new runs are: in their own directories, unless those paths are too long.
    pub fn socket_folder(&self) -> PathBuf {
        let run = self.run_directory(random_id(Timestamp::now()));
        let folder = run.socket().parent().map(Path::to_owned).unwrap_or_default();
        if folder == run.path() {
            self.runs_directory()
        } else {
            folder
        }
    }

    /// A file for each run that may not have ended, so that finding the lost ones does not take a look at all runs.
    pub(crate) fn active_directory(&self) -> PathBuf {
        self.state.join("active")
    }

    /// Makes the state directory and what must be in it.
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

    /// A new run id that no run has, for callers that need it before the directory exists.
    pub fn new_run_id(&self, at: Timestamp) -> String {
        let names = (0..ATTEMPTS).map(|_| random_id(at));
        let free = names.into_iter().find(|id| self.run(id).is_none());
        free.unwrap_or_else(|| random_id(at))
    }

    /// Makes the directory of a new run under a name from [`Self::new_run_id`].
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

    /// The run that is meant: by its id, by the short part of it, or by a beginning of either that fits only one run. The
    /// short part counts before the whole id.
    pub fn find(&self, typed: &str) -> Result<RunDirectory, FindError> {
        if let Some(run) = self.run(typed) {
            return Ok(run);
        }
        let mut found: Vec<_> = self
            .list()?
            .into_iter()
            .filter_map(|run| Some((match_id(run.id(), typed)?, run)))
            .collect();
        let best = found.iter().map(|(fit, _)| *fit).max();
        found.retain(|(fit, _)| Some(*fit) == best);
        match found.len() {
            0 | 1 => found
                .pop()
                .map(|(_, run)| run)
                .ok_or_else(|| FindError::Unknown(typed.to_owned())),
            count => Err(FindError::Ambiguous {
                typed: typed.to_owned(),
                count,
                candidates: found
                    .iter()
                    .take(MAX_CANDIDATES)
                    .map(|(_, run)| candidate(run))
                    .collect(),
            }),
        }
    }

    /// All runs, newest first.
    pub fn list(&self) -> Result<Vec<RunDirectory>, HomeError> {
        let mut ids = self.names_in(&self.runs_directory())?;
        ids.sort_unstable_by(|first, second| second.cmp(first));
        Ok(ids.into_iter().map(|id| self.run_directory(id)).collect())
    }

    /// The run of exactly this name, without a look at the others; none if it is not there.
    pub fn run(&self, id: &str) -> Option<RunDirectory> {
        let run = is_id(id).then(|| self.run_directory(id.to_owned()))?;
        run.path().is_dir().then_some(run)
    }

    /// Whether this run may not have ended.
    pub fn is_active(&self, id: &str) -> bool {
        is_id(id) && self.active_directory().join(id).exists()
    }

    /// The runs that may not have ended; all runs if there is no list of them.
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

fn candidate(run: &RunDirectory) -> Candidate {
    let file = RunFile::load(&run.run_file()).ok();
    Candidate {
        id: run.id().to_owned(),
        state: match &file {
            None => "unknown",
            Some(file) if file.is_ended() => "ended",
            Some(_) => "active",
        },
        workspace: file.map(|file| file.workspace).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::Home;
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
}
