//! What a run leaves behind.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use test_support::script::Script;
use test_support::wait_until;

use crate::stage::{Ran, Stage, says, success, works};

const DONE: &str = "LOOP_COMPLETE";

#[test]
fn the_raw_log_is_what_the_agent_wrote_and_is_found_in_the_workspace() {
    let noise = b"\xff\xfe not json \r\n\n{\"type\":\"hologram\"}\n".to_vec();
    let stage = Stage::new(
        &works()
            .emit_bytes(noise.clone())
            .emit(success(DONE))
            .read_to_end(),
    );
    let ran = stage.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let raw = fs::read(stage.last_run().join("raw/1.ndjson")).unwrap();
    assert!(raw.windows(noise.len()).any(|window| window == noise));
    let logs: Vec<_> = fs::read_dir(stage.workspace().join(".ralph/logs/claude"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(logs.len(), 1);
    assert_eq!(fs::read(&logs[0]).unwrap(), raw);
    assert_eq!(
        fs::read_to_string(stage.workspace().join(".ralph/.gitignore"))
            .unwrap()
            .trim(),
        "*"
    );
    assert!(
        ran.stderr.contains("could not be read"),
        "broken lines are told once: {}",
        ran.stderr
    );
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("not json"));
}

#[test]
fn nothing_is_open_to_others_whatever_the_umask() {
    let stage = Stage::new(&says(DONE));
    let mut shell = std::process::Command::new("sh");
    let ralph = stage.ralph(&["run", "-p", "x"]);
    shell
        .arg("-c")
        .arg(format!(
            "umask 000; exec {} run -p x",
            ralph.get_program().to_str().unwrap()
        ))
        .env_clear()
        .envs(ralph.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(stage.workspace());
    assert!(shell.output().unwrap().status.success());
    let mut open = Vec::new();
    find_open(&stage.path("state"), &mut open);
    find_open(&stage.workspace().join(".ralph"), &mut open);
    assert!(open.is_empty(), "{open:?}");
}

fn find_open(path: &Path, open: &mut Vec<String>) {
    let metadata = fs::symlink_metadata(path).unwrap();
    if metadata.permissions().mode() & 0o077 != 0 {
        open.push(path.display().to_string());
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            find_open(&entry.unwrap().path(), open);
        }
    }
}

#[test]
fn an_agent_that_deletes_ralphs_folder_costs_nothing() {
    let stage = Stage::new(&says("More."));
    let verify = "rm -rf .ralph; false";
    let args = ["--verify", verify, "--once"];
    assert_eq!(stage.run(&args).code, Some(1));
    assert_eq!(stage.run_file()["reason"], "verify_failed");
    assert!(stage.records().len() > 5);
}

#[test]
fn the_prompt_is_in_no_command_line_and_the_journal_has_no_secrets() {
    // Put together here: the sources have nothing that looks like a key.
    let secret = &format!("sk-ant-{}-abcdefghijklmnopqrstuvwxyz0123456789", "api03");
    let script = Script::new()
        .report()
        .then(says(&format!("The key is {secret}.\nLOOP_COMPLETE")));
    let stage = Stage::new(&script);
    let ran = stage
        .ralph(&["run", "-p", "unmistakable-prompt"])
        .env("ANTHROPIC_API_KEY", secret)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let raw = fs::read_to_string(stage.last_run().join("raw/1.ndjson")).unwrap();
    let report: serde_json::Value = serde_json::from_str(raw.lines().next().unwrap()).unwrap();
    assert!(!report["arguments"].to_string().contains("unmistakable-prompt"));
    assert!(raw.contains(secret), "the raw log is verbatim");
    let journal = fs::read_to_string(stage.last_run().join("journal.ndjson")).unwrap();
    assert!(journal.contains("[redacted:") && !journal.contains(secret));
    let shown = format!(
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(!shown.contains(secret), "{shown}");
    assert!(
        journal.contains("unmistakable-prompt"),
        "the composed prompt is kept"
    );
}

#[test]
fn sessions_and_budget_are_kept_for_the_next_run() {
    let stage = Stage::new(&says(DONE));
    assert_eq!(stage.run(&["--task", "t1"]).code, Some(0));
    let state = stage.workspace().join(".ralph/state");
    let budget: serde_json::Value =
        serde_json::from_slice(&fs::read(state.join("budget.json")).unwrap()).unwrap();
    assert_eq!(
        (&budget["task"], &budget["total_cost_usd"], &budget["iterations"]),
        (&json!("t1"), &json!(0.01), &json!(1))
    );
    let sessions = fs::read_to_string(state.join("claude-session.json")).unwrap();
    assert!(
        sessions.contains("00000000-0000-4000-8000-000000000001"),
        "{sessions}"
    );
    let spent = stage.run(&["--task", "t1", "--max-cost", "0.005"]);
    assert_eq!(spent.code, Some(2), "the task has cost 0.01 before: {spent:?}");
    assert!(
        !stage.last_run().join("raw/1.ndjson").exists(),
        "nothing is started for it"
    );
    assert_eq!(
        stage
            .run(&["--task", "t1", "--max-cost", "0.015", "--reset-budget"])
            .code,
        Some(0)
    );
    assert_eq!(
        stage.run(&["--task", "t2", "--max-cost", "0.015"]).code,
        Some(0),
        "another task starts at 0"
    );
    let spent = stage.run(&["--task", "t2", "--max-cost", "0.005"]);
    assert_eq!(spent.code, Some(2), "{spent:?}");
    // The first task has cost 0.01 since its account was reset, although another one came in between.
    assert_eq!(stage.run(&["--task", "t1", "--max-cost", "0.015"]).code, Some(0));
    let spent = stage.run(&["--task", "t1", "--max-cost", "0.015"]);
    assert_eq!(spent.code, Some(2), "{spent:?}");
}

/// Holds what every change in `.ralph/state` needs.
fn hold_state_lock(stage: &Stage) -> fs::File {
    let mut locks = fs::read_dir(stage.path("state/ralph/locks"))
        .unwrap()
        .map(Result::unwrap);
    let lock = locks.find(|entry| entry.file_name().to_string_lossy().starts_with("state-"));
    let file = fs::File::options()
        .write(true)
        .open(lock.unwrap().path())
        .unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn a_locked_workspace_state_delays_neither_commands_nor_the_end_and_costs_nothing() {
    let go = tempfile::tempdir().unwrap();
    let script = works()
        .wait_for_file(go.path().join("go"))
        .emit(success("not yet"))
        .read_to_end();
    let stage = Stage::new(&script);
    let mut run = stage.ralph(&["run", "-p", "x", "--detach", "--task", "t"]);
    let started = Ran::of(&run.env("RALPH_COOLDOWN", "600").output().unwrap());
    let id = started.stdout.trim();
    let held = hold_state_lock(&stage);
    fs::write(go.path().join("go"), "").unwrap();
    // It continues although the cost of its first iteration cannot be saved.
    wait_until("the pause", || stage.run_file()["status"]["state"] == "cooling");
    let stopped = Ran::of(&stage.ralph(&["stop", id]).output().unwrap());
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(stopped.stdout, format!("run {id} has ended: stopped\n"));
    assert!(!stage.workspace().join(".ralph/state/budget.json").exists());
    drop(held);
    // The next command that looks at the runs adds the cost.
    assert_eq!(Ran::of(&stage.ralph(&["runs"]).output().unwrap()).code, Some(0));
    let budget = crate::stage::read_json(&stage.workspace().join(".ralph/state/budget.json"));
    assert_eq!(
        (&budget["task"], &budget["total_cost_usd"]),
        (&json!("t"), &json!(0.01))
    );
    assert_eq!(stage.run_file()["reason"], "stopped");
}

#[test]
fn records_are_counted_without_gaps_and_begin_with_the_run() {
    let stage = Stage::new(&says(DONE));
    stage.run(&[]);
    let records = stage.records();
    for (index, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], index + 1);
    }
    assert_eq!(records[0]["event"]["type"], "run_started");
    assert_eq!(records[0]["event"]["data"]["format_version"], 1);
}

#[test]
fn json_output_is_the_journal_and_nothing_else() {
    let stage = Stage::new(&says(DONE));
    let ran = stage.run(&["--output", "json"]);
    let shown: Vec<serde_json::Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(shown, stage.records());
}

#[test]
fn quiet_is_silent() {
    let stage = Stage::new(&says(DONE));
    let ran = stage.run(&["-q"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(0), "", "")
    );
}

#[test]
fn warnings_are_one_line_each_and_hidden_by_quiet() {
    // Nothing can be linked into a folder that is a file.
    let stage = Stage::new(&says(DONE));
    fs::create_dir(stage.workspace().join(".ralph")).unwrap();
    fs::write(stage.workspace().join(".ralph/logs"), "in the way").unwrap();
    let told = "could not be linked into the workspace";
    let ran = stage.run(&[]);
    let line = ran.stderr.lines().find(|line| line.contains(told)).unwrap();
    assert!(line.starts_with("ralph: WARN ralph_run::"), "{line}");
    let quiet = stage.run(&["-q"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    let off = stage
        .ralph(&["run", "-p", "x"])
        .env("RALPH_LOG", "off")
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&off.stderr).contains(told), "{off:?}");
    let wrong = stage
        .ralph(&["run", "-p", "x"])
        .env("RALPH_LOG", "ralph_run=loud")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&wrong.stderr);
    assert!(
        stderr.contains("ignoring invalid `RALPH_LOG`") && stderr.contains(told),
        "{stderr}"
    );
}

