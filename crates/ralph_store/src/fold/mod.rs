//! `RunFold`: from the lines of a journal to the rows of an index.

mod approvals;
mod begin;
mod run_fold;
mod sessions;
mod settled_usage;
mod state;
mod title;
mod usage_rows;

pub use run_fold::{Folded, RunFold};
pub(crate) use sessions::tells_of_sessions;
pub(crate) use state::FOLD_VERSION;
pub use state::FoldState;
