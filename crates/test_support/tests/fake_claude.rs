//! `fake_claude` does what a script says.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use test_support::recorded;
use test_support::script::{ChildKind, SCRIPT_FAILED, Script, ScriptedAgent, Signal, flood_line};

const LIMIT: Duration = Duration::from_secs(20);

fn command(agent: &ScriptedAgent) -> Command {
    let mut command = Command::new(&agent.program);
    command
        .env_clear()
        .args(&agent.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(script: &Script) -> Output {
    run_with_input(script, b"")
}

fn run_with_input(script: &Script, input: &[u8]) -> Output {
    let agent = script.install().unwrap();
    let mut child = command(&agent).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // A script that does not read its input to the end is fine.
    let _ = writer.join().unwrap();
    output
}

fn json_line(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn failed_because(output: &Output, reason: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(i32::from(SCRIPT_FAILED)), "{stderr}");
    assert!(stderr.contains(reason), "{stderr}");
}

/// A running agent whose lines a test can wait for.
struct Running {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    _agent: ScriptedAgent,
}

impl Running {
    fn start(script: &Script) -> Self {
        let agent = script.install().unwrap();
        let mut child = command(&agent).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            lines,
            _agent: agent,
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn lines_and_bytes_come_out_as_given() {
    let output = run(&Script::new()
        .emit("one")
        .emit_bytes(b"\xff\x00two".to_vec())
        .emit("")
        .exit(3));
    assert_eq!(output.stdout, b"one\n\xff\x00two\n");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_split_line_arrives_in_separate_reads() {
    let gate = TempDir::new().unwrap();
    let (first, second) = (gate.path().join("1"), gate.path().join("2"));
    // Reads of a pipe join what is there: the gates keep each piece alone in it.
    let mut agent = Running::start(
        &Script::new()
            .emit_bytes("h\u{e9}llo".as_bytes()[..2].to_vec())
            .wait_for_file(&first)
            .emit_split("h\u{e9}llo".as_bytes()[2..].to_vec(), [1, 3])
            .wait_for_file(&second),
    );
    let mut read = |length: usize| {
        let mut bytes = vec![0; length];
        agent.lines.get_mut().read_exact(&mut bytes).unwrap();
        bytes
    };
    assert_eq!(read(2), b"h\xc3");
    fs::write(&first, "").unwrap();
    assert_eq!(read(4), b"\xa9llo");
    fs::write(&second, "").unwrap();
    assert!(agent.child.wait().unwrap().success());
}

#[test]
fn a_split_beyond_the_end_fails_the_script() {
    failed_because(
        &run(&Script::new().emit_split("abc", [7])),
        "cannot split 3 bytes at 7",
    );
}

#[test]
fn a_flood_is_numbered_and_complete() {
    let output = run(&Script::new().flood(5_000, 1_000));
    let expected: Vec<u8> = (1..=5_000).flat_map(|number| flood_line(number, 1_000)).collect();
    assert!(output.stdout == expected);
}

#[test]
fn a_file_is_copied_in_the_chunks_asked_for() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("corpus");
    fs::write(&file, "0123456789".repeat(1_000)).unwrap();
    let output = run(&Script::new().emit_file(&file, [1, 7, 4096]));
    assert_eq!(output.stdout, "0123456789".repeat(1_000).as_bytes());
}

#[test]
fn a_burst_without_waiting_loses_what_does_not_fit() {
    let directory = TempDir::new().unwrap();
    let written = directory.path().join("written");
    let mut agent = Running::start(&Script::new().burst(3 << 20).create_file(&written).exit(0));
    assert!(agent.child.wait().unwrap().success());
    assert!(written.exists());
    let mut bytes = Vec::new();
    agent.lines.read_to_end(&mut bytes).unwrap();
    assert!(!bytes.is_empty() && bytes.len() < 3 << 20, "{}", bytes.len());
}

#[test]
fn stderr_is_separate() {
    let output = run(&Script::new()
        .stderr("warning\n")
        .flood_stderr(1_000_000)
        .emit("fine"));
    assert_eq!(output.stdout, b"fine\n");
    assert_eq!(output.stderr.len(), 1_000_008);
}

#[test]
fn input_is_echoed_while_it_comes() {
    let input = flood_line(1, 10 << 20);
    assert!(run_with_input(&Script::new().echo(), &input).stdout == input);
}

#[test]
fn input_is_read_to_its_end() {
    let output = run_with_input(&Script::new().read_to_end(), b"one\ntwo\nthree");
    assert_eq!(
        json_line(&output),
        json!({"type": "fake_input", "bytes": 13, "lines": 2})
    );
}

#[test]
fn an_expected_line_may_hold_more_than_expected() {
    let script = Script::new().expect_line(json!({"type": "user"})).emit("ok");
    assert_eq!(
        run_with_input(&script, b"{\"type\":\"user\",\"uuid\":\"u\"}\n").stdout,
        b"ok\n"
    );
    failed_because(
        &run_with_input(&script, b"{\"type\":\"keep_alive\"}\n"),
        "step 1: expected a line with",
    );
    failed_because(&run_with_input(&script, b""), "stdin ended");
}

#[test]
fn a_conversation_answers_each_line_by_its_case() {
    let script = Script::new().converse([
        (
            json!({"type": "control_request"}),
            Script::new().answer(r#"{"type":"control_response","response":{"request_id":"${/request_id}"}}"#),
        ),
        (json!({"type": "user"}), Script::new().emit("turn")),
        (json!({"type": "end"}), Script::new().exit(4)),
    ]);
    let input = b"{\"type\":\"user\"}\nnoise\n{\"type\":\"control_request\",\"request_id\":\"r7\"}\n{\"type\":\"end\"}\n";
    let output = run_with_input(&script, input);
    let expected = "turn\n{\"type\":\"control_response\",\"response\":{\"request_id\":\"r7\"}}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn arguments_and_variables_are_checked() {
    let agent = Script::new()
        .expect_argument("--verbose")
        .expect_no_argument("--bare")
        .expect_variable_value("COLOUR", "red")
        .expect_variable("EMPTY")
        .expect_no_variable("CLAUDECODE")
        .install()
        .unwrap();
    let mut command = command(&agent);
    command.arg("--verbose").env("COLOUR", "red").env("EMPTY", "");
    assert!(command.output().unwrap().status.success());
    failed_because(
        &command.env("CLAUDECODE", "1").output().unwrap(),
        "did not expect the variable `CLAUDECODE`",
    );
    failed_because(
        &command.env("COLOUR", "secret").output().unwrap(),
        "the variable `COLOUR` has another value",
    );
    assert!(!String::from_utf8_lossy(&command.output().unwrap().stderr).contains("secret"));
}

#[test]
fn the_script_can_be_named_by_a_variable_or_a_wrapper() {
    let agent = Script::new().emit("hello").install().unwrap();
    let by_variable = Command::new(&agent.program)
        .env_clear()
        .envs(agent.environment.clone())
        .output()
        .unwrap();
    assert_eq!(by_variable.stdout, b"hello\n");
    let by_wrapper = Command::new(agent.as_program().unwrap())
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(by_wrapper.stdout, b"hello\n");
}

#[test]
fn the_version_is_answered_unless_the_script_wants_to() {
    let ask = |script: Script| {
        command(&script.install().unwrap())
            .arg("--version")
            .output()
            .unwrap()
            .stdout
    };
    assert_eq!(ask(Script::new().emit("step")), b"2.1.325 (Claude Code)\n");
    assert_eq!(
        ask(Script::new().with_version("1.0.108 (Claude Code)")),
        b"1.0.108 (Claude Code)\n"
    );
    assert_eq!(ask(Script::new().emit("step").without_version()), b"step\n");
}

#[test]
#[cfg(target_os = "linux")]
fn a_report_tells_what_the_process_inherited() {
    let agent = Script::new()
        .report()
        .wait_for_signal(Signal::User1)
        .install()
        .unwrap();
    let mut child = command(&agent).env("ONE", "1").current_dir("/").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let report: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(report["pid"], child.id());
    assert_eq!(report["parent_pid"], std::process::id());
    assert_eq!(report["working_directory"], "/");
    assert_eq!(report["variables"], json!(["ONE"]));
    assert_eq!(report["terminals"]["stdout"], false);
    let descriptors = report["descriptors"].as_object().unwrap();
    assert!(descriptors["1"].as_str().unwrap().starts_with("pipe:"));
    // What whoever runs the tests leaked into them is leaked further; nothing of the agent's own may be there.
    let inherited = |number: &String| Path::new("/proc/self/fd").join(number).exists();
    assert!(descriptors.keys().all(inherited), "{descriptors:?}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_ignored_signal_changes_nothing() {
    let mut agent = Running::start(
        &Script::new()
            .ignore_signals([Signal::Terminate, Signal::HangUp])
            .emit("ready")
            .wait_for_signal(Signal::User1)
            .exit(5),
    );
    agent.line();
    agent.signal(rustix::process::Signal::TERM);
    agent.signal(rustix::process::Signal::HUP);
    agent.signal(rustix::process::Signal::USR1);
    assert_eq!(agent.child.wait().unwrap().code(), Some(5));
}

#[test]
fn a_signal_that_no_step_has_reached_yet_kills() {
    let mut agent = Running::start(
        &Script::new()
            .emit("ready")
            .wait_for_signal(Signal::User1)
            .ignore_signals([Signal::Terminate]),
    );
    agent.line();
    agent.signal(rustix::process::Signal::TERM);
    assert_eq!(agent.child.wait().unwrap().signal(), Some(15));
}

#[test]
fn an_interrupt_ends_with_a_result_and_zero_as_claude_does() {
    let mut agent = Running::start(&Script::new().ends_on_interrupt().emit("ready").sleep_forever());
    agent.line();
    agent.signal(rustix::process::Signal::INT);
    let result: Value = serde_json::from_str(&agent.line()).unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
}

#[test]
fn stdout_can_end_before_the_process() {
    let directory = TempDir::new().unwrap();
    let mut agent = Running::start(
        &Script::new()
            .emit("last")
            .close_stdout()
            .record_process(directory.path(), "main")
            .wait_for_signal(Signal::User1),
    );
    let mut rest = String::new();
    agent.lines.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "last\n");
    assert!(agent.child.try_wait().unwrap().is_none());
}

#[test]
fn it_dies_by_the_signal_asked_for() {
    for (signal, number) in [
        (Signal::Kill, 9),
        (Signal::Terminate, 15),
        (Signal::SegmentationFault, 11),
    ] {
        let output = run(&Script::new().emit("before").die(signal));
        assert_eq!(output.status.signal(), Some(number));
        assert_eq!(output.stdout, b"before\n");
    }
}

#[test]
fn a_named_pipe_is_a_gate() {
    let directory = TempDir::new().unwrap();
    let gate = directory.path().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let mut agent = Running::start(&Script::new().wait_for_file(&gate).emit("through"));
    fs::OpenOptions::new().write(true).open(&gate).unwrap();
    assert_eq!(agent.line(), "through");
}

#[test]
fn it_stops_itself_and_goes_on_when_told() {
    let mut agent = Running::start(&Script::new().emit("stopping").stop_self().emit("going on"));
    assert_eq!(agent.line(), "stopping");
    let pid = rustix::process::Pid::from_child(&agent.child);
    let options = rustix::process::WaitOptions::UNTRACED;
    let (_, status) = rustix::process::waitpid(Some(pid), options).unwrap().unwrap();
    assert!(status.stopped());
    agent.signal(rustix::process::Signal::CONT);
    assert_eq!(agent.line(), "going on");
}

fn names(recorded: &[recorded::Recorded]) -> Vec<&str> {
    recorded.iter().map(|process| process.name.as_str()).collect()
}

fn kill_all(directory: &Path) {
    for process in recorded::alive(directory).unwrap() {
        let pid = rustix::process::Pid::from_raw(i32::try_from(process.pid).unwrap()).unwrap();
        // It may have just died by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    recorded::wait_until_gone(directory, LIMIT).unwrap().unwrap();
}

#[test]
fn the_tree_has_six_kinds_of_processes_that_outlive_their_parent() {
    let directory = TempDir::new().unwrap();
    let mut agent = Running::start(
        &Script::new()
            .spawn_tree(directory.path())
            .emit("up")
            .sleep_forever(),
    );
    assert_eq!(agent.line(), "up");
    let expected = [
        "chain",
        "chain-2",
        "chain-3",
        "daemon",
        "double_fork",
        "main",
        "plain",
        "setsid",
    ];
    assert_eq!(names(&recorded::alive(directory.path()).unwrap()), expected);

    agent.signal(rustix::process::Signal::TERM);
    agent.child.kill().unwrap();
    agent.child.wait().unwrap();
    let left = recorded::wait_until_gone(directory.path(), Duration::from_millis(1))
        .unwrap()
        .unwrap_err();
    assert_eq!(
        names(&left),
        [
            "chain",
            "chain-2",
            "chain-3",
            "daemon",
            "double_fork",
            "plain",
            "setsid"
        ]
    );
    kill_all(directory.path());
    assert_eq!(recorded::alive(directory.path()).unwrap(), []);
    assert_eq!(recorded::all(directory.path()).unwrap().len(), 8);
}

#[test]
#[cfg(target_os = "linux")]
fn each_child_is_related_as_its_kind_says() {
    let directory = TempDir::new().unwrap();
    let script = ChildKind::TREE
        .into_iter()
        .chain([ChildKind::Stubborn])
        .fold(Script::new(), |script, kind| {
            script.spawn_child(kind, directory.path())
        });
    let mut agent = Running::start(&script.emit("up").sleep_forever());
    assert_eq!(agent.line(), "up");
    let status = |name: &str| {
        let all = recorded::all(directory.path()).unwrap();
        let pid = all.iter().find(|process| process.name == name).unwrap().pid;
        let relatives = recorded::relatives(&pid.to_string()).unwrap();
        (pid, relatives.parent, relatives.session)
    };
    let main = agent.child.id();
    let own_session = recorded::relatives("self").unwrap().session;
    assert_eq!(status("plain").1, main);
    assert_eq!(status("plain").2, own_session);
    let (pid, parent, session) = status("setsid");
    assert_eq!((parent, session), (main, pid));
    assert_ne!(status("double_fork").1, main);
    assert_ne!(status("daemon").1, main);
    assert_ne!(status("daemon").2, own_session);
    assert_eq!(status("chain-2").1, status("chain").0);
    kill_all(directory.path());
}

#[test]
fn a_grandchild_can_keep_stdout_open() {
    let directory = TempDir::new().unwrap();
    let script = Script::new()
        .spawn_child(ChildKind::HoldsStdout, directory.path())
        .emit("bye")
        .exit(0);
    let mut agent = Running::start(&script);
    assert!(agent.child.wait().unwrap().success());
    assert_eq!(agent.line(), "bye");
    assert_eq!(
        names(&recorded::alive(directory.path()).unwrap()),
        ["holds_stdout"]
    );
    kill_all(directory.path());
    assert_eq!(agent.line(), "", "the end comes when the last holder is gone");
}

#[test]
fn the_demo_is_a_whole_session() {
    let output = run(&Script::demo(Duration::ZERO));
    assert!(output.status.success());
    let lines: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines[0]["subtype"], "init");
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["type"], &last["is_error"]),
        (&json!("result"), &json!(false))
    );
    let failures = lines
        .iter()
        .filter(|line| line["message"]["content"][0]["is_error"] == true)
        .count();
    assert_eq!(failures, 1, "one command fails before it passes");
    assert!(
        lines
            .iter()
            .any(|line| line["event"]["delta"]["type"] == "text_delta")
    );
}
