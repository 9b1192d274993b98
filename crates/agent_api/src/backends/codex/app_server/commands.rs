//! Commands of the run's owner, as requests and answers for `codex app-server`.

use bytes::Bytes;
use serde_json::json;

use super::mapper::{AppServerMapper, Pending, Stage};
use super::requests::message_input;
use crate::backend::{Answer, Command};
use crate::capability;
use crate::emitter::Emitter;
use crate::error::CommandError;
use crate::event::{MessageState, RequestId, Severity};

impl AppServerMapper {
    pub(super) fn encode_command(
        &mut self,
        command: &Command,
        events: &mut Emitter,
    ) -> Result<Option<Bytes>, CommandError> {
        match command {
            Command::Send {
                message_id,
                text,
                attachments,
            } => self.encode_send(message_id, message_input(text, attachments), events),
            Command::Interrupt { command_id } => self.encode_interrupt(command_id),
            Command::Answer { request, answer } => self.encode_answer(request, answer, events),
            Command::Other { .. } => Err(CommandError::Unsupported {
                capability: capability::REQUEST,
                reason: "the backend has no such requests",
            }),
            Command::SetModel { command_id, model } => {
                let model = model.as_ref().or(self.model.as_ref());
                self.apply(command_id, [("model", json!(model))], events)
            }
            Command::SetPermissionMode { command_id, mode } => {
                let access = self.settings.change_mode(*mode);
                let policy = access.sandbox.policy(self.settings.writable_roots());
                let settings = [
                    ("approvalPolicy", access.approval.into()),
                    ("sandboxPolicy", policy),
                ];
                self.apply(command_id, settings, events)
            }
        }
    }

    fn encode_send(
        &mut self,
        message_id: &str,
        input: serde_json::Value,
        events: &mut Emitter,
    ) -> Result<Option<Bytes>, CommandError> {
        match self.stage {
            Stage::Ready => {
                let line = self.turn_request(Some(message_id.to_owned()), input);
                Ok(Some(line))
            }
            Stage::Failed | Stage::Recorded => Err(CommandError::Closed),
            Stage::Initializing | Stage::Listing | Stage::Opening => {
                self.queued.push((Some(message_id.to_owned()), input));
                events.message_updated(message_id, MessageState::Queued);
                Ok(None)
            }
        }
    }

    fn encode_interrupt(&mut self, command_id: &str) -> Result<Option<Bytes>, CommandError> {
        if let Some(line) = self.interrupt_request(Some(command_id.to_owned())) {
            return Ok(Some(line));
        }
        if !self.awaits_turn() {
            return Err(CommandError::NotExpressible {
                what: "no turn is running".to_owned(),
            });
        }
        self.held_interrupts.push(command_id.to_owned());
        Ok(None)
    }

    fn encode_answer(
        &mut self,
        request: &RequestId,
        answer: &Answer,
        events: &mut Emitter,
    ) -> Result<Option<Bytes>, CommandError> {
        let answered = self.approvals.answer(request, answer, events);
        let answered = answered.map_err(|what| CommandError::NotExpressible { what })?;
        let Some(answered) = answered else {
            return Err(CommandError::NoSuchRequest {
                request: request.to_string(),
            });
        };
        let (Answer::Deny { reason } | Answer::DenyAndInterrupt { reason }) = answer else {
            return Ok(Some(answered.line));
        };
        if let Some(item) = answered.item {
            self.items.explain_denial(item, reason);
        }
        if reason.trim().is_empty() {
            return Ok(Some(answered.line));
        }
        // A decision has no place for a reason, so it goes along as a message. It comes first, because the model is
        // asked again as soon as Codex has the decision.
        let Some((thread, turn)) = answered.turn.filter(|_| !answered.ends_turn) else {
            let message = "the reason for the denial does not reach Codex: the turn ends";
            events.notice(Severity::Info, "reason_not_told", message);
            return Ok(Some(answered.line));
        };
        let text = format!("The user did not allow this: {reason}");
        let params = json!({
            "threadId": thread,
            "expectedTurnId": turn,
            "input": [{ "type": "text", "text": text }],
        });
        let steer = self.send("turn/steer", &params, Pending::Reason);
        Ok(Some([steer, answered.line].concat().into()))
    }

    /// Keeps settings for the next message. There is nothing to write and nothing to wait for.
    fn apply(
        &mut self,
        command_id: &str,
        settings: impl IntoIterator<Item = (&'static str, serde_json::Value)>,
        events: &mut Emitter,
    ) -> Result<Option<Bytes>, CommandError> {
        let settings = settings.into_iter();
        self.next_turn
            .extend(settings.map(|(name, value)| (name.to_owned(), value)));
        if self.active_turn.is_some() {
            let message = "Codex applies the change to the next message, not to the turn that runs";
            events.notice(Severity::Info, "applies_later", message);
        }
        events.command_answered(command_id, None);
        Ok(None)
    }
}
