//! `Worktree`: what is known about a worktree, kept as `<name>.json` beside it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::git::is_commit_id;
use crate::name::WorktreeName;

/// A worktree of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub name: WorktreeName,
    /// Where its files are.
    pub path: PathBuf,
    /// The full name of the branch or remote branch that it was cut from; none if that was only a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit that it was cut from.
    pub base_commit: String,
    pub created_at: Timestamp,
    /// The first of its ports; none if all blocks are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_base: Option<u16>,
    /// The repository's main checkout.
    pub checkout: PathBuf,
    /// False while it is being created.
    #[serde(default)]
    pub is_ready: bool,
    /// Whether the caller's setup has succeeded in it.
    #[serde(default)]
    pub is_set_up: bool,
    /// Its last merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergeRecord>,
}

/// A merge of a worktree's branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeRecord {
    /// The branch that it was merged into.
    pub into: String,
    /// That branch after the merge.
    pub commit: String,
    pub at: Timestamp,
}

impl Worktree {
    pub fn branch(&self) -> String {
        self.name.branch()
    }

    /// The base as people write it: `main`, `origin/main`, or the start of a commit.
    pub fn base_name(&self) -> String {
        match &self.base {
            Some(base) => short_ref(base).to_owned(),
            None => self.base_commit.chars().take(10).collect(),
        }
    }

    pub(crate) fn load(path: &Path) -> Result<Option<Self>, Error> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let damaged = |why: String| Error::DamagedRecord {
            path: path.to_owned(),
            why,
        };
        let record: Self = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if path.file_stem().and_then(|stem| stem.to_str()) != Some(record.name.as_str()) {
            return Err(damaged("it names another worktree".to_owned()));
        }
        if !is_commit_id(&record.base_commit) {
            return Err(damaged("it names no commit".to_owned()));
        }
        Ok(Some(record))
    }

    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        write_json(path, self)
    }
}

/// Writes a file that is there in full or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let fail = || Error::io("write", path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".record-")
        .tempfile_in(folder)
        .map_err(fail())?;
    let text = serde_json::to_vec_pretty(value).map_err(|error| fail()(error.into()))?;
    file.write_all(&text).map_err(fail())?;
    file.as_file().sync_all().map_err(fail())?;
    file.persist(path).map_err(|error| fail()(error.error))?;
    Ok(())
}

/// `refs/heads/main` as `main`.
pub(crate) fn short_ref(reference: &str) -> &str {
    ["refs/heads/", "refs/remotes/", "refs/tags/", "refs/"]
        .iter()
        .find_map(|prefix| reference.strip_prefix(prefix))
        .unwrap_or(reference)
}
