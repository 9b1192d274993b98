//! The tools that the agent uses, and what comes of them.

use std::time::Duration;

use serde_json::{Value, json};

use super::lines::{Lines, ToolEnd};
use super::props::{Props, patch};
use super::stage::{Played, Stage, Stop};

/// How long tools take at normal speed.
const TOOL: Duration = Duration::from_millis(250);
const COMMAND: Duration = Duration::from_millis(600);

impl Stage {
    /// Says why, and calls a tool. Gives the call's id.
    fn act(&mut self, words: &str, name: &str, input: &Value) -> Played<String> {
        if self.open_message.is_none() {
            self.begin_message()?;
        }
        if !words.is_empty() {
            self.say(words)?;
        }
        let id = self.call(name, input)?;
        self.end_message("tool_use")?;
        Ok(id)
    }

    fn finish(&mut self, id: &str, end: ToolEnd) -> Played {
        self.open_tool = None;
        let line = self.lines.tool_result(id, end);
        self.write(&line)
    }

    /// A tool that did not work although nothing speaks against it: the job ends here.
    fn give_up(&mut self, id: &str, error: &std::io::Error) -> Played {
        let message = error.to_string();
        self.finish(id, ToolEnd::failed(message.as_str()))?;
        Err(Stop::Stuck(format!("I cannot go on: {message}.")))
    }

    pub(super) fn read_file(&mut self, words: &str, props: &Props, name: &str) -> Played {
        let path = props.path(name).to_string_lossy().into_owned();
        let id = self.act(words, "Read", &json!({"file_path": path}))?;
        self.pause(TOOL)?;
        let text = match props.read(name) {
            Ok(text) => text,
            Err(error) => return self.give_up(&id, &error),
        };
        let numbered: Vec<String> = text
            .split('\n')
            .enumerate()
            .map(|(index, line)| format!("{}\t{line}", index + 1))
            .collect();
        let lines = numbered.len();
        let file = json!({
            "filePath": path, "content": text, "numLines": lines, "startLine": 1, "totalLines": lines,
        });
        self.finish(
            &id,
            ToolEnd::done(numbered.join("\n"), json!({"type": "text", "file": file})),
        )
    }

    pub(super) fn edit_file(
        &mut self,
        words: &str,
        props: &Props,
        name: &str,
        change: (&str, &str),
    ) -> Played {
        let path = props.path(name).to_string_lossy().into_owned();
        let (old, new) = change;
        let input = json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": false});
        let id = self.act(words, "Edit", &input)?;
        self.pause(TOOL)?;
        let edited = props.read(name).and_then(|text| {
            let edited = text.replacen(old, new, 1);
            props.replace(name, &edited).map(|()| (text, edited))
        });
        let (original, edited) = match edited {
            Ok(texts) => texts,
            Err(error) => return self.give_up(&id, &error),
        };
        let twin = json!({
            "filePath": path, "oldString": old, "newString": new, "structuredPatch": patch(&original, &edited),
            "originalFile": original, "userModified": false, "replaceAll": false,
        });
        self.finish(
            &id,
            ToolEnd::done(format!("The file {path} has been updated successfully."), twin),
        )
    }

    /// Says whether the command succeeded.
    pub(super) fn command(&mut self, words: &str, command: &str, description: &str) -> Played<bool> {
        let input = json!({"command": command, "description": description});
        let id = self.act(words, "Bash", &input)?;
        self.pause(COMMAND)?;
        let outcome = self.run(command)?;
        let is_success = outcome.code == Some(0);
        let end = if is_success {
            let twin = json!({
                "stdout": outcome.output, "stderr": "", "interrupted": false, "isImage": false,
                "noOutputExpected": false,
            });
            ToolEnd::done(outcome.output, twin)
        } else {
            let code = outcome
                .code
                .map_or_else(|| "unknown".to_owned(), |code| code.to_string());
            ToolEnd::failed(format!("Exit code {code}\n{}", outcome.output))
        };
        self.finish(&id, end)?;
        Ok(is_success)
    }

    /// Writes down what is to be done: steps as they are called and as they are called while they are done, and how
    /// many of them are done already.
    pub(super) fn plan(&mut self, words: &str, steps: &[(&str, &str)], done: usize) -> Played {
        let status = |index: usize| match index.cmp(&done) {
            std::cmp::Ordering::Less => "completed",
            std::cmp::Ordering::Equal => "in_progress",
            std::cmp::Ordering::Greater => "pending",
        };
        let steps = steps.iter().enumerate();
        let todos: Value = steps
            .map(|(index, (content, active))| {
                json!({"content": content, "activeForm": active, "status": status(index)})
            })
            .collect();
        let id = self.act(words, "TodoWrite", &json!({"todos": todos}))?;
        let twin = json!({"oldTodos": self.todos, "newTodos": todos});
        self.todos = todos;
        self.finish(&id, ToolEnd::done("Todos have been modified successfully.", twin))
    }

    /// Asks a question with some answers to choose from. Without an answer the agent decides by itself.
    pub(super) fn ask(&mut self, words: &str, question: &str, options: &Value) -> Played<Option<String>> {
        let asked = json!([
            {"question": question, "header": "Greeting", "multiSelect": false, "options": options},
        ]);
        let input = json!({"questions": asked});
        let id = self.act(words, "AskUserQuestion", &input)?;
        let request_id = self.lines.next_request_id();
        self.write(&Lines::question(&request_id, &id, &input))?;
        self.open_request = Some(request_id);
        self.answer = None;
        let response = loop {
            if let Some(response) = self.answer.take() {
                break Some(response);
            }
            if self.has_input_ended {
                break None;
            }
            let heard = self.inbox.next();
            self.hear(heard)?;
        };
        self.open_request = None;
        let reply = response
            .as_ref()
            .map_or(&Value::Null, |response| &response["response"]);
        if reply["behavior"] == "allow" {
            let answers = &reply["updatedInput"]["answers"];
            let answer = answers[question].as_str().map(str::to_owned);
            let content = match &answer {
                Some(answer) => format!("Your questions have been answered: \"{question}\"=\"{answer}\"."),
                None => "The question was dismissed.".to_owned(),
            };
            let mut end = ToolEnd::done(content, json!({"questions": asked, "answers": answers}));
            end.decision = json!({"permission_decision": {"decision": "accept", "source": "user_temporary"}});
            self.finish(&id, end)?;
            return Ok(answer);
        }
        let message = match &response {
            None => "Tool permission request failed: AbortError: Tool permission stream closed before response received"
                .to_owned(),
            Some(response) if response["subtype"] == "error" => {
                let error = response["error"].as_str().unwrap_or("unknown");
                format!("Tool permission request failed: Error: {error}")
            }
            Some(_) => {
                if reply["interrupt"] == true {
                    return Err(Stop::Interrupted);
                }
                self.denials.push(Lines::denial(&id, &input));
                reply["message"].as_str().unwrap_or("Denied.").to_owned()
            }
        };
        let mut end = ToolEnd::failed(message);
        end.decision = json!({"non_execution_kind": "permission-rule"});
        self.finish(&id, end)?;
        Ok(None)
    }
}
