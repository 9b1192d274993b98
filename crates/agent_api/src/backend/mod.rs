//! What a backend is: a table of facts, a way to start the agent, and a mapping of its output.

mod command;
mod launch;
mod mapper;
mod profile;
mod untested_version;

pub use command::{Answer, Command};
pub(crate) use launch::launch;
pub use launch::{Backend, BackendConfig, HeldUntilExit, InstalledAgent, Launch, LaunchInput};
pub use mapper::Mapper;
pub(crate) use profile::TOOL_INACTIVITY_LIMIT;
pub use profile::{
    ExitCode, ExitTrust, InterruptBy, LoginCheck, LoginFile, Profile, RootRefusal, StderrClass, ToolNames,
};
pub use untested_version::UntestedVersion;
