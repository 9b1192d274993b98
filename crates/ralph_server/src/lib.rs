//! Every run on one durable, live, safe server.
#![warn(missing_docs)]

mod launch;
pub mod live;
pub mod manager;
pub mod stream;

pub use launch::{BackendInfo, LaunchError, Launcher, SessionStart, StartRun};
