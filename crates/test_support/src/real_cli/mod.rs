//! The real CLIs: exact versions from npm, run in an environment that holds nothing of this machine's.

mod agent;
mod environment;
mod install;
mod npm;
#[cfg(target_os = "linux")]
mod processes;
mod runnable;
#[cfg(target_os = "linux")]
mod shell_gate;
mod workspace;

pub use agent::Agent;
pub use environment::{FAKE_KEY, isolated_env};
pub use install::{InstallError, RealClaude, RealCli};
#[cfg(target_os = "linux")]
pub use processes::processes_of;
pub use runnable::CannotRun;
#[cfg(target_os = "linux")]
pub use shell_gate::ShellGate;
pub use workspace::Workspace;

/// The version of Claude Code that everything is written for.
pub const CURRENT: &str = "2.1.325";

/// The versions of Claude Code that are tested, newest first. An exact version is always asked for: npm silently gives old Node versions
/// an old CLI.
pub const VERSIONS: [&str; 4] = [CURRENT, "2.1.197", "2.1.83", "1.0.108"];
