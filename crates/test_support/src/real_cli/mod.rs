//! The real Claude Code CLI: exact versions from npm, run without anything of this machine's environment.

mod environment;
mod install;
mod workspace;

pub use environment::{FAKE_KEY, isolated_env};
pub use install::{InstallError, RealClaude};
pub use workspace::Workspace;

/// The version that everything is written for.
pub const CURRENT: &str = "2.1.325";

/// The versions that are tested, newest first. An exact version is always asked for: npm silently gives old Node versions
/// an old CLI.
pub const VERSIONS: [&str; 4] = [CURRENT, "2.1.197", "2.1.83", "1.0.108"];
