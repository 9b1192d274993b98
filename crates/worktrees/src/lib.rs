//! Git worktrees for coding agents.
//!
//! A [`Repository`] cuts a worktree and its branch `ralph/<name>` from a recorded commit, outside of the repository, for
//! one agent at a time. It commits what the agent left, merges the branch without touching the user's checkout more than
//! a fast-forward has to, and removes worktrees without losing work. git is called as a program, always with a deadline.
//!
//! Everything is kept under a directory of the caller's: `<state>/<repository-id>/<name>/` is the worktree and
//! `<name>.json` beside it its record. Names that start with a dot are ours: locks, merges and the quarantine.

mod advance;
mod changes;
mod checkout_watch;
mod copy_ignored;
mod create;
mod error;
mod gc;
mod git;
mod identity;
mod leftovers;
mod lock;
mod merge;
mod merged;
mod name;
mod note;
mod occupants;
mod ports;
mod quarantine;
mod rebase;
mod record;
mod remove;
mod repository;
mod rescue;
mod status;

pub use checkout_watch::{CheckoutChanges, CheckoutSnapshot};
pub use create::{Created, NewWorktree};
pub use error::Error;
pub use gc::{Cleaned, RetentionPolicy};
pub use git::GitEnvironment;
pub use leftovers::{Leftovers, Progress};
pub use merge::{HookError, MergeHooks, MergeOutcome, MergeRequest, Merged, Verification};
pub use name::WorktreeName;
pub use note::Note;
pub use occupants::Occupant;
pub use ports::PORTS_PER_WORKTREE;
pub use quarantine::QuarantineEntry;
pub use record::{MergeRecord, Worktree};
pub use remove::{RemoveMode, Removed};
pub use repository::{Repository, repository_id};
pub use status::{Dirt, WorktreeStatus};
