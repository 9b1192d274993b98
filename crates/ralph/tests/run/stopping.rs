//! Signals, and readers that leave.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use test_support::recorded;
use test_support::script::{Script, Signal};
use test_support::wait_until;

use crate::stage::{Stage, result, works};

/// A run whose agent has said its first word.
struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(stage: &Stage, args: &[&str]) -> Self {
        let mut all = vec!["run", "-p", "Do it."];
        all.extend(args);
        let mut child = stage
            .ralph(&all)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self { child, stdout };
        running.read_until("Working.");
        running
    }

    fn read_until(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            let read = self.stdout.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "the run ended too early");
        }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    fn wait(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

fn interrupted() -> String {
    result(
        &json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming"}),
    )
}

/// Ends its turn when it is asked to, by a message or by a signal.
fn polite(directory: &TempDir, begun: Script) -> Script {
    begun
        .record_process(directory.path(), "agent")
        .spawn_tree(directory.path())
        .on_signal(Signal::Interrupt, Script::new().emit(interrupted()).exit(0))
        .converse([(
            json!({"type": "control_request", "request": {"subtype": "interrupt"}}),
            Script::new()
                .answer(r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{}}}"#)
                .emit(interrupted()),
        )])
}

/// The first word may be read before the agent has written down what it started.
fn wait_for_processes(directory: &TempDir) {
    wait_until("the agent's processes", || {
        !recorded::all(directory.path()).unwrap().is_empty()
    });
}

fn assert_all_gone(directory: &TempDir) {
    let gone = recorded::wait_until_gone(directory.path(), Duration::from_secs(5)).unwrap();
    assert!(gone.is_ok(), "still alive: {gone:?}");
    assert!(!recorded::all(directory.path()).unwrap().is_empty());
}

#[test]
fn ctrl_c_ends_the_turn_in_order_and_shows_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let stage = Stage::new(&polite(&directory, works()));
    let running = Running::start(&stage, &[]);
    wait_for_processes(&directory);
    running.signal(rustix::process::Signal::INT);
    let (code, rest) = running.wait();
    assert_eq!(code, Some(130), "{rest}");
    assert!(rest.contains("--- Run ended: interrupted ---"), "{rest}");
    let notice = "[Notice] interrupting; press Ctrl-C again to stop at once\n";
    assert_eq!(rest.matches(notice).count(), 1, "{rest}");
    assert_eq!(stage.run_file()["reason"], "interrupted");
    let records = stage.records();
    assert!(
        records
            .iter()
            .any(|record| record["event"]["type"] == "turn_finished"),
        "the result is kept: {records:#?}"
    );
    assert_all_gone(&directory);
}

#[test]
fn ctrl_c_twice_ends_at_once_whatever_the_agent_does() {
    let directory = tempfile::tempdir().unwrap();
    let script = works()
        .record_process(directory.path(), "agent")
        .ignore_signals([Signal::Interrupt, Signal::Terminate])
        .spawn_tree(directory.path())
        .sleep_forever();
    let stage = Stage::new(&script);
    let mut running = Running::start(&stage, &[]);
    wait_for_processes(&directory);
    running.signal(rustix::process::Signal::INT);
    // Two signals at once may arrive as one.
    running.read_until("press Ctrl-C again");
    running.signal(rustix::process::Signal::INT);
    let (code, _) = running.wait();
    assert_eq!(code, Some(130));
    assert_all_gone(&directory);
}

#[test]
fn sigterm_and_sighup_end_the_run_with_their_codes() {
    for (signal, code, reason) in [
        (rustix::process::Signal::TERM, 143, "terminated"),
        (rustix::process::Signal::HUP, 129, "hung_up"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let stage = Stage::new(&polite(&directory, works()));
        let running = Running::start(&stage, &[]);
        wait_for_processes(&directory);
        running.signal(signal);
        assert_eq!(running.wait().0, Some(code));
        assert_eq!(stage.run_file()["reason"], reason);
        assert_all_gone(&directory);
    }
}

#[test]
fn a_reader_that_reads_nothing_does_not_keep_the_run_from_ending() {
    let directory = tempfile::tempdir().unwrap();
    let stage = Stage::new(&polite(&directory, works().tick(20_000, Duration::ZERO)));
    // The reader holds the pipe and takes nothing more.
    let mut running = Running::start(&stage, &["--output", "json"]);
    let journal = stage.last_run().join("journal.ndjson");
    wait_until("1 MiB of journal", || {
        journal.metadata().unwrap().len() >= 1 << 20
    });
    wait_for_processes(&directory);
    running.signal(rustix::process::Signal::TERM);
    assert_eq!(running.child.wait().unwrap().code(), Some(143));
    assert_all_gone(&directory);
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let directory = tempfile::tempdir().unwrap();
    let script = works()
        .record_process(directory.path(), "agent")
        .tick(100_000, Duration::from_millis(2));
    let stage = Stage::new(&script);
    let Running { mut child, stdout } = Running::start(&stage, &["-v"]);
    wait_for_processes(&directory);
    drop(stdout);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(141));
    assert!(!stderr.contains("panic"), "{stderr}");
    assert_eq!(stage.run_file()["reason"], "output_closed");
    assert_all_gone(&directory);
}

#[test]
fn a_killed_runner_leaves_nothing_behind_and_is_reported_lost() {
    let directory = tempfile::tempdir().unwrap();
    let stage = Stage::new(&polite(&directory, works()));
    let running = Running::start(&stage, &[]);
    wait_for_processes(&directory);
    running.signal(rustix::process::Signal::KILL);
    running.wait();
    assert_all_gone(&directory);
    let lost = stage.last_run();
    let again = stage
        .ralph(&["run", "-p", "x", "--once", "-b", "demo", "--", "--demo-speed=max"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&again.stderr);
    let id = lost.file_name().unwrap().to_str().unwrap();
    assert!(stderr.contains(id) && stderr.contains("lost"), "{stderr}");
    let file = crate::stage::read_json(&lost.join("run.json"));
    assert_eq!(file["reason"], "lost");
    let records = crate::stage::records(&lost.join("journal.ndjson"));
    assert_eq!(records.last().unwrap()["event"]["data"]["reason"], "lost");
}
