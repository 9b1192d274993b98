//! The folder of a merge: a detached worktree in which a branch is rebased onto its base and checked.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::changes::unfinished;
use crate::error::Error;
use crate::git::{path_from_bytes, zero_separated};
use crate::record::Worktree;
use crate::repository::Repository;

const FOLDER: &str = ".merge";

/// What came of a rebase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rebased {
    /// The new commit, which is what is checked out.
    Clean(String),
    /// The files in conflict.
    Conflict(Vec<PathBuf>),
}

impl Repository {
    /// One folder for each branch that is merged into: whoever holds its lock owns the folder.
    pub(crate) fn merge_folder(&self, base: &str) -> PathBuf {
        let digest = Sha256::digest(base.as_bytes());
        let name: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        self.worktrees_folder().join(FOLDER).join(name)
    }

    /// Checks a commit out in the folder, which nobody else knows. What an earlier merge left there is removed.
    pub(crate) async fn open_merge_folder(&self, folder: &Path, commit: &str) -> Result<(), Error> {
        self.close_merge_folder(folder).await?;
        if let Some(parent) = folder.parent() {
            std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        let _lock = self.lock().await?;
        let add = ["worktree", "add", "--quiet", "--detach", "--"].map(OsString::from);
        let arguments: Vec<OsString> = add
            .into_iter()
            .chain([folder.as_os_str().to_owned(), commit.into()])
            .collect();
        self.git().online().run(&arguments).await
    }

    pub(crate) async fn close_merge_folder(&self, folder: &Path) -> Result<(), Error> {
        let _lock = self.lock().await?;
        let is_known = self
            .checkouts()
            .await?
            .iter()
            .any(|checkout| checkout.path == folder);
        if is_known {
            let remove = ["worktree", "remove", "--force", "--force", "--"].map(OsString::from);
            let arguments: Vec<OsString> = remove
                .into_iter()
                .chain([folder.as_os_str().to_owned()])
                .collect();
            self.git().run(&arguments).await?;
        }
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", folder)(error))
            }
            _ => Ok(()),
        }
    }

    /// Puts the commits of a branch onto its base, in a folder where the branch's commit is checked out.
    pub(crate) async fn rebase(
        &self,
        folder: &Path,
        worktree: &Worktree,
        branch_tip: &str,
        base_tip: &str,
    ) -> Result<Rebased, Error> {
        let from = self.rebase_start(worktree, branch_tip, base_tip).await?;
        // If the base lacks what the worktree was cut from, it was dropped there and must not come back.
        let is_base_kept = self.is_ancestor(&from, base_tip).await?;
        if is_base_kept && self.is_ancestor(base_tip, branch_tip).await? {
            return Ok(Rebased::Clean(branch_tip.to_owned()));
        }
        let range = format!("{from}..{branch_tip}");
        let merges = ["rev-list", "--count", "--merges", &range, "--"];
        let has_merges = self.git().text(&merges).await? != "0";
        if has_merges && !is_base_kept {
            return Err(Error::BaseRewritten {
                branch: worktree.branch(),
            });
        }
        let git = self.git_to_commit(folder).await?.online();
        let tried = if has_merges {
            // A rebase would lose how these merges were resolved. The branch is merged as it is.
            let checkout = ["checkout", "--quiet", "--detach", base_tip];
            self.git_in(folder).online().run(&checkout).await?;
            let message = format!("Merge branch '{}'", worktree.branch());
            let merge = [
                "merge",
                "--quiet",
                "--no-ff",
                "--no-verify",
                "-m",
                &message,
                branch_tip,
            ];
            git.run(&merge).await
        } else {
            let rebase = [
                "rebase",
                "--quiet",
                "--no-autosquash",
                "--no-autostash",
                "--no-verify",
                "--reapply-cherry-picks",
                "--empty=drop",
                "--onto",
                base_tip,
                &from,
            ];
            git.run(&rebase).await
        };
        match tried {
            Ok(()) => {
                let head = ["rev-parse", "--verify", "HEAD^{commit}"];
                Ok(Rebased::Clean(self.git_in(folder).text(&head).await?))
            }
            Err(error) => {
                let unmerged = ["diff", "--name-only", "-z", "--diff-filter=U"];
                let files = self.git_in(folder).bytes(&unmerged).await?;
                let files: Vec<PathBuf> = zero_separated(&files).into_iter().map(path_from_bytes).collect();
                let directory = self.git_directory(folder).await?;
                match unfinished(&directory) {
                    Some(_) if !files.is_empty() => Ok(Rebased::Conflict(files)),
                    _ => Err(error),
                }
            }
        }
    }

    /// The commit after which the branch's own commits begin. After a force-push of the base that is where the worktree
    /// was cut, not the older common ancestor: what the base has dropped must not come back.
    pub(crate) async fn rebase_start(
        &self,
        worktree: &Worktree,
        branch_tip: &str,
        base_tip: &str,
    ) -> Result<String, Error> {
        let ancestor = self.git().answer(&["merge-base", branch_tip, base_tip]).await?;
        let is_own = self.is_ancestor(&worktree.base_commit, branch_tip).await?;
        match ancestor {
            Some(ancestor) if !is_own || !self.is_ancestor(&ancestor, &worktree.base_commit).await? => {
                Ok(ancestor)
            }
            _ if is_own => Ok(worktree.base_commit.clone()),
            _ => Err(Error::Unrelated {
                branch: worktree.branch(),
                base: worktree.base_name(),
            }),
        }
    }
}
