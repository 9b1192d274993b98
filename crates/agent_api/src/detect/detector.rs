//! Looking for one agent.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use agent_process::{Exit, SpawnError, SpawnSpec, find_program};
use claude_code::Version;

use crate::backend::{BackendConfig, Found, Profile};
use crate::error::Error;
use crate::request::RunOptions;

/// How long a program may take to say its version. Most take 10 ms, those that run on Node up to two seconds.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

/// Finds agents and asks for their versions. Remembers the answers for as long as a program's file stays the same.
#[derive(Debug, Default)]
pub struct Detector {
    known: Mutex<HashMap<FileState, Detection>>,
}

/// A program's file as it was when it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FileState {
    path: PathBuf,
    modified: Option<SystemTime>,
    size: u64,
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
        let state = file_state(path);
        // Nothing panics while it is held.
        let known = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&state)
            .copied();
        if let Some(known) = known {
            return Ok(known);
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
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(state, detection);
        Ok(detection)
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

/// A symbolic link stands for what it points to.
fn file_state(path: &Path) -> FileState {
    let metadata = std::fs::metadata(path).ok();
    FileState {
        path: std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
        modified: metadata.as_ref().and_then(|metadata| metadata.modified().ok()),
        size: metadata.map_or(0, |metadata| metadata.len()),
    }
}
