//! A reader of `ralph run`'s output that stops reading delays nothing but its own view of the run.

use std::io::{PipeReader, PipeWriter, Read as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use agent_process::{EnvPolicy, Process, SpawnSpec, StdoutMode, spawn};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal as SystemSignal, kill_process, test_kill_process};
use serde_json::{Value, json};
use test_support::dialect::Session;
use test_support::script::{Script, Signal};
use test_support::{wait_for, wait_until};

use crate::stage::{Ran, Stage, result};

/// More text than a pipe, a terminal and everything on the way to them can hold.
const BLOCKS: usize = 120;
const LINES_PER_BLOCK: usize = 400;

/// An agent that writes a lot, and then works until it is interrupted.
fn talkative() -> Script {
    let interrupted = result(
        &json!({"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming"}),
    );
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let mut script = Script::new().read_line().emit(session.init("/"));
    for block in 0..BLOCKS {
        session.begin_message();
        let text: String = (0..LINES_PER_BLOCK)
            .map(|line| {
                format!(
                    "line {} of the flood, {}\n",
                    block * LINES_PER_BLOCK + line,
                    "x".repeat(60)
                )
            })
            .collect();
        script = script.emit(session.text(&text));
    }
    script
        .on_signal(Signal::Interrupt, Script::new().emit(interrupted.clone()).exit(0))
        .converse([(
            json!({"type": "control_request", "request": {"subtype": "interrupt"}}),
            Script::new()
                .answer(r#"{"type":"control_response","response":{"subtype":"success","request_id":"${/request_id}","response":{}}}"#)
                .emit(interrupted),
        )])
}

fn journal_has_everything(run: &Path) -> bool {
    let last = format!("line {} of the flood", BLOCKS * LINES_PER_BLOCK - 1);
    std::fs::read_to_string(run.join("journal.ndjson")).is_ok_and(|journal| journal.contains(&last))
}

fn wait_for_journal(stage: &Stage) {
    wait_until("the agent's output in the journal", || {
        stage.runs().last().is_some_and(|run| journal_has_everything(run))
    });
}

/// A run into a pipe that is full and not read.
struct Stalled {
    child: Child,
    reader: PipeReader,
}

impl Stalled {
    fn start(stage: &Stage, args: &[&str]) -> Self {
        Self::start_unless_over(stage, args).expect("the run ended before its pipe was full")
    }

    /// `None` if the run ends before the pipe is full.
    fn start_unless_over(stage: &Stage, args: &[&str]) -> Option<Self> {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut all = vec!["run", "-p", "Do it."];
        all.extend(args);
        let mut child = stage
            .ralph(&all)
            .stdout(writer.try_clone().unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let is_full = wait_for("a full pipe", || match child.try_wait().unwrap() {
            Some(_) => Some(false),
            None => is_full(&writer).then_some(true),
        });
        is_full.then_some(Self { child, reader })
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    fn signal(&self, signal: SystemSignal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Reads the rest, and gives it with the exit code.
    fn read(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.reader.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

fn is_full(writer: &PipeWriter) -> bool {
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut descriptors = [PollFd::new(writer, PollFlags::OUT)];
    poll(&mut descriptors, Some(&at_once)).unwrap() == 0
}

fn assert_every_record(stage: &Stage, output: &str) {
    let printed: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let written = stage.records();
    assert_eq!(printed.len(), written.len());
    assert!(printed == written, "the output differs from the journal");
}

fn assert_every_line(output: &str) {
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| line.contains("of the flood"))
        .collect();
    assert_eq!(lines.len(), BLOCKS * LINES_PER_BLOCK);
    for (number, line) in lines.iter().enumerate() {
        assert!(line.contains(&format!("line {number} of")), "{number}: {line}");
    }
    assert!(output.contains("--- Run ended: "), "the summary is missing");
}

const OUTPUTS: [&[&str]; 2] = [&["--output", "json"], &[]];

#[test]
fn ralph_stop_ends_a_run_whose_output_is_not_read() {
    for args in OUTPUTS {
        let stage = Stage::new(&talkative());
        let mut stalled = Stalled::start(&stage, args);
        wait_for_journal(&stage);
        let stopped = Ran::of(&stage.ralph(&["stop", "latest"]).output().unwrap());
        assert_eq!(stopped.code, Some(0), "{stopped:?}");
        assert_eq!(stage.run_file()["reason"], "stopped");
        // The run is over; its output still waits for the reader, which misses nothing.
        assert!(stalled.is_running());
        let (code, output) = stalled.read();
        assert_eq!(code, Some(1));
        match args {
            [] => assert_every_line(&output),
            _ => assert_every_record(&stage, &output),
        }
    }
}

#[test]
fn the_time_limit_ends_a_run_whose_output_is_not_read() {
    for args in OUTPUTS {
        // A slow machine needs longer to fill the pipe.
        let started = ["3s", "15s", "50s"].iter().find_map(|limit| {
            let stage = Stage::new(&talkative());
            let mut all = vec!["--max-runtime", limit];
            all.extend(args);
            Some((Stalled::start_unless_over(&stage, &all)?, stage))
        });
        let (stalled, stage) = started.expect("a full pipe");
        assert_eq!(stage.wait_for_end()["reason"], json!({"limit": "runtime"}));
        let (code, output) = stalled.read();
        assert_eq!(code, Some(2));
        if !args.is_empty() {
            assert_every_record(&stage, &output);
        }
    }
}

#[test]
fn a_reader_that_resumes_gets_everything_while_the_run_continues() {
    for args in OUTPUTS {
        let stage = Stage::new(&talkative());
        let mut stalled = Stalled::start(&stage, args);
        wait_for_journal(&stage);
        let mut output = String::new();
        let mut chunk = vec![0; 64 * 1024];
        let last = format!("line {} of the flood", BLOCKS * LINES_PER_BLOCK - 1);
        while !output.contains(&last) {
            let read = stalled.reader.read(&mut chunk).unwrap();
            output.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
        }
        assert!(stalled.is_running() && stage.run_file()["reason"].is_null());
        stalled.signal(SystemSignal::TERM);
        let (code, rest) = stalled.read();
        output.push_str(&rest);
        assert_eq!(code, Some(143));
        match args {
            [] => assert_every_line(&output),
            _ => assert_every_record(&stage, &output),
        }
    }
}

#[test]
fn a_signal_ends_a_process_whose_run_is_over_and_whose_output_is_not_read() {
    for (signal, expected) in [(SystemSignal::INT, 130), (SystemSignal::TERM, 143)] {
        let stage = Stage::new(&talkative());
        let mut stalled = Stalled::start(&stage, &["--output", "json"]);
        wait_for_journal(&stage);
        assert_eq!(stage.ralph(&["stop", "latest"]).status().unwrap().code(), Some(0));
        assert!(stalled.is_running());
        stalled.signal(signal);
        let start = Instant::now();
        assert_eq!(stalled.child.wait().unwrap().code(), Some(expected));
        assert!(start.elapsed() < Duration::from_secs(10));
        assert_eq!(stage.run_file()["reason"], "stopped");
    }
}

#[test]
fn a_reader_that_leaves_a_run_that_is_over_ends_the_process() {
    let stage = Stage::new(&talkative());
    let mut stalled = Stalled::start(&stage, &["--output", "json"]);
    wait_for_journal(&stage);
    assert_eq!(stage.ralph(&["stop", "latest"]).status().unwrap().code(), Some(0));
    assert!(stalled.is_running());
    let Stalled { mut child, reader } = stalled;
    drop(reader);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(stage.run_file()["reason"], "stopped");
}

/// A run in a terminal. What it writes is taken only as far as it is read here.
async fn start_in_terminal(stage: &Stage, args: &[&str]) -> Process {
    let mut spec = SpawnSpec::new(env!("CARGO_BIN_EXE_ralph"));
    spec.args = ["run", "-p", "Do it."]
        .iter()
        .chain(args)
        .map(|arg| (*arg).into())
        .collect();
    spec.cwd = Some(stage.workspace());
    spec.env = EnvPolicy::Clear {
        set: stage.variables(),
    };
    spec.stdout = StdoutMode::Pty {
        columns: 80,
        rows: 24,
    };
    spawn(spec).await.unwrap()
}

#[tokio::test]
async fn ralph_stop_ends_a_run_in_a_terminal_that_is_on_hold() {
    let stage = Stage::new(&talkative());
    let process = start_in_terminal(&stage, &[]).await;
    let watching = tokio::task::spawn_blocking(move || {
        wait_for_journal(&stage);
        let pid = stage.run_file()["runner"]["pid"].as_i64().unwrap();
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        assert!(test_kill_process(pid).is_ok());
        let stopped = Ran::of(&stage.ralph(&["stop", "latest"]).output().unwrap());
        assert_eq!(stopped.code, Some(0), "{stopped:?}");
        assert_eq!(stage.run_file()["reason"], "stopped");
        // A terminal may be on hold for days: the process does not wait for it.
        wait_until("the end of the process", || test_kill_process(pid).is_err());
    });
    watching.await.unwrap();
    drop(process);
}
