//! `AgentStore`: the agents of a home on disk, and `Storage`, what the reconciler needs of it.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use ralph_run::{Durability, Home, lock_briefly, make_directory_all, open_regular_file, write_atomic};

use crate::agent::Agent;
use crate::journal::{AgentJournal, read_records};
use crate::lock::{ReconcilerLock, RunningReconciler};
use crate::name::AgentName;
use crate::record::AgentRecord;
use crate::state::AgentState;

/// A larger `agent.json` is not ours.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Changes of `agent.json` take no longer, even on a slow disk.
const UPDATE_PATIENCE: Duration = Duration::from_secs(10);

/// What the reconciler needs of the place where agents are kept.
pub trait Storage: Send + Sync + 'static {
    /// Held by the reconciler.
    type Lock: HeldLock;

    /// Takes the lock of the home.
    fn lock(&self, now: Timestamp) -> Result<Self::Lock, StoreError>;

    /// All agents, and those that cannot be read.
    fn agents(&mut self) -> Result<Vec<LoadedAgent>, StoreError>;

    /// A function that takes a fresh look at one agent.
    fn reader(&self) -> ReadAgent;

    /// The state that the agent's journal tells.
    fn state(&self, name: &AgentName) -> Result<AgentState, StoreError>;

    /// Appends to the agent's journal.
    fn append(
        &mut self,
        name: &AgentName,
        record: &AgentRecord,
        durability: Durability,
    ) -> Result<(), StoreError>;
}

/// The lock of a home. It is held until it is dropped.
pub trait HeldLock: Send + 'static {
    /// Says that the holder is at work.
    fn beat(&mut self, now: Timestamp);
}

/// Reads one agent; `None` if it was deleted. Used from several tasks, so it does not borrow the storage.
pub type ReadAgent = Arc<dyn Fn(&AgentName) -> Result<Option<Agent>, StoreError> + Send + Sync>;

/// An agent, or why its file cannot be read.
#[derive(Debug)]
pub struct LoadedAgent {
    pub name: AgentName,
    pub agent: Result<Agent, StoreError>,
}

/// Agents cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error("no agent `{0}`; run `ralph agents` to list them")]
    Unknown(AgentName),
    #[error("there is already an agent `{0}`; choose another name, or run `ralph agents show {0}`")]
    Taken(AgentName),
    #[error("agent `{0}` has a run or a task that has not ended; run `ralph agents stop {0}` first")]
    Running(AgentName),
    #[error("`{}` is damaged: {source}; correct it, or delete the agent's directory", path.display())]
    Corrupt {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("`{}` was written by a newer version of ralph (format {found}); update ralph", path.display())]
    Newer { path: PathBuf, found: u32 },
    #[error("cannot use `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "another reconciler is running for this home{}; stop it first, or leave the agents to it",
        .0.as_ref().map(|found| format!(" (process {}, since {})", found.process.pid, found.since.strftime("%Y-%m-%d %H:%M UTC"))).unwrap_or_default()
    )]
    Locked(Option<RunningReconciler>),
}

impl StoreError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// The agents of a home.
#[derive(Debug)]
pub struct AgentStore {
    home: Home,
    journals: HashMap<AgentName, AgentJournal>,
    /// Files that were read before and have not changed.
    read: HashMap<AgentName, (Stamp, Agent)>,
}

