//! Installs the exact versions of the CLIs from npm, once per machine.

use super::agent::Agent;
use super::npm;
use super::runnable::{self, CannotRun};
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// In the folder of a CLI that did not run when it was installed.
const CANNOT_RUN: &str = "cannot-run.txt";

/// An installed CLI.
#[derive(Clone, Debug)]
pub struct RealCli {
    agent: Agent,
    version: String,
    directory: PathBuf,
    path: PathBuf,
}

/// An installed Claude Code.
#[derive(Clone, Debug)]
pub struct RealClaude(RealCli);

/// The CLI could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no directory to install to.
    #[error("no cache directory; set `RALPH_CLI_CACHE`, `XDG_CACHE_HOME` or `HOME`")]
    NoCache,
    /// The cache cannot be written.
    #[error("cannot prepare `{}`", path.display())]
    Cache {
        /// Which part of it.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// npm is missing.
    #[error("cannot run `npm`; install Node.js to test with the real CLI")]
    NoNpm(#[source] io::Error),
    /// npm ran too long.
    #[error("`npm install {package}` took longer than {} s", npm::LIMIT.as_secs())]
    TimedOut {
        /// The package and its version.
        package: String,
    },
    /// npm failed. Only its error code is kept: its messages may name registries and accounts.
    #[error("`npm install {package}` failed with {status}, {code}")]
    Npm {
        /// The package and its version.
        package: String,
        /// How npm ended.
        status: ExitStatus,
        /// npm's code, such as `ETARGET` for a version that does not exist.
        code: String,
    },
    /// npm succeeded, and yet there is no program.
    #[error("`{}` is missing after the installation", path.display())]
    NoProgram {
        /// Where it should be.
        path: PathBuf,
    },
    /// It is installed and does not run on this machine.
    #[error(transparent)]
    CannotRun(#[from] CannotRun),
}

impl RealClaude {
    /// See [`RealCli::install`].
    pub fn install(version: &str) -> Result<Self, InstallError> {
        RealCli::install(Agent::Claude, version).map(Self)
    }

    /// The same, in another cache.
    pub fn install_in(cache: &Path, version: &str) -> Result<Self, InstallError> {
        RealCli::install_in(cache, Agent::Claude, version).map(Self)
    }

    /// The version asked for.
    #[must_use]
    pub fn version(&self) -> &str {
        self.0.version()
    }

    /// The program.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl RealCli {
    /// Installs the exact version from npm, once per machine, also when several processes do so at the same time.
    ///
    /// Blocks; the cache is `${RALPH_CLI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/ralph-cli/<package>/<version>`.
    pub fn install(agent: Agent, version: &str) -> Result<Self, InstallError> {
        Self::install_in(&cache().ok_or(InstallError::NoCache)?, agent, version)
    }

    /// Why an installed CLI cannot run on this machine; `None` if it can, or is not installed yet.
    #[must_use]
    pub fn reason_to_skip(agent: Agent, version: &str) -> Option<CannotRun> {
        Self::in_cache(&cache()?, agent, version).check_again().err()
    }

    /// The same, in another cache.
    pub fn install_in(cache: &Path, agent: Agent, version: &str) -> Result<Self, InstallError> {
        let installed = Self::in_cache(cache, agent, version);
        if !installed.path.exists() {
            installed.fetch()?;
        }
        installed.check_again()?;
        Ok(installed)
    }

    fn in_cache(cache: &Path, agent: Agent, version: &str) -> Self {
        let directory = directory_in(cache, agent, version);
        Self {
            agent,
            version: version.to_owned(),
            path: program_in(&directory, agent),
            directory,
        }
    }

    fn fetch(&self) -> Result<(), InstallError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| InstallError::Cache { path, source }
        };
        let root = self.directory.parent().unwrap_or(&self.directory);
        fs::create_dir_all(root).map_err(failed(root))?;
        let lock = root.join(format!("{}.lock", self.version));
        let lock = File::create(&lock)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(failed(&lock))?;
        if !self.path.exists() {
            // Under another name until it is complete, so that a killed installation is not taken for a good one.
            let draft = tempfile::Builder::new()
                .prefix(".installing-")
                .tempdir_in(root)
                .map_err(failed(root))?;
            npm::install(draft.path(), self.agent, &self.version)?;
            let program = program_in(draft.path(), self.agent);
            if !program.exists() {
                return Err(InstallError::NoProgram { path: program });
            }
            if let Err(reason) = runnable::check(self.agent, &self.version, draft.path(), &program) {
                let note = draft.path().join(CANNOT_RUN);
                fs::write(&note, reason.to_string()).map_err(failed(&note))?;
            }
            fs::rename(draft.keep(), &self.directory).map_err(failed(&self.directory))?;
        }
        drop(lock);
        Ok(())
    }

    /// Only a CLI that did not run before is checked: Node may be a newer one now.
    fn check_again(&self) -> Result<(), CannotRun> {
        let note = self.directory.join(CANNOT_RUN);
        if note.exists() {
            runnable::check(self.agent, &self.version, &self.directory, &self.path)?;
            // A note that stays costs one more check.
            let _ = fs::remove_file(note);
        }
        Ok(())
    }

    /// The agent whose CLI it is.
    #[must_use]
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// The version asked for.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The program.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the installation.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The version of Node that the package asks for.
    #[must_use]
    pub fn needed_node(&self) -> Option<String> {
        runnable::needed_node(self.agent, &self.directory)
    }
}

/// The folder of an installation in the usual cache.
pub(super) fn directory_of(agent: Agent, version: &str) -> Option<PathBuf> {
    Some(directory_in(&cache()?, agent, version))
}

fn directory_in(cache: &Path, agent: Agent, version: &str) -> PathBuf {
    cache.join("ralph-cli").join(agent.package_name()).join(version)
}

fn cache() -> Option<PathBuf> {
    let set = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("RALPH_CLI_CACHE")
        .or_else(|| set("XDG_CACHE_HOME"))
        .or_else(|| Some(set("HOME")?.join(".cache")))
}

fn program_in(directory: &Path, agent: Agent) -> PathBuf {
    let modules = directory.join("node_modules");
    if agent == Agent::Opencode {
        return opencode_in(&modules);
    }
    let name = format!("{}{}", agent.name(), if cfg!(windows) { ".cmd" } else { "" });
    modules.join(".bin").join(name)
}

/// npm brings a package for each kind of processor; opencode's own script, which does not run, would copy one of them to
/// where `.bin/opencode` points.
fn opencode_in(modules: &Path) -> PathBuf {
    let system = match env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match env::consts::ARCH {
        "x86_64" if has_avx2() => "x64",
        "x86_64" => "x64-baseline",
        "aarch64" => "arm64",
        other => other,
    };
    let program = format!("opencode{}", env::consts::EXE_SUFFIX);
    modules
        .join(format!("opencode-{system}-{processor}"))
        .join("bin")
        .join(program)
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}
