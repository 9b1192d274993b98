//! `advance`: moves a branch to a descendant, and the checkout that has it, without touching what its user has changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::changes::unfinished;
use crate::error::Error;
use crate::git::{path_from_bytes, zero_separated};
use crate::record::short_ref;
use crate::repository::Repository;

/// A branch that was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Advanced {
    /// The checkout that has the branch.
    pub(crate) checkout: Option<PathBuf>,
}

impl Repository {
    /// Moves a branch from one commit to another, if it is still at the first one; `None` if it is not.
    pub(crate) async fn advance(
        &self,
        branch: &str,
        from: &str,
        to: &str,
        message: &str,
    ) -> Result<Option<Advanced>, Error> {
        let _lock = self.lock().await?;
        if self.commit_of(branch).await?.as_deref() != Some(from) {
            return Ok(None);
        }
        let checkout = self.refuse_overlap(branch, from, to).await?;
        let Some(folder) = &checkout else {
            let is_moved = self.move_branch(branch, from, to, message).await?;
            return Ok(is_moved.then_some(Advanced { checkout }));
        };
        // The files first: after a crash the merge shows as staged changes, which is harmless. The other way round, the
        // old files would show as changes that undo the merge.
        let refresh = ["update-index", "-q", "--refresh"];
        self.git_in(folder).answer(&refresh).await?;
        let forward = ["read-tree", "-m", "-u", "--no-recurse-submodules", from, to];
        if let Err(error) = self.git_in(folder).online().run(&forward).await {
            return Err(match self.restore(folder, from, to).await {
                Ok(()) => error,
                Err(also) => Error::HalfAdvanced {
                    checkout: folder.clone(),
                    why: format!("{error}; then {also}"),
                },
            });
        }
        if self.is_checked_out(folder, branch).await? && self.move_branch(branch, from, to, message).await? {
            return Ok(Some(Advanced { checkout }));
        }
        let back = ["read-tree", "-m", "-u", "--no-recurse-submodules", to, from];
        self.git_in(folder).run(&back).await?;
        Ok(None)
    }

    /// Puts the files back that a move has changed before it failed. That is safe: none of them had changes of its user.
    async fn restore(&self, folder: &Path, from: &str, to: &str) -> Result<(), Error> {
        let mut tracked = Vec::new();
        for (is_new, path) in self.moved_files(from, to).await? {
            if !is_new {
                tracked.extend_from_slice(path.as_os_str().as_encoded_bytes());
                tracked.push(0);
                continue;
            }
            // Behind a link that the move would have replaced there is nothing of ours.
            if in_the_way(folder, &path).is_some_and(|found| found == path) {
                let path = folder.join(path);
                fs::remove_file(&path).map_err(Error::io("remove", &path))?;
            }
        }
        // The index is written last, so it is still the old one.
        let git = || self.git_in(folder).without_pathspecs();
        let restore = ["checkout-index", "--force", "-z", "--stdin"];
        git().input(tracked).run(&restore).await?;
        git().answer(&["update-index", "-q", "--refresh"]).await?;
        Ok(())
    }

    /// The files that differ between two commits, and whether they are new.
    async fn moved_files(&self, from: &str, to: &str) -> Result<Vec<(bool, PathBuf)>, Error> {
        let diff = ["diff-tree", "-r", "-z", "--name-status", "--no-renames"];
        let diff = [&diff[..], &[from, to, "--"]].concat();
        let output = self.git().bytes(&diff).await?;
        let items = zero_separated(&output);
        let pairs = items.chunks_exact(2).filter_map(|pair| match pair {
            [state, path] => Some((*state == b"A", path_from_bytes(path))),
            _ => None,
        });
        Ok(pairs.collect())
    }

    async fn move_branch(&self, branch: &str, from: &str, to: &str, message: &str) -> Result<bool, Error> {
        let update = ["update-ref", "-m", message, branch, to, from];
        match self.git().run(&update).await {
            Ok(()) => Ok(true),
            Err(error) => match self.commit_of(branch).await? {
                Some(now) if now == from => Err(error),
                // Somebody was faster.
                _ => Ok(false),
            },
        }
    }

    async fn is_checked_out(&self, folder: &Path, branch: &str) -> Result<bool, Error> {
        let head = ["symbolic-ref", "--quiet", "HEAD"];
        Ok(self.git_in(folder).answer(&head).await?.as_deref() == Some(branch))
    }

