//! A place for runs and workspaces of a measurement, with nothing of our own environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::agent::{END, GO};
use crate::process::{Folder, explain};

const STARTERS: usize = 4;

/// Whoever drops it ends all its runs.
pub struct Stage {
    folder: Folder,
    ralph: PathBuf,
}

impl Stage {
    pub fn new(name: &str) -> Result<Self, String> {
        let ralph = test_support::bin("ralph").map_err(|_| "`ralph` is not built; `make bench` builds it")?;
        let folder = Folder::new(&format!("serve-{name}"))?;
        std::fs::create_dir_all(folder.path("home")).map_err(explain)?;
        Ok(Self { folder, ralph })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    pub fn runs_directory(&self) -> PathBuf {
        self.path("state/ralph/runs")
    }

    pub fn journal(&self, run: &str) -> PathBuf {
        self.runs_directory().join(run).join("journal.ndjson")
    }

    /// The program, with an empty environment.
    pub fn ralph(&self, directory: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.ralph);
        command
            .args(args)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("IS_SANDBOX", "1")
            .current_dir(directory)
            .stdin(Stdio::null());
        command
    }

    /// Starts runs in the background, each in a workspace of its own. Their agents wait for [`Self::go`].
    pub fn start(
        &self,
        group: &str,
        count: usize,
        form: &str,
        rate: usize,
        seconds: usize,
    ) -> Result<Vec<String>, String> {
        std::fs::create_dir_all(self.path(group)).map_err(explain)?;
        let next = AtomicUsize::new(0);
        let started: Result<Vec<Vec<String>>, String> = std::thread::scope(|scope| {
            let work = || {
                let mut started = Vec::new();
                while let Some(number) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < count)
                {
                    started.push(self.start_one(group, number, form, rate, seconds)?);
                }
                Ok(started)
            };
            let workers: Vec<_> = (0..STARTERS).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .map(|worker| worker.join().map_err(|_| "a starter has failed")?)
                .collect()
        });
        Ok(started?.concat())
    }

    fn start_one(
        &self,
        group: &str,
        number: usize,
        form: &str,
        rate: usize,
        seconds: usize,
    ) -> Result<String, String> {
        let own = std::env::current_exe().map_err(explain)?;
        let folder = self.path(group);
        let workspace = folder.join(number.to_string());
        std::fs::create_dir(&workspace).map_err(explain)?;
        let settings = format!(
            "cli:\n  backend: custom\n  output_format: stream-json\n  command: {}\n  args: [__agent, {form}, \"{rate}\", \"{seconds}\", {}]\n",
            own.display(),
            folder.display()
        );
        std::fs::write(workspace.join("ralph.yml"), settings).map_err(explain)?;
        self.started(&workspace, &["run", "--trust", "--once", "-p", "x", "--detach"])
    }

    /// The id of the run that the program starts with these arguments.
    fn started(&self, workspace: &Path, args: &[&str]) -> Result<String, String> {
        let output = self.ralph(workspace, args).output().map_err(explain)?;
        if !output.status.success() {
            return Err(format!(
                "a run did not start: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Starts runs of the demo agent, which soon asks for a permission and waits for the answer.
    pub fn start_demos(&self, group: &str, count: usize) -> Result<Vec<String>, String> {
        let start = |number: usize| {
            let workspace = self.path(group).join(number.to_string());
            std::fs::create_dir_all(&workspace).map_err(explain)?;
            let args = [
                "run",
                "--backend",
                "demo",
                "--permission-mode",
                "ask",
                "--once",
                "-p",
                "x",
                "--detach",
            ];
            self.started(&workspace, &args)
        };
        (0..count).map(start).collect()
    }

    /// The agents of a group begin.
    pub fn go(&self, group: &str) -> Result<(), String> {
        std::fs::write(self.path(group).join(GO), "").map_err(explain)
    }

    /// The agents of a group end.
    pub fn end(&self, group: &str) -> Result<(), String> {
        std::fs::write(self.path(group).join(END), "").map_err(explain)
    }

    /// Waits until these runs have written their last record.
    pub fn wait_for_ends(&self, runs: &[String], most: Duration) -> Result<(), String> {
        let until = Instant::now() + most;
        for run in runs {
            while !super::journal::has_ended(&self.journal(run))? {
                if Instant::now() > until {
                    return Err(format!("run {run} does not end"));
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let mut command = self.ralph(&self.path("home"), &["stop", "--all"]);
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}
