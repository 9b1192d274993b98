//! `CodexMapper`: the lines of `codex exec --json` to events.

use json_lines::{Framed, Value};

use super::items::Items;
use super::usage::Account;
use crate::backend::Mapper;
use crate::backends::vendor_error::{classified, nothing_said};
use crate::backends::wire_line::read_objects;
use crate::emitter::Emitter;
use crate::event::{Body, ErrorInfo, ItemId, Outcome, Retry, SessionStarted, Tokens, TurnFinished};

/// Maps what `codex exec --json` writes. It says nothing until a text or a call is complete, so there are no deltas.
#[derive(Debug)]
pub struct CodexMapper {
    items: Items,
    account: Account,
    turns: u32,
    is_idle: bool,
}

impl Default for CodexMapper {
    /// For a new thread.
    fn default() -> Self {
        Self::new(Some(Tokens::default()))
    }
}

impl CodexMapper {
    /// For a thread that had used this much before ([`Usage::tokens`](crate::Usage::tokens) of its last run): nothing
    /// if it is new, `None` if it is resumed or forked and the total is unknown. Then the run's total may include earlier
    /// runs, and says so.
    #[must_use]
    pub fn new(earlier: Option<Tokens>) -> Self {
        Self {
            items: Items::default(),
            account: Account::new(earlier),
            turns: 0,
            is_idle: false,
        }
    }

    fn map_object(&mut self, object: &Value, line: u64, events: &mut Emitter) {
        let id = |item: &Value| match item.text("id") {
            Some(id) => ItemId::new(id),
            None => ItemId::new(&format!("line-{line}")),
        };
        match (object.text("type"), object.get("item")) {
            (Some("thread.started"), _) => events.emit(Body::SessionStarted(Box::new(SessionStarted {
                session_id: object.text("thread_id").map(str::to_owned),
                ..SessionStarted::default()
            }))),
            (Some("turn.started"), _) => {
                self.is_idle = false;
                events.turn_started(self.turns + 1);
            }
            (Some(message @ ("item.started" | "item.updated")), Some(item)) => {
                self.items.update(message, id(item), item, events);
            }
            (Some(message @ "item.completed"), Some(item)) => {
                self.items.complete(message, id(item), item, events);
            }
            (Some("turn.completed"), _) => self.finish_turn(object.get("usage"), None, events),
            (Some("turn.failed"), _) => {
                let message = object.at(&["error", "message"]).and_then(Value::as_str);
                let error = message.map_or_else(nothing_said, classified);
                self.finish_turn(None, Some(error), events);
            }
            (Some("error"), _) => map_error(object.text("message").unwrap_or_default(), events),
            (type_name, _) => events.unknown(type_name),
        }
    }

    fn finish_turn(&mut self, usage: Option<&Value>, error: Option<ErrorInfo>, events: &mut Emitter) {
        self.turns += 1;
        self.is_idle = true;
        let usage = self.account.settle(usage.filter(|usage| usage.is_object()));
        events.emit(Body::Usage(Box::new(usage)));
        let outcome = match error {
            Some(_) => Outcome::Failed,
            None => Outcome::Succeeded,
        };
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            text: self.items.take_last_text(),
            error,
            ..TurnFinished::new(self.turns, outcome)
        })));
    }
}

impl Mapper for CodexMapper {
    fn map_line(&mut self, line: Framed, events: &mut Emitter) {
        read_objects(line, events, |object, raw, events| {
            self.map_object(object, raw.line, events);
        });
    }

    fn is_idle(&self) -> bool {
        self.is_idle
    }
}

/// A line of type `error` ends nothing: it announces a repetition, or comes before `turn.failed`.
fn map_error(message: &str, events: &mut Emitter) {
    match reconnecting(message) {
        Some((attempt, max_attempts, why)) => events.emit(Body::RetryScheduled(Box::new(Retry {
            attempt: Some(attempt),
            max_attempts: Some(max_attempts),
            delay_ms: None,
            error: classified(why),
        }))),
        None => events.error(classified(message)),
    }
}

/// `Reconnecting... 1/5 (why)`, also without the reason.
pub(super) fn reconnecting(message: &str) -> Option<(u32, u32, &str)> {
    let rest = message.strip_prefix("Reconnecting")?;
    let rest = rest.trim_start_matches(['.', '…', ' ']);
    let (counts, why) = rest.split_once(' ').unwrap_or((rest, ""));
    let (attempt, max_attempts) = counts.split_once('/')?;
    let why = why.strip_prefix('(').unwrap_or(why);
    let why = why.strip_suffix(')').unwrap_or(why);
    Some((attempt.parse().ok()?, max_attempts.parse().ok()?, why))
}

#[cfg(test)]
mod tests {
    use super::reconnecting;

    #[test]
    fn an_announced_repetition_is_recognised() {
        assert_eq!(
            reconnecting("Reconnecting... 1/5 (a (b) c)"),
            Some((1, 5, "a (b) c"))
        );
        assert_eq!(reconnecting("Reconnecting… 2/5"), Some((2, 5, "")));
        assert_eq!(reconnecting("Reconnecting is hard"), None);
        assert_eq!(reconnecting("stream disconnected"), None);
    }
}
