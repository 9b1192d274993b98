//! `ProgramDetector`: finds a program and asks for its version, once per file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_process::{Exit, SpawnError, SpawnSpec, find_program};

use super::program_file::{ProgramFile, VersionMemory};
use crate::options::Environment;
use crate::version::Version;

/// Most programs print their version within 10 ms; those on Node.js take up to two seconds.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// Finds programs and asks for their versions. An answer is reused until the program's file changes.
#[derive(Debug, Default)]
pub struct ProgramDetector {
    cache: Mutex<HashMap<ProgramFile, Option<Version>>>,
    memory: Option<Arc<dyn VersionMemory>>,
}

/// A program to look for, as a run would start it.
#[derive(Debug, Clone, Copy)]
pub struct ProgramQuery<'a> {
    /// A path, or a name to look up in the agent's `PATH`.
    pub program: &'a Path,
    /// The arguments that print the version; empty if the program must not be asked.
    pub version_args: &'a [&'a str],
    /// The version stands on the line with this word, if the output may contain several numbers.
    pub version_word: Option<&'a str>,
    /// The agent's environment variables.
    pub environment: &'a Environment,
    /// The agent's working directory.
    pub cwd: Option<&'a Path>,
}

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetectedProgram {
    /// The file that would be started.
    pub path: PathBuf,
    /// Its version; `None` if it was not asked or printed none.
    pub version: Option<Version>,
}

/// Why a program was not found, or its version is not known.
#[derive(Debug, thiserror::Error)]
pub enum DetectError {
    /// The program does not exist, or could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The program did not print its version in time.
    #[error("`{}` did not print its version within {} seconds: run it by hand to see why", program.display(), timeout.as_secs())]
    VersionTimeout {
        /// The program.
        program: PathBuf,
        /// The time it had.
        timeout: Duration,
    },
    /// The program failed and printed no version.
    #[error("`{}` does not work ({exit}): run `{} --version` by hand to see why", program.display(), program.display())]
    VersionCheckFailed {
        /// The program.
        program: PathBuf,
        /// How it ended.
        exit: Exit,
    },
}

impl ProgramDetector {
    /// A detector with an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses versions from earlier processes, and stores new ones for later processes.
    pub fn remember_in(&mut self, memory: Arc<dyn VersionMemory>) {
        self.memory = Some(memory);
    }

    /// Finds the program and its version.
    ///
    /// # Errors
    /// If the program does not exist, does not answer in time, or fails without printing a version.
    pub async fn find(&self, query: ProgramQuery<'_>) -> Result<DetectedProgram, DetectError> {
        let path = find_program(query.program, query.cwd, &query.environment.policy())?;
        if query.version_args.is_empty() {
            return Ok(DetectedProgram { path, version: None });
        }
        let program = ProgramFile::of(&path);
        if let Some(version) = self.cached(&program) {
            return Ok(DetectedProgram { path, version });
        }
        let recalled = self.memory.as_ref().and_then(|memory| memory.recall(&program));
        if recalled.is_some() {
            self.cache(program, recalled);
            return Ok(DetectedProgram {
                path,
                version: recalled,
            });
        }
        let version = ask(&path, query).await?;
        if let (Some(memory), Some(version)) = (&self.memory, version) {
            memory.remember(&program, version);
        }
        self.cache(program, version);
        Ok(DetectedProgram { path, version })
    }

    fn cached(&self, key: &ProgramFile) -> Option<Option<Version>> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get(key).copied()
    }

    fn cache(&self, key: ProgramFile, version: Option<Version>) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert(key, version);
    }
}

/// Runs the program once. Errors are not cached: the machine may have been busy, or a missing dependency may be
/// installed by the next time.
async fn ask(path: &Path, query: ProgramQuery<'_>) -> Result<Option<Version>, DetectError> {
    let mut spec = SpawnSpec::new(path);
    spec.args = query.version_args.iter().map(Into::into).collect();
    spec.cwd = query.cwd.map(Path::to_path_buf);
    spec.env = query.environment.policy();
    let answer = agent_process::output_of(spec, VERSION_TIMEOUT).await?;
    let program = path.to_path_buf();
    match (version_in(&answer.stdout, query.version_word), answer.exit.exit) {
        // A printed version counts however the program ended.
        (Some(version), _) => Ok(Some(version)),
        (None, Exit::TimedOut) => Err(DetectError::VersionTimeout {
            program,
            timeout: VERSION_TIMEOUT,
        }),
        (None, exit) if !exit.success() => Err(DetectError::VersionCheckFailed { program, exit }),
        (None, _) => Ok(None),
    }
}

/// The version in a program's output, which may contain a banner or a warning with other numbers.
fn version_in(output: &[u8], word: Option<&str>) -> Option<Version> {
    let output = String::from_utf8_lossy(output);
    let marked = word.and_then(|word| {
        let mut lines = output.lines().filter(|line| line.contains(word));
        lines.find_map(Version::find)
    });
    marked.or_else(|| Version::find(&output))
}
