//! `Recorder`: an agent that notes how it was called and what it was told, call by call.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::stage::{Stage, result};

/// Numbers count from 1. A call without an answer of its own gets the last one.
pub(crate) struct Recorder {
    directory: PathBuf,
}

const PROGRAM: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }
cd "$(dirname "$0")" || exit 1
n=1
while ! mkdir "call-$n" 2>/dev/null; do n=$((n + 1)); done
printf '%s\n' "$@" > "call-$n/args"
IFS= read -r line
printf '%s\n' "$line" > "call-$n/input"
[ -f "action-$n" ] && sh "action-$n"
answer=$n
while [ ! -f "answer-$answer" ]; do answer=$((answer - 1)); done
sed "s/SESSION/00000000-0000-4000-8000-00000000000$n/g" "answer-$answer"
cat > /dev/null
"#;

impl Recorder {
    /// Installs it in a stage, with these settings around it. The answers are for one call each.
    pub(crate) fn install(stage: &Stage, settings: &str, answers: &[&str]) -> Self {
        let directory = stage.path("recorder");
        fs::create_dir(&directory).unwrap();
        let program = directory.join("claude");
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let recorder = Self { directory };
        for (index, text) in answers.iter().enumerate() {
            recorder.answer(index + 1, text);
        }
        stage.configure(&format!(
            "{settings}cli:\n  backend: claude\n  command: {}\n",
            program.display()
        ));
        recorder
    }

    fn answer(&self, number: usize, text: &str) {
        let init = json!({"type": "system", "subtype": "init", "cwd": "/", "session_id": "SESSION", "tools": [],
            "mcp_servers": [], "model": "claude-opus-5-5", "permissionMode": "bypassPermissions",
            "claude_code_version": "2.1.325"});
        let said = json!({"type": "assistant", "session_id": "SESSION", "parent_tool_use_id": null,
            "message": {"id": format!("msg_{number}"), "type": "message", "role": "assistant",
                "model": "claude-opus-5-5", "content": [{"type": "text", "text": text}],
                "usage": {"input_tokens": 1, "output_tokens": 1}}});
        let result = result(&json!({"subtype": "success", "is_error": false, "result": text,
            "session_id": "SESSION"}));
        let said = if text.is_empty() {
            String::new()
        } else {
            format!("{said}\n")
        };
        let path = self.directory.join(format!("answer-{number}"));
        fs::write(path, format!("{init}\n{said}{result}\n")).unwrap();
    }

    /// Runs a shell script in the middle of a call.
    pub(crate) fn during(&self, number: usize, script: &str) {
        fs::write(self.directory.join(format!("action-{number}")), script).unwrap();
    }

    pub(crate) fn calls(&self) -> usize {
        (1..).take_while(|&number| self.call(number).exists()).count()
    }

    fn call(&self, number: usize) -> PathBuf {
        self.directory.join(format!("call-{number}"))
    }

    pub(crate) fn args(&self, number: usize) -> Vec<String> {
        let text = fs::read_to_string(self.call(number).join("args")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// The prompt of a call.
    pub(crate) fn prompt(&self, number: usize) -> String {
        let line = fs::read(self.call(number).join("input")).unwrap();
        let message: Value = serde_json::from_slice(&line).unwrap();
        let content = &message["message"]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        text.unwrap().to_owned()
    }
}
