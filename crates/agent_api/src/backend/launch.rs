//! `Backend`, the trait that every agent implements, and `Launch`, the process it wants started.

use std::any::Any;
use std::path::PathBuf;

use agent_client::{Expansion, Version};
use agent_process::SpawnSpec;
use bytes::Bytes;

use super::mapper::Mapper;
use super::profile::Profile;
use crate::error::Error;
use crate::request::{Close, RunOptions, RunRequest};

/// One kind of agent: a profile, a way to start it, and a mapping of its output.
///
/// Everything else (spawning, framing, deadlines, stopping, completion) is the harness's and the same for all.
pub trait Backend: Send + Sync {
    /// The facts about the agent.
    fn profile(&self) -> &Profile;

    /// How this backend was configured.
    fn config(&self) -> &BackendConfig;

    /// Checks the values of the backend's own extension keys.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when one is wrong.
    fn check_extensions(&self, options: &RunOptions) -> Result<(), Error> {
        let _ = options;
        Ok(())
    }

    /// Capabilities of the profile that the agent lacks in the form that this request needs, where it has several. A
    /// request that wants one of them is refused.
    fn lacks(&self, request: &RunRequest) -> &'static [&'static str] {
        let _ = request;
        &[]
    }

    /// Turns a request into a command line, its input and the mapping of its output. Starts nothing. Configuration and
    /// extensions are already applied to the request.
    ///
    /// # Errors
    /// When the request cannot be carried out.
    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error>;

    /// Whether a recording whose first lines are these is this agent's output.
    fn recognises(&self, first_lines: &[&[u8]]) -> bool {
        let _ = first_lines;
        false
    }

    /// A mapping for a recording of this agent's output; `None` if recordings cannot be mapped.
    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        None
    }
}

/// How a backend is configured.
#[derive(Debug, Clone, Default)]
pub struct BackendConfig {
    /// The program: a path, or a name that is looked up in the agent's `PATH`. By default the profile's.
    pub program: Option<PathBuf>,
    /// Options for everything that a request leaves unset.
    pub defaults: RunOptions,
}

/// An agent's program that was found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledAgent {
    /// The program.
    pub program: PathBuf,
    /// Its version; `None` if it was not asked or printed none.
    pub version: Option<Version>,
}

/// A process to start, its input, and the mapping of its output.
#[non_exhaustive]
pub struct Launch {
    /// The process. The harness fills in timeout, logs, transport and limits.
    pub spec: SpawnSpec,
    /// Its input.
    pub input: LaunchInput,
    /// The mapping of its output.
    pub mapper: Box<dyn Mapper>,
    /// Dropped after the process has exited: temporary files it reads, for example.
    pub keep_alive: HeldUntilExit,
    /// Parts of the request that this agent cannot fully carry out: code and message.
    pub notes: Vec<(String, String)>,
}

impl Launch {
    /// A launch that holds nothing and has no notes.
    #[must_use]
    pub fn new(spec: SpawnSpec, input: LaunchInput, mapper: Box<dyn Mapper>) -> Self {
        Self {
            spec,
            input,
            mapper,
            keep_alive: None,
            notes: Vec::new(),
        }
    }
}

/// [`Backend::launch`], with notes on what the agent may read into a prompt that should be plain text.
///
/// # Errors
/// When the request cannot be carried out.
pub(crate) fn launch(
    backend: &dyn Backend,
    request: &RunRequest,
    found: &InstalledAgent,
) -> Result<Launch, Error> {
    let mut launch = backend.launch(request, found)?;
    let profile = backend.profile();
    let (name, prompt) = (profile.display_name, &request.prompt);
    if request.options.expansion.unwrap_or_default() == Expansion::Literal {
        if profile.runs_commands && prompt.starts_with('/') {
            let text =
                format!("{name} may run the start of the prompt as a command: begin with another character");
            launch.notes.push(("command_expanded".to_owned(), text));
        }
        if profile.adds_files && prompt.contains('@') {
            let text = format!("{name} adds the file that `@file` in a prompt names if there is one");
            launch.notes.push(("mentions_expanded".to_owned(), text));
        }
    }
    Ok(launch)
}

/// Something that must outlive the process.
pub type HeldUntilExit = Option<Box<dyn Any + Send>>;

/// What the agent reads on its standard input.
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
