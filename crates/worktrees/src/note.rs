//! `Note`: something about a new worktree that its user should know.

use std::fmt;
use std::path::PathBuf;

use crate::error::list;

/// Something about a new worktree that its user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// It was cut from a commit, so a merge needs to be told where to.
    NoBaseBranch,
    Shallow,
    Sparse,
    /// Their folders are empty.
    Submodules(Vec<PathBuf>),
    LargeFilesSkipped,
    /// Changed files of the main checkout, which are not in the worktree.
    CheckoutDirty(usize),
    /// How many commits the base lacks that its upstream has, as of the last fetch.
    Behind {
        base: String,
        upstream: String,
        commits: u64,
    },
    FetchFailed {
        base: String,
        why: String,
    },
    /// Ignored files that were not copied, and why.
    NotCopied {
        path: PathBuf,
        why: String,
    },
    NoPorts,
    /// It was missing, and was checked out again from its branch.
    Recreated,
    /// Commits of the lost folder that are not on its branch, and the ref that keeps them.
    Rescued(String),
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBaseBranch => formatter.write_str(
                "it was cut from a commit, not from a branch; `ralph merge` will need `--into BRANCH`",
            ),
            Self::Shallow => formatter.write_str("the repository is shallow; merges may lack common history"),
            Self::Sparse => formatter.write_str("the checkout is sparse; so is the worktree"),
            Self::Submodules(paths) => write!(
                formatter,
                "submodules are not checked out: {}. A setup command can do it: `git submodule update --init`",
                list(paths)
            ),
            Self::LargeFilesSkipped => formatter
                .write_str("files of Git LFS are pointers. A setup command can fetch them: `git lfs pull`"),
            Self::CheckoutDirty(1) => {
                formatter.write_str("1 uncommitted change of your checkout is not in the worktree")
            }
            Self::CheckoutDirty(count) => {
                write!(
                    formatter,
                    "{count} uncommitted changes of your checkout are not in the worktree"
                )
            }
            Self::Behind {
                base,
                upstream,
                commits,
            } => {
                let commits = plural(*commits, "commit");
                write!(formatter, "`{base}` is {commits} behind `{upstream}`")
            }
            Self::FetchFailed { base, why } => {
                write!(
                    formatter,
                    "`{base}` could not be fetched, so it may be old: {why}"
                )
            }
            Self::NotCopied { path, why } => write!(formatter, "`{}` was not copied: {why}", path.display()),
            Self::NoPorts => {
                formatter.write_str("all blocks of ports are taken; remove worktrees to free some")
            }
            Self::Recreated => {
                formatter.write_str("its folder was missing; it was checked out again from its branch")
            }
            Self::Rescued(reference) => write!(
                formatter,
                "commits that were not on its branch are kept as `{reference}`"
            ),
        }
    }
}

/// `1 commit`, `2 commits`.
pub(crate) fn plural(count: u64, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    }
}
