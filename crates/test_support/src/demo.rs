//! Sessions made of [`crate::dialect`] lines: the smallest one, and one worth looking at.

use crate::dialect::{Session, ToolOutcome};
use crate::script::{Script, Signal};
use serde_json::{Value, json};
use std::time::Duration;

/// The session id of the sessions made here.
pub const SESSION_ID: &str = "10f6d5a2-3c4b-4f1e-9a7d-2b8c6e5f4a31";

impl Script {
    /// The smallest session: `init`, one text block, `result`.
    #[must_use]
    pub fn claude_session(text: &str) -> Self {
        let mut session = Session::new(SESSION_ID);
        let init = session.init("/workspace");
        session.begin_message();
        Self::new()
            .emit(init)
            .emit(session.text(text))
            .emit(session.result(text))
    }

    /// Answers SIGINT as Claude Code does: a `result` that says so, then exit code 0.
    #[must_use]
    pub fn ends_on_interrupt(self) -> Self {
        let result =
            Session::new(SESSION_ID).error_result("error_during_execution", "aborted_streaming", &[]);
        self.on_signal(Signal::Interrupt, Self::new().emit(result).exit(0))
    }

    /// A session worth looking at: thinks, streams text, reads, runs a test that fails, edits, runs it again, ends.
    #[must_use]
    pub fn demo(pace: Duration) -> Self {
        let mut play = Demo {
            session: Session::new(SESSION_ID),
            script: Self::new().ends_on_interrupt(),
            pace,
        };
        let init = play.session.init("/workspace");
        play.line(init);
        play.session.begin_message();
        let thought = play
            .session
            .thinking("The test names a function that I should read before I change anything.");
        play.line(thought);
        play.speak(&["I'll read the code ", "and run the tests ", "to see what fails."]);
        play.tool(
            "Read",
            json!({"file_path": "/workspace/src/greeting.rs"}),
            "     1\tpub fn greet(name: &str) -> String {\n     2\t    format!(\"Helo {name}\")\n     3\t}",
            ToolOutcome::Succeeded,
        );
        let test = json!({"command": "cargo test --quiet", "description": "Run the tests"});
        let failure = "Exit code 101\nassertion `left == right` failed\n  left: \"Helo Ralph\"\n right: \"Hello Ralph\"";
        play.tool("Bash", test.clone(), failure, ToolOutcome::Failed);
        play.speak(&["A missing letter. ", "One edit should do."]);
        play.tool(
            "Edit",
            json!({"file_path": "/workspace/src/greeting.rs", "old_string": "Helo", "new_string": "Hello"}),
            "The file /workspace/src/greeting.rs has been updated.",
            ToolOutcome::Succeeded,
        );
        play.tool(
            "Bash",
            test,
            "test result: ok. 1 passed; 0 failed",
            ToolOutcome::Succeeded,
        );
        let end = [
            "The greeting is spelled correctly now, ",
            "and the test passes.\n\n",
            "LOOP_COMPLETE",
        ];
        play.speak(&end);
        let result = play.session.result(&end.concat());
        play.line(result);
        play.script.exit(0)
    }
}

struct Demo {
    session: Session,
    script: Script,
    pace: Duration,
}

impl Demo {
    fn line(&mut self, line: String) {
        let script = std::mem::take(&mut self.script).emit(line);
        self.script = if self.pace.is_zero() {
            script
        } else {
            script.pause(self.pace)
        };
    }

    fn speak(&mut self, deltas: &[&str]) {
        self.session.begin_message();
        for line in self.session.partial_text(deltas) {
            self.line(line);
        }
        let block = self.session.text(&deltas.concat());
        self.line(block);
        for line in self.session.partial_end("end_turn") {
            self.line(line);
        }
    }

    fn tool(&mut self, name: &str, input: Value, output: &str, outcome: ToolOutcome) {
        self.session.begin_message();
        let id = format!("toolu_01{:022x}", self.script.steps.len());
        let call = self.session.tool_use(&id, name, &input);
        self.line(call);
        let twin = match outcome {
            ToolOutcome::Succeeded => json!({"stdout": output, "stderr": "", "interrupted": false}),
            ToolOutcome::Failed => Value::from(format!("Error: {output}")),
        };
        let result = self.session.tool_result(&id, output, outcome, &twin);
        self.line(result);
    }
}
