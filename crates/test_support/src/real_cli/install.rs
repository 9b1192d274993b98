use super::agent::Agent;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// npm downloads up to 100 MB.
const LIMIT: Duration = Duration::from_secs(600);

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
    #[error("`npm install {package}` took longer than {} s", LIMIT.as_secs())]
    TimedOut {
        /// What was to be installed.
        package: String,
    },
    /// npm failed. Only its error code is kept: its messages may name registries and accounts.
    #[error("`npm install {package}` failed with {status}, {code}")]
    Npm {
        /// What was to be installed.
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
    /// Installs the exact version from npm, once per machine, whoever else does so at the same time.
    ///
    /// Blocks; the cache is `${RALPH_CLI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}}/ralph-cli/<package>/<version>`.
    pub fn install(agent: Agent, version: &str) -> Result<Self, InstallError> {
        Self::install_in(&cache().ok_or(InstallError::NoCache)?, agent, version)
    }

    /// The same, in another cache.
    pub fn install_in(cache: &Path, agent: Agent, version: &str) -> Result<Self, InstallError> {
        let root = cache.join("ralph-cli").join(agent.package_name());
        let directory = root.join(version);
        let installed = Self {
            agent,
            version: version.to_owned(),
            path: program_in(&directory, agent),
            directory,
        };
        if installed.path.exists() {
            return Ok(installed);
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| InstallError::Cache { path, source }
        };
        fs::create_dir_all(&root).map_err(failed(&root))?;
        let lock = root.join(format!("{version}.lock"));
        let lock = File::create(&lock)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(failed(&lock))?;
        if !installed.path.exists() {
            // Under another name until it is whole: a killed installation is not taken for one that worked.
            let draft = tempfile::Builder::new()
                .prefix(".installing-")
                .tempdir_in(&root)
                .map_err(failed(&root))?;
            run_npm(draft.path(), agent, version)?;
            let program = program_in(draft.path(), agent);
            if !program.exists() {
                return Err(InstallError::NoProgram { path: program });
            }
            fs::rename(draft.keep(), &installed.directory).map_err(failed(&installed.directory))?;
        }
        drop(lock);
        Ok(installed)
    }

    /// Whose it is.
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

    /// Everything that was installed is in here.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
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
    let name = format!("{}{}", agent.name(), if cfg!(windows) { ".cmd" } else { "" });
    directory.join("node_modules").join(".bin").join(name)
}

fn run_npm(directory: &Path, agent: Agent, version: &str) -> Result<(), InstallError> {
    let package = format!("{}@{version}", agent.package());
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut child = Command::new(npm)
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--prefix",
        ])
        .arg(directory)
        .arg(&package)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(InstallError::NoNpm)?;
    let stderr = child.stderr.take();
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        // What cannot be read cannot be told: the status is enough.
        let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    });
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait().map_err(InstallError::NoNpm)? {
            Some(status) => break status,
            None if Instant::now() > deadline => {
                // It may have ended in this moment.
                let _ = child.kill();
                let _ = child.wait();
                return Err(InstallError::TimedOut { package });
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    if status.success() {
        return Ok(());
    }
    let text = reader.join().unwrap_or_default();
    let code = text
        .lines()
        .find_map(|line| line.split_once(" code "))
        .map_or("no code", |(_, code)| code);
    Err(InstallError::Npm {
        package,
        status,
        code: code.to_owned(),
    })
}