/// Changes whenever a file is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl AgentStore {
    pub fn new(home: Home) -> Self {
        Self {
            home,
            journals: HashMap::new(),
            read: HashMap::new(),
        }
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    pub fn directory(&self, name: &AgentName) -> PathBuf {
        self.home.agents_directory().join(name.as_str())
    }

    pub fn agent_file(&self, name: &AgentName) -> PathBuf {
        self.directory(name).join("agent.json")
    }

    pub fn journal(&self, name: &AgentName) -> PathBuf {
        self.directory(name).join("journal.ndjson")
    }

    /// The names of all agents, sorted.
    pub fn names(&self) -> Result<Vec<AgentName>, StoreError> {
        let folder = self.home.agents_directory();
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(StoreError::io(&folder))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(StoreError::io(&folder))?;
            let name = entry.file_name().to_str().and_then(|name| name.parse().ok());
            // One that is being created or deleted has no file.
            names.extend(name.filter(|name| self.agent_file(name).exists()));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Reads one agent.
    pub fn load(&self, name: &AgentName) -> Result<Agent, StoreError> {
        self.read_file(name)?
            .ok_or_else(|| StoreError::Unknown(name.clone()))
    }

    /// Adds an agent.
    pub fn create(&self, agent: &Agent) -> Result<(), StoreError> {
        let _lock = self.lock_files()?;
        let path = self.agent_file(&agent.name);
        if path.exists() {
            return Err(StoreError::Taken(agent.name.clone()));
        }
        let aside = put_aside(&path);
        let is_at_work = |state: AgentState| state.run.is_some() || state.current_task.is_some();
        if aside.exists() && self.state(&agent.name).map(is_at_work)? {
            // A deletion was cut off before it had looked whether the agent is at work.
            fs::rename(&aside, &path).map_err(StoreError::io(&path))?;
            return Err(StoreError::Taken(agent.name.clone()));
        }
        let directory = self.directory(&agent.name);
        if directory.exists() {
            // Left by a deletion that was cut off. Its journal must not become part of the new agent.
            fs::remove_dir_all(&directory).map_err(StoreError::io(&directory))?;
        }
        make_directory_all(&directory).map_err(StoreError::io(&directory))?;
        save(&path, agent)
    }

    /// Changes an agent. Changes by several processes follow each other, and none is lost.
    pub fn update(&self, name: &AgentName, change: impl FnOnce(&mut Agent)) -> Result<Agent, StoreError> {
        let _lock = self.lock_files()?;
        let mut agent = self.load(name)?;
        change(&mut agent);
        save(&self.agent_file(name), &agent)?;
        Ok(agent)
    }

    /// Removes an agent and its journal. Its runs stay.
    ///
    /// # Errors
    /// If a run of it may be alive, as far as `has_ended` says.
    pub fn delete(&self, name: &AgentName, has_ended: impl FnOnce(&str) -> bool) -> Result<(), StoreError> {
        let _lock = self.lock_files()?;
        let path = self.agent_file(name);
        if !path.exists() {
            return Err(StoreError::Unknown(name.clone()));
        }
        // From here on the reconciler starts nothing for it: it counts a start first and then looks whether the agent is
        // still there. So a start that it does not see is in the journal now.
        let aside = put_aside(&path);
        fs::rename(&path, &aside).map_err(StoreError::io(&path))?;
        let has_ended = self
            .state(name)
            .map(|state| state.current_task.is_none() && state.run.is_none_or(|run| has_ended(&run.id)));
        if !matches!(has_ended, Ok(true)) {
            fs::rename(&aside, &path).map_err(StoreError::io(&path))?;
            has_ended?;
            return Err(StoreError::Running(name.clone()));
        }
        let directory = self.directory(name);
        fs::remove_dir_all(&directory).map_err(StoreError::io(&directory))
    }

    fn read_file(&self, name: &AgentName) -> Result<Option<Agent>, StoreError> {
        let path = self.agent_file(name);
        let mut text = Vec::new();
        let read = open_regular_file(&path).and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut text));
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(StoreError::io(&path))?,
        };
        parse(&path, &text).map(Some)
    }

    /// Held for the time of a change.
    fn lock_files(&self) -> Result<fs::File, StoreError> {
        let folder = self.home.agents_directory();
        make_directory_all(&folder).map_err(StoreError::io(&folder))?;
        let path = folder.join("agents.lock");
        lock_briefly(&path, UPDATE_PATIENCE).map_err(StoreError::io(&path))
    }

    fn stamp(&self, name: &AgentName) -> Option<Stamp> {
        let metadata = fs::symlink_metadata(self.agent_file(name)).ok()?;
        Some(Stamp {
            modified: metadata.modified().ok(),
            length: metadata.len(),
            inode: inode(&metadata),
        })
    }
}

