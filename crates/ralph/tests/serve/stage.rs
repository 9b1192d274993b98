//! A server of its own, workspaces, and a scripted agent in each.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::dialect::Session;
use test_support::script::{Script, ScriptedAgent};
use test_support::{LeftoverRuns, wait_until};

use crate::client::Door;

/// Everything that is started on it ends with it.
pub(crate) struct Stage {
    _runs: LeftoverRuns,
    root: TempDir,
    state: String,
    agents: Vec<ScriptedAgent>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::in_state("state")
    }

    /// With a state directory of this name.
    pub(crate) fn in_state(state: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("home")).unwrap();
        Self {
            _runs: LeftoverRuns::below(root.path()),
            root,
            state: state.to_owned(),
            agents: Vec::new(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A workspace whose agent plays this.
    pub(crate) fn workspace(&mut self, name: &str, script: &Script) -> PathBuf {
        let workspace = self.path(name);
        fs::create_dir(&workspace).unwrap();
        let agent = script.install().unwrap();
        let program = agent.as_program().unwrap();
        let settings = format!("cli:\n  backend: claude\n  command: {}\n", program.display());
        self.configure(&workspace, &settings);
        self.agents.push(agent);
        workspace
    }

    /// Writes `ralph.yml` and trusts it.
    pub(crate) fn configure(&self, workspace: &Path, settings: &str) {
        fs::write(workspace.join("ralph.yml"), settings).unwrap();
        let trusted = self.ralph(&["trust", "--yes"]).arg(workspace).status().unwrap();
        assert!(trusted.success());
    }

    /// The program, with nothing of our own environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path(&self.state))
            .env("XDG_DATA_HOME", self.path("data"))
            // The tests may run as root.
            .env("IS_SANDBOX", "1")
            .current_dir(self.path("home"))
            .stdin(Stdio::null());
        command
    }

    /// A script of the repository, with the programs that are installed in the cache folder.
    pub(crate) fn with_cache(&self, script: &str) -> Command {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(script);
        let mut command = self.command(script.to_str().unwrap());
        for name in ["PATH", "XDG_CACHE_HOME", "RALPH_CLI_CACHE"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        if std::env::var_os("XDG_CACHE_HOME").is_none() {
            let home = std::env::var_os("HOME").unwrap();
            command.env("XDG_CACHE_HOME", Path::new(&home).join(".cache"));
        }
        command
    }

    pub(crate) fn ralph(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_ralph"));
        command.args(args);
        command
    }

    /// A server that can be used.
    pub(crate) fn serve(&self) -> Server {
        self.serve_by(self.ralph(&["serve", "--port", "0"]))
    }

    pub(crate) fn serve_by(&self, mut command: Command) -> Server {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect(&line);
        let token = fs::read_to_string(self.path(&self.state).join("ralph/server-token")).unwrap();
        let door = Door {
            address: address.parse().unwrap(),
            token: token.trim().to_owned(),
        };
        wait_until("the server is ready", || door.ask("GET", "/ready", None).0 == 200);
        Server {
            child,
            _stdout: stdout,
            door,
        }
    }

    /// A server that does not start: its exit code and what it says.
    pub(crate) fn refused(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.ralph(args).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }

    pub(crate) fn run_directory(&self, run: &str) -> PathBuf {
        self.path(&self.state).join("ralph/runs").join(run)
    }

    pub(crate) fn journal(&self, run: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.run_directory(run).join("journal.ndjson")).unwrap();
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn run_file(&self, run: &str) -> Value {
        let text = fs::read(self.run_directory(run).join("run.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

/// A server. It is killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    _stdout: BufReader<std::process::ChildStdout>,
    pub(crate) door: Door,
}

impl Server {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts one iteration in a workspace. Gives the run.
    #[track_caller]
    pub(crate) fn start(&self, workspace: &Path, more: &Value) -> String {
        let mut body = json!({"workspace": workspace, "prompt": "Do it.", "once": true});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let (status, answer) = self.door.post("/api/v1/runs", &body);
        assert_eq!(status, 201, "{answer}");
        answer["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An agent that has begun its turn.
pub(crate) fn works() -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let init = session.init("/");
    session.begin_message();
    Script::new()
        .read_line()
        .emit(init)
        .emit(session.text("Working."))
}

/// Says something more.
pub(crate) fn says(text: &str) -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    for _ in 0..=text.len() {
        // Each text has a message of its own.
        session.begin_message();
    }
    Script::new().emit(session.text(text))
}

/// Ends the turn, and leaves when its input ends.
pub(crate) fn is_done() -> Script {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    session.begin_message();
    Script::new().emit(session.result("LOOP_COMPLETE")).read_to_end()
}

/// Asks whether it may use a tool.
pub(crate) fn asks(request: &str, tool: &str, input: &Value) -> String {
    json!({
        "type": "control_request",
        "request_id": request,
        "request": {"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": format!("toolu_{request}")},
    })
    .to_string()
}

/// What the agent is told when it was answered.
pub(crate) fn answered(request: &str) -> Value {
    json!({"type": "control_response", "response": {"request_id": request}})
}
