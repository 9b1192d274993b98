//! `ralph run`: the loop.

mod agent;
mod detach;
mod dry_run;
mod execute;
mod fit;
mod foreground;
mod launch;
mod prepare;
mod settling;
mod signals;
mod withheld;

pub(super) use agent::{check_bypass, gateway, options};
pub use detach::runner;
pub use execute::execute;
pub(super) use foreground::console_options;
pub use launch::{Start, StartError, Started, start_detached};
pub(super) use signals::listen;
