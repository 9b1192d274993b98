//! `GooseMapper`: the lines of `goose run --output-format stream-json`. A banner and other prose can stand before them.

use json_lines::{Framed, Value};

use super::super::text::TextBlocks;
use super::output::Turns;
use crate::backend::Mapper;
use crate::backends::tool_names::{kind_of, tool_started};
use crate::backends::vendor_error::classified;
use crate::backends::wire_line::read_objects;
use crate::emitter::Emitter;
use crate::event::{
    Body, ErrorInfo, ItemId, Outcome, Part, SessionStarted, Tokens, ToolFinished, ToolState, ToolStatus,
    UsageScope,
};

pub(super) fn recognises(object: &Value) -> bool {
    let message = object
        .get("message")
        .filter(|message| message.get("created").is_some());
    object.text("type") == Some("message")
        && message.is_some_and(|message| message.at(&["metadata", "agentVisible"]).is_some())
}

#[derive(Debug, Default)]
pub(super) struct GooseMapper {
    turns: Turns,
    texts: TextBlocks,
}

impl GooseMapper {
    fn map_object(&mut self, object: &Value, events: &mut Emitter) {
        match object.text("type") {
            Some("message") => {
                let message = object.get("message").unwrap_or(&Value::Null);
                let model = message.at(&["metadata", "inference", "requestedModel"]);
                let session = SessionStarted {
                    model: model.and_then(Value::as_str).map(str::to_owned),
                    ..SessionStarted::default()
                };
                self.turns.open(session, events);
                let blocks = message.list("content");
                for block in blocks {
                    self.block(message, block, events);
                }
                if blocks.is_empty() {
                    events.framing("message");
                }
            }
            Some("complete") => self.complete(object, events),
            Some("error") => {
                let message = object.text("error").unwrap_or_default();
                let outcome = match message.contains("interrupted") {
                    true => Outcome::Interrupted,
                    false => Outcome::Failed,
                };
                self.turns.open(SessionStarted::default(), events);
                self.turns.used.is_partial = true;
                self.finish(outcome, Some(classified(message)), events);
            }
            type_name => events.unknown(type_name),
        }
    }

    fn block(&mut self, message: &Value, block: &Value, events: &mut Emitter) {
        let id = message.text("id");
        let is_user = message.text("role") == Some("user");
        let kind = block.text("type").unwrap_or_default();
        match (kind, block.text("text"), block.text("thinking")) {
            ("text", Some(text), _) if is_user => {
                events.user_message(ItemId::new(id.unwrap_or_default()), text.to_owned());
            }
            ("text", Some(text), _) => self.texts.append(Part::Text, id, text, events),
            ("thinking", _, Some(text)) => self.texts.append(Part::Thinking, id, text, events),
            ("toolRequest", ..) => {
                self.texts.complete(false, events);
                let call = block.at(&["toolCall", "value"]).unwrap_or(&Value::Null);
                let name = call.text("name").unwrap_or_default();
                let tool_kind = kind_of(name);
                let input = call.get("arguments");
                let started = tool_started(call_id(block), name, tool_kind, input, ToolState::Running);
                events.emit(Body::ToolStarted(Box::new(started)));
            }
            ("toolResponse", ..) => events.emit(finished(block)),
            ("error", ..) => events.error(classified(
                block
                    .text("message")
                    .or_else(|| block.text("error"))
                    .unwrap_or_default(),
            )),
            _ => events.framing(kind),
        }
    }

    /// Tokens are those of the session. Input includes what came from the cache.
    fn complete(&mut self, object: &Value, events: &mut Emitter) {
        let count = |key| object.count(key).unwrap_or_default();
        let (read, write) = (
            count("cache_read_input_tokens"),
            count("cache_write_input_tokens"),
        );
        let tokens = Tokens {
            input: count("input_tokens").saturating_sub(read.saturating_add(write)),
            cache_read: read,
            cache_write: write,
            output: count("output_tokens"),
            reasoning: 0,
        };
        self.turns.open(SessionStarted::default(), events);
        self.turns.used.tokens = tokens;
        self.turns.report(UsageScope::Session, tokens, None, events);
        self.finish(Outcome::Succeeded, None, events);
    }

    fn finish(&mut self, outcome: Outcome, error: Option<ErrorInfo>, events: &mut Emitter) {
        self.texts.complete(outcome != Outcome::Succeeded, events);
        self.turns.finish(outcome, error, self.texts.take_last(), events);
    }
}

fn call_id(block: &Value) -> ItemId {
    ItemId::new(block.text("id").unwrap_or_default())
}

fn finished(block: &Value) -> Body {
    let result = block.at(&["toolResult", "value"]).unwrap_or(&Value::Null);
    let texts: Vec<&str> = result
        .list("content")
        .iter()
        .filter_map(|part| part.text("text"))
        .collect();
    let error = block.get("toolResult").and_then(|result| result.text("error"));
    let has_failed = error.is_some() || result.flag("isError") == Some(true);
    let exit_code = result
        .at(&["structuredContent", "exit_code"])
        .and_then(Value::as_i64);
    let status = if has_failed {
        ToolStatus::Failed
    } else {
        ToolStatus::Completed
    };
    Body::ToolFinished(Box::new(ToolFinished {
        output: error.map_or_else(|| texts.join("\n"), str::to_owned),
        exit_code: exit_code.and_then(|code| i32::try_from(code).ok()),
        ..ToolFinished::new(call_id(block), status)
    }))
}

impl Mapper for GooseMapper {
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
