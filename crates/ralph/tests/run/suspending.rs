//! Signals that were ignored at the start, and Ctrl-Z.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use tempfile::TempDir;
use test_support::{recorded, wait_until};

use crate::stage::{Ran, Stage, success, works};

/// Far more than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

/// The run in a shell that ignores a signal, as `nohup` does and as `sh` does for `command &`.
fn ignoring(signal: &str, stage: &Stage, args: &[&str]) -> Command {
    let ralph = stage.ralph(args);
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(format!("trap '' {signal}; exec \"$@\""))
        .arg("sh")
        .arg(ralph.get_program())
        .args(ralph.get_args())
        .env_clear()
        .envs(ralph.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(stage.workspace())
        .stdin(Stdio::null());
    command
}

/// Starts a run and waits until its agent has said its first word.
fn start(mut command: Command) -> Child {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("Working.") {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "the run ended too early");
    }
    child.stdout = Some(stdout.into_inner());
    child
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn stage_with_pause(directory: &TempDir) -> Stage {
    // Ends its turn when the file is there.
    let go = directory.path().join("go");
    let script = works()
        .record_process(directory.path(), "agent")
        .wait_for_file(go)
        .emit(success("LOOP_COMPLETE"))
        .read_to_end();
    Stage::new(&script)
}

#[test]
fn a_signal_that_was_ignored_at_the_start_does_not_end_the_run() {
    for (name, signal) in [("HUP", Signal::HUP), ("INT", Signal::INT)] {
        let directory = tempfile::tempdir().unwrap();
        let stage = stage_with_pause(&directory);
        let child = start(ignoring(name, &stage, &["run", "-p", "x", "--once"]));
        send(&child, signal);
        std::fs::write(directory.path().join("go"), "").unwrap();
        let ran = Ran::of(&child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "SIG{name}: {ran:?}");
        assert_eq!(stage.run_file()["reason"], "completed", "SIG{name}");
    }
}

/// The state of a process, as a letter of `/proc`.
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[test]
fn ctrl_z_stops_the_agent_and_the_clock_and_continuing_resumes_both() {
    let directory = tempfile::tempdir().unwrap();
    let go = directory.path().join("go");
    let script = works()
        .record_process(directory.path(), "agent")
        .spawn_tree(directory.path())
        .wait_for_file(go.clone())
        .emit(success("LOOP_COMPLETE"))
        .read_to_end();
    let stage = Stage::new(&script);
    let begun = Instant::now();
    let child = start(stage.ralph(&["run", "-p", "x", "--once"]));
    wait_until("the agent's processes", || {
        recorded::all(directory.path()).unwrap().len() >= 7
    });
    send(&child, Signal::TSTP);
    // As a shell waits for its job.
    let pid = Pid::from_child(&child);
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "{status:?}");
    for process in recorded::all(directory.path()).unwrap() {
        assert_eq!(state(process.pid), Some('T'), "{process:?}");
    }
    let listed = Ran::of(&stage.ralph(&["runs"]).output().unwrap());
    assert!(listed.stdout.contains("suspended"), "{listed:?}");
    // Long enough to see whether it is counted.
    let suspended = Duration::from_secs(3);
    std::thread::sleep(suspended);
    send(&child, Signal::CONT);
    std::fs::write(&go, "").unwrap();
    let ran = Ran::of(&child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let file = stage.run_file();
    assert_eq!(file["reason"], "completed");
    let records = stage.records();
    let kinds: Vec<&str> = records
        .iter()
        .filter_map(|record| record["event"]["type"].as_str())
        .collect();
    assert!(
        kinds.contains(&"suspended") && kinds.contains(&"continued"),
        "{kinds:?}"
    );
    let duration = Duration::from_millis(file["status"]["totals"]["duration_ms"].as_u64().unwrap());
    assert!(duration + suspended <= begun.elapsed(), "counted: {duration:?}");
}

#[test]
fn a_suspended_run_can_be_stopped_from_another_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let stage = Stage::new(&works().record_process(directory.path(), "agent").sleep_forever());
    let child = start(stage.ralph(&["run", "-p", "x"]));
    wait_until("the agent's process", || {
        !recorded::all(directory.path()).unwrap().is_empty()
    });
    send(&child, Signal::TSTP);
    let pid = Pid::from_child(&child);
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "{status:?}");
    let stopped = Ran::of(&stage.ralph(&["stop", "latest"]).output().unwrap());
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(stage.run_file()["reason"], "stopped");
    let gone = recorded::wait_until_gone(directory.path(), LIMIT).unwrap();
    assert!(gone.is_ok(), "{gone:?}");
    child.wait_with_output().unwrap();
}
