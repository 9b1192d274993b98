//! A full disk: here a limit on how long a file may get, set during the run.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::Value;
use tempfile::TempDir;
use test_support::recorded;
use test_support::script::Script;

use crate::stage::{Stage, records, success, works};

/// A run whose agent has said its first word and waits.
struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(stage: &Stage) -> Self {
        let ralph = stage.ralph(&[]);
        let mut shell = Command::new("/bin/sh");
        shell
            // Without this the system kills who writes too much, instead of telling.
            .args(["-c", "trap '' XFSZ; exec \"$0\" run -p 'Do it.'"])
            .arg(ralph.get_program())
            .env_clear()
            .envs(ralph.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .current_dir(stage.workspace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self { child, stdout };
        running.read_until("Working.");
        running
    }

    fn read_until(&mut self, words: &str) -> String {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            let read = self.stdout.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "the run ended too early");
        }
        line
    }

    /// From now on no file of the run gets longer than this.
    fn limit_files(&self, most: Option<u64>) {
        let limit = Rlimit {
            current: most,
            maximum: None,
        };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Fsize, limit).unwrap();
    }

    fn wait(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

/// Whole lines, one after the other.
fn assert_whole(journal: &Path) -> Vec<Value> {
    assert!(fs::read(journal).unwrap().ends_with(b"\n"));
    let records = records(journal);
    for (record, seq) in records.iter().zip(1_u64..) {
        assert_eq!(record["seq"], seq);
    }
    records
}

/// Waits for a file, and then says this many lines of 1 kB.
fn floods(directory: &TempDir, lines: usize) -> Script {
    let go = directory.path().join("go");
    let said = |number: usize| {
        let text = format!("{number} {}", "word ".repeat(200));
        let message = serde_json::json!({
            "id": format!("msg_{number}"), "model": "claude-opus-5-5",
            "content": [{"type": "text", "text": text}],
        });
        serde_json::json!({"type": "assistant", "session_id": "s", "message": message}).to_string()
    };
    works()
        .record_process(directory.path(), "agent")
        .spawn_tree(directory.path())
        .wait_for_file(go)
        .emit_lines((0..lines).map(said))
}

#[test]
fn a_disk_that_stays_full_ends_the_run_and_its_agent() {
    let directory = tempfile::tempdir().unwrap();
    // More than may wait for the disk.
    let stage = Stage::new(&floods(&directory, 6_000).sleep_forever());
    let running = Running::start(&stage);
    running.limit_files(Some(256 << 10));
    fs::write(directory.path().join("go"), "").unwrap();
    let (code, rest) = running.wait();
    let run = stage.last_run();
    assert_eq!(code, Some(1), "{rest}");
    let told = format!("cannot write to `{}`", run.display());
    assert!(rest.contains(&told) && rest.contains("os error"), "{rest}");
    assert!(
        rest.contains("Run ended: the run's files could not be written"),
        "{rest}"
    );
    assert_eq!(stage.run_file()["reason"], "storage_failed");
    assert_eq!(stage.run_file()["status"]["state"], "ended");
    assert!(assert_whole(&run.join("journal.ndjson")).len() > 50);
    let gone = recorded::wait_until_gone(directory.path(), Duration::from_secs(5)).unwrap();
    assert!(gone.is_ok(), "{gone:?}");
}

#[test]
fn a_run_whose_end_could_not_be_written_is_listed_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let stage = Stage::new(&floods(&directory, 6_000).sleep_forever());
    let running = Running::start(&stage);
    running.limit_files(Some(0));
    fs::write(directory.path().join("go"), "").unwrap();
    let (code, rest) = running.wait();
    assert_eq!(code, Some(1), "{rest}");
    assert_ne!(stage.run_file()["status"]["state"], "ended");
    let runs = stage.ralph(&["runs", "--json"]).output().unwrap();
    let runs: Value = serde_json::from_slice(&runs.stdout).unwrap();
    assert_eq!(runs[0]["reason"], "storage_failed");
    assert_eq!(runs[0]["status"]["state"], "ended");
    assert_whole(&stage.last_run().join("journal.ndjson"));
}

#[test]
fn a_run_continues_when_there_is_room_again_and_nothing_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let end = directory.path().join("end");
    let script = floods(&directory, 1_000)
        .wait_for_file(&end)
        .emit(success("LOOP_COMPLETE"))
        .read_to_end();
    let stage = Stage::new(&script);
    let mut running = Running::start(&stage);
    running.limit_files(Some(256 << 10));
    fs::write(directory.path().join("go"), "").unwrap();
    running.read_until("cannot write to");
    running.limit_files(None);
    running.read_until("can be written again");
    fs::write(&end, "").unwrap();
    let (code, rest) = running.wait();
    assert_eq!(code, Some(0), "{rest}");
    let records = assert_whole(&stage.last_run().join("journal.ndjson"));
    let said = records
        .iter()
        .filter(|record| record["event"]["type"] == "text_block")
        .count();
    assert_eq!(said, 1_001);
    assert_eq!(records.last().unwrap()["event"]["data"]["reason"], "completed");
    assert_eq!(stage.run_file()["reason"], "completed");
}

/// As with a full quota: the file system has room, and neither the agent nor ralph has anything to write.
#[test]
fn a_silent_agent_does_not_hide_that_nothing_can_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let end = directory.path().join("end");
    let script = works()
        .wait_for_file(&end)
        .emit(success("LOOP_COMPLETE"))
        .read_to_end();
    let stage = Stage::new(&script);
    let mut running = Running::start(&stage);
    running.limit_files(Some(100));
    let told = running.read_until("cannot write to");
    assert!(told.contains("os error"), "{told}");
    running.limit_files(None);
    running.read_until("can be written again");
    fs::write(&end, "").unwrap();
    let (code, rest) = running.wait();
    assert_eq!(code, Some(0), "{rest}");
    assert_whole(&stage.last_run().join("journal.ndjson"));
}
