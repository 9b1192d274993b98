//! `.ralph/` in the workspace: what people look for there, and what may vanish at any time.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::{Durability, write_atomic};
use super::budget::BudgetState;
use super::kept::{self, Kept, StateError};
use super::session::SessionState;
use crate::home::{Home, make_directory, new_file};
use crate::lock::{lock_briefly, lock_file};

/// Others hold the lock for one write each.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);
/// An agent may clean up just now; it does not do so for ever.
const TRIES: usize = 5;
const MAX_NAME_PART_BYTES: usize = 64;

/// `.ralph/` in the workspace cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// A link or a file is where a directory must be. A repository could point it anywhere.
    #[error("not a directory: `{}`; remove it", .0.display())]
    NotADirectory(PathBuf),
    /// The system said no.
    #[error("cannot use `{}`", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What the link to a process's output is called.
#[derive(Debug, Clone, Copy)]
pub struct LogName<'a> {
    /// The backend's name, which is also the directory.
    pub backend: &'a str,
    /// When the process was started.
    pub at: Timestamp,
    /// The mode.
    pub mode: &'a str,
    /// The task; without one it is called `run`.
    pub task: Option<&'a str>,
}

/// The files in `.ralph/`. Whatever is missing is made again at the next write.
#[derive(Debug, Clone)]
pub struct WorkspaceFiles {
    root: PathBuf,
    lock: PathBuf,
}

impl WorkspaceFiles {
    /// Makes `.ralph/`, and keeps git away from it before anything else is in it.
    ///
    /// # Errors
    /// When something else is there, or the system does not let us.
    pub fn prepare(home: &Home, workspace: &Path) -> Result<Self, WorkspaceError> {
        let fail = |source| WorkspaceError::Io {
            path: workspace.to_owned(),
            source,
        };
        let workspace = fs::canonicalize(workspace).map_err(fail)?;
        let files = Self {
            // Outside the workspace: an agent that removes `.ralph` must not make two writers out of one.
            lock: lock_file(home, "state", workspace.as_os_str().as_encoded_bytes()),
            root: workspace.join(".ralph"),
        };
        files.directory_for(&[])?;
        Ok(files)
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.root
    }

    /// The agent's memory between conversations.
    #[must_use]
    pub fn scratchpad(&self) -> PathBuf {
        self.root.join("scratchpad.md")
    }

    /// Lets people find the output of a process where they look for it. A hard link, so that it stays when the run
    /// is cleaned away; a symbolic one where that cannot be.
    ///
    /// # Errors
    /// When neither can be made.
    pub fn link_log(&self, raw: &Path, name: &LogName<'_>) -> Result<PathBuf, WorkspaceError> {
        let directory = self.directory_for(&["logs", &directory_part(name.backend)])?;
        let stem = format!(
            "{}-{}-{}",
            name.at.strftime("%Y%m%dT%H%M%S%.3fZ"),
            name_part(name.mode),
            name_part(name.task.filter(|task| !task.is_empty()).unwrap_or("run"))
        );
        let mut number = 1_u32;
        loop {
            let link = match number {
                1 => directory.join(format!("{stem}.ndjson")),
                _ => directory.join(format!("{stem}-{number}.ndjson")),
            };
            match fs::hard_link(raw, &link) {
                Ok(()) => return Ok(link),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(_) => {
                    symlink(raw, &link).map_err(|source| WorkspaceError::Io {
                        path: link.clone(),
                        source,
                    })?;
                    return Ok(link);
                }
            }
        }
    }

    /// Which conversation each mode can resume with this backend.
    ///
    /// # Errors
    /// When the file cannot be read. A missing or broken one is an empty one.
    pub fn session_state(&self, backend: &str, at: Timestamp) -> Result<Kept<SessionState>, StateError> {
        self.load(&session_file(backend), at)
    }

