//! `Detector`: finds the program of a backend and its version. `DetectionReport`: which agents are installed.

use std::fmt;
use std::sync::Arc;

use agent_client::{DetectError, ProgramDetector, ProgramQuery, VersionMemory};
use agent_process::SpawnError;

use crate::backend::{BackendConfig, InstalledAgent, Profile};
use crate::error::Error;
use crate::request::RunOptions;

/// Finds agents and asks for their versions. An answer is reused until the program's file changes.
#[derive(Debug, Default)]
pub struct Detector {
    programs: ProgramDetector,
}

impl Detector {
    /// A detector with an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses versions from earlier processes, and stores new ones for later processes.
    pub fn remember_in(&mut self, memory: Arc<dyn VersionMemory>) {
        self.programs.remember_in(memory);
    }

    /// The agent's program, as a run with these options would start it, and its version.
    ///
    /// # Errors
    /// If it is not installed, does not answer in time, or fails.
    pub async fn find(
        &self,
        profile: &Profile,
        config: &BackendConfig,
        options: &RunOptions,
    ) -> Result<InstalledAgent, Error> {
        let program = config.program.clone().unwrap_or_else(|| profile.program.into());
        if program.as_os_str().is_empty() {
            return Ok(InstalledAgent {
                program,
                version: None,
            });
        }
        let query = ProgramQuery {
            program: &program,
            version_args: profile.version_args,
            version_word: profile.version_word,
            environment: &options.environment,
            cwd: options.cwd.as_deref(),
        };
        match self.programs.find(query).await {
            Ok(found) => Ok(InstalledAgent {
                program: found.path,
                version: found.version,
            }),
            Err(DetectError::Spawn(SpawnError::NotFound { program })) => Err(Error::NotInstalled {
                agent_kind: profile.kind.clone(),
                program,
                hint: profile.install_hint.to_owned(),
            }),
            Err(error) => Err(error.into()),
        }
    }
}

/// The installed and missing agents, in order of preference.
#[derive(Debug)]
#[non_exhaustive]
pub struct DetectionReport {
    /// One entry for each backend.
    pub entries: Vec<Detected>,
}

/// One backend and its program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Detected {
    /// The facts about the backend.
    pub profile: Profile,
    /// The program, or why it cannot be used.
    pub found: Result<InstalledAgent, Error>,
}

impl DetectionReport {
    /// The first installed backend.
    #[must_use]
    pub fn first(&self) -> Option<&Detected> {
        self.entries.iter().find(|entry| entry.found.is_ok())
    }

    /// Why each missing backend cannot be used, in one line.
    #[must_use]
    pub fn needed(&self) -> String {
        let needed: Vec<String> = self
            .entries
            .iter()
            .filter_map(|entry| entry.found.as_ref().err())
            .map(ToString::to_string)
            .collect();
        needed.join("; ")
    }
}

impl fmt::Display for DetectionReport {
    /// One line for each backend.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            match &entry.found {
                Ok(InstalledAgent { program, version }) => {
                    write!(formatter, "{}: {}", entry.profile.name(), program.display())?;
                    if let Some(version) = version {
                        write!(formatter, " {version}")?;
                    }
                }
                Err(error) => write!(formatter, "{}: {error}", entry.profile.name())?,
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}
