//! Worktrees of real repositories, with git as it is installed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod creating;
mod leaving;
pub(crate) mod merging;
mod odd_merges;
mod removing;
mod stage;
mod states;
