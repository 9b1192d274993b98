//! `ralph serve`: all runs on one server, and the index behind it.

mod backends;
mod execute;
mod index;
mod launcher;
mod reindex;
mod search;

pub use execute::execute;
pub use reindex::reindex;
pub use search::search;
