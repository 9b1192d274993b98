//! Starting an agent.

use std::any::Any;
use std::path::PathBuf;

use agent_process::SpawnSpec;
use bytes::Bytes;
use claude_code::Version;

use super::mapper::Mapper;
use super::profile::Profile;
use crate::error::Error;
use crate::request::{Close, RunOptions, RunRequest};

/// One kind of agent: facts, a way to start it, a mapping of its output.
///
/// Everything else (spawning, framing, deadlines, stopping, the completion gate) is the harness's and the same for
/// all.
pub trait Backend: Send + Sync {
    /// The facts.
    fn profile(&self) -> &Profile;

    /// Its configuration.
    fn config(&self) -> &BackendConfig;

    /// Checks the values of the backend's own extension keys.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when one is wrong.
    fn check_extensions(&self, options: &RunOptions) -> Result<(), Error> {
        let _ = options;
        Ok(())
    }

    /// What to start for a request: a command line, what goes into its input, and the mapping of what comes out.
    /// Starts nothing. The request is complete: configuration and extensions are worked in.
    ///
    /// # Errors
    /// When the request cannot be carried out.
    fn launch(&self, request: &RunRequest, found: &Found) -> Result<Launch, Error>;
}

/// How a backend is set up.
#[derive(Debug, Clone, Default)]
pub struct BackendConfig {
    /// The program: a path, or a name that is looked up in the agent's `PATH`; the profile's if nobody says otherwise.
    pub program: Option<PathBuf>,
    /// What requests leave open.
    pub defaults: RunOptions,
}

/// The agent's program as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The program.
    pub program: PathBuf,
    /// Its version, where it was asked and said.
    pub version: Option<Version>,
}

/// What to start.
pub struct Launch {
    /// The process. Timeout, logs, transport and limits are filled in by the harness.
    pub spec: SpawnSpec,
    /// What it reads.
    pub input: LaunchInput,
    /// The mapping of its output.
    pub mapper: Box<dyn Mapper>,
    /// Kept until the process has exited: files it reads, for example.
    pub keep_alive: KeepAlive,
    /// What was asked for and cannot be had in full: code and message.
    pub notes: Vec<(String, String)>,
}

/// Something that must outlive a process.
pub type KeepAlive = Option<Box<dyn Any + Send>>;

/// What the agent reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchInput {
    /// Nothing: end of file at once.
    Nothing,
    /// These bytes, then end of file.
    Bytes(Bytes),
    /// These lines, then what [`Mapper::encode`] makes of commands.
    Messages {
        /// Each with its line end.
        first: Vec<Bytes>,
        /// When the input ends.
        close: Close,
    },
}
