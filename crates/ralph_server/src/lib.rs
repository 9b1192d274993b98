//! Every run on one durable, live, safe server.
#![warn(missing_docs)]

mod launch;

pub use launch::{BackendInfo, LaunchError, Launcher, SessionStart, StartRun};
