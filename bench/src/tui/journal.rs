//! `Journal`: runs as ralph leaves them, ended or in the middle of their work.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use ralph_run::Runner;
use serde_json::{Value, json};

use crate::process::explain;

const SOURCE: &str = include_str!("journal.rs");
/// Nothing listens to this run, but its process lives: it is this one.
const STARTED_AT: &str = "2026-11-16T03:00:00Z";

pub struct Journal {
    pub id: String,
    directory: PathBuf,
    file: BufWriter<File>,
    pub seq: u64,
    pub bytes: u64,
    steps: u64,
    random: u64,
}

impl Journal {
    /// A run that works, by its number.
    pub fn create(runs: &Path, number: usize, title: &str) -> Result<Self, String> {
        let id = format!("20261116-{:06}-{number:08x}", number % 235_959);
        let directory = runs.join(&id);
        std::fs::create_dir_all(&directory).map_err(explain)?;
        let file = File::create(directory.join("journal.ndjson")).map_err(explain)?;
        let mut journal = Self {
            id,
            directory,
            file: BufWriter::with_capacity(1 << 16, file),
            seq: 0,
            bytes: 0,
            steps: 0,
            random: number as u64 + 1,
        };
        journal.line("", "run_started", &json!({
            "format_version": 1, "run_id": journal.id, "ralph_version": "0.1.0", "workspace": "/home/user/project",
            "backend": "claude_code", "display_name": "Claude", "model": "claude-opus-4-5",
            "permission_mode": "bypass", "max_iterations": 50, "max_cost": 10_000_000,
        }))?;
        journal.line("", "iteration_started", &json!({"number": 1, "prompt": title}))?;
        journal.line(
            "",
            "attempt_started",
            &json!({"number": 1, "pid": 4711, "raw_log": "raw/1.ndjson", "program": "claude_code"}),
        )?;
        journal.save(&json!({"state": "thinking"}), title)?;
        Ok(journal)
    }

    /// Writes `run.json`.
    pub fn save(&self, status: &Value, title: &str) -> Result<(), String> {
        let mut full = json!({
            "iteration": 1, "attempt": 1,
            "totals": {"tokens": {"input": 1, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}, "turns": 1, "duration_ms": 3004},
        });
        if let (Some(full), Some(status)) = (full.as_object_mut(), status.as_object()) {
            full.extend(status.clone());
        }
        let is_ended = status["state"] == "ended";
        let file = json!({
            "version": 1, "run_id": self.id, "workspace": "/home/user/project", "backend": "claude_code",
            "display_name": "Claude", "model": "claude-opus-4-5", "prompt": title, "started_at": STARTED_AT,
            "ended_at": is_ended.then_some("2026-11-16T04:00:00Z"), "status": full,
            "reason": is_ended.then_some("completed"), "exit_code": is_ended.then_some(0),
            "runner": Runner::current(), "ralph_version": "0.1.0",
        });
        let new = self.directory.join("run.json.new");
        std::fs::write(&new, file.to_string()).map_err(explain)?;
        std::fs::rename(new, self.directory.join("run.json")).map_err(explain)
    }

    /// The run ends.
    pub fn end(mut self, title: &str) -> Result<String, String> {
        let totals = json!({"tokens": {}, "turns": 1, "duration_ms": 5});
        self.line(
            "",
            "run_ended",
            &json!({"reason": "completed", "exit_code": 0, "iterations": 1, "totals": totals}),
        )?;
        self.flush()?;
        self.save(&json!({"state": "ended", "reason": "completed"}), title)?;
        Ok(self.id)
    }

    /// A message of the model: thinking, text in pieces, a tool call and what came of it. 17 records.
    pub fn step(&mut self) -> Result<(), String> {
        self.steps += 1;
        let message = format!("msg_{:08}", self.steps);
        self.agent("status_changed", &json!({"status": "requesting"}))?;
        self.agent("usage", &json!({
            "scope": "step", "tokens": {"input": 700, "cache_read": 14000, "cache_write": 640, "output": 180, "reasoning": 0},
            "model": "claude-opus-4-5", "context": {"used": 14652},
        }))?;
        let mut whole = [String::new(), String::new()];
        for piece in 0..10 {
            let (part, size) = if piece < 3 { (0, 40) } else { (1, 90) };
            let text = self.text(size);
            self.delta(&format!("{message}/{part}"), ["thinking", "text"][part], &text)?;
            whole[part].push_str(&text);
        }
        let [thinking, text] = whole;
        self.agent(
            "thinking_block",
            &json!({"item": format!("{message}/0"), "text": thinking}),
        )?;
        self.agent(
            "text_block",
            &json!({"item": format!("{message}/1"), "text": text}),
        )?;
        let call = format!("toolu_{:08}", self.steps);
        let size = match self.next(10) {
            0 => 16_000,
            1..4 => 4_000,
            _ => 3_000,
        };
        if self.steps.is_multiple_of(4) {
            let (old, new) = (self.text(300), self.text(400));
            self.agent("tool_started", &json!({
                "item": call, "name": "Edit", "kind": "edit", "subject": "src/journal.rs", "state": "running",
                "input": {"file_path": "/home/user/project/src/journal.rs", "old_string": old, "new_string": new},
            }))?;
            self.agent(
                "tool_finished",
                &json!({"item": call, "status": "completed", "output": "done"}),
            )?;
        } else {
            let command = self.text(100);
            self.agent(
                "tool_started",
                &json!({
                    "item": call, "name": "Bash", "kind": "execute", "subject": command, "state": "running",
                    "input": {"command": command, "description": "look"},
                }),
            )?;
            let output = self.text(size);
            self.agent(
                "tool_finished",
                &json!({"item": call, "status": "completed", "output": output}),
            )?;
        }
        self.agent(
            "notice",
            &json!({"severity": "debug", "code": "framing", "message": "content_block_start"}),
        )
    }

    pub fn delta(&mut self, item: &str, part: &str, text: &str) -> Result<(), String> {
        self.agent(
            "delta",
            &json!({"item": item, "part": part, "mode": "append", "text": text}),
        )
    }

    pub fn agent(&mut self, kind: &str, data: &Value) -> Result<(), String> {
        let head = r#""agent_kind":"claude_code","raw":{"line":1234,"offset":123456,"length":707},"#;
        self.line(head, kind, data)
    }

    fn line(&mut self, head: &str, kind: &str, data: &Value) -> Result<(), String> {
        self.seq += 1;
        let (seq, at) = (self.seq, jiff::Timestamp::now());
        let line = format!(
            "{{\"seq\":{seq},\"at\":\"{at}\",\"iteration\":1,\"attempt\":1,\"event\":{{{head}\"type\":\"{kind}\",\"data\":{data}}}}}\n"
        );
        self.bytes += line.len() as u64;
        self.file.write_all(line.as_bytes()).map_err(explain)
    }

    /// Makes what was written visible to readers.
    pub fn flush(&mut self) -> Result<(), String> {
        self.file.flush().map_err(explain)
    }

    /// Some lines of this very program.
    pub fn text(&mut self, size: usize) -> String {
        let start = self.next(SOURCE.len());
        let source = SOURCE
            .bytes()
            .cycle()
            .skip(start)
            .map(|byte| if byte.is_ascii() { char::from(byte) } else { '?' });
        source.take(size).collect()
    }

    fn next(&mut self, limit: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % (limit as u64)).unwrap_or(0)
    }
}