#[test]
fn a_run_in_the_background_keeps_what_goes_wrong_in_its_log() {
    let stage = Stage::new(&works().sleep_forever());
    fs::create_dir(stage.workspace().join(".ralph")).unwrap();
    fs::write(stage.workspace().join(".ralph/logs"), "in the way").unwrap();
    assert!(
        stage
            .ralph(&["run", "-p", "x", "--detach", "-q"])
            .status()
            .unwrap()
            .success()
    );
    let log = stage.last_run().join("runner.log");
    wait_until("a warning in the runner's log", || {
        fs::read_to_string(&log)
            .unwrap()
            .contains("could not be linked into the workspace")
    });
    assert!(
        stage
            .ralph(&["stop", "latest"])
            .output()
            .unwrap()
            .status
            .success()
    );
}

#[test]
fn an_ephemeral_run_keeps_its_journal_and_nothing_that_could_be_resumed() {
    let script = Script::new()
        .expect_argument("--no-session-persistence")
        .then(says("LOOP_COMPLETE"));
    let stage = Stage::new(&script);
    let ran = stage.run(&["--ephemeral"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.run_file()["is_ephemeral"], true);
    assert_eq!(stage.records()[0]["event"]["data"]["is_ephemeral"], true);
    let state = stage.workspace().join(".ralph/state/claude-session.json");
    assert!(!state.exists());
    let demo = Stage::empty();
    let ran = demo.run(&["--ephemeral", "-b", "demo"]);
    assert_eq!(ran.code, Some(78), "{ran:?}");
    assert!(ran.stderr.contains("`--ephemeral`"), "{ran:?}");
    assert!(demo.runs().is_empty());
    let old = Stage::new(&says("LOOP_COMPLETE").with_version("2.0.44 (Claude Code)"));
    let ran = old.run(&["--ephemeral"]);
    assert_eq!(ran.code, Some(78), "{ran:?}");
    assert!(ran.stderr.contains("--no-session-persistence"), "{ran:?}");
}

/// Bytes, not times: what a journal takes beside the output that it comes from.
#[test]
fn the_journal_of_captured_output_is_hardly_longer_than_the_raw_log() {
    let stage = Stage::empty();
    let mut captured = Vec::new();
    for fixture in test_support::fixtures::all().unwrap() {
        for line in fixture
            .lines()
            .filter(|line| line.starts_with(b"{") && line.len() <= 64 << 10)
        {
            captured.extend_from_slice(line);
            captured.push(b'\n');
        }
    }
    let corpus = stage.path("captured.ndjson");
    fs::write(&corpus, &captured).unwrap();
    stage.configure(&format!(
        "cli: {{backend: custom, command: /bin/cat, args: [{}], output_format: stream-json}}\n\
         denials: continue\nwatch: false\nevent_loop: {{max_cost_usd: 0}}\n",
        corpus.display()
    ));
    let ran = stage.run(&["--once", "--quiet"]);
    let run = stage.last_run();
    assert_eq!(fs::read(run.join("raw/1.ndjson")).unwrap(), captured, "{ran:?}");
    let journal = fs::metadata(run.join("journal.ndjson")).unwrap().len();
    let per_mille = journal * 1_000 / captured.len() as u64;
    assert!(
        per_mille <= 1_145,
        "the journal is {per_mille} per mille of the raw log"
    );
}
