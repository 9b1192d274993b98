//! `remove`: takes a worktree away without losing work. Every step that fails leaves the worktree where it is.

use std::fs;
use std::path::PathBuf;

use crate::error::Error;
use crate::git::{path_from_bytes, zero_separated};
use crate::name::WorktreeName;
use crate::note::plural;
use crate::occupants::find_occupant;
use crate::record::{Worktree, short_ref};
use crate::repository::Repository;
use crate::rescue::Snapshot;

/// What happens to work that is not merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveMode {
    /// The worktree stays.
    KeepWork,
    /// The work is kept under a rescue ref only.
    Rescue,
}

/// A removed worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The ref that keeps its work; none if everything is merged.
    pub rescue: Option<String>,
    /// Where its files are until they are deleted; none if they were gone.
    pub quarantined: Option<PathBuf>,
    /// Whether its branch was deleted. It stays if somebody else has it checked out.
    pub is_branch_deleted: bool,
}

impl Repository {
    /// Removes a worktree and its branch. Untracked files count as work; ignored ones stay in quarantine with the rest
    /// until they are deleted.
    ///
    /// # Errors
    /// If a process works in it, if it contains another repository, or, unless its work may be rescued, if it has work
    /// that is not merged.
    pub async fn remove(&self, name: &WorktreeName, mode: RemoveMode) -> Result<Removed, Error> {
        let _name_lock = self.lock_name(name).await?;
        let _lock = self.lock().await?;
        let worktree = self.worktree(name)?;
        let branch_tip = self.commit_of(&name.branch_ref()).await?;
        if fs::symlink_metadata(&worktree.path).is_err() {
            return self.remove_missing(&worktree, branch_tip, mode).await;
        }
        refuse_occupied(&worktree)?;
        let snapshot = self.snapshot(&worktree).await?;
        let is_merged = self
            .is_snapshot_merged(&worktree, &snapshot, branch_tip.as_deref())
            .await?;
        if mode == RemoveMode::KeepWork && !is_merged {
            return Err(self
                .has_work(&worktree, Some(&snapshot), branch_tip.as_deref())
                .await?);
        }
        let rescue = self.rescue_unless_contained(&worktree, &snapshot.commit).await?;
        refuse_occupied(&worktree)?;
        let entry = self.move_to_quarantine(&worktree, rescue.clone())?;
        // A file that was written since the snapshot would be deleted with the quarantine one day.
        match self.files_tree(&entry.files()).await {
            Ok(tree) if tree == snapshot.tree => {}
            changed => {
                self.return_from_quarantine(&entry)?;
                let now = changed?;
                let diff = ["diff-tree", "-r", "-z", "--name-only", &snapshot.tree, &now];
                let files = self.git().bytes(&diff).await?;
                return Err(Error::ChangedMeanwhile {
                    path: worktree.path,
                    files: zero_separated(&files).into_iter().map(path_from_bytes).collect(),
                });
            }
        }
        self.forget_missing(&worktree.path).await?;
        let is_branch_deleted = self.delete_branch(name, branch_tip.as_deref()).await?;
        self.forget_record(name)?;
        Ok(Removed {
            rescue,
            quarantined: Some(entry.files()),
            is_branch_deleted,
        })
    }

    /// What is left of a worktree whose folder is gone: its branch.
    async fn remove_missing(
        &self,
        worktree: &Worktree,
        branch_tip: Option<String>,
        mode: RemoveMode,
    ) -> Result<Removed, Error> {
        let mut rescue = None;
        if let Some(tip) = &branch_tip {
            let is_merged = self.is_in_base(worktree, tip).await?;
            if mode == RemoveMode::KeepWork && !is_merged {
                return Err(self.has_work(worktree, None, Some(tip)).await?);
            }
            rescue = self.rescue_unless_contained(worktree, tip).await?;
        }
        // It contains the branch as well.
        rescue = self.rescue_lost(worktree).await?.or(rescue);
        self.forget_missing(&worktree.path).await?;
        let is_branch_deleted = self.delete_branch(&worktree.name, branch_tip.as_deref()).await?;
        self.forget_record(&worktree.name)?;
        Ok(Removed {
            rescue,
            quarantined: None,
            is_branch_deleted,
        })
    }