    /// The checkout that has a branch. Refused if moving it would change a file that its user has changed.
    pub(crate) async fn refuse_overlap(
        &self,
        branch: &str,
        from: &str,
        to: &str,
    ) -> Result<Option<PathBuf>, Error> {
        let base = short_ref(branch).to_owned();
        let checkouts = self.checkouts().await?;
        let mut having = Vec::new();
        for checkout in checkouts.into_iter().filter(|checkout| !checkout.is_bare) {
            if !checkout.path.is_dir() {
                continue;
            }
            // During a rebase `HEAD` is detached, and git moves the branch at the end.
            let has_it = checkout.branch.as_deref() == Some(branch);
            let directory = match self.git_directory(&checkout.path).await {
                Ok(directory) => directory,
                // A damaged worktree of another branch is none of ours.
                Err(Error::Git { .. }) if !has_it => continue,
                Err(error) => return Err(error),
            };
            let is_rebased = ["rebase-merge", "rebase-apply"].iter().any(|folder| {
                let name = fs::read_to_string(directory.join(folder).join("head-name"));
                name.is_ok_and(|name| name.trim() == branch)
            });
            if (has_it || is_rebased)
                && let Some(operation) = unfinished(&directory)
            {
                return Err(Error::InProgress {
                    operation,
                    path: checkout.path,
                });
            }
            if has_it {
                having.push(checkout.path);
            }
        }
        let count = having.len();
        let Some(checkout) = having.pop() else {
            return Ok(None);
        };
        if count > 1 {
            return Err(Error::CheckedOutTwice { base, count });
        }
        let files = self.overlap(&checkout, from, to).await?;
        if files.is_empty() {
            return Ok(Some(checkout));
        }
        Err(Error::CheckoutChanged {
            checkout,
            base,
            files,
        })
    }

    /// The files of a checkout that its user has changed and the move would change as well.
    async fn overlap(&self, checkout: &Path, from: &str, to: &str) -> Result<Vec<PathBuf>, Error> {
        let mut overlap = BTreeSet::new();
        let mut touched = BTreeSet::new();
        let mut new = BTreeSet::new();
        for (is_new, path) in self.moved_files(from, to).await? {
            if is_new {
                overlap.extend(in_the_way(checkout, &path));
                new.insert(path.clone());
            }
            touched.insert(path);
        }
        // A tracked file that makes room for a folder is in nobody's way. If its user has changed it, it is found below.
        overlap.retain(|path| !touched.contains(path) || new.contains(path));
        let changes = self.changes(checkout).await?;
        let hidden = self.overlooked(checkout).await?;
        for changed in changes.all().into_iter().chain(hidden) {
            let is_touched = touched.contains(&changed)
                // A folder in place of a file, or the other way round.
                || touched.iter().any(|path| path.starts_with(&changed) || changed.starts_with(path));
            if is_touched {
                overlap.insert(changed);
            }
        }
        Ok(overlap.into_iter().collect())
    }

    /// Files whose changes git overlooks because it was told to.
    async fn overlooked(&self, checkout: &Path) -> Result<Vec<PathBuf>, Error> {
        let listed = self.git_in(checkout).bytes(&["ls-files", "-v", "-z"]).await?;
        let overlooked = zero_separated(&listed).into_iter().filter_map(|line| {
            let (tag, path) = (line.first()?, path_from_bytes(line.get(2..)?));
            let is_skipped = tag.eq_ignore_ascii_case(&b'S');
            let is_there = fs::symlink_metadata(checkout.join(&path)).is_ok();
            (is_there && (tag.is_ascii_lowercase() || is_skipped)).then_some(path)
        });
        Ok(overlooked.collect())
    }
}

/// What is on the disk where a new file would be written: the file itself, which may be ignored, or a file in place of
/// one of its folders.
fn in_the_way(checkout: &Path, path: &Path) -> Option<PathBuf> {
    let parents: Vec<&Path> = path
        .ancestors()
        .skip(1)
        .filter(|parent| *parent != Path::new(""))
        .collect();
    let blocked = parents.into_iter().rev().find(|parent| {
        let found = fs::symlink_metadata(checkout.join(parent));
        found.is_ok_and(|found| !found.is_dir())
    });
    match blocked {
        Some(parent) => Some(parent.to_owned()),
        None => fs::symlink_metadata(checkout.join(path))
            .is_ok()
            .then(|| path.to_owned()),
    }
}
