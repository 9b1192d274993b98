//! What the model says: one function per scenario, from a turn to an answer.

mod agents;
mod faults;
mod files;
mod shell;
mod table;
mod talk;
mod turn;

pub(super) use table::find;
pub use table::names;
pub(super) use turn::Turn;
