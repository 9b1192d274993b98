//! A workspace with a scripted agent, and `ralph agents up` in the background.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::dialect::Session;
use test_support::script::{Script, ScriptedAgent};
use test_support::{LeftoverRuns, wait_for};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

pub(crate) struct Stage {
    _runs: LeftoverRuns,
    root: TempDir,
    _agent: ScriptedAgent,
}

impl Stage {
    /// With an agent that plays this.
    pub(crate) fn new(script: &Script) -> Self {
        let agent = script.install().unwrap();
        let root = tempfile::tempdir().unwrap();
        for name in ["workspace", "home"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let program = agent.as_program().unwrap();
        let stage = Self {
            _runs: LeftoverRuns::below(root.path()),
            root,
            _agent: agent,
        };
        let settings = format!("cli:\n  backend: claude\n  command: {}\n", program.display());
        fs::write(stage.path("workspace/ralph.yml"), settings).unwrap();
        stage.says(&["trust", "--yes"]);
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The program, in the workspace, with nothing of our own environment.
    pub(crate) fn ralph(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ralph"));
        command
            .args(args)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            // The tests may run as root.
            .env("IS_SANDBOX", "1")
            .current_dir(self.path("workspace"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.ralph(args).output().unwrap()
    }

    /// What a command that succeeds prints.
    #[track_caller]
    pub(crate) fn says(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command that fails prints.
    #[track_caller]
    pub(crate) fn refuses(&self, args: &[&str]) -> String {
        let output = self.output(args);
        assert!(!output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    pub(crate) fn create(&self, name: &str) {
        self.says(&["agents", "create", name, "-p", "Do it."]);
    }

    pub(crate) fn show(&self, name: &str) -> Value {
        serde_json::from_str(&self.says(&["agents", "show", name, "--json"])).unwrap()
    }

    /// Waits until the agent is like that.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, name: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, || Some(self.show(name)).filter(|view| is_it(view)))
    }

    /// Waits until the agent has a run whose agent is at work. Gives the run.
    #[track_caller]
    pub(crate) fn wait_for_work(&self, name: &str, except: Option<&str>) -> String {
        let view = self.wait_for("a run that works", name, |view| {
            let run = view["state"]["run"]["id"].as_str();
            run.is_some_and(|run| Some(run) != except && self.is_working(run))
        });
        view["state"]["run"]["id"].as_str().unwrap().to_owned()
    }

    fn is_working(&self, run: &str) -> bool {
        let text = fs::read(self.run_directory(run).join("run.json")).unwrap_or_default();
        let file: Value = serde_json::from_slice(&text).unwrap_or_default();
        file["session_ids"][0] == SESSION && file["status"]["state"] != "ended"
    }

    pub(crate) fn runs(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("state/ralph/runs")).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut runs: Vec<String> = names.collect();
        runs.sort();
        runs
    }

    pub(crate) fn run_directory(&self, run: &str) -> PathBuf {
        self.path("state/ralph/runs").join(run)
    }

    pub(crate) fn run_file(&self, run: &str) -> Value {
        read_json(&self.run_directory(run).join("run.json"))
    }

    /// Kills the runner of a run, as `kill -9` does.
    pub(crate) fn kill_runner(&self, run: &str) {
        let pid = self.run_file(run)["runner"]["pid"].as_i64().unwrap();
        kill(i32::try_from(pid).unwrap(), Signal::KILL);
    }

    /// Starts the reconciler.
    pub(crate) fn up(&self) -> Up {
        let output = fs::File::create(self.path("up.log")).unwrap();
        let child = self
            .ralph(&["agents", "up"])
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            // As a shell starts it.
            .process_group(0)
            .spawn()
            .unwrap();
        let up = Up {
            child,
            log: self.path("up.log"),
        };
        wait_for("the reconciler", || {
            up.said().contains("keeping agents up").then_some(())
        });
        up
    }
}

/// `ralph agents up`. It is killed when it is dropped.
pub(crate) struct Up {
    child: Child,
    log: PathBuf,
}

impl Up {
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ctrl-C, which reaches the whole process group. Gives the exit code.
    pub(crate) fn interrupt(mut self) -> (Option<i32>, String) {
        let group = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process_group(group, Signal::INT).unwrap();
        let status = self.child.wait().unwrap();
        (status.code(), self.said())
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn kill(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

pub(crate) fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// An agent that has begun its turn.
fn begins(text: &str) -> Script {
    let mut session = Session::new(SESSION);
    let init = session.init("/");
    session.begin_message();
    Script::new().read_line().emit(init).emit(session.text(text))
}

/// An agent that has begun its turn and never ends it.
pub(crate) fn works() -> Script {
    begins("Working.").sleep_forever()
}

/// An agent that does its work and leaves.
pub(crate) fn finishes() -> Script {
    let result = json!({
        "type": "result",
        "subtype": "success",
        "is_error": false,
        "result": "LOOP_COMPLETE",
        "session_id": SESSION,
        "num_turns": 1,
        "duration_ms": 10,
        "total_cost_usd": 0.01,
        "usage": {"input_tokens": 100, "output_tokens": 10},
        "modelUsage": {"claude-opus-5-5": {"inputTokens": 100, "outputTokens": 10, "costUSD": 0.01}},
    });
    begins("LOOP_COMPLETE").emit(result.to_string()).read_to_end()
}
