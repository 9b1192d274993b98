//! A workspace and a place for runs that belong to a measurement alone.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use test_support::script::{Script, ScriptedAgent};

use crate::process::{Folder, explain};

/// A workspace, a place for runs, and nothing of our own environment.
pub struct Stage {
    folder: Folder,
    ralph: PathBuf,
    environment: Vec<(String, PathBuf)>,
    agent: Option<ScriptedAgent>,
}

impl Stage {
    /// With these settings.
    pub fn new(name: &str, settings: &str) -> Result<Self, String> {
        let ralph = test_support::bin("ralph").map_err(|_| "`ralph` is not built; `make bench` builds it")?;
        let stage = Self {
            folder: Folder::new(&format!("run-{name}"))?,
            ralph,
            environment: Vec::new(),
            agent: None,
        };
        for path in ["workspace", "home"] {
            std::fs::create_dir(stage.path(path)).map_err(explain)?;
        }
        std::fs::write(stage.path("workspace/ralph.yml"), settings).map_err(explain)?;
        Ok(stage)
    }

    /// With a scripted agent as this backend; `more` are further lines under `cli`.
    pub fn scripted(name: &str, script: &Script, backend: &str, more: &str) -> Result<Self, String> {
        let program = test_support::bin("fake_claude").map_err(explain)?;
        let settings = format!(
            "cli:\n  backend: {backend}\n  command: {}\n{more}",
            program.display()
        );
        let mut stage = Self::new(name, &settings)?;
        let agent = script.install().map_err(explain)?;
        // Found by variable, so that no shell stands between ralph and the agent.
        stage.environment.push((
            test_support::script::SCRIPT_VARIABLE.to_owned(),
            agent.script().to_owned(),
        ));
        stage.agent = Some(agent);
        Ok(stage)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// A program in the workspace.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("IS_SANDBOX", "1")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path("workspace"))
            .stdin(Stdio::null());
        command
    }

    pub fn ralph(&self, args: &[&str]) -> Command {
        let mut command = self.command(&self.ralph);
        match args {
            // The settings are ours.
            ["run", rest @ ..] => command.args(["run", "--trust"]).args(rest),
            _ => command.args(args),
        };
        command
    }

    /// The run directories, oldest first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.path("state/ralph/runs")) else {
            return Vec::new();
        };
        let mut runs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        runs.sort();
        runs
    }

    /// Forgets all runs.
    pub fn forget(&self) -> Result<(), String> {
        for path in [self.path("state"), self.path("workspace/.ralph")] {
            match std::fs::remove_dir_all(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(explain(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Runs a command to its end, which must be a success.
pub fn timed(command: &mut Command) -> Result<(Duration, Output), String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let output = command.output().map_err(explain)?;
    let took = start.elapsed();
    if output.status.success() {
        return Ok((took, output));
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!(
        "`{}` ended with {}: {said}",
        Path::new(command.get_program()).display(),
        output.status
    ))
}
