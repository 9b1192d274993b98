//! `OpencodeMapper`: the lines of `opencode run --format json`. Texts and tool calls come when they are complete.

use agent_client::MicroUsd;
use json_lines::{Framed, Value};

use super::output::Turns;
use crate::backend::Mapper;
use crate::backends::tool_names::{kind_of, plan_entries, tool_started};
use crate::backends::vendor_error::{api_error, nothing_said};
use crate::backends::wire_line::read_objects;
use crate::emitter::Emitter;
use crate::event::{
    Body, ChangeKind, FileChange, ItemId, Limit, Outcome, PlanUpdated, SessionStarted, Tokens, ToolFinished,
    ToolKind, ToolState, ToolStatus,
};

pub(super) fn recognises(object: &Value) -> bool {
    let types = [
        "step_start",
        "step_finish",
        "text",
        "reasoning",
        "tool_use",
        "error",
    ];
    object.text("type").is_some_and(|name| types.contains(&name))
        && object.text("sessionID").is_some()
        && object.get("timestamp").is_some()
}

#[derive(Debug, Default)]
pub(super) struct OpencodeMapper {
    turns: Turns,
    last_text: Option<String>,
}

impl OpencodeMapper {
    fn map_object(&mut self, object: &Value, events: &mut Emitter) {
        let part = object.get("part").unwrap_or(&Value::Null);
        let session_id = object.text("sessionID").map(str::to_owned);
        let session = SessionStarted {
            session_id,
            ..SessionStarted::default()
        };
        self.turns.open(session, events);
        let item = || ItemId::new(part.text("id").unwrap_or_default());
        let text = || part.text("text").unwrap_or_default().to_owned();
        match object.text("type") {
            Some("step_start") => events.framing("step_start"),
            Some("step_finish") => self.finish_step(part, events),
            Some("text") => {
                self.last_text = Some(text());
                events.text_block(item(), text(), false);
            }
            Some("reasoning") => events.thinking_block(item(), text()),
            Some("tool_use") => tool(part, events),
            Some("error") => {
                let error = object.get("error").unwrap_or(&Value::Null);
                let data = error.get("data").unwrap_or(&Value::Null);
                let message = data.text("message").or_else(|| error.text("name"));
                let error =
                    message.map_or_else(nothing_said, |text| api_error(text, data.count("statusCode")));
                self.finish(Outcome::Failed, Some(error), events);
            }
            type_name => events.unknown(type_name),
        }
    }

    /// Input excludes what came from the cache, and output excludes reasoning.
    fn finish_step(&mut self, part: &Value, events: &mut Emitter) {
        let count = |path: &[&str]| part.at(path).and_then(Value::as_u64).unwrap_or_default();
        let reasoning = count(&["tokens", "reasoning"]);
        let tokens = Tokens {
            input: count(&["tokens", "input"]),
            cache_read: count(&["tokens", "cache", "read"]),
            cache_write: count(&["tokens", "cache", "write"]),
            output: count(&["tokens", "output"]).saturating_add(reasoning),
            reasoning,
        };
        let cost = part.get("cost").and_then(Value::as_f64);
        self.turns
            .add_step(tokens, cost.and_then(MicroUsd::from_usd), events);
        let outcome = match part.text("reason") {
            // The model continues with the results.
            Some("tool-calls") | None => return,
            Some("stop") => Outcome::Succeeded,
            Some("length") => Outcome::LimitReached(Limit::Tokens),
            Some("content-filter") => Outcome::Refused,
            Some(_) => Outcome::Failed,
        };
        let error = (outcome == Outcome::Failed).then(nothing_said);
        self.finish(outcome, error, events);
    }

    fn finish(&mut self, outcome: Outcome, error: Option<crate::event::ErrorInfo>, events: &mut Emitter) {
        self.turns.finish(outcome, error, self.last_text.take(), events);
    }
}

/// A call that has ended: what started it and what it returned are in one line.
fn tool(part: &Value, events: &mut Emitter) {
    let item = ItemId::new(
        part.text("callID")
            .or_else(|| part.text("id"))
            .unwrap_or_default(),
    );
    let name = part.text("tool").unwrap_or_default();
    let state = part.get("state").unwrap_or(&Value::Null);
    let input = state.get("input");
    let kind = kind_of(name);
    let started = tool_started(item.clone(), name, kind, input, ToolState::Running);
    events.emit(Body::ToolStarted(Box::new(started)));
    let todos = input.map_or(&[][..], |input| input.list("todos"));
    if !todos.is_empty() {
        events.emit(Body::PlanUpdated(PlanUpdated {
            item: Some(item.clone()),
            entries: plan_entries(todos),
        }));
    }
    let exit_code = state.at(&["metadata", "exit"]).and_then(Value::as_i64);
    let exit_code = exit_code.and_then(|code| i32::try_from(code).ok());
    let has_failed = state.text("status") != Some("completed") || exit_code.is_some_and(|code| code != 0);
    let path = input.and_then(|input| input.text("filePath"));
    let path = path.filter(|_| kind == ToolKind::Edit && !has_failed);
    let diff = state.at(&["metadata", "diff"]).and_then(Value::as_str);
    let diff = diff.and_then(|diff| Some(diff[diff.find("@@")?..].to_owned()));
    let change = path.map(|path| FileChange::new(path, ChangeKind::Modified, diff));
    events.emit(Body::ToolFinished(Box::new(ToolFinished {
        output: state
            .text("output")
            .or_else(|| state.text("error"))
            .unwrap_or_default()
            .to_owned(),
        exit_code,
        changes: change.into_iter().collect(),
        ..ToolFinished::new(
            item,
            if has_failed {
                ToolStatus::Failed
            } else {
                ToolStatus::Completed
            },
        )
    })));
}

impl Mapper for OpencodeMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        read_objects(line, events, |object, _, events| self.map_object(object, events));
    }

    fn is_idle(&self) -> bool {
        self.turns.is_idle()
    }
}
