//! A workspace and a place for runs, both empty.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use test_support::LeftoverRuns;

pub(crate) const VERIFY: &str = "sh ralph-demo/check.sh";

pub(crate) struct Stage {
    _runs: LeftoverRuns,
    root: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["workspace", "home", "bin", "tmp"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self {
            _runs: LeftoverRuns::below(root.path()),
            root,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    /// The program, in the workspace, with nothing of our own environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ralph"));
        command
            .args(args)
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("TMPDIR", self.path("tmp"))
            .env("IS_SANDBOX", "1")
            .current_dir(self.path("workspace"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn ralph(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().unwrap();
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs the demo agent to the end of its show.
    pub(crate) fn show(&self, args: &[&str]) -> Ran {
        let mut all = vec!["run", "-b", "demo", "-p", "Repair it.", "--verify", VERIFY];
        all.extend(args);
        all.extend(["--", "--demo-speed=max"]);
        self.ralph(&all)
    }

    /// Runs the demo agent in the background, slowly enough to be met; gives the run's id.
    pub(crate) fn background(&self) -> String {
        let args = [
            "run",
            "-b",
            "demo",
            "-p",
            "Take your time.",
            "--verify",
            VERIFY,
            "--detach",
            "--",
            "--demo-speed=0.05",
        ];
        let ran = self.ralph(&args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout.trim().to_owned()
    }

    pub(crate) fn directory(&self, id: &str) -> PathBuf {
        self.path("state/ralph/runs").join(id)
    }

    /// All runs, oldest first.
    pub(crate) fn ids(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("state/ralph/runs")).unwrap();
        let mut ids: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        ids.sort();
        ids
    }

    pub(crate) fn run_file(&self, id: &str) -> Value {
        serde_json::from_slice(&fs::read(self.directory(id).join("run.json")).unwrap()).unwrap()
    }

    /// Text without what differs from day to day.
    pub(crate) fn masked(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for (number, id) in self.ids().iter().enumerate() {
            for session in self.run_file(id)["session_ids"].as_array().unwrap() {
                masked = masked.replace(session.as_str().unwrap(), "[SESSION]");
            }
            // As wide as the id, so that columns still line up.
            masked = masked.replace(id, &format!("[RUN-{:016}]", number + 1));
            masked = masked.replace(ralph_run::short_run_id(id), &format!("[RUN-{:02}]", number + 1));
            let started = self.run_file(id)["started_at"].as_str().unwrap().to_owned();
            masked = masked.replace(&started[..19].replace('T', " "), "[TIME]");
        }
        masked = masked.replace(&self.path("").display().to_string(), "[ROOT]/");
        // Faster than a millisecond.
        masked = masked.replace(" 0s", " 0ms");
        for unit in ["ms", " kB", " B"] {
            masked = mask_before(&masked, unit);
        }
        // What it costs depends on the length of paths.
        for label in ["$", "in ", "cached ", "out ", "took ", "| 0"] {
            masked = mask_after(&masked, label);
        }
        masked
    }
}

fn is_of_number(character: char) -> bool {
    character.is_ascii_digit() || character == '.' || character == ':'
}

/// Numbers after a label.
fn mask_after(text: &str, label: &str) -> String {
    let mut pieces = text.split(label);
    let mut masked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        masked.push_str(label);
        let rest = piece.trim_start_matches(is_of_number);
        if rest.len() < piece.len() {
            masked.push_str("[N]");
        }
        masked.push_str(rest);
    }
    masked
}

/// Numbers before a unit.
fn mask_before(text: &str, unit: &str) -> String {
    let mut masked = String::new();
    let mut pieces = text.split(unit).peekable();
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        let stem = piece.trim_end_matches(is_of_number);
        if is_last || stem.len() == piece.len() {
            masked.push_str(piece);
        } else {
            masked.push_str(stem);
            masked.push_str("[N]");
        }
        if !is_last {
            masked.push_str(unit);
        }
    }
    masked
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Sends a signal by name.
pub(crate) fn signal(name: &str, pid: u32) {
    let sent = Command::new("/bin/kill")
        .args([format!("-{name}"), pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// A child that does not outlive its test.
pub(crate) struct Held(pub(crate) Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
