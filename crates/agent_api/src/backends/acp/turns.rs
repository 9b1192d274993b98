//! Turns: what the answer to a prompt says about its end, and the commands that start, change and interrupt turns.

use bytes::Bytes;
use json_lines::Value;

use super::errors::{error_info, with_login_hint};
use super::mapper::{AcpMapper, Message, Setting, Stage, Turn};
use super::quirks::TextMeaning;
use super::tool_calls::Permission;
use crate::backend::{Answer, Command};
use crate::backends::vendor_error::classified;
use crate::capability;
use crate::emitter::Emitter;
use crate::error::CommandError;
use crate::event::{
    Body, ErrorClass, ErrorInfo, Limit, MessageState, Outcome, RequestId, Severity, TurnFinished,
};

impl AcpMapper {
    pub(super) fn begin_turn(&mut self, message_id: Option<String>, events: &mut Emitter) {
        self.turns += 1;
        self.tools.begin_turn();
        events.turn_started(self.turns);
        if let Some(id) = &message_id {
            events.message_updated(id, MessageState::Started);
        }
        self.turn = Some(Turn {
            number: self.turns,
            message_id,
            ..Turn::default()
        });
    }

    pub(super) fn prompt_answered(&mut self, answer: &Value, events: &mut Emitter) {
        self.text.complete(self.is_cancelled(), events);
        self.begin_recorded_turn(events);
        let has_tools = self.turn.as_ref().is_some_and(|turn| turn.has_tools);
        self.account.turn(answer, self.quirks.usage, has_tools, events);
        let reason = answer.text("stopReason");
        let (outcome, error) = match reason {
            Some("end_turn") => self.end_of_turn(),
            Some("max_tokens") => (Outcome::LimitReached(Limit::Tokens), None),
            Some("max_turn_requests") => (Outcome::LimitReached(Limit::Turns), None),
            Some("refusal") => (Outcome::Refused, None),
            Some("cancelled") => (Outcome::Interrupted, None),
            Some(other) => {
                let text = format!("the agent stopped for a reason that is not known: `{other}`");
                (Outcome::Failed, Some(protocol_error("unknown_stop_reason", text)))
            }
            None => {
                let text = "the agent's answer to the prompt has no stop reason".to_owned();
                (Outcome::Failed, Some(protocol_error("no_stop_reason", text)))
            }
        };
        self.end_turn(outcome, reason, error, events);
        self.go_on(events);
    }

    pub(super) fn prompt_failed(&mut self, error: &Value, events: &mut Emitter) {
        self.text.complete(true, events);
        self.begin_recorded_turn(events);
        self.account.turn_without_figures(events);
        let (outcome, error) = if self.is_cancelled() {
            // Some agents answer a cancelled prompt with an error.
            (Outcome::Interrupted, None)
        } else {
            (Outcome::Failed, Some(error_info(error, self.setup.login_hint)))
        };
        self.end_turn(outcome, None, error, events);
        self.go_on(events);
    }

    /// An agent may report an error as its last text and still end the turn as if nothing had happened.
    fn end_of_turn(&self) -> (Outcome, Option<ErrorInfo>) {
        let last = self.text.last();
        match last.and_then(|text| self.quirks.meaning(text)) {
            Some((TextMeaning::Failure, message)) => {
                let mut info = classified(last.unwrap_or_default());
                message.trim().clone_into(&mut info.message);
                (
                    Outcome::Failed,
                    Some(with_login_hint(info, self.setup.login_hint)),
                )
            }
            _ => (Outcome::Succeeded, None),
        }
    }

