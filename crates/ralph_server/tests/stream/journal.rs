//! A journal that is written while others read it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use ralph_run::{Home, RunDirectory};
use serde_json::json;

/// Writes a run's journal, line by line.
pub(crate) struct Journal {
    pub(crate) run: RunDirectory,
    file: File,
    seq: u64,
    /// The texts of all items so far: what a client must have in the end.
    pub(crate) texts: Vec<String>,
}

impl Journal {
    pub(crate) fn create(home: &Home) -> Self {
        Self::create_in(home.create_run(jiff::Timestamp::now()).unwrap())
    }

    /// In a directory that is there.
    pub(crate) fn create_in(run: RunDirectory) -> Self {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(run.journal())
            .unwrap();
        let mut journal = Self {
            run,
            file,
            seq: 0,
            texts: Vec::new(),
        };
        let data = json!({
            "format_version": 1, "run_id": journal.run.id(), "ralph_version": "0.1.0", "workspace": "/w",
            "backend": "demo", "display_name": "Demo", "max_iterations": 1,
        });
        journal.write(&json!({"type": "run_started", "data": data}));
        journal
    }

    pub(crate) fn id(&self) -> &str {
        self.run.id()
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn write(&mut self, event: &serde_json::Value) {
        self.write_in_pieces(event, usize::MAX);
    }

    /// The first `cut` bytes come first.
    pub(crate) fn write_in_pieces(&mut self, event: &serde_json::Value, cut: usize) {
        self.seq += 1;
        let record = json!({
            "seq": self.seq, "at": jiff::Timestamp::now().to_string(), "iteration": 1, "attempt": 1, "event": event,
        });
        let line = format!("{record}\n");
        let (one, two) = line.split_at(line.floor_char_boundary(cut));
        self.file.write_all(one.as_bytes()).unwrap();
        self.file.write_all(two.as_bytes()).unwrap();
    }

    pub(crate) fn delta(&mut self, item: usize, text: &str, cut: usize) {
        self.texts.resize(self.texts.len().max(item + 1), String::new());
        self.texts[item].push_str(text);
        let data = json!({"item": format!("m/{item}"), "part": "text", "mode": "append", "text": text});
        self.write_in_pieces(&json!({"agent_kind": "demo", "type": "delta", "data": data}), cut);
    }

    /// The whole text of an item.
    pub(crate) fn block(&mut self, item: usize) {
        let data = json!({"item": format!("m/{item}"), "text": self.texts[item]});
        self.write(&json!({"agent_kind": "demo", "type": "text_block", "data": data}));
    }

    pub(crate) fn notice(&mut self, message: &str) {
        let data = json!({"kind": "degraded", "message": message});
        self.write(&json!({"type": "warned", "data": data}));
    }

    pub(crate) fn end(&mut self) {
        let data = json!({"reason": "completed", "exit_code": 0, "iterations": 1, "totals": {}});
        self.write(&json!({"type": "run_ended", "data": data}));
    }
}
