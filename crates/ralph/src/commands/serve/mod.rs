//! `ralph serve`: all runs on one server, and the index behind it.

mod backends;
mod execute;
mod index;
mod launcher;
mod login_page;
mod reindex;
mod running;
mod search;

pub use execute::execute;
pub use reindex::reindex;
pub use search::search;
