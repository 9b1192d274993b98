//! `ralph run` with the real Claude Code CLI and a scripted model on loopback: the main endings.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use test_support::fake_model::{Block, FakeModel, scripted_prompt};
use test_support::real_cli::{CURRENT, RealClaude, Workspace};
use test_support::{LeftoverRuns, wait_for};

struct Stage {
    _runs: LeftoverRuns,
    model: FakeModel,
    workspace: Workspace,
}

impl Stage {
    fn new() -> Self {
        let cli = RealClaude::install(CURRENT).unwrap();
        let model = FakeModel::start_blocking(0, None).unwrap();
        let workspace = Workspace::create().unwrap();
        let config = format!("cli:\n  backend: claude\n  command: {}\n", cli.path().display());
        fs::write(workspace.path().join("ralph.yml"), config).unwrap();
        let stage = Self {
            _runs: LeftoverRuns::below(workspace.root()),
            model,
            workspace,
        };
        assert!(
            stage
                .program()
                .args(["trust", "--yes"])
                .status()
                .unwrap()
                .success()
        );
        stage
    }

    fn state(&self) -> PathBuf {
        self.workspace.root().join("state")
    }

    fn ralph(&self, prompt: &str, args: &[&str]) -> Command {
        let mut command = self.program();
        command.args(["run", "-p", prompt]).args(args);
        command
    }

    fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ralph"));
        command
            .env_clear()
            .envs(self.workspace.environment(self.model.base_url()))
            .env("XDG_STATE_HOME", self.state())
            .env("CLAUDE_CODE_MAX_RETRIES", "1")
            .current_dir(self.workspace.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end: exit code, reason, and what was shown.
    fn run(&self, prompt: &str, args: &[&str]) -> (Option<i32>, Value, String) {
        let output = self.ralph(prompt, args).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), self.run_file()["reason"].clone(), shown)
    }

    fn run_file(&self) -> Value {
        let runs = fs::read_dir(self.state().join("ralph/runs")).unwrap();
        let last = runs.map(|entry| entry.unwrap().path()).max().unwrap();
        serde_json::from_slice(&fs::read(last.join("run.json")).unwrap()).unwrap()
    }
}

