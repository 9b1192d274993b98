//! `ralph run`: the loop.

mod agent;
mod detach;
mod dry_run;
mod execute;
mod foreground;
mod prepare;
mod signals;

pub use detach::runner;
pub use execute::execute;
