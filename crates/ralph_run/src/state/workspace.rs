//! `WorkspaceFiles`: sessions, budget and log links in `.ralph/` of the workspace. An agent may delete them at any time.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_api::MicroUsd;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::{Durability, write_atomic};
use super::budget::BudgetState;
use super::json_file::{self, Loaded, StateError};
use super::session::SessionState;
use crate::home::{Home, make_directory, make_directory_all, new_file, open_regular_file};
use crate::lock::{lock_briefly, lock_file};

/// Other processes hold the lock for one write each.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a write is tried if an agent deletes the directory meanwhile.
const TRIES: usize = 5;
const MAX_NAME_PART_BYTES: usize = 64;

/// `.ralph/` in the workspace cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// A link or a file is where a directory must be. A repository could point it anywhere.
    #[error("not a directory: `{}`; remove it", .0.display())]
    NotADirectory(PathBuf),
    #[error("cannot use `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Why `.ralph/scratchpad.md` was renamed. An agent gets an empty file in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotesPutAside {
    /// It was there before the first run of this user, so the repository may have brought it.
    #[error(
        "`.ralph/scratchpad.md` is not from a run of yours and is not used; it is now `.ralph/{FOREIGN_NOTES}`"
    )]
    Foreign,
    /// A link, a directory or a pipe. An agent that keeps its notes there would write where a link leads.
    #[error(
        "`.ralph/scratchpad.md` is not a regular file and is not used; it is now `.ralph/{FOREIGN_NOTES}`"
    )]
    NotAFile,
}

/// What the link to a process's output is called.
#[derive(Debug, Clone, Copy)]
pub struct LogName<'a> {
    /// The backend's name, which is also the directory.
    pub backend: &'a str,
    pub at: Timestamp,
    pub mode: &'a str,
    /// The task; without one it is called `run`.
    pub task: Option<&'a str>,
}

/// The files in `.ralph/`. Whatever is missing is made again at the next write.
#[derive(Debug, Clone)]
pub struct WorkspaceFiles {
    root: PathBuf,
    lock: PathBuf,
    /// The sessions that this user's runs have saved, outside the workspace: a repository can come with a session file
    /// of its own, and must not choose which conversation a run continues.
    own_sessions: PathBuf,
    /// Exists, outside the workspace, if the notes are from this user's runs.
    own_notes: PathBuf,
}

impl WorkspaceFiles {
    /// Makes `.ralph/`, and keeps git away from it before anything else is in it.
    pub fn prepare(home: &Home, workspace: &Path) -> Result<Self, WorkspaceError> {
        let fail = |source| WorkspaceError::Io {
            path: workspace.to_owned(),
            source,
        };
        let workspace = fs::canonicalize(workspace).map_err(fail)?;
        let files = Self {
            // Outside the workspace: an agent that removes `.ralph` must not make two writers out of one.
            lock: lock_file(home, "state", workspace.as_os_str().as_encoded_bytes()),
            own_sessions: home.sessions_directory(&workspace),
            own_notes: home.own_notes_marker(&workspace),
            root: workspace.join(".ralph"),
        };
        files.directory_for(&[])?;
        Ok(files)
    }

    pub fn directory(&self) -> &Path {
        &self.root
    }

