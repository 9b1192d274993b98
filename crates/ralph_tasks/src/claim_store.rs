//! `ClaimStore`: the claims of a repository, one file for each task, in the state directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use ralph_run::{Durability, lock_briefly, make_directory_all, open_regular_file, write_atomic};

use crate::claim::{Claim, ClaimState};
use crate::id::TaskId;

const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_CLAIM_BYTES: u64 = 1 << 20;

/// All claims, by task.
pub type Claims = BTreeMap<TaskId, Claim>;

/// Why a run gives a task back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Release {
    /// The attempt counts as failed; the text is the end of its output.
    Failed(String),
    /// The attempt does not count: a usage limit of the vendor, or a person who stopped it.
    NotCounted,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    #[error("cannot use `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the claim `{}` is damaged: remove it if no run works on the task", path.display())]
    Damaged {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("the claim `{}` was written by a newer version of ralph; update ralph", path.display())]
    Newer { path: PathBuf },
    #[error("task {task} is taken by run {run}", task = claim.task, run = claim.run)]
    Taken { claim: Box<Claim> },
    /// The claim belongs to another run, so what this one reports is out of date.
    #[error("task {task} is no longer claimed by run {run}")]
    Fenced { task: TaskId, run: String },
    #[error("`{0}` cannot be the id of a repository")]
    RepositoryId(String),
}

/// The claims of one repository. All changes are made under a lock and written atomically.
#[derive(Debug, Clone)]
pub struct ClaimStore {
    directory: PathBuf,
}

impl ClaimStore {
    /// The claims in `tasks/<repository id>` of the state directory. Makes nothing yet.
    pub fn new(state_directory: &Path, repository_id: &str) -> Result<Self, ClaimError> {
        let is_name = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        match is_name(repository_id) {
            true => Ok(Self {
                directory: state_directory.join("tasks").join(repository_id),
            }),
            false => Err(ClaimError::RepositoryId(run_view::excerpt(repository_id))),
        }
    }

