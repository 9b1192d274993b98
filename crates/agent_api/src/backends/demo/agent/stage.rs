//! What can be done on stage: speak, think, call tools, wait.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::inbox::{Inbox, Message};
use super::lines::Lines;
use super::meter::Meter;

/// How long things take at normal speed.
const BEFORE_A_MESSAGE: Duration = Duration::from_millis(350);
const PER_PIECE: Duration = Duration::from_millis(45);

/// Why the show does not go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// The host ended the turn.
    Interrupted,
    /// SIGINT ended the process.
    Signalled,
    /// The host ended the process.
    Ended,
    /// The input cannot be read any further.
    Unreadable(String),
    /// Nobody reads what we write.
    Unheard,
    /// The job cannot be done, and why.
    Stuck(String),
}

pub(super) type Played<T = ()> = Result<T, Stop>;

pub(super) struct Stage {
    pub(super) arguments: Arguments,
    pub(super) inbox: Inbox,
    pub(super) lines: Lines,
    pub(super) meter: Meter,
    pub(super) cwd: PathBuf,
    /// Messages that wait for their turn.
    pub(super) queue: VecDeque<Message>,
    pub(super) has_input_ended: bool,
    /// A question that waits for its answer, and the answer.
    pub(super) open_request: Option<String>,
    pub(super) answer: Option<Value>,
    /// Commands that were run, and what the last of them wrote.
    pub(super) commands: u64,
    pub(super) output: Option<Vec<u8>>,
    /// A call of a tool that has not ended.
    pub(super) open_tool: Option<String>,
    pub(super) open_message: Option<OpenMessage>,
    /// Messages of the model in this turn.
    pub(super) messages: u64,
    /// The last text, which is what a turn's end repeats.
    pub(super) last_text: String,
    pub(super) denials: Vec<Value>,
    /// The list of what is to be done.
    pub(super) todos: Value,
}

/// A message of the model that is being written.
pub(super) struct OpenMessage {
    pub(super) id: String,
    pub(super) index: u64,
    /// The block that is being written: text so far; `None` for blocks that are worth nothing when they are cut.
    pub(super) open_block: Option<Option<String>>,
}

impl Stage {
    pub(super) fn open(arguments: Arguments, inbox: Inbox) -> io::Result<Self> {
        Ok(Self {
            lines: Lines::new(arguments.session_id.clone()),
            cwd: std::env::current_dir()?,
            arguments,
            inbox,
            meter: Meter::default(),
            queue: VecDeque::new(),
            has_input_ended: false,
            open_request: None,
            answer: None,
            commands: 0,
            output: None,
            open_tool: None,
            open_message: None,
            messages: 0,
            last_text: String::new(),
            denials: Vec::new(),
            todos: json!([]),
        })
    }

