//! `GeminiMapper`: the lines of `gemini -o stream-json` to events.

use json_lines::{Framed, Value};

use super::answer::Answer;
use super::tools::Tools;
use super::usage::usage;
use crate::backend::Mapper;
use crate::backends::vendor_error::{classified, nothing_said};
use crate::backends::wire_line::read_objects;
use crate::emitter::Emitter;
use crate::event::{Body, ErrorInfo, ItemId, Limit, Outcome, RawRef, SessionStarted, Severity, TurnFinished};

/// Maps what `gemini -o stream-json` writes. It shows no thoughts, and neither diffs nor exit codes.
#[derive(Debug, Default)]
pub struct GeminiMapper {
    answer: Answer,
    tools: Tools,
    turns: u32,
    messages: u32,
    /// An error before a result that does not repeat it.
    last_error: Option<ErrorInfo>,
    is_idle: bool,
}

impl GeminiMapper {
    /// For one process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn map_object(&mut self, object: &Value, raw: RawRef, events: &mut Emitter) {
        let type_name = object.text("type");
        let role = object.text("role");
        if let (Some("message"), Some("assistant")) = (type_name, role) {
            return self.text(object, raw, events);
        }
        // A text ends where something else begins.
        self.answer.end(Some(raw), false, events);
        let call = || match object.text("tool_id") {
            Some(id) => ItemId::new(id),
            None => ItemId::new(&format!("line-{}", raw.line)),
        };
        match type_name {
            Some("init") => events.emit(Body::SessionStarted(Box::new(SessionStarted {
                session_id: object.text("session_id").map(str::to_owned),
                model: object.text("model").map(str::to_owned),
                ..SessionStarted::default()
            }))),
            Some("message") if role == Some("user") => self.user(object, events),
            Some("tool_use") => self.tools.start(call(), object, events),
            Some("tool_result") => self.tools.finish(call(), object, events),
            Some("error") => self.error(object, events),
            Some("result") => self.finish_turn(object, events),
            _ => events.unknown(type_name),
        }
    }

    fn text(&mut self, object: &Value, raw: RawRef, events: &mut Emitter) {
        // A message that is not a delta is complete.
        let is_delta = object.flag("delta") == Some(true);
        if !is_delta {
            self.answer.end(Some(raw), false, events);
        }
        let piece = object.text("content").unwrap_or_default();
        self.answer.push(Some(raw), piece, events);
        if !is_delta {
            self.answer.end(Some(raw), false, events);
        }
    }

    fn user(&mut self, object: &Value, events: &mut Emitter) {
        self.is_idle = false;
        self.messages += 1;
        events.turn_started(self.turns + 1);
        let item = ItemId::new(&format!("user-{}", self.messages));
        events.user_message(item, object.text("content").unwrap_or_default().to_owned());
    }

    fn error(&mut self, object: &Value, events: &mut Emitter) {
        let message = object.text("message").unwrap_or_default();
        if object.text("severity") == Some("warning") {
            return events.notice(Severity::Warning, "agent_warning", message);
        }
        let error = classified(message);
        self.last_error = Some(error.clone());
        events.error(error);
    }

    fn finish_turn(&mut self, object: &Value, events: &mut Emitter) {
        self.turns += 1;
        self.is_idle = true;
        let has_failed = object.text("status") != Some("success");
        let stats = object.get("stats");
        if let Some(stats) = stats {
            events.emit(Body::Usage(Box::new(usage(stats, has_failed))));
        }
        let reported = object.get("error").filter(|error| error.is_object());
        let type_name = reported.and_then(|error| error.text("type"));
        let message = reported.and_then(|error| error.text("message"));
        let earlier = self.last_error.take();
        let error = has_failed.then(|| message.map(classified).or(earlier).unwrap_or_else(nothing_said));
        let outcome = match (has_failed, type_name) {
            (false, _) => Outcome::Succeeded,
            (true, Some("FatalTurnLimitedError")) => Outcome::LimitReached(Limit::Turns),
            (true, Some("FatalCancellationError")) => Outcome::Interrupted,
            (true, _) => Outcome::Failed,
        };
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            text: self.answer.take_last_text(),
            error,
            stop_reason: type_name.map(str::to_owned),
            duration_ms: stats.and_then(|stats| stats.count("duration_ms")),
            ..TurnFinished::new(self.turns, outcome)
        })));
    }
}

impl Mapper for GeminiMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        read_objects(line, events, |object, raw, events| {
            self.map_object(object, raw, events);
        });
    }

    fn map_end(&mut self, events: &mut Emitter) {
        // Nothing came after the text, not even a result.
        self.answer.end(None, true, events);
    }

    fn is_idle(&self) -> bool {
        self.is_idle
    }
}
