//! What git knows about a run: the commit that it started from, the commits since then, and the files that changed;
//! and files as they are in a commit.
//!
//! An agent can write to the repository, so nothing in it may make git start a program: see `command.rs` for the
//! questions that use the repository's own settings, and `private_repository.rs` for those that must not.

mod changes;
mod command;
mod commits;
mod committed_files;
mod diff_output;
mod private_repository;

pub use changes::{ChangedFile, GitChanges, changes_since};
pub use commits::{Commit, Commits, commits_since, is_readable, start_commit};
pub use committed_files::committed_files;
