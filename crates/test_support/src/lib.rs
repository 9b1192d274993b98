//! What ralph's tests need and its products may not import.
//!
//! - [`script`]: a typed builder for the scripted agent `fake_claude` (a binary of this package);
//! - [`dialect`]: single lines as Claude Code writes them, and [`demo`], a short session made of them;
//! - [`recorded`]: which of the processes that a script started are still alive;
//! - [`fake_model`]: the model's API, scripted, for the real CLI;
//! - [`real_cli`]: exact versions of the real CLI, isolated;
//! - [`postgres`]: a private PostgreSQL server (Unix only);
//! - [`future_journal`]: a run as a newer version might write it; [`text_from`]: how a record refers to earlier text;
//! - [`wait_until`] and [`wait_for`]: waiting with a deadline; [`LeftoverRuns`]: ends runs that a test left behind;
//! - [`fixtures`]: what they wrote, captured by the binary `capture` and made fit to be kept by [`normalise`].
#![warn(missing_docs)]

mod binaries;
pub mod demo;
pub mod dialect;
pub mod fake_model;
pub mod fixtures;
mod future_journal;
mod journal_text;
mod leftover_runs;
pub mod normalise;
#[cfg(unix)]
pub mod postgres;
pub mod real_cli;
pub mod recorded;
pub mod script;
mod wait;

pub use binaries::{BinaryNotBuilt, bin};
pub use future_journal::{FUTURE_RUN, future_journal, future_run_file};
pub use journal_text::text_from;
pub use leftover_runs::LeftoverRuns;
pub use wait::{wait_for, wait_until};