/// The file of an agent that is being deleted.
fn put_aside(path: &Path) -> PathBuf {
    path.with_extension("json.deleting")
}

#[cfg(unix)]
fn inode(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

impl Storage for AgentStore {
    type Lock = ReconcilerLock;

    fn lock(&self, now: Timestamp) -> Result<ReconcilerLock, StoreError> {
        let folder = self.home.agents_directory();
        let lock = ReconcilerLock::try_take(&self.home, now).map_err(StoreError::io(&folder))?;
        lock.ok_or_else(|| StoreError::Locked(RunningReconciler::find(&self.home)))
    }

    fn agents(&mut self) -> Result<Vec<LoadedAgent>, StoreError> {
        let names = self.names()?;
        self.read.retain(|name, _| names.binary_search(name).is_ok());
        self.journals.retain(|name, _| names.binary_search(name).is_ok());
        let mut loaded = Vec::with_capacity(names.len());
        for name in names {
            let Some(stamp) = self.stamp(&name) else { continue };
            let known = self.read.get(&name).filter(|(known, _)| *known == stamp);
            let agent = match known {
                Some((_, agent)) => Ok(agent.clone()),
                None => self.load(&name),
            };
            if let (Ok(agent), None) = (&agent, known) {
                let before = self.read.insert(name.clone(), (stamp, agent.clone()));
                // Deleted and created again: the open journal is that of the old one.
                if before.is_some_and(|(_, before)| before.id != agent.id) {
                    self.journals.remove(&name);
                }
            }
            loaded.push(LoadedAgent { name, agent });
        }
        Ok(loaded)
    }

    fn reader(&self) -> ReadAgent {
        let store = Self::new(self.home.clone());
        Arc::new(move |name| store.read_file(name))
    }

    fn state(&self, name: &AgentName) -> Result<AgentState, StoreError> {
        let path = self.journal(name);
        let mut state = AgentState::default();
        let unreadable = read_records(&path, |record| state.apply(&record)).map_err(StoreError::io(&path))?;
        if unreadable > 0 {
            tracing::warn!(agent = %name, unreadable, "lines of the journal cannot be read");
        }
        Ok(state)
    }

    fn append(
        &mut self,
        name: &AgentName,
        record: &AgentRecord,
        durability: Durability,
    ) -> Result<(), StoreError> {
        let path = self.journal(name);
        let journal = match self.journals.get_mut(name) {
            Some(journal) => journal,
            None => {
                let opened = AgentJournal::open(&path).map_err(StoreError::io(&path))?;
                self.journals.entry(name.clone()).or_insert(opened)
            }
        };
        journal.append(record, durability).map_err(StoreError::io(&path))
    }
}

fn parse(path: &Path, text: &[u8]) -> Result<Agent, StoreError> {
    #[derive(serde::Deserialize)]
    struct Head {
        version: u32,
    }
    let corrupt = |source| StoreError::Corrupt {
        path: path.to_owned(),
        source,
    };
    // A newer format may have fields that this version would misread.
    let head: Head = serde_json::from_slice(text).map_err(corrupt)?;
    if head.version > Agent::VERSION {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: head.version,
        });
    }
    serde_json::from_slice(text).map_err(corrupt)
}

fn save(path: &Path, agent: &Agent) -> Result<(), StoreError> {
    let mut text = serde_json::to_vec_pretty(agent).map_err(|source| StoreError::Corrupt {
        path: path.to_owned(),
        source,
    })?;
    text.push(b'\n');
    write_atomic(path, &text, Durability::Synced).map_err(StoreError::io(path))
}
