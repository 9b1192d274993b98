//! The real CLIs: exact versions from npm, run without anything of this machine's environment.

mod agent;
mod environment;
mod install;
mod workspace;

pub use agent::Agent;
pub use environment::{FAKE_KEY, isolated_env};
pub use install::{InstallError, RealClaude, RealCli};
pub use workspace::Workspace;

/// The version of Claude Code that everything is written for.
pub const CURRENT: &str = "2.1.325";

/// The versions of Claude Code that are tested, newest first. An exact version is always asked for: npm silently gives old Node versions
/// an old CLI.
pub const VERSIONS: [&str; 4] = [CURRENT, "2.1.197", "2.1.83", "1.0.108"];
