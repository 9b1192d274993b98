//! Messages of the pretended model: text, thinking and tool calls, as whole blocks and as partial messages.

use std::time::Duration;

use serde_json::{Value, json};

use crate::session::{Result, Session};
use crate::wire_lines::{ToolResult, message};

/// Pauses at normal speed.
const BEFORE_MESSAGE: Duration = Duration::from_millis(350);
const PER_DELTA: Duration = Duration::from_millis(45);
/// Deltas end after the first whitespace from here on.
const MIN_DELTA_BYTES: usize = 12;
const SIGNATURE: &str = "c2NyaXB0ZWQgdGhvdWdodA==";

/// A message that is being written.
pub(crate) struct OpenMessage {
    id: String,
    block_index: u64,
    /// The block that is being written. Text is kept when the turn is interrupted, other blocks are dropped.
    open_block: Option<OpenBlock>,
}

enum OpenBlock {
    Text(String),
    Other,
}

impl Session {
    pub(crate) fn begin_message(&mut self) -> Result {
        if self.arguments.partial_messages {
            let line = self.lines.system("status", json!({"status": "requesting"}));
            self.write(&line)?;
        }
        self.pause(BEFORE_MESSAGE)?;
        let id = self.lines.next_message_id();
        let usage = self.usage.begin_call().usage();
        self.message_count += 1;
        let start = message(&id, &self.arguments.model, json!([]), usage);
        self.open_message = Some(OpenMessage {
            id,
            block_index: 0,
            open_block: None,
        });
        self.stream_event(json!({"type": "message_start", "message": start}))
    }

    pub(crate) fn end_message(&mut self, stop_reason: &str) -> Result {
        let usage = self.usage.end_call().usage();
        let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
        self.stream_event(json!({"type": "message_delta", "delta": delta, "usage": usage}))?;
        self.stream_event(json!({"type": "message_stop"}))?;
        self.open_message = None;
        Ok(())
    }

    pub(crate) fn text(&mut self, text: &str) -> Result {
        self.begin_block(
            json!({"type": "text", "text": ""}),
            OpenBlock::Text(String::new()),
        )?;
        for piece in pieces(text) {
            self.delta(json!({"type": "text_delta", "text": piece}))?;
            if let Some(open) = &mut self.open_message
                && let Some(OpenBlock::Text(written)) = &mut open.open_block
            {
                written.push_str(piece);
            }
            self.usage.add_output(piece);
            self.pause(PER_DELTA)?;
        }
        text.clone_into(&mut self.last_text);
        self.end_block(json!({"type": "text", "text": text}))
    }

    pub(crate) fn thinking(&mut self, thought: &str) -> Result {
        self.begin_block(
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            OpenBlock::Other,
        )?;
        for piece in pieces(thought) {
            self.delta(json!({"type": "thinking_delta", "thinking": piece}))?;
            self.usage.add_output(piece);
            self.pause(PER_DELTA)?;
        }
        self.delta(json!({"type": "signature_delta", "signature": SIGNATURE}))?;
        self.end_block(json!({"type": "thinking", "thinking": thought, "signature": SIGNATURE}))
    }

    /// Writes a message that calls a tool, after `text` if it is not empty. Returns the id of the call.
    pub(crate) fn call_tool(&mut self, text: &str, name: &str, input: &Value) -> Result<String> {
        if self.open_message.is_none() {
            self.begin_message()?;
        }
        if !text.is_empty() {
            self.text(text)?;
        }
        let id = self.lines.next_tool_id();
        self.begin_block(
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            OpenBlock::Other,
        )?;
        let json = input.to_string();
        for piece in std::iter::once("").chain(pieces(&json)) {
            self.delta(json!({"type": "input_json_delta", "partial_json": piece}))?;
            self.usage.add_output(piece);
        }
        self.pause(PER_DELTA)?;
        self.end_block(json!({"type": "tool_use", "id": id, "name": name, "input": input}))?;
        self.open_tool = Some(id.clone());
        self.end_message("tool_use")?;
        Ok(id)
    }

