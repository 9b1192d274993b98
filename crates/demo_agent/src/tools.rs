//! The tools of the demo agent. They really read, edit and run the files of the demo project.

use std::cmp::Ordering;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::demo_project::{DemoProject, Edit, SCRIPT_FILE};
use crate::session::{Result, Session, Stop};
use crate::wire_lines::{ToolResult, question_denial, question_request};

/// Durations at normal speed.
const FILE_TOOL: Duration = Duration::from_millis(250);
const COMMAND: Duration = Duration::from_millis(600);

impl Session {
    fn finish_tool(&mut self, id: &str, result: ToolResult) -> Result {
        self.open_tool = None;
        let line = self.lines.tool_result(id, result);
        self.write(&line)
    }

    fn fail_tool(&mut self, id: &str, error: &std::io::Error) -> Stop {
        match self.finish_tool(id, ToolResult::failure(error.to_string())) {
            Ok(()) => Stop::TaskFailed(format!("I cannot continue: {error}.")),
            Err(stop) => stop,
        }
    }

    pub(crate) fn read_file(&mut self, text: &str, project: &DemoProject, name: &str) -> Result {
        let path = project.path(name).to_string_lossy().into_owned();
        let id = self.call_tool(text, "Read", &json!({"file_path": path}))?;
        self.pause(FILE_TOOL)?;
        let content = project.read(name).map_err(|error| self.fail_tool(&id, &error))?;
        let numbered: Vec<String> = (1..)
            .zip(content.split('\n'))
            .map(|(number, line)| format!("{number}\t{line}"))
            .collect();
        let lines = numbered.len();
        let file = json!({
            "filePath": path, "content": content, "numLines": lines, "startLine": 1, "totalLines": lines,
        });
        self.finish_tool(
            &id,
            ToolResult::success(numbered.join("\n"), json!({"type": "text", "file": file})),
        )
    }

    pub(crate) fn edit_script(&mut self, text: &str, project: &DemoProject, edit: Edit) -> Result {
        let path = project.path(SCRIPT_FILE).to_string_lossy().into_owned();
        let input =
            json!({"file_path": path, "old_string": edit.old, "new_string": edit.new, "replace_all": false});
        let id = self.call_tool(text, "Edit", &input)?;
        self.pause(FILE_TOOL)?;
        let original = project.apply(edit).map_err(|error| self.fail_tool(&id, &error))?;
        let structured = json!({
            "filePath": path, "oldString": edit.old, "newString": edit.new, "structuredPatch": edit.patch(&original),
            "originalFile": original, "userModified": false, "replaceAll": false,
        });
        self.finish_tool(
            &id,
            ToolResult::success(
                format!("The file {path} has been updated successfully."),
                structured,
            ),
        )
    }

    /// Returns whether the command succeeded. Commands take milliseconds, so input waits until they are done.
    pub(crate) fn run_command(&mut self, text: &str, command: &str, description: &str) -> Result<bool> {
        let input = json!({"command": command, "description": description});
        let id = self.call_tool(text, "Bash", &input)?;
        self.pause(COMMAND)?;
        let ran = Command::new("sh")
            .arg("-c")
            .arg(format!("exec 2>&1\n{command}"))
            .current_dir(&self.cwd)
            .stdin(Stdio::null())
            .output();
        let ran = ran.map_err(|error| self.fail_tool(&id, &error))?;
        let output = String::from_utf8_lossy(&ran.stdout).trim_end().to_owned();
        let is_success = ran.status.success();
        let result = if is_success {
            let structured = json!({
                "stdout": output, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
            });
            ToolResult::success(output, structured)
        } else {
            let code = ran
                .status
                .code()
                .map_or_else(|| "unknown".to_owned(), |code| code.to_string());
            ToolResult::failure(format!("Exit code {code}\n{output}"))
        };
        self.finish_tool(&id, result)?;
        Ok(is_success)
    }

    pub(crate) fn write_todos(&mut self, text: &str, todos: &[(&str, &str)], done: usize) -> Result {
        let status = |index: usize| match index.cmp(&done) {
            Ordering::Less => "completed",
            Ordering::Equal => "in_progress",
            Ordering::Greater => "pending",
        };
        let todos: Value = todos
            .iter()
            .enumerate()
            .map(|(index, (content, active))| {
                json!({"content": content, "activeForm": active, "status": status(index)})
            })
            .collect();
        let id = self.call_tool(text, "TodoWrite", &json!({"todos": todos}))?;
        let structured = json!({"oldTodos": self.todos, "newTodos": todos});
        self.todos = todos;
        self.finish_tool(
            &id,
            ToolResult::success("Todos have been modified successfully.", structured),
        )
    }

    /// Asks a question and returns the chosen label. `None` if it was dismissed, or the input has ended.
    pub(crate) fn ask_question(
        &mut self,
        text: &str,
        question: &str,
        options: &[(&str, &str)],
    ) -> Result<Option<String>> {
        let options: Value = options
            .iter()
            .map(|(label, description)| json!({"label": label, "description": description}))
            .collect();
        let questions = json!([
            {"question": question, "header": "Greeting", "multiSelect": false, "options": options},
        ]);
        let input = json!({"questions": questions});
        let id = self.call_tool(text, "AskUserQuestion", &input)?;
        let response = self.wait_for_answer(&id, &input)?;
        let reply = &response["response"];
        if reply["behavior"] == "allow" {
            let answers = &reply["updatedInput"]["answers"];
            let answer = answers[question].as_str().map(str::to_owned);
            let content = match &answer {
                Some(answer) => format!("Your questions have been answered: \"{question}\"=\"{answer}\"."),
                None => "The question was dismissed.".to_owned(),
            };
            let mut result =
                ToolResult::success(content, json!({"questions": questions, "answers": answers}));
            result.meta = json!({"permission_decision": {"decision": "accept", "source": "user_temporary"}});
            self.finish_tool(&id, result)?;
            return Ok(answer);
        }
        if reply["interrupt"] == true {
            return Err(Stop::Interrupted);
        }
        let message = match response["error"].as_str() {
            Some(error) => format!("Tool permission request failed: Error: {error}"),
            None => {
                self.denials.push(question_denial(&id, &input));
                reply["message"].as_str().unwrap_or("Denied.").to_owned()
            }
        };
        let mut result = ToolResult::failure(message);
        result.meta = json!({"non_execution_kind": "permission-rule"});
        self.finish_tool(&id, result)?;
        Ok(None)
    }

    /// Returns the caller's response, or an error response when the input ends before it.
    fn wait_for_answer(&mut self, tool_id: &str, input: &Value) -> Result<Value> {
        let request_id = self.lines.next_request_id();
        self.write(&question_request(&request_id, tool_id, input))?;
        self.open_request = Some(request_id);
        self.answer = None;
        while self.answer.is_none() && !self.has_input_ended {
            let event = self.input.next();
            self.handle(event)?;
        }
        self.open_request = None;
        Ok(self.answer.take().unwrap_or_else(
            || json!({"error": "AbortError: Tool permission stream closed before response received"}),
        ))
    }
}
