//! The quarantine: where removed worktrees stay for a while before they are deleted.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::name::WorktreeName;
use crate::record::{Worktree, write_json};
use crate::repository::Repository;

const FOLDER: &str = ".quarantine";
const ENTRY_FILE: &str = "entry.json";
const FILES_FOLDER: &str = "files";

/// A removed worktree whose files are still there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantineEntry {
    pub name: WorktreeName,
    pub removed_at: Timestamp,
    /// The ref that keeps its work; none if everything was merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescue: Option<String>,
    /// Where it was.
    pub path: PathBuf,
    /// The folder of this entry.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl QuarantineEntry {
    /// The files of the worktree.
    pub fn files(&self) -> PathBuf {
        self.folder.join(FILES_FOLDER)
    }
}

impl Repository {
    /// What is in quarantine, oldest first.
    pub fn quarantine(&self) -> Vec<QuarantineEntry> {
        let folders = fs::read_dir(self.worktrees_folder().join(FOLDER))
            .into_iter()
            .flatten()
            .flatten();
        let mut entries: Vec<QuarantineEntry> = folders.filter_map(|folder| load(&folder.path())).collect();
        entries.sort_by_key(|entry| entry.removed_at);
        entries
    }

    /// Moves the files of a worktree into quarantine, in one step. If that fails, they are where they were.
    pub(crate) fn move_to_quarantine(
        &self,
        worktree: &Worktree,
        rescue: Option<String>,
    ) -> Result<QuarantineEntry, Error> {
        let quarantine = self.worktrees_folder().join(FOLDER);
        fs::create_dir_all(&quarantine).map_err(Error::io("create", &quarantine))?;
        let folder = tempfile::Builder::new()
            .prefix(&format!("{}-", worktree.name))
            .tempdir_in(&quarantine)
            .map_err(Error::io("write to", &quarantine))?;
        let entry = QuarantineEntry {
            name: worktree.name.clone(),
            removed_at: Timestamp::now(),
            rescue,
            path: worktree.path.clone(),
            folder: folder.path().to_owned(),
        };
        write_json(&entry.folder.join(ENTRY_FILE), &entry)?;
        fs::rename(&worktree.path, entry.files()).map_err(Error::io("move", &worktree.path))?;
        let _kept = folder.keep();
        Ok(entry)
    }

    /// Moves the files back to where they were.
    pub(crate) fn return_from_quarantine(&self, entry: &QuarantineEntry) -> Result<(), Error> {
        fs::rename(entry.files(), &entry.path).map_err(Error::io("move", &entry.files()))?;
        fs::remove_dir_all(&entry.folder).map_err(Error::io("remove", &entry.folder))
    }

    /// Deletes an entry for good. Refused if the ref that keeps its work is gone.
    pub(crate) async fn delete_from_quarantine(&self, entry: &QuarantineEntry) -> Result<(), Error> {
        if let Some(rescue) = &entry.rescue
            && self.commit_of(rescue).await?.is_none()
        {
            return Err(Error::Git {
                command: format!("rev-parse {rescue}"),
                folder: self.common().to_owned(),
                detail: "the rescue ref is gone, so the files in quarantine are the only copy".to_owned(),
            });
        }
        let folder = entry.folder.clone();
        let fail = Error::io("delete", &folder);
        let deleted = tokio::task::spawn_blocking(move || fs::remove_dir_all(folder)).await;
        match deleted {
            Ok(deleted) => deleted.map_err(fail),
            Err(lost) => Err(fail(std::io::Error::other(lost))),
        }
    }
}

fn load(folder: &Path) -> Option<QuarantineEntry> {
    let text = fs::read(folder.join(ENTRY_FILE)).ok()?;
    let mut entry: QuarantineEntry = serde_json::from_slice(&text).ok()?;
    entry.folder = folder.to_owned();
    Some(entry)
}
