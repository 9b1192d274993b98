//! `commit_leftovers`: commits what an agent left in its worktree, so that the branch has all of its work.

use std::path::PathBuf;

use crate::error::Error;
use crate::git::zero_separated;
use crate::name::WorktreeName;
use crate::record::{Worktree, short_ref};
use crate::repository::Repository;

/// What was left uncommitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftovers {
    /// The commit that was made of it; none if nothing was left.
    pub commit: Option<String>,
    /// How many files it has.
    pub files: usize,
    /// Folders that are repositories of their own, which a commit cannot contain.
    pub nested: Vec<PathBuf>,
    /// Everything since the worktree was cut.
    pub progress: Progress,
}

/// What a worktree's branch has that its base commit has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Neither a commit nor a changed file.
    NoChange,
    /// Commits, and how many files they change in sum.
    Changed { commits: u64, files: usize },
}

impl Repository {
    /// Commits all changes of a worktree, without hooks and signatures. Filters of the user's git, such as the one of
    /// Git LFS, are applied.
    ///
    /// # Errors
    /// If a merge or rebase is unfinished there, or another branch is checked out that does not continue ours.
    pub async fn commit_leftovers(&self, name: &WorktreeName, message: &str) -> Result<Leftovers, Error> {
        let _name_lock = self.lock_name(name).await?;
        let worktree = self.worktree(name)?;
        self.refuse_foreign(&worktree.path)?;
        self.refuse_unfinished(&worktree.path).await?;
        self.return_to_branch(&worktree).await?;
        let changes = self.changes(&worktree.path).await?;
        let is_folder = |path: &PathBuf| path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let (nested, untracked): (Vec<_>, Vec<_>) = changes.untracked.into_iter().partition(is_folder);
        let files = changes.tracked.len() + untracked.len();
        let mut commit = None;
        if files > 0 {
            let git = || self.git_in(&worktree.path);
            // With a path it fails where nothing is tracked.
            git().run(&["add", "--update"]).await?;
            if !untracked.is_empty() {
                let mut names = Vec::new();
                for path in &untracked {
                    names.extend_from_slice(path.as_os_str().as_encoded_bytes());
                    names.push(0);
                }
                let add = ["add", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"];
                git().input(names).run(&add).await?;
            }
            let git = self.git_to_commit(&worktree.path).await?;
            let is_staged = !self
                .git_in(&worktree.path)
                .succeeds(&["diff", "--cached", "--quiet", "--ignore-submodules=none"])
                .await?;
            // A file may differ in nothing but its time, or in what a filter removes.
            if is_staged {
                let arguments = [
                    "commit",
                    "--quiet",
                    "--no-verify",
                    "--cleanup=whitespace",
                    "--file=-",
                ];
                git.input(message.as_bytes().to_vec()).run(&arguments).await?;
                commit = self.commit_of(&name.branch_ref()).await?;
            }
        }
        Ok(Leftovers {
            commit,
            files,
            nested,
            progress: self.progress(&worktree).await?,
        })
    }

    /// What the branch of a worktree has that its base commit has not.
    pub async fn progress(&self, worktree: &Worktree) -> Result<Progress, Error> {
        let range = format!("{}..{}", worktree.base_commit, worktree.name.branch_ref());
        let commits = self.git().text(&["rev-list", "--count", &range, "--"]).await?;
        let branch = worktree.name.branch_ref();
        let diff = [
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            &worktree.base_commit,
            &branch,
            "--",
        ];
        let files = self.git().bytes(&diff).await?;
        let files = zero_separated(&files).len();
        match commits.parse().unwrap_or(0) {
            0 => Ok(Progress::NoChange),
            commits => Ok(Progress::Changed { commits, files }),
        }
    }

    /// An agent may have made a branch of its own, or none. If it continues ours, ours is moved there; the files are not
    /// touched.
    async fn return_to_branch(&self, worktree: &Worktree) -> Result<(), Error> {
        let git = || self.git_in(&worktree.path);
        let branch = worktree.name.branch_ref();
        let head = git().answer(&["symbolic-ref", "--quiet", "HEAD"]).await?;
        if head.as_deref() == Some(&branch) {
            return Ok(());
        }
        let commit = git().text(&["rev-parse", "--verify", "HEAD^{commit}"]).await?;
        let ours = self.commit_of(&branch).await?;
        let old = ours.clone().unwrap_or_else(|| worktree.base_commit.clone());
        if !self.is_ancestor(&old, &commit).await? {
            return Err(Error::OtherBranch {
                path: worktree.path.clone(),
                branch: worktree.branch(),
                found: head.as_deref().map_or(commit.as_str(), short_ref).to_owned(),
            });
        }
        // With an empty old value the branch must not exist.
        let expected = ours.unwrap_or_default();
        let update = [
            "update-ref",
            "-m",
            "ralph: continue here",
            &branch,
            &commit,
            &expected,
        ];
        self.git().run(&update).await?;
        git()
            .run(&["symbolic-ref", "-m", "ralph: return", "HEAD", &branch])
            .await
    }
}
