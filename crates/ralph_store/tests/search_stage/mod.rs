//! A place with journals and an index of them.
#![expect(unreachable_pub, reason = "each test program has its own copy")]
#![expect(dead_code, reason = "and uses a part of it")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use ralph_store::{RunFold, RunSummary, SearchOptions, SearchQuery, TextIndex};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A place with journals and an index of them.
pub struct Stage {
    directory: TempDir,
    pub index: TextIndex,
}

/// A run that writes its journal.
pub struct Run {
    pub summary: RunSummary,
    pub path: PathBuf,
    start: Timestamp,
    seq: u64,
    offset: u64,
    seconds: i64,
    calls: u64,
}

pub fn query(text: &str) -> SearchQuery {
    SearchQuery {
        text: text.to_owned(),
        limit: 100,
        ..SearchQuery::default()
    }
}

fn options(directory: &TempDir) -> SearchOptions {
    SearchOptions {
        path: directory.path().join("search.db"),
        runs_directory: directory.path().join("runs"),
    }
}

impl Stage {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let index = TextIndex::open(options(&directory)).unwrap();
        Self { directory, index }
    }

    /// The index as another process finds it.
    pub fn reopen(&mut self) {
        self.index = TextIndex::open(options(&self.directory)).unwrap();
    }

    pub fn runs(&self) -> PathBuf {
        self.directory.path().join("runs")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn at(&self, seconds: i64) -> Timestamp {
        "2026-11-16T10:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
    }

    pub fn run(&self, id: &str) -> Run {
        self.run_in(id, "/workspace", "claude", 1)
    }

    pub fn run_in(&self, id: &str, workspace: &str, backend: &str, seconds: i64) -> Run {
        let folder = self.runs().join(id);
        std::fs::create_dir_all(&folder).unwrap();
        let data = json!({
            "format_version": 1, "run_id": id, "ralph_version": "0.1.0", "workspace": workspace,
            "backend": backend, "display_name": backend, "max_iterations": 1,
        });
        let start = self.at(0);
        let first = line(
            1,
            start + SignedDuration::from_secs(seconds),
            "run_started",
            &data,
        );
        let mut fold = RunFold::new();
        fold.push(first.as_bytes());
        let mut run = Run {
            summary: fold.summary().unwrap().clone(),
            path: folder.join("journal.ndjson"),
            start,
            seq: 1,
            offset: 0,
            seconds,
            calls: 0,
        };
        run.append(format!("{first}\n").as_bytes());
        run
    }

    /// Indexes all that these runs have. Says how many records.
    pub fn index(&self, runs: &[&Run]) -> u64 {
        let runs: Vec<_> = runs.iter().map(|run| (&run.summary, run.offset)).collect();
        self.index.index_runs(&runs).unwrap()
    }
}

impl Run {
    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Says something. Gives where the line begins and how long it is.
    pub fn say(&mut self, text: &str) -> (u64, u64) {
        self.record("text_block", &json!({"item": "m/0", "text": text}))
    }

    pub fn say_at(&mut self, seconds: i64, text: &str) {
        self.seconds = seconds;
        self.say(text);
    }

    /// Calls a tool, which is told in two steps, and prints something.
    pub fn tool(&mut self, name: &str, command: &str, output: &str) {
        self.call(name, command);
        self.record(
            "tool_finished",
            &json!({"item": self.calls.to_string(), "status": "completed", "output": output}),
        );
    }

    pub fn call(&mut self, name: &str, command: &str) {
        self.calls += 1;
        let item = self.calls.to_string();
        self.record(
            "tool_started",
            &json!({"item": item, "name": name, "kind": "execute", "state": "preparing"}),
        );
        self.record(
            "tool_started",
            &json!({"item": item, "name": name, "kind": "execute", "input": {"command": command}, "state": "running"}),
        );
    }

    pub fn record(&mut self, kind: &str, data: &Value) -> (u64, u64) {
        self.seq += 1;
        let at = self.start + SignedDuration::from_secs(self.seconds);
        let line = line(self.seq, at, kind, data);
        let offset = self.offset;
        self.append(format!("{line}\n").as_bytes());
        (offset, line.len() as u64)
    }

    /// Cuts the journal, as a loss of power does.
    pub fn cut(&mut self, offset: u64, seq: u64) {
        let file = OpenOptions::new().write(true).open(&self.path).unwrap();
        file.set_len(offset).unwrap();
        (self.offset, self.seq) = (offset, seq);
    }

    pub fn append(&mut self, bytes: &[u8]) {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.path)
            .unwrap();
        file.write_all(bytes).unwrap();
        self.offset += bytes.len() as u64;
    }
}

fn line(seq: u64, at: Timestamp, kind: &str, data: &Value) -> String {
    json!({"seq": seq, "at": at.to_string(), "iteration": 1, "attempt": 1,
        "event": {"agent_kind": "claude", "type": kind, "data": data}})
    .to_string()
}