    /// Makes an empty file for the agent's notes, unless there is one. Notes that were there before the first run of this
    /// user, and whatever is not a regular file, are put aside first, so that an agent that opens the file follows no
    /// link. Call it before each iteration: a `git pull` can bring a link at any time.
    ///
    /// # Errors
    /// If there is no file that can be used. Do not tell an agent about the notes then.
    pub fn prepare_scratchpad(&self) -> Result<Option<NotesPutAside>, WorkspaceError> {
        let directory = self.directory_for(&[])?;
        let path = directory.join("scratchpad.md");
        let put_aside = match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_file() => Some(NotesPutAside::NotAFile),
            Ok(metadata) if metadata.len() > 0 && !self.own_notes.is_file() => Some(NotesPutAside::Foreign),
            Ok(_) | Err(_) => None,
        };
        if put_aside.is_some() {
            fs::rename(&path, directory.join(FOREIGN_NOTES)).map_err(|source| WorkspaceError::Io {
                path: path.clone(),
                source,
            })?;
        }
        make_if_missing(&path)?;
        make_directory_all(&self.own_sessions).map_err(|source| WorkspaceError::Io {
            path: self.own_sessions.clone(),
            source,
        })?;
        make_if_missing(&self.own_notes)?;
        Ok(put_aside)
    }

    /// Lets people find the output of a process where they look for it. A hard link, so that it stays when the run
    /// is cleaned away; a symbolic one where that cannot be.
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

    /// Which conversation each mode can resume with this backend. Conversations that no run of this user has saved are
    /// left out.
    ///
    /// # Errors
    /// When the file cannot be read. A missing or broken one is an empty one.
    pub fn session_state(&self, backend: &str, at: Timestamp) -> Result<Loaded<SessionState>, StateError> {
        let mut loaded: Loaded<SessionState> = self.load(&session_file(backend), at)?;
        let own = json_file::load(&self.own_sessions.join(session_file(backend)), at)?;
        loaded.value.retain_own(&own.value);
        Ok(loaded)
    }

    /// Changes which session can be resumed.
    pub fn update_session_state(
        &self,
        backend: &str,
        at: Timestamp,
        change: impl FnOnce(&mut SessionState),
    ) -> Result<Loaded<SessionState>, StateError> {
        let name = session_file(backend);
        let mut changes = Vec::new();
        let updated = self.update(&name, at, Durability::Synced, |state: &mut SessionState| {
            let before = state.clone();
            change(state);
            changes = state.changes_since(&before);
            state.updated_at = Some(at);
        })?;
        let _held = self.locked()?;
        let path = self.own_sessions.join(name);
        let mut own: SessionState = json_file::load(&path, at)?.value;
        own.apply(changes);
        let text = json_file::encode(&path, &own)?;
        let written = make_directory_all(&self.own_sessions)
            .and_then(|()| write_atomic(&path, &text, Durability::Synced));
        written.map_err(|source| StateError::io(&path, source))?;
        Ok(updated)
    }

    /// The account of a task. It starts at 0.
    ///
    /// # Errors
    /// When the file cannot be read. A missing or broken one is an empty one.
    pub fn budget(&self, task: Option<&str>, at: Timestamp) -> Result<Loaded<BudgetState>, StateError> {
        let Loaded { value, warning } = self.load::<BudgetState>(BUDGET_FILE, at)?;
        Ok(Loaded {
            value: value.for_task(task),
            warning,
        })
    }

    /// Changes the account of a task and puts it at the top of the file.
    pub fn update_budget(
        &self,
        task: Option<&str>,
        at: Timestamp,
        change: impl FnOnce(&mut BudgetState),
    ) -> Result<Loaded<BudgetState>, StateError> {
        // The next run without a task starts at 0 anyway.
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

    /// Adds what a run has cost to the account of its task, and leaves the account at the top of the file where it is.
    pub(crate) fn charge(
        &self,
        task: &str,
        at: Timestamp,
        run_id: &str,
        cost: MicroUsd,
        accounted: MicroUsd,
    ) -> Result<(), StateError> {
        self.update(BUDGET_FILE, at, Durability::Synced, |state: &mut BudgetState| {
            let open = (*state != BudgetState::default()).then(|| state.task.clone());
            *state = std::mem::take(state).for_task(Some(task));
            state.charge(run_id, cost, accounted);
            if let Some(task) = open {
                *state = std::mem::take(state).for_task(task.as_deref());
            }
        })?;
        Ok(())
    }

    fn load<T: DeserializeOwned + Default>(
        &self,
        name: &str,
        at: Timestamp,
    ) -> Result<Loaded<T>, StateError> {
        // Under the lock, because a broken file is put aside.
        let _held = self.locked()?;
        for directory in [self.root.clone(), self.root.join("state")] {
            if is_directory(&directory)? == Presence::Missing {
                return Ok(Loaded {
                    value: T::default(),
                    warning: None,
                });
            }
        }
        json_file::load(&self.root.join("state").join(name), at)
    }

    fn update<T: DeserializeOwned + Default + Serialize>(
        &self,
        name: &str,
        at: Timestamp,
        durability: Durability,
        change: impl FnOnce(&mut T),
    ) -> Result<Loaded<T>, StateError> {
        let _held = self.locked()?;
        let mut path = self.directory_for(&["state"])?.join(name);
        let mut state = json_file::load(&path, at)?;
        change(&mut state.value);
        let text = json_file::encode(&path, &state.value)?;
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

    pub(crate) fn locked(&self) -> Result<fs::File, StateError> {
        lock_briefly(&self.lock, LOCK_TIMEOUT).map_err(|source| StateError::io(&self.lock, source))
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
        if !ignores_everything(&ignore) {
            // Also one that came with the repository: raw logs must not be committed by accident.
            write_atomic(&ignore, b"*\n", Durability::Cached)
                .map_err(|source| WorkspaceError::Io { path: ignore, source })?;
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
const FOREIGN_NOTES: &str = "scratchpad-not-used.md";

fn make_if_missing(path: &Path) -> Result<(), WorkspaceError> {
    match new_file(path) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => Err(WorkspaceError::Io {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}

/// Whether this `.gitignore` excludes its whole folder.
fn ignores_everything(path: &Path) -> bool {
    const LOOKED_AT_BYTES: u64 = 64 << 10;
    let mut text = String::new();
    let read = open_regular_file(path).and_then(|file| file.take(LOOKED_AT_BYTES).read_to_string(&mut text));
    let mut rules = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    read.is_ok() && rules.clone().any(|rule| rule == "*") && !rules.any(|rule| rule.starts_with('!'))
}

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
        // Another process was faster, with a directory or with something else.
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
