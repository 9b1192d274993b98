//! `WorktreeStatus`: how a worktree stands to its base, what is uncommitted in it, and how large it is.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::name::WorktreeName;
use crate::occupants::{Occupant, find_occupant};
use crate::record::Worktree;
use crate::repository::Repository;

/// A worktree as it is now.
#[derive(Debug, Clone)]
pub struct WorktreeStatus {
    pub worktree: Worktree,
    /// Its branch; none if that is gone.
    pub tip: Option<String>,
    /// Commits that it has and its base has not, and the other way round. The base is the branch as it is now, or the
    /// commit if that branch is gone.
    pub ahead: u64,
    pub behind: u64,
    /// Whether the branch that it was cut from still exists.
    pub has_base: bool,
    /// Whether all of its commits are in its base, or in the branch that it was merged into.
    pub is_merged: bool,
    /// None if its folder is gone.
    pub dirt: Option<Dirt>,
    /// How much of the disk its files take, ignored ones included.
    pub size_bytes: u64,
    /// A process that works in it.
    pub occupant: Option<Occupant>,
}

/// What is uncommitted in a worktree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dirt {
    /// Tracked files that were changed.
    pub changed: usize,
    pub untracked: usize,
}

impl Dirt {
    pub fn is_clean(self) -> bool {
        self == Self::default()
    }
}

impl Repository {
    pub async fn status(&self, name: &WorktreeName) -> Result<WorktreeStatus, Error> {
        let worktree = self.worktree(name)?;
        let tip = self.commit_of(&name.branch_ref()).await?;
        let base = match &worktree.base {
            Some(base) => self.commit_of(base).await?,
            None => Some(worktree.base_commit.clone()),
        };
        let (mut ahead, mut behind, mut is_merged) = (0, 0, true);
        if let Some(tip) = &tip {
            let base = base.as_ref().unwrap_or(&worktree.base_commit);
            let range = format!("{base}...{tip}");
            let counts = ["rev-list", "--left-right", "--count", &range, "--"];
            let counts = self.git().text(&counts).await?;
            let mut counts = counts.split_whitespace().map(|count| count.parse().unwrap_or(0));
            behind = counts.next().unwrap_or(0);
            ahead = counts.next().unwrap_or(0);
            is_merged = ahead == 0 || self.is_in_base(&worktree, tip).await?;
        }
        let mut dirt = None;
        if worktree.path.is_dir() {
            self.refuse_foreign(&worktree.path)?;
            let changes = self.changes(&worktree.path).await?;
            dirt = Some(Dirt {
                changed: changes.tracked.len(),
                untracked: changes.untracked.len(),
            });
        }
        let path = worktree.path.clone();
        let measure = move || (disk_usage(&path), find_occupant(&path));
        let (size_bytes, occupant) = tokio::task::spawn_blocking(measure).await.unwrap_or_default();
        Ok(WorktreeStatus {
            tip,
            ahead,
            behind,
            has_base: worktree.base.is_none() || base.is_some(),
            is_merged,
            dirt,
            size_bytes,
            occupant,
            worktree,
        })
    }
}

/// What the files below a folder take of the disk. Links are not followed; clones and hard links count in full.
pub(crate) fn disk_usage(folder: &Path) -> u64 {
    let mut folders = vec![folder.to_owned()];
    let mut bytes = 0_u64;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(allocated(&metadata));
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(unix)]
fn allocated(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.blocks().saturating_mul(512)
}

#[cfg(not(unix))]
fn allocated(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
