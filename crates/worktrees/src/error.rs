//! `Error`: why something could not be done with a worktree. Each message says what to do next.

use std::io;
use std::path::{Path, PathBuf};

use agent_process::SpawnError;

use crate::occupants::Occupant;

/// At most this many files are named.
const MAX_FILES: usize = 5;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("cannot run git in `{}`; is it installed?", folder.display())]
    GitNotStarted { folder: PathBuf, source: SpawnError },
    #[error("`git {command}` failed in `{}`: {detail}", folder.display())]
    Git {
        command: String,
        folder: PathBuf,
        detail: String,
    },
    #[error("`git {command}` did not finish within {seconds} s in `{}`", folder.display())]
    GitTimedOut {
        command: String,
        folder: PathBuf,
        seconds: u64,
    },
    #[error("`{}` is not in a git repository; worktrees need one, `git init` makes it", .0.display())]
    NotARepository(PathBuf),
    #[error("`{}` is a bare repository; run this in one of its worktrees, or in a clone", .0.display())]
    Bare(PathBuf),
    #[error(
        "the git directory `{}` does not say where its main checkout is; run this in the main checkout instead", .0.display()
    )]
    SeparateGitDirectory(PathBuf),
    #[error("the repository `{}` has no commits; make the first one with `git commit`", .0.display())]
    NoCommits(PathBuf),
    #[error(
        "`{0}` is neither a branch nor a commit of this repository; `git branch --all` lists the branches"
    )]
    UnknownBase(String),
    #[error(
        "`{0}` cannot name a worktree: use up to 64 lower-case letters, digits, `-` and `_`, and start with a letter or digit"
    )]
    BadName(String),
    #[error(
        "the worktree `{0}` exists already; choose another name, or remove it with `ralph worktrees remove {0}`"
    )]
    Exists(String),
    #[error(
        "the branch `{branch}` exists already, but has no worktree of ours; choose another name. `git log {branch}` \
         shows what is on it, and `git branch -d {branch}` deletes it if it is merged"
    )]
    BranchExists { branch: String },
    #[error("there is no worktree `{0}` of this repository; `ralph worktrees` lists them")]
    Unknown(String),
    #[error(
        "the worktree `{name}` is gone and so is its branch `{branch}`; `git for-each-ref refs/ralph/rescue/{name}-*` \
         lists what was rescued of it"
    )]
    BranchGone { name: String, branch: String },
    #[error("another process has been using {what} for {seconds} s; try again when it is done")]
    Locked { what: String, seconds: u64 },
    #[error("{occupant} works in `{}`; end it first", path.display())]
    Occupied { path: PathBuf, occupant: Occupant },
    #[error(
        "the worktree `{name}` has work that is not merged: {work}. Merge it with `ralph merge {name}`, or add `--force`: \
         the work is then kept under `refs/ralph/rescue/`"
    )]
    HasWork { name: String, work: String },
    #[error(
        "`{}` contains another repository, `{}`, whose work cannot be kept; push its commits, then move it elsewhere",
        path.display(), inner.display()
    )]
    NestedRepository { path: PathBuf, inner: PathBuf },
    #[error(
        "commits of the submodules of `{}` are in `{}`, which would be deleted; push what you need of them, then delete \
         that folder", path.display(), modules.display()
    )]
    Submodules { path: PathBuf, modules: PathBuf },
    #[error(
        "`.git` in `{}` is not the file that git made there, so nothing was run in it; delete it and restore it with \
         `git worktree repair` in the main checkout", .0.display()
    )]
    ForeignGit(PathBuf),
    #[error("a {operation} is in progress in `{}`; finish or abort it there", path.display())]
    InProgress { operation: &'static str, path: PathBuf },
    #[error(
        "`{}` has `{found}` checked out instead of `{branch}`, and they have diverged; run `git -C {} switch {branch}`, \
         or merge by hand", path.display(), path.display()
    )]
    OtherBranch {
        path: PathBuf,
        branch: String,
        found: String,
    },
    #[error("files in `{}` changed while they were saved: {}; try again", path.display(), list(files))]
    ChangedMeanwhile { path: PathBuf, files: Vec<PathBuf> },
    #[error("`{}` is not where worktrees are kept; its record is damaged and nothing was touched", .0.display())]
    OutsideOfState(PathBuf),
    #[error("cannot read the record `{}`: {why}", path.display())]
    DamagedRecord { path: PathBuf, why: String },
    #[error("cannot {action} `{}`", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("the worktree `{0}` was not cut from a branch; name the branch to merge into with `--into`")]
    NoBaseBranch(String),
    #[error("`{0}` is not a local branch, so nothing can be merged into it; name one with `--into`")]
    NotALocalBranch(String),
    #[error("`{0}` cannot be merged into itself; name another branch with `--into`")]
    IntoItself(String),
    #[error("there is no branch `{0}`; name another one with `--into`")]
    BaseGone(String),
    #[error("`{branch}` and `{base}` have no common history; merge them by hand")]
    Unrelated { branch: String, base: String },
    #[error(
        "the base lacks commits that `{branch}` was cut from, and the branch contains merges, which would bring them back; \
         merge it by hand"
    )]
    BaseRewritten { branch: String },
    #[error(
        "the worktree `{}` has uncommitted changes: {}. Commit them there, then merge again",
        path.display(), list(files)
    )]
    Uncommitted { path: PathBuf, files: Vec<PathBuf> },
    #[error(
        "`{base}` is checked out in `{}`, and the merge would change files that you have changed there: {}. Commit or \
         stash them (`git -C {} stash push --include-untracked`), then merge again",
        checkout.display(), list(files), checkout.display()
    )]
    CheckoutChanged {
        checkout: PathBuf,
        base: String,
        files: Vec<PathBuf>,
    },
    #[error(
        "the files of `{}` are half brought up to date: {why}. Nothing was merged; free disk space if there is none, then \
         look at `git -C {} status`, and bring the files of the merge back with `git restore`",
        checkout.display(), checkout.display()
    )]
    HalfAdvanced { checkout: PathBuf, why: String },
    #[error("`{base}` is checked out in {count} worktrees; leave it checked out in at most one")]
    CheckedOutTwice { base: String, count: usize },
    #[error("`{0}` moved three times while the merge was being prepared; try again")]
    BaseMoved(String),
    #[error(
        "there is no verify command, so the merge would be unverified; set `verify` in ralph.yml, or add `--unverified`"
    )]
    Unverified,
    #[error("after the rebase some changes of `{branch}` are missing; nothing was merged: merge it by hand")]
    PatchMissing { branch: String },
    #[error("{0}")]
    Hook(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

pub(crate) fn list(files: &[PathBuf]) -> String {
    let named: Vec<String> = files
        .iter()
        .take(MAX_FILES)
        .map(|file| format!("`{}`", file.display()))
        .collect();
    match files.len().saturating_sub(MAX_FILES) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