    pub(super) fn end_turn(
        &mut self,
        outcome: Outcome,
        stop_reason: Option<&str>,
        error: Option<ErrorInfo>,
        events: &mut Emitter,
    ) {
        for line in self.close_requests(events) {
            events.reply(line);
        }
        self.tools.close_open(events);
        let turn = self.turn.take().unwrap_or_default();
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            text: self.text.take_last(),
            error,
            stop_reason: stop_reason.map(str::to_owned),
            denials: turn.denials,
            ..TurnFinished::new(turn.number, outcome)
        })));
        if let Some(id) = &turn.message_id {
            let state = match self.stage {
                Stage::Ready | Stage::Cancelled => MessageState::Completed,
                Stage::Initializing | Stage::SettingUp | Stage::Failed => MessageState::Cancelled,
            };
            events.message_updated(id, state);
        }
        for command_id in turn.interrupts {
            events.command_answered(command_id, None);
        }
    }

    /// In a recording, a turn begins with the first thing that the agent does. In a run it begins with a prompt only:
    /// no answer would ever end another one.
    pub(super) fn begin_recorded_turn(&mut self, events: &mut Emitter) {
        if self.is_recording && self.turn.is_none() {
            self.begin_turn(None, events);
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.is_cancelled)
    }

    fn go_on(&mut self, events: &mut Emitter) {
        if let Some(line) = self.next_prompt(events) {
            events.reply(line);
        }
    }

    pub(super) fn write_command(
        &mut self,
        command: &Command,
        events: &mut Emitter,
    ) -> Result<Option<Bytes>, CommandError> {
        if matches!(self.stage, Stage::Failed | Stage::Cancelled) {
            return Err(CommandError::Closed);
        }
        match command {
            Command::Send {
                message_id,
                text,
                attachments,
            } => {
                // What the agent takes is not known before it has answered `initialize`.
                if self.stage != Stage::Initializing
                    && let Some(missing) = self.missing(attachments)
                {
                    return Err(unsayable(missing));
                }
                self.queue.push_back(Message {
                    id: Some(message_id.clone()),
                    text: text.clone(),
                    attachments: attachments.clone(),
                });
                let line = self.next_prompt(events);
                if line.is_none() {
                    events.message_updated(message_id, MessageState::Queued);
                }
                Ok(line)
            }
            Command::Interrupt { command_id } => self.interrupt(command_id, events),
            Command::Answer { request, answer } => self.write_answer(request, answer, events).map(Some),
            Command::Other { .. } => Err(CommandError::Unsupported {
                capability: capability::REQUEST,
                reason: "the backend has no such requests",
            }),
            Command::SetModel { command_id, model } => {
                let model = model.clone().ok_or_else(|| unsayable("name the model"))?;
                self.write_setting(Setting::Model(model), command_id).map(Some)
            }
            Command::SetPermissionMode { command_id, mode } => {
                let needed = self.needed_mode(*mode);
                let Some(id) = needed.map_err(|error| unsayable(&error.message))? else {
                    // Only this client's answers to the agent's requests change.
                    self.setup.policy.mode = Some(*mode);
                    events.command_answered(command_id, None);
                    return Ok(None);
                };
                let setting = Setting::Mode {
                    id,
                    is_required: true,
                    answers_by: Some(*mode),
                };
                self.write_setting(setting, command_id).map(Some)
            }
        }
    }

    fn interrupt(&mut self, command_id: &str, events: &mut Emitter) -> Result<Option<Bytes>, CommandError> {
        if self.stage != Stage::Ready {
            return Err(unsayable("the agent is still starting: cancel the run instead"));
        }
        let Some(turn) = &mut self.turn else {
            events.command_answered(command_id, None);
            return Ok(None);
        };
        turn.interrupts.push(command_id.to_owned());
        Ok(self.cancel_turn(events))
    }

    fn write_answer(
        &mut self,
        request: &RequestId,
        answer: &Answer,
        events: &mut Emitter,
    ) -> Result<Bytes, CommandError> {
        let open = self.requests.get(request);
        let open = open.ok_or_else(|| CommandError::NoSuchRequest {
            request: request.to_string(),
        })?;
        let (line, reason) = open.answer(answer).map_err(|what| unsayable(&what))?;
        let (item, tool) = (open.item.clone(), open.tool.clone());
        self.requests.remove(request);
        events.request_closed(request.clone(), reason);
        let (Answer::Deny { reason } | Answer::DenyAndInterrupt { reason }) = answer else {
            if let Some(item) = &item {
                self.tools.set_permission(item, Permission::NotNeeded);
            }
            return Ok(line);
        };
        let reason = Some(reason.clone()).filter(|reason| !reason.trim().is_empty());
        if reason.is_some() {
            let text = "the denial reached the agent without its reason: its protocol has no place for a \
                        reason. Send it as a message if the agent should know";
            events.notice(Severity::Warning, "reason_not_told", text);
        }
        self.deny(item, tool, reason, events);
        if !matches!(answer, Answer::DenyAndInterrupt { .. }) {
            return Ok(line);
        }
        let mut lines = line.to_vec();
        lines.extend_from_slice(&self.cancel_turn(events).unwrap_or_default());
        Ok(Bytes::from(lines))
    }

    fn write_setting(&mut self, setting: Setting, command_id: &str) -> Result<Bytes, CommandError> {
        if self.stage != Stage::Ready {
            return Err(unsayable("the agent is still starting"));
        }
        let line = self.setting_line(setting, Some(command_id.to_owned()));
        line.ok_or_else(|| unsayable("this agent offers no such choice"))
    }
}

fn protocol_error(code: &str, text: String) -> ErrorInfo {
    ErrorInfo::new(ErrorClass::Protocol, code, text)
}

fn unsayable(what: &str) -> CommandError {
    CommandError::NotExpressible {
        what: what.to_owned(),
    }
}
