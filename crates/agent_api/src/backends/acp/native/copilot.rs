//! `CopilotMapper`: the lines of `copilot --output-format json`. Copilot redacts secrets in the text of a line, so a key
//! can be damaged: every field may be missing.

use json_lines::{Framed, Value};

use super::super::text::TextBlocks;
use super::output::Turns;
use crate::backend::Mapper;
use crate::backends::tool_names::{kind_of, tool_started};
use crate::backends::vendor_error::{api_error, nothing_said};
use crate::backends::wire_line::read_objects;
use crate::emitter::Emitter;
use crate::event::{
    Body, ChangeKind, ErrorInfo, FileChange, ItemId, Outcome, Part, Retry, SessionStarted, SessionUpdated,
    Severity, Tokens, ToolFinished, ToolState, ToolStatus, UsageScope,
};

pub(super) fn recognises(object: &Value) -> bool {
    let name = object.text("type").unwrap_or_default();
    let is_event = name.starts_with("session.") || name.starts_with("assistant.") || name == "user.message";
    is_event && object.get("data").is_some() && object.get("parentId").is_some()
}

#[derive(Debug, Default)]
pub(super) struct CopilotMapper {
    turns: Turns,
    texts: TextBlocks,
    model: Option<String>,
    /// The last failed request, or the error that ends the turn.
    error: Option<ErrorInfo>,
    is_aborted: bool,
}

impl CopilotMapper {
    fn map_object(&mut self, object: &Value, events: &mut Emitter) {
        let data = object.get("data").unwrap_or(&Value::Null);
        let text = |key| data.text(key).unwrap_or_default();
        let name = object.text("type").unwrap_or_default();
        match name {
            "session.tools_updated" => {
                self.model = data.text("model").map(str::to_owned);
                events.framing(name);
            }
            "user.message" => {
                self.open(events);
                events.user_message(ItemId::new(text("messageId")), text("content").to_owned());
            }
            "assistant.turn_start" => {
                self.open(events);
                events.framing(name);
            }
            "assistant.message_delta" => {
                self.texts
                    .append(Part::Text, data.text("messageId"), text("deltaContent"), events);
            }
            "assistant.reasoning_delta" => {
                self.texts.append(
                    Part::Thinking,
                    data.text("reasoningId"),
                    text("deltaContent"),
                    events,
                );
            }
            "assistant.message" => {
                if !self.texts.is_open() && !text("content").is_empty() {
                    self.texts
                        .append(Part::Text, data.text("messageId"), text("content"), events);
                }
                self.texts.complete(false, events);
                self.error = None;
                events.framing(name);
            }
            "assistant.tool_call_delta" => {
                self.start_tool(data, ToolState::Preparing, events);
                events.append(&call_id(data), Part::ToolInput, text("inputDelta"));
            }
            "tool.execution_start" => self.start_tool(data, ToolState::Running, events),
            "tool.shell_output" => events.append(&call_id(data), Part::ToolOutput, text("text")),
            // The same output again, from its start.
            "tool.execution_partial_result" => events.tool_progressed(call_id(data)),
            "tool.execution_complete" => events.emit(finished(data)),
            "model.call_failure" => {
                let status = data.count("statusCode");
                self.error = Some(api_error(text("errorMessage"), status));
                events.framing(name);
            }
            "assistant.turn_retry" => {
                let error = self.error.clone();
                let error = error.unwrap_or_else(|| api_error(text("reason"), None));
                events.emit(Body::RetryScheduled(Box::new(Retry::new(error))));
                self.texts.discard(events);
            }
            "session.error" => {
                let error = api_error(text("message"), data.count("statusCode"));
                self.error = Some(error.clone());
                events.error(error);
            }
            "session.info" | "session.warning" => {
                events.notice(Severity::Info, "agent_notice", text("message"));
            }
            "abort" => {
                self.is_aborted = true;
                events.framing(name);
            }
            "assistant.idle" if self.is_aborted => self.finish(Outcome::Interrupted, events),
            "result" => self.result(object, events),
            _ if ["session.", "assistant.", "model.", "agent.", "tool."]
                .iter()
                .any(|kind| name.starts_with(kind)) =>
            {
                events.framing(name);
            }
            _ => events.unknown(Some(name).filter(|name| !name.is_empty())),
        }
    }

    fn open(&mut self, events: &mut Emitter) {
        let model = self.model.clone();
        let session = SessionStarted {
            model,
            ..SessionStarted::default()
        };
        self.turns.open(session, events);
    }

    fn start_tool(&mut self, data: &Value, state: ToolState, events: &mut Emitter) {
        self.texts.complete(false, events);
        let name = data.text("toolName").unwrap_or_default();
        let input = data.get("arguments");
        let started = tool_started(call_id(data), name, kind_of(name), input, state);
        events.emit(Body::ToolStarted(Box::new(started)));
    }

    /// The last line, and the only one with the session's id. It has no tokens.
    fn result(&mut self, result: &Value, events: &mut Emitter) {
        events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
            session_id: result.text("sessionId").map(str::to_owned),
            ..SessionUpdated::default()
        })));
        let has_failed = match result.get("exitCode").and_then(Value::as_i64) {
            Some(code) => code != 0,
            // The key is damaged.
            None => self.error.is_some(),
        };
        if !self.turns.is_idle() {
            self.open(events);
            self.finish(
                if has_failed {
                    Outcome::Failed
                } else {
                    Outcome::Succeeded
                },
                events,
            );
        }
    }

    fn finish(&mut self, outcome: Outcome, events: &mut Emitter) {
        self.is_aborted = false;
        self.texts.complete(outcome != Outcome::Succeeded, events);
        self.turns.used.is_partial = true;
        self.turns
            .report(UsageScope::Run, Tokens::default(), None, events);
        let error = self.error.take();
        let error = (outcome == Outcome::Failed).then(|| error.unwrap_or_else(nothing_said));
        self.turns.finish(outcome, error, self.texts.take_last(), events);
    }
}

fn call_id(data: &Value) -> ItemId {
    ItemId::new(data.text("toolCallId").unwrap_or_default())
}

fn finished(data: &Value) -> Body {
    let result = data.get("result").unwrap_or(&Value::Null);
    let exit_code = data.at(&["shellExecution", "exitCode"]).and_then(Value::as_i64);
    let exit_code = exit_code.and_then(|code| i32::try_from(code).ok());
    let has_failed = data.flag("success") == Some(false) || exit_code.is_some_and(|code| code != 0);
    let diff = result.text("detailedContent");
    let diff = diff.and_then(|diff| Some(diff[diff.find("@@")?..].to_owned()));
    let change = |edit: &Value| {
        let kind = match edit.text("kind") {
            Some("create") => ChangeKind::Added,
            Some("delete") => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        Some(FileChange::new(edit.text("path")?, kind, diff.clone()))
    };
    let error = data.at(&["error", "message"]).and_then(Value::as_str);
    let output = result.text("content").or(error).unwrap_or_default();
    let status = if has_failed {
        ToolStatus::Failed
    } else {
        ToolStatus::Completed
    };
    Body::ToolFinished(Box::new(ToolFinished {
        output: output.to_owned(),
        exit_code,
        changes: data.list("fileEdits").iter().filter_map(change).collect(),
        ..ToolFinished::new(call_id(data), status)
    }))
}

impl Mapper for CopilotMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        read_objects(line, events, |object, _, events| self.map_object(object, events));
    }

    fn map_end(&mut self, events: &mut Emitter) {
        self.texts.complete(true, events);
    }

    fn is_idle(&self) -> bool {
        self.turns.is_idle()
    }
}
