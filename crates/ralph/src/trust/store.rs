//! `TrustStore`: what was trusted, one private file for each workspace, in the state directory.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use ralph_run::{Durability, Home, HomeError, open_regular_file, write_atomic};
use serde::{Deserialize, Serialize};

use super::digest::digest_of;

const VERSION: u32 = 1;
const MAX_ENTRY_BYTES: u64 = 4 << 20;

/// What a person has trusted in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    version: u32,
    /// The workspace, with links resolved.
    pub workspace: PathText,
    /// The SHA-256 digest of `ralph.yml`.
    pub file: String,
    /// The digests of the scripts that it names, by the words that name them.
    pub scripts: BTreeMap<String, String>,
    pub trusted_at: Timestamp,
    pub ralph_version: String,
}

/// A path in JSON. One that is not UTF-8 is kept byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathText {
    Text(String),
    Bytes(Vec<u8>),
}

impl PathText {
    pub(super) fn new(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_encoded_bytes().to_vec()),
        }
    }

    /// The path itself; `None` where this system has no such paths.
    pub fn to_path(&self) -> Option<PathBuf> {
        match self {
            Self::Text(text) => Some(PathBuf::from(text)),
            #[cfg(unix)]
            Self::Bytes(bytes) => {
                use std::os::unix::ffi::OsStrExt as _;
                Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
            }
            #[cfg(not(unix))]
            Self::Bytes(_) => None,
        }
    }

    /// For people; what is not UTF-8 is replaced.
    pub fn to_string_lossy(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

impl Entry {
    pub(super) fn new(
        workspace: &Path,
        file: String,
        scripts: BTreeMap<String, String>,
        at: Timestamp,
    ) -> Self {
        Self {
            version: VERSION,
            workspace: PathText::new(workspace),
            file,
            scripts,
            trusted_at: at,
            ralph_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// The decisions cannot be read or written. Nothing is trusted then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error("cannot use the trust record `{}`: {source}; remove it and run `ralph trust` again", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the trust record `{}` is damaged: remove it and run `ralph trust` again", path.display())]
    Damaged { path: PathBuf },
    #[error("the trust record `{}` was written by a newer version of ralph: update ralph, or remove it", path.display())]
    Newer { path: PathBuf },
    #[error("other users can write to the trust record `{}`: remove it and run `ralph trust` again", path.display())]
    Exposed { path: PathBuf },
    #[error("the state directory `{}` is within the workspace: set XDG_STATE_HOME to another place", path.display())]
    InWorkspace { path: PathBuf },
    #[error(transparent)]
    Home(#[from] HomeError),
}

/// A file of the store.
#[derive(Debug)]
pub struct Listed {
    pub path: PathBuf,
    pub entry: Result<Entry, StoreError>,
}

/// Where decisions are kept: `trust` in the state directory. A workspace is known by its path with links resolved, so
/// every worktree has a decision of its own.
#[derive(Debug, Clone)]
pub struct TrustStore {
    home: Home,
    directory: PathBuf,
}

impl TrustStore {
    pub fn new(home: &Home) -> Self {
        Self {
            directory: home.state_directory().join("trust"),
            home: home.clone(),
        }
    }

    /// What was trusted in a workspace, whose path has no links.
    ///
    /// # Errors
    /// When that cannot be known for certain.
    pub fn get(&self, workspace: &Path) -> Result<Option<Entry>, StoreError> {
        self.check_place(workspace)?;
        let path = self.path(workspace);
        match read(&path) {
            Ok(entry) if entry.workspace == PathText::new(workspace) => Ok(Some(entry)),
            Ok(_) => Err(StoreError::Damaged { path }),
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a decision, in place of an earlier one.
    ///
    /// # Errors
    /// When it cannot be written, or the store would be a part of the repository.
    pub(super) fn put(&self, workspace: &Path, entry: &Entry) -> Result<(), StoreError> {
        self.home.prepare()?;
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(unusable(&self.directory, error));
            }
            _ => self.check_place(workspace)?,
        }
        let path = self.path(workspace);
        let text = serde_json::to_vec_pretty(entry).map_err(|error| unusable(&path, error.into()))?;
        write_atomic(&path, &text, Durability::Synced).map_err(|error| unusable(&path, error))
    }

    /// Forgets a decision. Says whether there was one, in whatever state.
    pub fn remove(&self, workspace: &Path) -> Result<bool, StoreError> {
        let path = self.path(workspace);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(unusable(&path, error)),
        }
    }

    /// All decisions, by path of the workspace.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|error| unusable(&self.directory, error))?,
        };
        let mut listed = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| unusable(&self.directory, error))?.path();
            // Others are on their way to their name.
            if path.extension().is_some_and(|extension| extension == "json") {
                let entry = read(&path);
                listed.push(Listed { path, entry });
            }
        }
        listed.sort_by_key(|listed| {
            let workspace = listed
                .entry
                .as_ref()
                .map(|entry| entry.workspace.to_string_lossy());
            (workspace.unwrap_or_default(), listed.path.clone())
        });
        Ok(listed)
    }

    fn path(&self, workspace: &Path) -> PathBuf {
        let digest = digest_of(workspace.as_os_str().as_encoded_bytes());
        self.directory.join(format!("{digest}.json"))
    }

    /// A repository could bring its own decision.
    fn check_place(&self, workspace: &Path) -> Result<(), StoreError> {
        match self.directory.canonicalize() {
            Ok(directory) if directory.starts_with(workspace) => Err(StoreError::InWorkspace {
                path: self.home.state_directory().to_owned(),
            }),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(unusable(&self.directory, error)),
        }
    }
}

fn unusable(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io {
        path: path.to_owned(),
        source,
    }
}

fn read(path: &Path) -> Result<Entry, StoreError> {
    let file = open_regular_file(path).map_err(|error| unusable(path, error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = file.metadata().map_err(|error| unusable(path, error))?;
        if metadata.mode() & 0o022 != 0 || !crate::current_process::is_own_user(metadata.uid()) {
            return Err(StoreError::Exposed {
                path: path.to_owned(),
            });
        }
    }
    let mut text = Vec::new();
    file.take(MAX_ENTRY_BYTES)
        .read_to_end(&mut text)
        .map_err(|error| unusable(path, error))?;
    #[derive(Deserialize)]
    struct Head {
        version: u32,
    }
    let damaged = |_| StoreError::Damaged {
        path: path.to_owned(),
    };
    let Head { version } = serde_json::from_slice(&text).map_err(damaged)?;
    if version > VERSION {
        return Err(StoreError::Newer {
            path: path.to_owned(),
        });
    }
    serde_json::from_slice(&text).map_err(damaged)
}
