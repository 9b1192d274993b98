//! From message to message, until the input ends.

use std::time::Instant;

use serde_json::{Value, json};

use super::entry::complain;
use super::inbox::Message;
use super::stage::{Played, Stage, Stop};

/// How a turn ended.
enum End {
    Done,
    /// The job could not be done.
    Failed(String),
    /// It was broken off, and where.
    Aborted(&'static str),
}

/// Plays until the input ends. Gives the exit code.
pub(super) fn converse(mut stage: Stage) -> u8 {
    let mut turns = 0;
    let mut code = 0;
    loop {
        let messages = match stage.next_messages() {
            Ok(Some(messages)) => messages,
            Ok(None) => return code,
            Err(stop) => return stopped(&stop),
        };
        match stage.turn(&messages, turns) {
            Ok(is_error) => code = u8::from(is_error),
            Err(stop) => return stopped(&stop),
        }
        turns += 1;
    }
}

/// The exit code of a process that does not go on.
fn stopped(stop: &Stop) -> u8 {
    match stop {
        Stop::Interrupted | Stop::Signalled | Stop::Ended => 0,
        Stop::Unreadable(message) | Stop::Stuck(message) => complain(message),
        Stop::Unheard => 1,
    }
}

impl Stage {
    /// All that was said since the last turn: it is answered at once. `None` when nothing more can come.
    fn next_messages(&mut self) -> Played<Option<Vec<Message>>> {
        while self.queue.is_empty() && !self.has_input_ended {
            let input = self.inbox.next();
            match self.hear(input) {
                // There is nothing to interrupt.
                Ok(()) | Err(Stop::Interrupted) => {}
                Err(stop) => return Err(stop),
            }
        }
        let messages: Vec<Message> = self.queue.drain(..).collect();
        Ok((!messages.is_empty()).then_some(messages))
    }

    /// Plays a turn. Says whether it failed.
    fn turn(&mut self, messages: &[Message], number: u64) -> Played<bool> {
        let started = Instant::now();
        self.messages = 0;
        self.last_text.clear();
        for message in messages {
            self.tell(message, "started")?;
        }
        let cwd = self.cwd.to_string_lossy().into_owned();
        let Self { lines, arguments, .. } = self;
        let init = lines.init(
            &cwd,
            &arguments.model,
            &arguments.permission_mode,
            arguments.has_host,
        );
        self.write(&init)?;
        if self.arguments.replays {
            for message in messages {
                let line = self.lines.replay(message.id.as_deref(), &message.content);
                self.write(&line)?;
            }
        }
        let played = if number == 0 { self.work() } else { self.chat() };
        let played = match played {
            Err(Stop::Stuck(reason)) => self.conclude(&reason).map(|()| End::Failed(reason)),
            Err(stop) => Err(stop),
            Ok(()) => Ok(End::Done),
        };
        let (end, is_over) = match played {
            Ok(end) => (end, None),
            Err(Stop::Interrupted) => (End::Aborted(self.abort()?), None),
            Err(Stop::Signalled) => (End::Aborted(self.abort()?), Some(Stop::Signalled)),
            Err(stop) => return Err(stop),
        };
        let is_error = !matches!(end, End::Done);
        let duration = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let result = self.result(end, number, duration);
        self.write(&result)?;
        for message in messages {
            self.tell(message, "completed")?;
        }
        is_over.map_or(Ok(is_error), Err)
    }

    fn result(&mut self, end: End, number: u64, duration_ms: u64) -> Value {
        let figures = self.meter.end_turn();
        let mut body = json!({
            "duration_ms": duration_ms, "duration_api_ms": duration_ms,
            "num_turns": self.messages, "result_index": number, "queued_turn_count": self.queue.len(),
            "permission_denials": std::mem::take(&mut self.denials),
            "is_error": !matches!(end, End::Done),
        });
        let rest = match end {
            End::Done => json!({
                "subtype": "success", "result": self.last_text, "stop_reason": "end_turn",
                "terminal_reason": "completed", "api_error_status": null,
            }),
            End::Failed(reason) => json!({
                "subtype": "error_during_execution", "errors": [reason], "stop_reason": "end_turn",
            }),
            End::Aborted(reason) => json!({
                "subtype": "error_during_execution", "errors": ["the turn was interrupted"],
                "stop_reason": null, "terminal_reason": reason,
            }),
        };
        if let (Value::Object(body), Value::Object(rest)) = (&mut body, rest) {
            body.extend(rest);
        }
        self.lines.result(body, figures)
    }
}