    /// Closes whatever an interrupt left open, as Claude Code does. Returns the `terminal_reason` of the turn.
    pub(crate) fn abort(&mut self) -> Result<&'static str> {
        self.open_request = None;
        if let Some(tool) = self.open_tool.take()
            && self.open_message.is_none()
        {
            let result = ToolResult {
                content: "The user doesn't want to proceed with this tool use.".to_owned(),
                is_error: true,
                structured: "User rejected tool use".into(),
                meta: json!({"non_execution_kind": "user-rejected"}),
            };
            let line = self.lines.tool_result(&tool, result);
            self.write(&line)?;
            self.interruption_notice("[Request interrupted by user for tool use]")?;
            return Ok("aborted_tools");
        }
        let mut kept_blocks = self.open_message.as_ref().map_or(0, |open| open.block_index);
        let open_block = self.open_message.as_mut().and_then(|open| open.open_block.take());
        if let Some(OpenBlock::Text(text)) = &open_block
            && !text.is_empty()
        {
            kept_blocks += 1;
            let mut line = self.block_line(json!({"type": "text", "text": text}));
            line["aborted"] = true.into();
            self.write(&line)?;
        }
        self.interruption_notice("[Request interrupted by user]")?;
        if open_block.is_some() {
            self.stream_event(json!({"type": "content_block_stop", "index": self.block_index()}))?;
        }
        let delta = json!({"stop_reason": null, "stop_sequence": null});
        self.stream_event(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}))?;
        if let Some(open) = self.open_message.take()
            && self.arguments.partial_messages
        {
            let mut line = self.lines.stream_event(&open.id, json!({"type": "message_stop"}));
            line["abandoned_blocks"] = json!({"api_message_id": open.id, "from_block_index": kept_blocks});
            self.write(&line)?;
        }
        Ok("aborted_streaming")
    }

    fn interruption_notice(&mut self, text: &str) -> Result {
        let line = self.lines.user(json!([{"type": "text", "text": text}]));
        self.write(&line)
    }

    fn begin_block(&mut self, start: Value, open_block: OpenBlock) -> Result {
        let index = self.block_index();
        if let Some(open) = &mut self.open_message {
            open.open_block = Some(open_block);
        }
        self.stream_event(json!({"type": "content_block_start", "index": index, "content_block": start}))
    }

    fn delta(&mut self, delta: Value) -> Result {
        let index = self.block_index();
        self.stream_event(json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }

    /// The whole block comes before its `content_block_stop`.
    fn end_block(&mut self, block: Value) -> Result {
        let line = self.block_line(block);
        self.write(&line)?;
        self.stream_event(json!({"type": "content_block_stop", "index": self.block_index()}))?;
        if let Some(open) = &mut self.open_message {
            open.block_index += 1;
            open.open_block = None;
        }
        Ok(())
    }

    fn block_line(&mut self, block: Value) -> Value {
        let id = self.open_message.as_ref().map_or("", |open| &open.id);
        let usage = self.usage.at_call_start().usage();
        let message = message(id, &self.arguments.model, json!([block]), usage);
        self.lines.assistant(message)
    }

    fn block_index(&self) -> u64 {
        self.open_message.as_ref().map_or(0, |open| open.block_index)
    }

    /// Writes a part of the open message, if partial messages are wanted.
    fn stream_event(&mut self, event: Value) -> Result {
        match &self.open_message {
            Some(open) if self.arguments.partial_messages => {
                let line = self.lines.stream_event(&open.id, event);
                self.write(&line)
            }
            _ => Ok(()),
        }
    }
}

/// Splits a text into deltas of a few words.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends = rest.match_indices([' ', '\n']).map(|(place, _)| place + 1);
        let end = ends.find(|end| *end >= MIN_DELTA_BYTES).unwrap_or(rest.len());
        let (piece, left) = rest.split_at(end);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_are_small_and_add_up_to_the_text() {
        let text = "A few words, “quoted” ones too,\nand a-very-long-one-without-any-blank-space at the end";
        let parts: Vec<&str> = pieces(text).collect();
        assert_eq!(parts.concat(), text);
        assert!(parts.len() > 4, "{parts:?}");
        assert_eq!(pieces("").count(), 0);
    }
}
