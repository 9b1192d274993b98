//! `Probe`: which CLI is installed, and what it can do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_client::{DetectError, Environment, ProgramDetector, ProgramQuery, Version};
use agent_process::{Exit, SpawnError};

use crate::capabilities::Capabilities;

/// An installed CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The program, as it was asked for.
    pub path: PathBuf,
    /// Its version.
    pub version: Version,
    /// What that version can do.
    pub capabilities: Capabilities,
}

/// Why the version is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// No such program.
    #[error("Claude Code is not installed: run `npm install -g @anthropic-ai/claude-code`, or give the full path of its program: `{}`", program.display())]
    NotFound {
        /// As it was asked for.
        program: PathBuf,
    },
    /// It exists but cannot be executed.
    #[error("the program is not executable: check its mode (`chmod +x`): `{}`", program.display())]
    NotExecutable {
        /// The file that was found.
        program: PathBuf,
    },
    /// It did not answer.
    #[error("no answer to `--version` within {} seconds: run it by hand to see why: `{}`", timeout.as_secs(), program.display())]
    TimedOut {
        /// The program.
        program: PathBuf,
        /// The time it had.
        timeout: Duration,
    },
    /// It answered something else.
    #[error("no version number in the answer to `--version` ({exit}): is this Claude Code? `{}`", program.display())]
    NoVersion {
        /// The program.
        program: PathBuf,
        /// How it ended.
        exit: Exit,
    },
    /// It could not be started for another reason.
    #[error("cannot ask for the version")]
    Spawn {
        /// Why.
        source: SpawnError,
    },
}

/// Asks the program for its version. Takes 20 seconds at most, and leaves nothing behind.
///
/// # Errors
/// If there is no such program, or it does not print its version.
pub async fn probe(binary: impl AsRef<Path>, environment: &Environment) -> Result<Probe, ProbeError> {
    find(&ProgramDetector::new(), binary.as_ref(), environment, None).await
}

/// [`probe`] in a working directory, from which a relative path of the program is resolved. The detector's cache
/// notices when the program's file has changed.
pub(crate) async fn find(
    detector: &ProgramDetector,
    binary: &Path,
    environment: &Environment,
    cwd: Option<&Path>,
) -> Result<Probe, ProbeError> {
    let query = ProgramQuery {
        program: binary,
        version_args: &["--version"],
        version_word: Some("Claude Code"),
        environment,
        cwd,
    };
    let found = detector.find(query).await.map_err(|error| match error {
        DetectError::Spawn(SpawnError::NotFound { program }) => ProbeError::NotFound { program },
        DetectError::Spawn(SpawnError::NotExecutable { program, .. }) => {
            ProbeError::NotExecutable { program }
        }
        DetectError::Spawn(source) => ProbeError::Spawn { source },
        DetectError::VersionTimeout { program, timeout } => ProbeError::TimedOut { program, timeout },
        DetectError::VersionCheckFailed { program, exit } => ProbeError::NoVersion { program, exit },
    })?;
    let Some(version) = found.version else {
        return Err(ProbeError::NoVersion {
            program: found.path,
            exit: Exit::Code(0),
        });
    };
    Ok(Probe {
        path: found.path,
        version,
        capabilities: Capabilities::for_version(version),
    })
}