#[test]
fn an_answer_is_shown_live_verified_and_paid_for() {
    let stage = Stage::new();
    let (code, reason, shown) = stage.run("SCENARIO:bash", &["--once", "--verify", "true", "-v"]);
    assert_eq!((code, reason), (Some(0), "completed".into()), "{shown}");
    for part in [
        "Claude: ",
        "[Tool] Bash: echo hello",
        " ✓ ",
        "\n    hello\n",
        "[Usage]",
        "[Verify] true: ok",
        "$0.0",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    let file = stage.run_file();
    assert_eq!(file["agent_version"], CURRENT);
    assert!(file["status"]["totals"]["cost"].as_u64().unwrap() > 0, "{file}");
}

#[test]
fn a_key_that_is_not_accepted_is_69_at_once() {
    let (code, reason, shown) = Stage::new().run("SCENARIO:err401", &[]);
    assert_eq!((code, reason), (Some(69), "not_logged_in".into()), "{shown}");
    assert!(shown.contains("/login"), "what to do is said: {shown}");
}

#[test]
fn what_is_not_allowed_ends_the_run() {
    let (code, reason, shown) = Stage::new().run("SCENARIO:write", &["--permission-mode", "ask"]);
    assert_eq!((code, reason), (Some(1), "denied".into()), "{shown}");
}

#[test]
fn the_limit_of_money_is_held_within_the_turn() {
    let (code, reason, shown) = Stage::new().run("SCENARIO:bash", &["--max-cost", "0.01"]);
    assert_eq!((code, &reason["limit"]), (Some(2), &"cost".into()), "{shown}");
}

#[test]
fn a_missing_session_is_reported_and_not_replaced() {
    let unknown = "00000000-0000-4000-8000-00000000dead";
    let (code, reason, shown) = Stage::new().run("SCENARIO:chat on", &["--resume", unknown]);
    assert_eq!((code, reason), (Some(1), "agent_error".into()), "{shown}");
    assert!(shown.contains("No conversation found"), "{shown}");
}

#[test]
fn a_promise_completes_the_loop_and_the_session_can_be_continued() {
    let stage = Stage::new();
    let prompt = scripted_prompt(&[vec![Block::text("Done.\nLOOP_COMPLETE")]]);
    let (code, reason, shown) = stage.run(&prompt, &[]);
    assert_eq!((code, reason), (Some(0), "completed".into()), "{shown}");
    let first = stage.run_file()["session_ids"][0].clone();
    let (code, _, shown) = stage.run("SCENARIO:chat on", &["--once", "--continue"]);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(stage.run_file()["session_ids"][0], first);
}

#[test]
fn ctrl_c_ends_the_turn_and_leaves_nothing_running() {
    let stage = Stage::new();
    let input = serde_json::json!({"command": "echo $$ > shell.pid; exec sleep 600", "description": "Sleep"});
    let prompt = scripted_prompt(&[vec![Block::tool("Bash", input)]]);
    let mut child = stage.ralph(&prompt, &[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("[Tool] Bash") {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "the run ended too early");
    }
    let shell = stage.workspace.path().join("shell.pid");
    let pid = wait_for("the shell's process id", || {
        let written = fs::read_to_string(&shell).unwrap_or_default();
        written.trim().parse::<u32>().ok()
    });
    let ours = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(ours, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert_eq!(stage.run_file()["reason"], "interrupted");
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists());
}

impl Stage {
    fn command(&self, args: &[&str]) -> String {
        let output = self.program().args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The data of all records of a kind, as far as they are written.
    fn records(&self, kind: &str) -> Vec<Value> {
        let runs = fs::read_dir(self.state().join("ralph/runs")).unwrap();
        let last = runs.map(|entry| entry.unwrap().path()).max().unwrap();
        let journal = fs::read_to_string(last.join("journal.ndjson")).unwrap_or_default();
        let records = journal
            .lines()
            .map_while(|line| serde_json::from_str::<Value>(line).ok());
        records
            .filter(|record| record["event"]["type"] == kind)
            .map(|record| record["event"]["data"].clone())
            .collect()
    }

    fn wait_for_idle(&self, turns: usize) {
        wait_for("idle", || {
            let is_idle = self.run_file()["status"]["for"] == "message";
            (is_idle && self.records("turn_finished").len() >= turns).then_some(())
        });
    }
}

#[test]
fn a_conversation_has_turns_can_be_interrupted_and_continues_in_one_process() {
    let stage = Stage::new();
    stage.command(&["run", "--interactive", "--detach", "-p", "SCENARIO:chat one"]);
    stage.wait_for_idle(1);
    stage.command(&["send", "latest", "SCENARIO:chat two"]);
    stage.wait_for_idle(2);
    // The CLI refuses a command that is nothing but a sleep.
    let input = serde_json::json!({"command": "echo $$ > shell.pid; exec sleep 600", "description": "Sleep"});
    stage.command(&[
        "send",
        "latest",
        &scripted_prompt(&[vec![Block::tool("Bash", input)]]),
    ]);
    let shell = stage.workspace.path().join("shell.pid");
    wait_for("the tool runs", || shell.exists().then_some(()));
    stage.command(&["interrupt", "latest"]);
    stage.wait_for_idle(3);
    stage.command(&["send", "latest", "SCENARIO:chat three"]);
    stage.wait_for_idle(4);
    let outcomes: Vec<Value> = stage
        .records("turn_finished")
        .iter()
        .map(|turn| turn["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["succeeded", "succeeded", "interrupted", "succeeded"]);
    let ids: Vec<Value> = stage
        .records("message_sent")
        .iter()
        .map(|sent| sent["message_id"].clone())
        .collect();
    let updates = stage.records("message_updated");
    for id in &ids {
        let states: Vec<&Value> = updates
            .iter()
            .filter(|updated| updated["message_id"] == *id)
            .map(|updated| &updated["state"])
            .collect();
        assert!(states.contains(&&Value::from("started")), "{id}: {states:?}");
    }
    assert_eq!((ids.len(), stage.records("attempt_started").len()), (3, 1));
    stage.command(&["stop", "latest"]);
    let file = stage.run_file();
    assert_eq!(
        (&file["reason"], &file["exit_code"]),
        (&"completed".into(), &0.into())
    );
    // What it cost is told once, whatever is summed up over the turns.
    let turns = stage.records("turn_finished");
    let steps: u64 = turns.iter().filter_map(|turn| turn["steps"].as_u64()).sum();
    assert_eq!(file["status"]["totals"]["turns"], steps);
}

#[test]
fn a_rejected_request_is_waited_for_instead_of_failing() {
    let stage = Stage::new();
    stage.command(&["run", "--detach", "-p", "SCENARIO:ratelimit_rejected"]);
    let file = wait_for("the wait", || {
        let file = stage.run_file();
        (file["status"]["for"] == "limit").then_some(file)
    });
    assert_eq!(file["status"]["iteration"], 1, "{file}");
    stage.command(&["stop", "latest"]);
    assert_eq!(stage.run_file()["reason"], "stopped");
    assert_eq!(stage.records("cooldown_started")[0]["cause"], "usage_limit");
}

#[test]
fn what_waiting_does_not_fix_ends_the_run_at_once() {
    for (scenario, code, reason) in [
        ("SCENARIO:err400credit", 69, "no_credit"),
        ("SCENARIO:err400long", 1, "prompt_too_long"),
    ] {
        let (exit_code, ended, shown) = Stage::new().run(scenario, &[]);
        assert_eq!((exit_code, ended), (Some(code), reason.into()), "{shown}");
    }
}

#[test]
fn a_cost_limit_that_is_reached_can_be_raised() {
    let stage = Stage::new();
    stage.command(&[
        "run",
        "--detach",
        "--once",
        "--ask",
        "--permission-mode",
        "bypass",
        "--max-cost",
        "0.01",
        "-p",
        "SCENARIO:bash",
    ]);
    wait_for("the limit", || {
        (stage.run_file()["status"]["for"] == "budget").then_some(())
    });
    stage.command(&["top-up", "latest", "--cost", "5"]);
    wait_for("ended", || {
        (stage.run_file()["status"]["state"] == "ended").then_some(())
    });
    assert_eq!(stage.run_file()["reason"], "completed");
    assert_eq!(stage.records("limit_raised")[0]["to"], 5_010_000);
}

#[test]
fn the_turns_that_are_shown_are_those_of_the_limit() {
    let (code, reason, shown) = Stage::new().run("SCENARIO:loop", &["--max-turns", "3"]);
    assert_eq!((code, &reason["limit"]), (Some(2), &"turns".into()), "{shown}");
    assert!(shown.contains("Turns: 3"), "{shown}");
}

#[test]
fn a_question_waits_for_a_person_even_where_everything_is_allowed() {
    let stage = Stage::new();
    let args = [
        "run",
        "--once",
        "--ask",
        "--detach",
        "--permission-mode",
        "bypass",
        "-p",
        "SCENARIO:ask",
    ];
    stage.command(&args);
    let asked = wait_for("asked", || stage.records("question_asked").into_iter().next());
    assert_eq!(stage.records("request_closed").len(), 0, "{asked}");
    stage.command(&["answer", "latest", "--choose", "Blue"]);
    wait_for("ended", || {
        (stage.run_file()["status"]["state"] == "ended").then_some(())
    });
    assert_eq!(stage.run_file()["reason"], "completed");
    assert_eq!(stage.records("request_closed")[0]["reason"], "answered");
}

#[test]
fn nothing_is_kept_of_an_ephemeral_conversation_and_it_still_has_turns() {
    let stage = Stage::new();
    stage.command(&["run", "-i", "--ephemeral", "--detach", "-p", "SCENARIO:chat one"]);
    stage.wait_for_idle(1);
    stage.command(&["send", "latest", "SCENARIO:chat two"]);
    stage.wait_for_idle(2);
    stage.command(&["stop", "latest"]);
    let file = stage.run_file();
    assert_eq!(
        (&file["reason"], &file["is_ephemeral"]),
        (&"completed".into(), &true.into())
    );
    let id = file["session_ids"][0].as_str().unwrap().to_owned();
    let (code, _, shown) = stage.run("SCENARIO:chat on", &["--resume", &id]);
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("No conversation found"), "{shown}");
}
