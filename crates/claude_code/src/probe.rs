//! Which CLI is installed, and what it can do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_process::{Exit, Isolation, SpawnError, SpawnSpec};

use crate::capabilities::Capabilities;
use crate::request::Environment;
use crate::version::Version;

/// How long the CLI may take to say its version. It takes 10 ms; old ones that run on Node take a second.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

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
    #[error("no answer to `--version` within {} seconds: run it by hand to see why: `{}`", PROBE_LIMIT.as_secs(), program.display())]
    TimedOut {
        /// The program.
        program: PathBuf,
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

/// Asks the program for its version. Takes 5 seconds at most, and leaves nothing behind.
///
/// # Errors
/// When there is no such program, or it does not say its version.
pub async fn probe(binary: impl AsRef<Path>, environment: &Environment) -> Result<Probe, ProbeError> {
    ask(binary.as_ref(), environment, None).await
}

/// [`probe`] in a working directory, which a relative path of the program counts from.
pub(crate) async fn ask(
    binary: &Path,
    environment: &Environment,
    cwd: Option<&Path>,
) -> Result<Probe, ProbeError> {
    let program = binary.to_path_buf();
    let mut spec = SpawnSpec::new(&program);
    spec.cwd = cwd.map(Path::to_path_buf);
    spec.args = vec!["--version".into()];
    spec.env = environment.policy(Isolation::None);
    let answer = agent_process::ask(spec, PROBE_LIMIT)
        .await
        .map_err(|error| match error {
            SpawnError::NotFound { program } => ProbeError::NotFound { program },
            SpawnError::NotExecutable { program, .. } => ProbeError::NotExecutable { program },
            source => ProbeError::Spawn { source },
        })?;
    let report = answer.exit;
    let answer = String::from_utf8_lossy(&answer.stdout);
    // A banner or a warning may name the version of something else. One that was said counts, however the program
    // ended.
    let signed = answer
        .lines()
        .filter(|line| line.contains("Claude Code"))
        .find_map(Version::find);
    let version = signed.or_else(|| Version::find(&answer));
    match (version, report.exit) {
        (Some(version), _) => Ok(Probe {
            path: program,
            version,
            capabilities: Capabilities::for_version(version),
        }),
        (None, Exit::TimedOut) => Err(ProbeError::TimedOut { program }),
        (None, exit) => Err(ProbeError::NoVersion { program, exit }),
    }
}
