//! The watchdog as a pure fold: each rule finds its fault within its threshold, and nothing else.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod calls;
mod costs;
mod files;
mod fixtures;
mod journal;
mod silence;
mod stage;
