//! What differs in a checkout from its commit, and which operation of git is unfinished there.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::git::{path_from_bytes, zero_separated};
use crate::repository::Repository;

/// The files of a checkout that are not as in its commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Tracked files that were changed, staged, deleted or are in conflict.
    pub(crate) tracked: Vec<PathBuf>,
    /// Files that git does not track and does not ignore. A folder with a repository of its own ends with `/`.
    pub(crate) untracked: Vec<PathBuf>,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.tracked.is_empty() && self.untracked.is_empty()
    }

    pub(crate) fn all(&self) -> Vec<PathBuf> {
        self.tracked.iter().chain(&self.untracked).cloned().collect()
    }
}

impl Repository {
    pub(crate) async fn changes(&self, folder: &Path) -> Result<Changes, Error> {
        // The index of a checkout is not touched, not even to refresh it.
        let git = self.git_in(folder).variable("GIT_OPTIONAL_LOCKS", "0");
        let arguments = [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=none",
        ];
        let output = git.bytes(&arguments).await?;
        let mut changes = Changes::default();
        for item in zero_separated(&output) {
            let (Some(state), Some(path)) = (item.get(..2), item.get(3..)) else {
                continue;
            };
            let path = path_from_bytes(path);
            if state == b"??" {
                changes.untracked.push(path);
            } else {
                changes.tracked.push(path);
            }
        }
        Ok(changes)
    }

    /// Refuses a worktree whose `.git` is not the one that git made. An agent may have replaced it, and git would run what
    /// the settings of the repository there say.
    pub(crate) fn refuse_foreign(&self, folder: &Path) -> Result<(), Error> {
        let link = folder.join(".git");
        let is_file = std::fs::symlink_metadata(&link).is_ok_and(|metadata| metadata.is_file());
        let text = std::fs::read_to_string(&link)
            .ok()
            .filter(|_| is_file)
            .unwrap_or_default();
        let named = text
            .strip_prefix("gitdir: ")
            .map(|path| folder.join(path.trim_end()));
        let own = self.common().join("worktrees");
        match named.and_then(|path| path.canonicalize().ok()) {
            Some(path) if path.parent() == Some(own.as_path()) => Ok(()),
            _ => Err(Error::ForeignGit(folder.to_owned())),
        }
    }

    /// Refuses a checkout in which a merge, rebase or the like waits for a person.
    pub(crate) async fn refuse_unfinished(&self, folder: &Path) -> Result<(), Error> {
        let directory = self.git_directory(folder).await?;
        match unfinished(&directory) {
            Some(operation) => Err(Error::InProgress {
                operation,
                path: folder.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// The git directory of a checkout: its index and `HEAD` are there.
    pub(crate) async fn git_directory(&self, folder: &Path) -> Result<PathBuf, Error> {
        let directory = self
            .git_in(folder)
            .text(&["rev-parse", "--absolute-git-dir"])
            .await?;
        Ok(PathBuf::from(directory))
    }

    /// The first untracked folder with a repository of its own, or submodule that is checked out: what is in there cannot
    /// be kept by a commit of this repository.
    pub(crate) async fn nested_repository(
        &self,
        folder: &Path,
        changes: &Changes,
    ) -> Result<Option<PathBuf>, Error> {
        let is_folder = |path: &&PathBuf| path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if let Some(path) = changes.untracked.iter().find(is_folder) {
            return Ok(Some(path.clone()));
        }
        let submodules = self.submodules(folder).await?;
        let is_checked_out = |path: &PathBuf| folder.join(path).join(".git").exists();
        Ok(submodules.into_iter().find(is_checked_out))
    }

    /// Refuses a worktree whose submodules have repositories. They are in its git directory, which is deleted with it.
    pub(crate) fn refuse_submodules(&self, path: &Path) -> Result<(), Error> {
        let modules = self.notes_of_git(path).map(|notes| notes.join("modules"));
        let has_any =
            |modules: &PathBuf| std::fs::read_dir(modules).is_ok_and(|mut found| found.next().is_some());
        match modules.filter(has_any) {
            Some(modules) => Err(Error::Submodules {
                path: path.to_owned(),
                modules,
            }),
            None => Ok(()),
        }
    }

    /// Where git keeps `HEAD`, index and reflog of a worktree, also if its folder is gone.
    pub(crate) fn notes_of_git(&self, path: &Path) -> Option<PathBuf> {
        let link = path.join(".git");
        let folders = std::fs::read_dir(self.common().join("worktrees")).ok()?;
        folders.flatten().map(|folder| folder.path()).find(|folder| {
            let text = std::fs::read_to_string(folder.join("gitdir"));
            text.is_ok_and(|text| Path::new(text.trim_end()) == link)
        })
    }

    /// The submodules of a checkout.
    pub(crate) async fn submodules(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let output = self.git_in(folder).bytes(&["ls-files", "--stage", "-z"]).await?;
        let entries = zero_separated(&output).into_iter();
        let submodules = entries.filter(|entry| entry.starts_with(b"160000 "));
        Ok(submodules
            .filter_map(|entry| {
                let tab = entry.iter().position(|byte| *byte == b'\t')?;
                Some(path_from_bytes(entry.get(tab + 1..)?))
            })
            .collect())
    }
}

/// The operation of git that is unfinished in a git directory.
pub(crate) fn unfinished(directory: &Path) -> Option<&'static str> {
    let operations = [
        ("rebase-merge", "rebase"),
        ("rebase-apply", "rebase"),
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("BISECT_LOG", "bisect"),
    ];
    operations
        .into_iter()
        .find(|(file, _)| directory.join(file).exists())
        .map(|(_, operation)| operation)
}
