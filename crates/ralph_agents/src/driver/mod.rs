//! The driver: performs what `plan` decides. It observes and plans one round after the other, executes the actions of a
//! round in parallel, and records their results in order.

mod actions;
mod entries;
mod observe;
mod reconciler;

pub use actions::MAX_PARALLEL_STARTS;
pub use reconciler::{Reconciler, RoundReport};