    /// Writes a line, at once.
    pub(super) fn write(&self, line: &Value) -> Played {
        let mut text = line.to_string();
        text.push('\n');
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|_| Stop::Unheard)
    }

    /// Lets time pass, and listens.
    pub(super) fn pause(&mut self, pause: Duration) -> Played {
        let deadline = Instant::now() + self.arguments.speed.pause(pause);
        while let Some(input) = self.inbox.next_until(deadline) {
            self.hear(input)?;
        }
        Ok(())
    }

    /// The model begins to answer.
    pub(super) fn begin_message(&mut self) -> Played {
        if self.arguments.has_partials {
            let line = self.lines.system("status", json!({"status": "requesting"}));
            self.write(&line)?;
        }
        self.pause(BEFORE_A_MESSAGE)?;
        let id = self.lines.next_message_id();
        let usage = self.meter.begin_call().usage();
        self.messages += 1;
        self.open_message = Some(OpenMessage {
            id: id.clone(),
            index: 0,
            open_block: None,
        });
        let message = Lines::message(&id, &self.arguments.model, json!([]), usage);
        self.stream(json!({"type": "message_start", "message": message}))
    }

    /// The model has answered.
    pub(super) fn end_message(&mut self, stop_reason: &str) -> Played {
        let usage = self.meter.end_call(&self.arguments.model).usage();
        let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
        self.stream(json!({"type": "message_delta", "delta": delta, "usage": usage}))?;
        self.stream(json!({"type": "message_stop"}))?;
        self.open_message = None;
        Ok(())
    }

    /// Says something, a few words at a time.
    pub(super) fn say(&mut self, text: &str) -> Played {
        self.begin_block(json!({"type": "text", "text": ""}), Some(String::new()))?;
        for piece in pieces(text) {
            self.delta(json!({"type": "text_delta", "text": piece}))?;
            if let Some(open) = &mut self.open_message
                && let Some(Some(block)) = &mut open.open_block
            {
                block.push_str(piece);
            }
            self.meter.said(piece.chars().count());
            self.pause(PER_PIECE)?;
        }
        text.clone_into(&mut self.last_text);
        self.end_block(json!({"type": "text", "text": text}))
    }

    /// Thinks aloud.
    pub(super) fn think(&mut self, thought: &str) -> Played {
        const SIGNATURE: &str = "bm9ib2R5IHRob3VnaHQgdGhpcw==";
        self.begin_block(json!({"type": "thinking", "thinking": "", "signature": ""}), None)?;
        let mut tokens = 0;
        for piece in pieces(thought) {
            let count = piece.chars().count();
            if self.arguments.has_partials {
                let delta = count.div_ceil(4);
                tokens += delta;
                let estimate = json!({"estimated_tokens": tokens, "estimated_tokens_delta": delta});
                let line = self.lines.system("thinking_tokens", estimate);
                self.write(&line)?;
            }
            self.delta(json!({"type": "thinking_delta", "thinking": piece}))?;
            self.meter.said(count);
            self.pause(PER_PIECE)?;
        }
        self.delta(json!({"type": "signature_delta", "signature": SIGNATURE}))?;
        self.end_block(json!({"type": "thinking", "thinking": thought, "signature": SIGNATURE}))
    }

    /// Calls a tool. Gives the call's id.
    pub(super) fn call(&mut self, name: &str, input: &Value) -> Played<String> {
        let id = self.lines.next_tool_id();
        self.begin_block(
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            None,
        )?;
        let json = input.to_string();
        for piece in std::iter::once("").chain(pieces(&json)) {
            self.delta(json!({"type": "input_json_delta", "partial_json": piece}))?;
            self.meter.said(piece.chars().count());
        }
        self.pause(PER_PIECE)?;
        self.end_block(json!({"type": "tool_use", "id": id, "name": name, "input": input}))?;
        self.open_tool = Some(id.clone());
        Ok(id)
    }

    fn begin_block(&mut self, block: Value, text: Option<String>) -> Played {
        let index = self.block_index();
        if let Some(open) = &mut self.open_message {
            open.open_block = Some(text);
        }
        self.stream(json!({"type": "content_block_start", "index": index, "content_block": block}))
    }

    fn delta(&mut self, delta: Value) -> Played {
        let index = self.block_index();
        self.stream(json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }

    /// The whole block comes before its end.
    fn end_block(&mut self, block: Value) -> Played {
        let index = self.block_index();
        self.whole_block(block, json!({}))?;
        self.stream(json!({"type": "content_block_stop", "index": index}))?;
        if let Some(open) = &mut self.open_message {
            open.index += 1;
            open.open_block = None;
        }
        Ok(())
    }

    pub(super) fn whole_block(&mut self, block: Value, marks: Value) -> Played {
        let Some(open) = &self.open_message else {
            return Ok(());
        };
        let usage = self.meter.at_start().usage();
        let message = Lines::message(&open.id, &self.arguments.model, json!([block]), usage);
        let mut line = self.lines.assistant(message);
        if let (Some(line), Value::Object(marks)) = (line.as_object_mut(), marks) {
            line.extend(marks);
        }
        self.write(&line)
    }

    fn block_index(&self) -> u64 {
        self.open_message.as_ref().map_or(0, |open| open.index)
    }

    /// A piece of the message that is being written, if anybody wants pieces.
    pub(super) fn stream(&mut self, event: Value) -> Played {
        match &self.open_message {
            Some(open) if self.arguments.has_partials => {
                let line = self.lines.stream(&open.id, event);
                self.write(&line)
            }
            _ => Ok(()),
        }
    }
}

/// A few words at a time, cut after blank space.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const AT_LEAST_BYTES: usize = 12;
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut ends = rest.match_indices([' ', '\n']).map(|(place, _)| place + 1);
        let end = ends.find(|end| *end >= AT_LEAST_BYTES).unwrap_or(rest.len());
        let (piece, left) = rest.split_at(end);
        rest = left;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_are_small_and_make_up_the_text() {
        let text = "A few words, “quoted” ones too,\nand a-very-long-one-without-any-blank-space at the end";
        let parts: Vec<&str> = pieces(text).collect();
        assert_eq!(parts.concat(), text);
        assert!(parts.len() > 4, "{parts:?}");
        assert_eq!(pieces("").count(), 0);
    }
}
