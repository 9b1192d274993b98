//! From a journal's lines to what is kept of them.

mod approvals;
mod begin;
mod run_fold;
mod sessions;
mod state;
mod title;
mod usage_rows;

pub use run_fold::{Folded, RunFold};
pub(crate) use sessions::tells_of_sessions;
pub use state::FoldState;
