//! Listening to the host, in the middle of whatever goes on.

use serde_json::{Value, json};

use super::inbox::{Input, Message};
use super::lines::{Lines, ToolEnd};
use super::stage::{Played, Stage, Stop};

const PERMISSION_MODES: [&str; 6] = [
    "acceptEdits",
    "auto",
    "bypassPermissions",
    "default",
    "dontAsk",
    "plan",
];

impl Stage {
    /// Takes something that arrived.
    pub(super) fn hear(&mut self, input: Input) -> Played {
        match input {
            Input::Message(message) => self.enqueue(message),
            Input::Control(id, request) => self.obey(&id, &request),
            Input::Answer(id, response) => {
                if self.open_request.as_deref() == Some(&*id) {
                    self.answer = Some(response);
                }
                Ok(())
            }
            Input::End => {
                self.has_input_ended = true;
                Ok(())
            }
            Input::Unreadable(message) => Err(Stop::Unreadable(message)),
            Input::Interrupted => Err(Stop::Signalled),
            Input::Output(command, output) => {
                // One that was killed may still have had something to say.
                if command == self.commands {
                    self.output = Some(output);
                }
                Ok(())
            }
        }
    }

    fn enqueue(&mut self, message: Message) -> Played {
        self.tell(&message, "queued")?;
        self.queue.push_back(message);
        Ok(())
    }

    /// A receipt, for a message that has an id.
    pub(super) fn tell(&mut self, message: &Message, state: &str) -> Played {
        let Some(id) = &message.id else { return Ok(()) };
        let line = self.lines.lifecycle(id, state);
        self.write(&line)
    }

    fn obey(&mut self, id: &str, request: &Value) -> Played {
        let subtype = request["subtype"].as_str().unwrap_or_default();
        match subtype {
            "interrupt" => {
                if let Some(open) = self.open_request.take() {
                    self.write(&Lines::withdrawal(&open))?;
                }
                self.write(&Lines::response(id, &json!({"still_queued": []})))?;
                Err(Stop::Interrupted)
            }
            "end_session" => {
                self.write(&Lines::response(id, &json!({})))?;
                Err(Stop::Ended)
            }
            "initialize" => {
                let answer = json!({
                    "commands": [], "agents": [], "models": [], "account": {},
                    "pid": std::process::id(), "capabilities": ["interrupt_receipt_v1"],
                });
                self.write(&Lines::response(id, &answer))
            }
            "set_model" => {
                let model = request["model"].as_str().unwrap_or("demo");
                model.clone_into(&mut self.arguments.model);
                self.write(&Lines::response(id, &json!({"model": model})))
            }
            "set_permission_mode" => match request["mode"].as_str() {
                Some(mode) if PERMISSION_MODES.contains(&mode) => {
                    mode.clone_into(&mut self.arguments.permission_mode);
                    self.write(&Lines::response(id, &json!({"mode": mode})))?;
                    let status = self
                        .lines
                        .system("status", json!({"status": null, "permissionMode": mode}));
                    self.write(&status)
                }
                _ => {
                    let modes = PERMISSION_MODES.join(", ");
                    let error = format!("Cannot set permission mode: must be one of {modes}");
                    self.write(&Lines::refusal(id, &error, "invalid_mode"))
                }
            },
            _ => {
                let error = format!("Unsupported control request subtype: {subtype}");
                self.write(&Lines::refusal(id, &error, "unsupported_request"))
            }
        }
    }

    /// Closes what an interrupt left open, as the real CLI does. Gives the reason that the turn's end names.
    pub(super) fn abort(&mut self) -> Played<&'static str> {
        self.open_request = None;
        if let Some(tool) = self.open_tool.take()
            && self.open_message.is_none()
        {
            let content = "The user doesn't want to proceed with this tool use.";
            let line = self.lines.tool_result(
                &tool,
                ToolEnd {
                    content: content.to_owned(),
                    is_error: true,
                    twin: "User rejected tool use".into(),
                    decision: json!({"non_execution_kind": "user-rejected"}),
                },
            );
            self.write(&line)?;
            let line = self.lines.user_text("[Request interrupted by user for tool use]");
            self.write(&line)?;
            return Ok("aborted_tools");
        }
        self.meter.drop_call();
        let Some(open) = &self.open_message else {
            let line = self.lines.user_text("[Request interrupted by user]");
            self.write(&line)?;
            return Ok("aborted_streaming");
        };
        let (id, index, block) = (open.id.clone(), open.index, open.open_block.clone());
        let text = block.clone().flatten().filter(|text| !text.is_empty());
        let mut kept = index;
        if let Some(text) = text {
            kept += 1;
            self.whole_block(json!({"type": "text", "text": text}), json!({"aborted": true}))?;
        }
        let line = self.lines.user_text("[Request interrupted by user]");
        self.write(&line)?;
        if block.is_some() {
            self.stream(json!({"type": "content_block_stop", "index": index}))?;
        }
        self.stream(json!({
            "type": "message_delta",
            "delta": {"stop_reason": null, "stop_sequence": null},
            "usage": {"output_tokens": 1},
        }))?;
        if self.arguments.has_partials {
            let mut line = self.lines.stream(&id, json!({"type": "message_stop"}));
            line["abandoned_blocks"] = json!({"api_message_id": id, "from_block_index": kept});
            self.write(&line)?;
        }
        self.open_message = None;
        Ok("aborted_streaming")
    }
}
