//! A workspace, a place for runs, and a scripted agent.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::dialect::Session;
use test_support::script::{Script, ScriptedAgent};
use test_support::{LeftoverRuns, wait_for};

pub(crate) struct Stage {
    _runs: LeftoverRuns,
    root: TempDir,
    _agent: Option<ScriptedAgent>,
}

impl Stage {
    /// With an agent that plays this.
    pub(crate) fn new(script: &Script) -> Self {
        Self::of_backend("claude", script)
    }

    /// With a program of this backend that plays a script.
    pub(crate) fn of_backend(backend: &str, script: &Script) -> Self {
        Self::configured(script, |agent| {
            let program = agent.as_program().unwrap();
            format!("cli:\n  backend: {backend}\n  command: {}\n", program.display())
        })
    }

    /// With a scripted agent and the settings that start it.
    pub(crate) fn configured(script: &Script, settings: impl FnOnce(&ScriptedAgent) -> String) -> Self {
        let agent = script.install().unwrap();
        let settings = settings(&agent);
        let stage = Self::with_agent(Some(agent));
        stage.configure(&settings);
        stage
    }

    /// Without any agent.
    pub(crate) fn empty() -> Self {
        Self::with_agent(None)
    }

    fn with_agent(agent: Option<ScriptedAgent>) -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["workspace", "home"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self {
            _runs: LeftoverRuns::below(root.path()),
            root,
            _agent: agent,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    /// Writes `ralph.yml` and trusts it. One that is wrong cannot be trusted; that is for `run` to say.
    pub(crate) fn configure(&self, text: &str) {
        self.write_settings(text);
        self.ralph(&["trust", "--yes"]).output().unwrap();
    }

    /// Writes `ralph.yml`.
    pub(crate) fn write_settings(&self, text: &str) {
        fs::write(self.workspace().join("ralph.yml"), text).unwrap();
    }

    /// The program, in the workspace, with nothing of our own environment.
    pub(crate) fn ralph(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ralph"));
        command
            .args(args)
            .env_clear()
            .envs(self.variables())
            .current_dir(self.workspace())
            .stdin(Stdio::null());
        command
    }

    /// The whole environment of the program.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", self.path("home").into_os_string()),
            ("XDG_STATE_HOME", self.path("state").into_os_string()),
            // The tests may run as root.
            ("IS_SANDBOX", "1".into()),
        ]
        .map(|(name, value)| (name.into(), value))
        .into()
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut all = vec!["run", "-p", "Do it."];
        all.extend(args);
        Ran::of(&self.ralph(&all).output().unwrap())
    }

    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path("state/ralph/runs")) else {
            return Vec::new();
        };
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }

    /// The newest run's directory.
    pub(crate) fn last_run(&self) -> PathBuf {
        self.runs().pop().expect("there is a run")
    }

    pub(crate) fn run_file(&self) -> Value {
        read_json(&self.last_run().join("run.json"))
    }

    /// Waits for the end of the newest run.
    pub(crate) fn wait_for_end(&self) -> Value {
        wait_for("the end of the run", || {
            let file = self.run_file();
            (file["status"]["state"] == "ended").then_some(file)
        })
    }

    /// The newest run's records, as far as they are written.
    pub(crate) fn records(&self) -> Vec<Value> {
        self.runs()
            .pop()
            .map_or_else(Vec::new, |run| records(&run.join("journal.ndjson")))
    }
}

pub(crate) fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The journal as far as it is written: a run that is being written may end in the middle of a line.
pub(crate) fn records(path: &Path) -> Vec<Value> {
    let bytes = fs::read(path).unwrap_or_default();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines
        .filter(|line| line.ends_with(b"\n"))
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// An agent that takes its first message, says this, ends its turn, and leaves when its input ends.
pub(crate) fn says(text: &str) -> Script {
    ends_with(text, &success(text))
}

/// The same with another end of the turn.
pub(crate) fn ends_with(text: &str, result: &str) -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let init = session.init("/");
    session.begin_message();
    let said = session.text(text);
    Script::new()
        .read_line()
        .emit(init)
        .emit(said)
        .emit(result.to_owned())
        .read_to_end()
}

/// An agent that has begun its turn and never ends it.
pub(crate) fn works() -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let init = session.init("/");
    session.begin_message();
    Script::new()
        .read_line()
        .emit(init)
        .emit(session.text("Working."))
}

pub(crate) fn success(text: &str) -> String {
    result(&json!({"subtype": "success", "is_error": false, "result": text}))
}

/// The line that ends a turn.
pub(crate) fn result(fields: &Value) -> String {
    let mut line = json!({
        "type": "result",
        "session_id": "00000000-0000-4000-8000-000000000001",
        "num_turns": 1,
        "duration_ms": 10,
        "total_cost_usd": 0.01,
        "usage": {"input_tokens": 100, "output_tokens": 10},
        "modelUsage": {"claude-opus-5-5": {"inputTokens": 100, "outputTokens": 10, "costUSD": 0.01}},
        "model_usage_since_last_result": {"claude-opus-5-5": {"inputTokens": 100, "outputTokens": 10, "costUSD": 0.01}},
    });
    for (key, value) in fields.as_object().unwrap() {
        line[key] = value.clone();
    }
    line.to_string()
}
