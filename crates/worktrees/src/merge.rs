//! `merge`: brings a worktree's branch into a base branch, checked on exactly the commit that the base becomes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::{Error, list};
use crate::lock::FileLock;
use crate::name::WorktreeName;
use crate::rebase::Rebased;
use crate::record::{MergeRecord, Worktree, short_ref};
use crate::repository::Repository;

/// How long to wait for another merge into the same branch: it may be running the tests.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3600);
/// How often a merge is prepared again because the base moved meanwhile.
const ATTEMPTS: usize = 3;

/// Why a hook could not do its work.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

/// What the caller does in the middle of a merge, in the folder where the branch is checked out on top of its base.
#[async_trait]
pub trait MergeHooks: Send {
    /// Edits files, and gives the message of the commit that is made of the edits.
    async fn edit(&mut self, folder: &Path) -> Result<Option<String>, HookError> {
        let _ = folder;
        Ok(None)
    }

    /// Checks the commit that the base would become.
    async fn verify(&mut self, folder: &Path, commit: &str) -> Result<Verification, HookError>;
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    Passed,
    /// There is nothing to check with.
    Unverified,
    Failed {
        /// For people: which command, and the end of its output.
        summary: String,
    },
}

/// What to merge.
#[derive(Debug, Clone, Default)]
pub struct MergeRequest {
    /// The local branch to merge into; by default the one that the worktree was cut from.
    pub into: Option<String>,
    /// Whether a merge that nothing has checked is wanted.
    pub allows_unverified: bool,
    /// Patterns of ignored files that the check needs, besides those of `.worktreeinclude`.
    pub copy: Vec<String>,
}

/// What came of a merge that was not refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    Merged(Merged),
    /// The base has all of it already.
    AlreadyMerged {
        into: String,
    },
    /// Everything is as it was.
    Conflict {
        into: String,
        files: Vec<PathBuf>,
    },
    /// Everything is as it was.
    VerifyFailed {
        into: String,
        summary: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The branch that was merged into, and its new commit.
    pub into: String,
    pub commit: String,
    /// How many commits it has gained.
    pub commits: u64,
    pub is_verified: bool,
    /// The checkout that was brought up to date.
    pub advanced: Option<PathBuf>,
}

impl Repository {
    /// Merges the branch of a worktree. In a detached worktree of its own it is rebased, edited and verified; then the base
    /// moves to exactly that commit, if it has not moved meanwhile. Merges into the same branch wait for each other.
    ///
    /// # Errors
    /// If the merge is refused; everything is as it was then.
    pub async fn merge(
        &self,
        name: &WorktreeName,
        request: &MergeRequest,
        hooks: &mut dyn MergeHooks,
    ) -> Result<MergeOutcome, Error> {
        let worktree = self.worktree(name)?;
        let into = match &request.into {
            Some(into) => format!("refs/heads/{into}"),
            None => worktree
                .base
                .clone()
                .ok_or_else(|| Error::NoBaseBranch(name.to_string()))?,
        };
        if into == name.branch_ref() {
            return Err(Error::IntoItself(name.branch()));
        }
        if !into.starts_with("refs/heads/") {
            return Err(Error::NotALocalBranch(short_ref(&into).to_owned()));
        }
        if self.commit_of(&into).await?.is_none() {
            return Err(Error::BaseGone(short_ref(&into).to_owned()));
        }
        let folder = self.merge_folder(&into);
        let lock_file = folder.with_extension("lock");
        let _merge_lock = FileLock::take(&lock_file, "the branch to merge into", LOCK_TIMEOUT).await?;
        self.refuse_uncommitted(&worktree).await?;
        let mut merge = Merge {
            repository: self,
            worktree,
            request,
            into,
            folder,
        };
        let outcome = merge.perform(hooks).await;
        // A folder that cannot be removed is removed by the next merge.
        if let Err(error) = self.close_merge_folder(&merge.folder).await {
            tracing::warn!(%error, "cannot remove the folder of a merge");
        }
        outcome
    }

    async fn refuse_uncommitted(&self, worktree: &Worktree) -> Result<(), Error> {
        if !worktree.path.is_dir() {
            return Ok(());
        }
        self.refuse_foreign(&worktree.path)?;
        self.refuse_unfinished(&worktree.path).await?;
        let changes = self.changes(&worktree.path).await?;
        if !changes.is_empty() {
            return Err(Error::Uncommitted {
                path: worktree.path.clone(),
                files: changes.all(),
            });
        }
        let head = ["rev-parse", "--verify", "HEAD^{commit}"];
        let head = self.git_in(&worktree.path).text(&head).await?;
        let tip = self.commit_of(&worktree.name.branch_ref()).await?;
        if tip.as_ref() != Some(&head) {
            return Err(Error::OtherBranch {
                path: worktree.path.clone(),
                branch: worktree.branch(),
                found: head,
            });
        }
        Ok(())
    }
}

struct Merge<'a> {
    repository: &'a Repository,
    worktree: Worktree,
    request: &'a MergeRequest,
    /// The full name of the branch to merge into.
    into: String,
    folder: PathBuf,
}

