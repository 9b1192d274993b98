//! A run that writes its journal.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use ralph_store::{Batch, RunFold};
use serde_json::{Value, json};

pub(crate) const START: &str = "2026-11-16T10:00:00Z";

/// A run that writes its journal, on the disk or in memory only.
pub(crate) struct Journal {
    pub(crate) id: String,
    pub(crate) path: Option<PathBuf>,
    /// The lines that were not yet taken.
    new: Vec<String>,
    fold: RunFold,
    pub(crate) seq: u64,
    offset: u64,
    /// Since the start, of the next record.
    pub(crate) clock: SignedDuration,
    calls: u64,
    used: (u64, u64),
}

impl Journal {
    pub(crate) fn begin(runs: Option<&Path>, id: &str, workspace: &str, backend: &str) -> Self {
        let path = runs.map(|runs| {
            std::fs::create_dir_all(runs.join(id)).unwrap();
            runs.join(id).join("journal.ndjson")
        });
        if let Some(path) = path.as_ref().filter(|path| path.exists()) {
            std::fs::remove_file(path).unwrap();
        }
        let mut journal = Self {
            id: id.to_owned(),
            path,
            new: Vec::new(),
            fold: RunFold::new().keeping_lines(true),
            seq: 0,
            offset: 0,
            clock: SignedDuration::ZERO,
            calls: 0,
            used: (0, 0),
        };
        journal.run(
            "run_started",
            &json!({
                "format_version": 1, "run_id": id, "ralph_version": "0.1.0", "workspace": workspace,
                "backend": backend, "display_name": backend, "max_iterations": 3,
            }),
        );
        journal
    }

    /// A run in memory only.
    pub(crate) fn of(id: &str) -> Self {
        Self::begin(None, id, "/work", "claude_code")
    }

    pub(crate) fn at(seconds: i64) -> Timestamp {
        START.parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
    }

    /// A record of the run's. Gives where the line begins and how long it is.
    pub(crate) fn run(&mut self, kind: &str, data: &Value) -> (u64, u32) {
        self.push(&json!({"type": kind, "data": data}))
    }

    /// A record of the agent's.
    pub(crate) fn agent(&mut self, kind: &str, data: &Value) -> (u64, u32) {
        self.push(&json!({"agent_kind": "claude_code", "type": kind, "data": data}))
    }

    fn push(&mut self, event: &Value) -> (u64, u32) {
        self.seq += 1;
        // So that no two records are of the same time.
        let at = Self::at(0) + self.clock + SignedDuration::from_micros(i64::try_from(self.seq).unwrap());
        let position = u8::from(self.seq > 1);
        let line = json!({
            "seq": self.seq, "at": at.to_string(), "iteration": position, "attempt": position, "event": event,
        });
        let line = line.to_string();
        let place = (self.offset, u32::try_from(line.len()).unwrap());
        self.offset += line.len() as u64 + 1;
        if let Some(path) = &self.path {
            let file = OpenOptions::new().append(true).create(true).open(path);
            writeln!(file.unwrap(), "{line}").unwrap();
        }
        self.new.push(line);
        place
    }

    /// Some records of all kinds, up to this one.
    pub(crate) fn work_until(&mut self, last: u64) -> &mut Self {
        while self.seq < last {
            let seq = self.seq + 1;
            match seq % 8 {
                0 => self.use_tokens(10, 1, Some("claude-opus-4-5")),
                1 | 2 => drop(self.agent("delta", &json!({"item": "i", "part": "text", "text": "x"}))),
                3 => drop(self.say(&format!("hello {seq}"))),
                4 => self.call("Bash", &format!("echo {seq}")),
                5 => self.ask(&format!("q{seq}")),
                6 => self.answer(&format!("q{}", seq - 1)),
                _ => self.send(&format!("m{seq}"), "hi"),
            }
        }
        self
    }

    /// What is new since the last time.
    pub(crate) fn take(&mut self) -> Batch {
        for line in self.new.drain(..) {
            self.fold.push(line.as_bytes());
        }
        self.fold.take().unwrap()
    }

    /// All lines that were not taken, to be folded by somebody else.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }

    pub(crate) fn say(&mut self, text: &str) -> (u64, u32) {
        self.agent("text_block", &json!({"item": "m/0", "text": text}))
    }

    pub(crate) fn call(&mut self, tool: &str, command: &str) {
        self.calls += 1;
        self.agent(
            "tool_started",
            &json!({
                "item": self.calls.to_string(), "name": tool, "kind": "execute", "input": {"command": command},
                "state": "running",
            }),
        );
    }

    pub(crate) fn finish_call(&mut self, output: &str) {
        let data = json!({"item": self.calls.to_string(), "status": "completed", "output": output});
        self.agent("tool_finished", &data);
    }

    pub(crate) fn ask(&mut self, request: &str) {
        let data = json!({"request": request, "tool": "Bash", "kind": "execute", "subject": "make"});
        self.agent("permission_requested", &data);
    }

    pub(crate) fn answer(&mut self, request: &str) {
        self.agent(
            "request_closed",
            &json!({"request": request, "reason": "answered"}),
        );
    }

    pub(crate) fn send(&mut self, message: &str, text: &str) {
        self.run(
            "command_received",
            &json!({
                "command_id": format!("c-{message}"), "command": "send", "text": text, "message_id": message,
                "mode": "queue",
            }),
        );
    }

    /// A message of the model; reports are of all that was used so far.
    pub(crate) fn use_tokens(&mut self, input: u64, output: u64, model: Option<&str>) {
        self.used = (self.used.0 + input, self.used.1 + output);
        let mut data = json!({
            "scope": "step", "tokens": {},
            "run": {"tokens": {"input": self.used.0, "output": self.used.1}, "is_partial": true},
        });
        if let Some(model) = model {
            data["model"] = model.into();
        }
        self.agent("usage", &data);
    }

    /// What the messages so far cost in all, as the agent says at the end of a turn.
    pub(crate) fn cost(&mut self, micro_usd: u64) {
        self.agent(
            "usage",
            &json!({
                "scope": "turn", "tokens": {},
                "run": {
                    "tokens": {"input": self.used.0, "output": self.used.1},
                    "cost": {"micro_usd": micro_usd, "source": "reported"},
                },
            }),
        );
    }

    pub(crate) fn greet(&mut self, session: &str) {
        self.agent("session_started", &json!({"session_id": session}));
    }

    pub(crate) fn end(&mut self) {
        let totals = json!({"turns": 1});
        self.run(
            "attempt_ended",
            &json!({"outcome": "succeeded", "exit": {}, "totals": totals}),
        );
        self.run(
            "run_ended",
            &json!({"reason": "completed", "exit_code": 0, "iterations": 1, "totals": totals}),
        );
    }
}
