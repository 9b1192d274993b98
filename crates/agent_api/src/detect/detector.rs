//! Looking for one agent.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_process::{Exit, SpawnError, SpawnSpec, find_program};
use claude_code::Version;

use super::memory::{ProgramFile, VersionMemory};
use crate::backend::{BackendConfig, Found, Profile};
use crate::error::Error;
use crate::request::RunOptions;

/// How long a program may take to say its version. Most take 10 ms, those that run on Node up to two seconds.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

/// Finds agents and asks for their versions. Remembers the answers for as long as a program's file stays the same.
#[derive(Debug, Default)]
pub struct Detector {
    known: Mutex<HashMap<ProgramFile, Detection>>,
    memory: Option<Arc<dyn VersionMemory>>,
}

/// What a program answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detection {
    /// This version.
    Version(Version),
    /// Something without a version number.
    NoVersion,
    /// Nothing in time.
    Silent,
    /// It must not be asked.
    NotAsked,
}

impl Detector {
    /// Nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on, what earlier processes were told counts too, and what this one is told is kept for later ones.
    pub fn remember_in(&mut self, memory: Arc<dyn VersionMemory>) {
        self.memory = Some(memory);
    }

    /// The agent's program, as a run with these options would start it, and its version.
    ///
    /// # Errors
    /// When it is not installed, does not answer, or fails.
    pub async fn find(
        &self,
        profile: &Profile,
        config: &BackendConfig,
        options: &RunOptions,
    ) -> Result<Found, Error> {
        let program = config.program.clone().unwrap_or_else(|| profile.program.into());
        if program.as_os_str().is_empty() {
            return Ok(Found {
                program,
                version: None,
            });
        }
        let policy = options.environment.policy();
        let cwd = options.cwd.as_deref();
        let path = find_program(&program, cwd, &policy).map_err(|error| match error {
            SpawnError::NotFound { program } => Error::NotInstalled {
                agent_kind: profile.kind.clone(),
                program,
                hint: profile.install_hint.to_owned(),
            },
            other => Error::Spawn(other),
        })?;
        match self.ask(profile, &path, options).await? {
            Detection::Version(version) => Ok(Found {
                program: path,
                version: Some(version),
            }),
            Detection::NoVersion | Detection::NotAsked => Ok(Found {
                program: path,
                version: None,
            }),
            Detection::Silent => Err(Error::Silent {
                program: path,
                limit: VERSION_LIMIT,
            }),
        }
    }

    async fn ask(&self, profile: &Profile, path: &Path, options: &RunOptions) -> Result<Detection, Error> {
        if profile.version_args.is_empty() {
            return Ok(Detection::NotAsked);
        }
        let program = ProgramFile::of(path);
        // Within one process a symbolic link stands for what it points to.
        let file = ProgramFile {
            path: program.target.clone(),
            ..program.clone()
        };
        if let Some(known) = self.known(&file) {
            return Ok(known);
        }
        let recalled = self.memory.as_ref().and_then(|memory| memory.recall(&program));
        if let Some(version) = recalled {
            self.note(file, Detection::Version(version));
            return Ok(Detection::Version(version));
        }
        let mut spec = SpawnSpec::new(path);
        spec.args = profile.version_args.iter().map(Into::into).collect();
        spec.cwd.clone_from(&options.cwd);
        spec.env = options.environment.policy();
        let answer = agent_process::ask(spec, VERSION_LIMIT).await?;
        let detection = match (version(profile, &answer.stdout), answer.exit.exit) {
            (Some(version), _) => Detection::Version(version),
            // Not remembered: the machine may have been busy.
            (None, Exit::TimedOut) => return Ok(Detection::Silent),
            // Not remembered either: what it needs may be installed by the next time.
            (None, exit) if !exit.success() => {
                return Err(Error::Broken {
                    program: path.to_owned(),
                    exit,
                });
            }
            (None, _) => Detection::NoVersion,
        };
        if let (Some(memory), Detection::Version(version)) = (&self.memory, detection) {
            memory.remember(&program, version);
        }
        self.note(file, detection);
        Ok(detection)
    }

    fn known(&self, program: &ProgramFile) -> Option<Detection> {
        // Nothing panics while it is held.
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(program).copied()
    }

    fn note(&self, program: ProgramFile, detection: Detection) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(program, detection);
    }
}

/// Lenient: a banner, a warning or a prefix may stand around the number.
fn version(profile: &Profile, answer: &[u8]) -> Option<Version> {
    let answer = String::from_utf8_lossy(answer);
    let signed = profile.version_word.and_then(|word| {
        let mut lines = answer.lines().filter(|line| line.contains(word));
        lines.find_map(Version::find)
    });
    signed.or_else(|| Version::find(&answer))
}