    /// All claims. Damaged ones are an error: without them a task could be started twice.
    pub fn load(&self) -> Result<Claims, ClaimError> {
        let mut claims = Claims::new();
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(claims),
            entries => entries.map_err(|source| failed(&self.directory, source))?,
        };
        for entry in entries {
            let name = entry
                .map_err(|source| failed(&self.directory, source))?
                .file_name();
            let id = name
                .to_str()
                .and_then(|name| name.strip_suffix(".json")?.parse().ok());
            let Some(id) = id else { continue };
            if let Some(claim) = self.read(&id)? {
                claims.insert(id, claim);
            }
        }
        Ok(claims)
    }

    /// Takes a task for a run that is about to start, with the files that it will change. The attempt counts as failed until it succeeds.
    ///
    /// # Errors
    /// [`ClaimError::Taken`] if a run has it. If it is this very run, the claim stays as it is.
    pub fn begin(
        &self,
        task: &TaskId,
        touches: &[String],
        run: &str,
        agent: Option<&str>,
        at: Timestamp,
    ) -> Result<Claim, ClaimError> {
        let _lock = self.lock()?;
        let before = self.read(task)?;
        if let Some(claim) = before.clone().filter(Claim::is_held) {
            return match claim.run == run {
                true => Ok(claim),
                false => Err(ClaimError::Taken {
                    claim: Box::new(claim),
                }),
            };
        }
        let mut claim = Claim::begin(before, task, run, agent, at);
        claim.touches = touches.to_vec();
        self.write(&claim)?;
        Ok(claim)
    }

    /// Goes on with an attempt in another run, after the first one's runner is proven dead: the session is resumed, so
    /// this is not a new attempt. Its failure stays counted, and the first run can no longer change the claim.
    pub fn continue_as(
        &self,
        task: &TaskId,
        run: &str,
        next_run: &str,
        at: Timestamp,
    ) -> Result<Claim, ClaimError> {
        self.change(task, run, |claim| {
            claim.hand_over(next_run);
            claim.since = at;
        })
    }

    /// The run has finished its work, which waits to be merged. Takes the failure of this attempt back.
    pub fn submit(&self, task: &TaskId, run: &str, at: Timestamp) -> Result<Claim, ClaimError> {
        self.change(task, run, |claim| {
            claim.forgive();
            claim.state = ClaimState::Review;
            claim.since = at;
        })
    }

    /// Gives the task back. Only for a run whose runner is proven dead, or that ended by itself.
    pub fn release(
        &self,
        task: &TaskId,
        run: &str,
        release: &Release,
        at: Timestamp,
    ) -> Result<Claim, ClaimError> {
        self.change(task, run, |claim| {
            match release {
                Release::Failed(evidence) => claim.record_failure(evidence, at),
                Release::NotCounted => claim.forgive(),
            }
            claim.state = ClaimState::Released;
            claim.since = at;
        })
    }

    /// Removes the claim of a task that was merged.
    pub fn close(&self, task: &TaskId, run: &str) -> Result<(), ClaimError> {
        let _lock = self.lock()?;
        self.held_by(task, run)?;
        self.remove(task)
    }

    /// Forgets the failures of a task that nobody works on, so that it can be tried again. False if there were none.
    pub fn forget_failures(&self, task: &TaskId) -> Result<bool, ClaimError> {
        let _lock = self.lock()?;
        match self.read(task)? {
            None => Ok(false),
            Some(claim) if claim.is_held() => Err(ClaimError::Taken {
                claim: Box::new(claim),
            }),
            Some(_) => self.remove(task).map(|()| true),
        }
    }

    fn change(&self, task: &TaskId, run: &str, change: impl FnOnce(&mut Claim)) -> Result<Claim, ClaimError> {
        let _lock = self.lock()?;
        let mut claim = self.held_by(task, run)?;
        change(&mut claim);
        self.write(&claim)?;
        Ok(claim)
    }

    fn held_by(&self, task: &TaskId, run: &str) -> Result<Claim, ClaimError> {
        let claim = self
            .read(task)?
            .filter(|claim| claim.is_held() && claim.run == run);
        claim.ok_or_else(|| ClaimError::Fenced {
            task: task.clone(),
            run: run.to_owned(),
        })
    }

    fn path(&self, task: &TaskId) -> PathBuf {
        self.directory.join(format!("{task}.json"))
    }

    fn lock(&self) -> Result<fs::File, ClaimError> {
        make_directory_all(&self.directory).map_err(|source| failed(&self.directory, source))?;
        let path = self.directory.join(".lock");
        lock_briefly(&path, LOCK_TIMEOUT).map_err(|source| failed(&path, source))
    }

    fn read(&self, task: &TaskId) -> Result<Option<Claim>, ClaimError> {
        let path = self.path(task);
        let mut text = Vec::new();
        match open_regular_file(&path).and_then(|file| file.take(MAX_CLAIM_BYTES).read_to_end(&mut text)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|source| failed(&path, source))?,
        };
        #[derive(serde::Deserialize)]
        struct Head {
            version: u32,
        }
        let damaged = |source| ClaimError::Damaged {
            path: path.clone(),
            source,
        };
        let Head { version } = serde_json::from_slice(&text).map_err(damaged)?;
        if version > Claim::VERSION {
            return Err(ClaimError::Newer { path });
        }
        serde_json::from_slice(&text).map(Some).map_err(damaged)
    }

    fn write(&self, claim: &Claim) -> Result<(), ClaimError> {
        let path = self.path(&claim.task);
        let mut text = serde_json::to_vec_pretty(claim).map_err(|source| failed(&path, source.into()))?;
        text.push(b'\n');
        write_atomic(&path, &text, Durability::Synced).map_err(|source| failed(&path, source))
    }

    fn remove(&self, task: &TaskId) -> Result<(), ClaimError> {
        let path = self.path(task);
        fs::remove_file(&path).map_err(|source| failed(&path, source))
    }
}

fn failed(path: &Path, source: io::Error) -> ClaimError {
    ClaimError::Io {
        path: path.to_owned(),
        source,
    }
}