    /// Whether a worktree has nothing that its base lacks.
    pub(crate) async fn is_snapshot_merged(
        &self,
        worktree: &Worktree,
        snapshot: &Snapshot,
        branch_tip: Option<&str>,
    ) -> Result<bool, Error> {
        if snapshot.is_dirty {
            return Ok(false);
        }
        let head = ["rev-parse", "--verify", "HEAD^{commit}"];
        let head = self.git_in(&worktree.path).text(&head).await?;
        if !self.is_in_base(worktree, &head).await? {
            return Ok(false);
        }
        match branch_tip {
            Some(tip) if tip != head => self.is_in_base(worktree, tip).await,
            _ => Ok(true),
        }
    }

    /// Whether the changes of a commit are in the base of the worktree, or in the branch that it was merged into.
    pub(crate) async fn is_in_base(&self, worktree: &Worktree, commit: &str) -> Result<bool, Error> {
        let into = worktree
            .merged
            .as_ref()
            .map(|merged| format!("refs/heads/{}", merged.into));
        for base in worktree.base.iter().chain(&into) {
            if let Some(tip) = self.commit_of(base).await?
                && self.is_merged(commit, &tip).await?
            {
                return Ok(true);
            }
        }
        self.is_ancestor(commit, &worktree.base_commit).await
    }

    pub(crate) async fn rescue_unless_contained(
        &self,
        worktree: &Worktree,
        commit: &str,
    ) -> Result<Option<String>, Error> {
        // Only a branch keeps a commit: the base commit itself may be forgotten after a force-push.
        if let Some(base) = &worktree.base
            && let Some(tip) = self.commit_of(base).await?
            && self.is_ancestor(commit, &tip).await?
        {
            return Ok(None);
        }
        self.keep(&worktree.name, commit).await.map(Some)
    }

    async fn has_work(
        &self,
        worktree: &Worktree,
        snapshot: Option<&Snapshot>,
        branch_tip: Option<&str>,
    ) -> Result<Error, Error> {
        let mut work = Vec::new();
        if let Some(Snapshot { changes, .. }) = snapshot {
            let counts = [
                (changes.tracked.len(), "uncommitted file"),
                (changes.untracked.len(), "untracked file"),
            ];
            let counts = counts.into_iter().filter(|(count, _)| *count > 0);
            work.extend(counts.map(|(count, word)| plural(count as u64, word)));
        }
        if let Some(tip) = branch_tip
            && !self.is_in_base(worktree, tip).await?
        {
            let base = match &worktree.base {
                Some(base) if self.commit_of(base).await?.is_some() => base,
                _ => &worktree.base_commit,
            };
            let range = format!("{base}..{tip}");
            let ahead = self.git().text(&["rev-list", "--count", &range, "--"]).await?;
            let commits = plural(ahead.parse().unwrap_or(0), "commit");
            work.push(format!("{commits} that `{}` does not have", worktree.base_name()));
        }
        if work.is_empty() {
            let is_hidden = snapshot.is_some_and(|snapshot| snapshot.is_dirty);
            work.push(match is_hidden {
                true => "changes that git was told to overlook".to_owned(),
                false => "commits outside of its branch".to_owned(),
            });
        }
        Ok(Error::HasWork {
            name: worktree.name.to_string(),
            work: work.join(", "),
        })
    }

    async fn delete_branch(&self, name: &WorktreeName, tip: Option<&str>) -> Result<bool, Error> {
        let Some(tip) = tip else { return Ok(false) };
        let branch = name.branch_ref();
        let checkouts = self.checkouts().await?;
        let has_it = |branches: &Option<String>| branches.as_deref() == Some(&branch);
        if checkouts.iter().any(|checkout| has_it(&checkout.branch)) {
            tracing::info!(branch = short_ref(&branch), "kept: it is checked out elsewhere");
            return Ok(false);
        }
        self.git().run(&["update-ref", "-d", &branch, tip]).await?;
        Ok(true)
    }

    fn forget_record(&self, name: &WorktreeName) -> Result<(), Error> {
        let path = self.record_path(name);
        fs::remove_file(&path).map_err(Error::io("remove", &path))
    }
}

fn refuse_occupied(worktree: &Worktree) -> Result<(), Error> {
    match find_occupant(&worktree.path) {
        Some(occupant) => Err(Error::Occupied {
            path: worktree.path.clone(),
            occupant,
        }),
        None => Ok(()),
    }
}