impl Merge<'_> {
    async fn perform(&mut self, hooks: &mut dyn MergeHooks) -> Result<MergeOutcome, Error> {
        for _ in 0..ATTEMPTS {
            if let Some(outcome) = self.attempt(hooks).await? {
                return Ok(outcome);
            }
        }
        Err(Error::BaseMoved(self.base_name()))
    }

    fn base_name(&self) -> String {
        short_ref(&self.into).to_owned()
    }

    /// One attempt; `None` if the base has moved meanwhile.
    async fn attempt(&mut self, hooks: &mut dyn MergeHooks) -> Result<Option<MergeOutcome>, Error> {
        let repository = self.repository;
        let into = self.base_name();
        let base_tip = repository.commit_of(&self.into).await?;
        let base_tip = base_tip.ok_or_else(|| Error::BaseGone(into.clone()))?;
        let branch = self.worktree.name.branch_ref();
        let branch_tip = repository
            .commit_of(&branch)
            .await?
            .ok_or_else(|| Error::BranchGone {
                name: self.worktree.name.to_string(),
                branch: self.worktree.branch(),
            })?;
        repository.open_merge_folder(&self.folder, &branch_tip).await?;
        let rebased = repository
            .rebase(&self.folder, &self.worktree, &branch_tip, &base_tip)
            .await?;
        let rebased = match rebased {
            Rebased::Clean(commit) => commit,
            Rebased::Conflict(files) => return Ok(Some(MergeOutcome::Conflict { into, files })),
        };
        self.refuse_missing_patch(&branch_tip, &base_tip, &rebased)
            .await?;
        let commit = self.edit(hooks, rebased).await?;
        if commit == base_tip {
            self.record(&commit)?;
            return Ok(Some(MergeOutcome::AlreadyMerged { into }));
        }
        // Before the check, which may take minutes, and again when it matters.
        repository.refuse_overlap(&self.into, &base_tip, &commit).await?;
        let copied = repository.copy_ignored(&self.folder, &self.request.copy).await?;
        for note in copied {
            tracing::debug!(%note, "in the folder of a merge");
        }
        let changed_before = repository.changes(&self.folder).await?.tracked;
        let verification = hooks.verify(&self.folder, &commit).await.map_err(Error::Hook)?;
        let is_verified = match verification {
            Verification::Passed => {
                if let Some(summary) = self.changed_by_commands(&changed_before).await? {
                    return Ok(Some(MergeOutcome::VerifyFailed { into, summary }));
                }
                true
            }
            Verification::Unverified if self.request.allows_unverified => false,
            Verification::Unverified => return Err(Error::Unverified),
            Verification::Failed { summary } => {
                return Ok(Some(MergeOutcome::VerifyFailed { into, summary }));
            }
        };
        // Whoever committed meanwhile would not be in what was verified.
        if repository.commit_of(&branch).await?.as_ref() != Some(&branch_tip) {
            return Ok(None);
        }
        let message = format!("ralph: merge {}", self.worktree.name);
        let Some(advanced) = repository
            .advance(&self.into, &base_tip, &commit, &message)
            .await?
        else {
            return Ok(None);
        };
        self.record(&commit)?;
        let range = format!("{base_tip}..{commit}");
        let commits = repository
            .git()
            .text(&["rev-list", "--count", &range, "--"])
            .await?;
        Ok(Some(MergeOutcome::Merged(Merged {
            into,
            commit,
            commits: commits.parse().unwrap_or(0),
            is_verified,
            advanced: advanced.checkout,
        })))
    }

    /// Which files of the commit were changed while it was verified: what passed is then not what would be merged.
    async fn changed_by_commands(&self, before: &[PathBuf]) -> Result<Option<String>, Error> {
        let submodules = self.repository.submodules(&self.folder).await?;
        let mut changed = self.repository.changes(&self.folder).await?.tracked;
        // What is built in a submodule shows as a change of it.
        changed.retain(|path| !before.contains(path) && !submodules.contains(path));
        Ok((!changed.is_empty()).then(|| {
            format!(
                "the setup or verify commands changed files of the commit: {}. What passed is not what would be merged; \
                 commit these changes in the worktree, or let the commands leave the files alone",
                list(&changed)
            )
        }))
    }

    /// Proves that what the branch changes is in the rebased commit.
    async fn refuse_missing_patch(
        &self,
        branch_tip: &str,
        base_tip: &str,
        rebased: &str,
    ) -> Result<(), Error> {
        let repository = self.repository;
        if repository.is_ancestor(branch_tip, rebased).await? {
            return Ok(());
        }
        let from = repository
            .rebase_start(&self.worktree, branch_tip, base_tip)
            .await?;
        if repository
            .merge_changes_nothing(branch_tip, rebased, Some(&from))
            .await?
        {
            return Ok(());
        }
        Err(Error::PatchMissing {
            branch: self.worktree.branch(),
        })
    }

    /// Lets the caller edit files, and commits that.
    async fn edit(&self, hooks: &mut dyn MergeHooks, rebased: String) -> Result<String, Error> {
        let Some(message) = hooks.edit(&self.folder).await.map_err(Error::Hook)? else {
            return Ok(rebased);
        };
        let repository = self.repository;
        let git = || repository.git_in(&self.folder);
        git().run(&["add", "--all", "--sparse", "--", "."]).await?;
        let compare = ["diff", "--cached", "--quiet", "--ignore-submodules=none"];
        if git().succeeds(&compare).await? {
            return Ok(rebased);
        }
        let commit = [
            "commit",
            "--quiet",
            "--no-verify",
            "--cleanup=whitespace",
            "--file=-",
        ];
        let committing = repository.git_to_commit(&self.folder).await?;
        committing.input(message.into_bytes()).run(&commit).await?;
        git().text(&["rev-parse", "--verify", "HEAD^{commit}"]).await
    }

    fn record(&mut self, commit: &str) -> Result<(), Error> {
        self.worktree.merged = Some(MergeRecord {
            into: self.base_name(),
            commit: commit.to_owned(),
            at: Timestamp::now(),
        });
        self.worktree
            .save(&self.repository.record_path(&self.worktree.name))
    }
}
