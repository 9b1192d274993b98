//! What a backend is: a table of facts, a way to start the agent, and a mapping of its output.

mod command;
mod launch;
mod mapper;
mod profile;

pub use command::{Answer, Command, Encoded};
pub use launch::{Backend, BackendConfig, Found, KeepAlive, Launch, LaunchInput};
pub use mapper::Mapper;
pub use profile::{ExitTrust, InterruptBy, Profile, StderrClass};