    /// Changes which conversation can be gone on with.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn update_session_state(
        &self,
        backend: &str,
        at: Timestamp,
        change: impl FnOnce(&mut SessionState),
    ) -> Result<Kept<SessionState>, StateError> {
        self.update(
            &session_file(backend),
            at,
            Durability::Synced,
            |state: &mut SessionState| {
                change(state);
                state.updated_at = Some(at);
            },
        )
    }

    /// What the task has cost so far: nothing if the file is about another one.
    ///
    /// # Errors
    /// When the file cannot be read. A missing or broken one is an empty one.
    pub fn budget(&self, task: Option<&str>, at: Timestamp) -> Result<Kept<BudgetState>, StateError> {
        let Kept { value, warning } = self.load::<BudgetState>(BUDGET_FILE, at)?;
        Ok(Kept {
            value: value.for_task(task),
            warning,
        })
    }

    /// Changes the task's account, which starts at nothing if the file is about another one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn update_budget(
        &self,
        task: Option<&str>,
        at: Timestamp,
        change: impl FnOnce(&mut BudgetState),
    ) -> Result<Kept<BudgetState>, StateError> {
        // Without a task nobody goes on with the sum: the next run begins at 0.
        let durability = if task.is_some() {
            Durability::Synced
        } else {
            Durability::Cached
        };
        self.update(BUDGET_FILE, at, durability, |state: &mut BudgetState| {
            *state = std::mem::take(state).for_task(task);
            change(state);
        })
    }

    /// As [`Self::update_budget`], but leaves the file as it is unless `is_wanted` agrees to what is there.
    pub(crate) fn update_budget_if(
        &self,
        task: &str,
        at: Timestamp,
        is_wanted: impl FnOnce(&BudgetState) -> bool,
        change: impl FnOnce(&mut BudgetState),
    ) -> Result<(), StateError> {
        self.update(BUDGET_FILE, at, Durability::Synced, |state: &mut BudgetState| {
            if is_wanted(state) {
                *state = std::mem::take(state).for_task(Some(task));
                change(state);
            }
        })?;
        Ok(())
    }

    fn load<T: DeserializeOwned + Default>(&self, name: &str, at: Timestamp) -> Result<Kept<T>, StateError> {
        // Under the lock, because a broken file is put aside.
        let _held = self.locked()?;
        for directory in [self.root.clone(), self.root.join("state")] {
            if is_directory(&directory)? == Presence::Missing {
                return Ok(Kept {
                    value: T::default(),
                    warning: None,
                });
            }
        }
        kept::load(&self.root.join("state").join(name), at)
    }

    fn update<T: DeserializeOwned + Default + Serialize>(
        &self,
        name: &str,
        at: Timestamp,
        durability: Durability,
        change: impl FnOnce(&mut T),
    ) -> Result<Kept<T>, StateError> {
        let _held = self.locked()?;
        let mut path = self.directory_for(&["state"])?.join(name);
        let mut state = kept::load(&path, at)?;
        change(&mut state.value);
        let text = kept::encode(&path, &state.value)?;
        let mut tries = 1;
        loop {
            match write_atomic(&path, &text, durability) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {
                    tries += 1;
                    path = self.directory_for(&["state"])?.join(name);
                }
                Err(source) => return Err(StateError::io(&path, source)),
                Ok(()) => return Ok(state),
            }
        }
    }

    fn locked(&self) -> Result<fs::File, StateError> {
        lock_briefly(&self.lock, LOCK_PATIENCE).map_err(|source| StateError::io(&self.lock, source))
    }

    /// A directory below `.ralph`, made as far as it is missing. No link is followed on the way.
    fn directory_for(&self, parts: &[&str]) -> Result<PathBuf, WorkspaceError> {
        let mut tries = 1;
        loop {
            match self.make_directory_for(parts) {
                Err(WorkspaceError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && tries < TRIES =>
                {
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    fn make_directory_for(&self, parts: &[&str]) -> Result<PathBuf, WorkspaceError> {
        ensure_directory(&self.root)?;
        let ignore = self.root.join(".gitignore");
        if fs::symlink_metadata(&ignore).is_err() {
            let written = new_file(&ignore).and_then(|mut file| file.write_all(b"*\n"));
            match written {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => other.map_err(|source| WorkspaceError::Io { path: ignore, source })?,
            }
        }
        let mut directory = self.root.clone();
        for part in parts {
            directory.push(part);
            ensure_directory(&directory)?;
        }
        Ok(directory)
    }
}

const BUDGET_FILE: &str = "budget.json";

fn session_file(backend: &str) -> String {
    format!("{}-session.json", directory_part(backend))
}

#[derive(PartialEq, Eq)]
enum Presence {
    There,
    Missing,
}

fn is_directory(path: &Path) -> Result<Presence, WorkspaceError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(Presence::There),
        Ok(_) => Err(WorkspaceError::NotADirectory(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Presence::Missing),
        Err(source) => Err(WorkspaceError::Io {
            path: path.to_owned(),
            source,
        }),
    }
}

fn ensure_directory(path: &Path) -> Result<(), WorkspaceError> {
    if is_directory(path)? == Presence::There {
        return Ok(());
    }
    match make_directory(path) {
        Ok(()) => Ok(()),
        // Somebody was faster, with a directory or with something else.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => is_directory(path).map(|_| ()),
        Err(source) => Err(WorkspaceError::Io {
            path: path.to_owned(),
            source,
        }),
    }
}

/// As a part of a file's name: other characters become `-`, and it is not too long.
fn name_part(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    text.chars()
        .map(|character| if is_plain(character) { character } else { '-' })
        .take(MAX_NAME_PART_BYTES)
        .collect()
}

/// As a name of its own: not `.`, not `..`, not hidden, not empty.
fn directory_part(text: &str) -> String {
    let name = name_part(text);
    match name.strip_prefix('.') {
        Some(rest) => format!("-{rest}"),
        None if name.is_empty() => "-".to_owned(),
        None => name,
    }
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    fs::copy(target, link).map(|_| ())
}
