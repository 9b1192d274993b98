//! `PiMapper`: the lines of `pi --mode json` to events.

use json_lines::{Framed, Value};

use super::messages::Messages;
use super::tools::Tools;
use crate::backend::Mapper;
use crate::backends::vendor_error::{self, nothing_said};
use crate::backends::wire_line::read_objects;
use crate::emitter::Emitter;
use crate::event::{Body, ErrorInfo, Limit, Outcome, Retry, SessionStarted, TurnFinished};

/// Maps what `pi --mode json` writes. A turn lasts from `agent_start` to an `agent_end` after which pi does not retry.
#[derive(Debug, Default)]
pub struct PiMapper {
    messages: Messages,
    tools: Tools,
    turns: u32,
    is_in_turn: bool,
}

impl PiMapper {
    fn map_object(&mut self, object: &Value, events: &mut Emitter) {
        let message = object.get("message").unwrap_or(&Value::Null);
        match object.text("type").unwrap_or_default() {
            "session" => events.emit(Body::SessionStarted(Box::new(SessionStarted {
                session_id: object.text("id").map(str::to_owned),
                cwd: object.text("cwd").map(str::to_owned),
                ..SessionStarted::default()
            }))),
            "agent_start" if !self.is_in_turn => {
                self.is_in_turn = true;
                events.turn_started(self.turns + 1);
            }
            "agent_end" if object.flag("willRetry") != Some(true) => {
                self.finish_turn(events);
            }
            "message_start" => self.messages.start(message, events),
            "message_update" => {
                let piece = object.get("assistantMessageEvent").unwrap_or(&Value::Null);
                self.messages.update(piece, &mut self.tools, events);
            }
            "message_end" => self.messages.end(message, events),
            "tool_execution_start" => self.tools.start(object, events),
            "tool_execution_update" => self.tools.update(object, events),
            "tool_execution_end" => self.tools.end(object, events),
            "auto_retry_start" => {
                let count = |key| object.count(key).and_then(|count| u32::try_from(count).ok());
                events.emit(Body::RetryScheduled(Box::new(Retry {
                    attempt: count("attempt"),
                    max_attempts: count("maxAttempts"),
                    delay_ms: object.count("delayMs"),
                    error: api_error(object.text("errorMessage").unwrap_or_default()),
                })));
                self.messages.discard_last(events);
                self.tools.discard_prepared(events);
            }
            known @ ("agent_start" | "agent_end" | "agent_settled" | "turn_start" | "turn_end"
            | "auto_retry_end" | "entry_appended") => events.framing(known),
            type_name => events.unknown(Some(type_name).filter(|name| !name.is_empty())),
        }
    }

    fn finish_turn(&mut self, events: &mut Emitter) {
        self.is_in_turn = false;
        self.turns += 1;
        let end = self.messages.take_end();
        let outcome = match end.stop_reason.as_deref() {
            Some("stop") => Outcome::Succeeded,
            Some("aborted") => Outcome::Interrupted,
            Some("length") => Outcome::LimitReached(Limit::Tokens),
            _ => Outcome::Failed,
        };
        let error = end.error.as_deref().map(api_error);
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            text: end.text,
            error: (outcome == Outcome::Failed).then(|| error.unwrap_or_else(nothing_said)),
            stop_reason: end.stop_reason,
            ..TurnFinished::new(self.turns, outcome)
        })));
    }
}

impl Mapper for PiMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        read_objects(line, events, |object, _, events| self.map_object(object, events));
    }

    fn is_idle(&self) -> bool {
        self.turns > 0 && !self.is_in_turn
    }
}

/// A message that starts with a number starts with the status of the API's answer.
fn api_error(message: &str) -> ErrorInfo {
    let status = message.split(|letter: char| !letter.is_ascii_digit()).next();
    vendor_error::api_error(message, status.and_then(|status| status.parse().ok()))
}
