//! Commands to the CLI: messages, interrupts, settings and answers to its requests.

use std::time::Duration;

use bytes::Bytes;
use claude_code::event::{ControlResponse, ControlResponseBody};
use claude_code::input::{
    Answer as WireAnswer, HostRequest, MessageBlock, MessageContent, MessageId, PermissionAnswer,
    UserMessage, answer, composed_message, host_request,
};
use claude_code::{Capabilities, RawJson};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::mapper::ClaudeMapper;
use super::permission_requests::OpenRequest;
use crate::backend::{Answer, Command};
use crate::emitter::Emitter;
use crate::error::CommandError;
use crate::event::{
    Body, CloseReason, CommandAnswered, ErrorClass, ErrorInfo, MessageState, Outcome, RequestClosed,
    RequestId, Severity, TurnFinished,
};
use crate::request::Attachment;

impl ClaudeMapper {
    pub(super) fn write_command(
        &mut self,
        command: &Command,
        events: &mut Emitter,
    ) -> Result<Option<Bytes>, CommandError> {
        let line = match command {
            Command::Send {
                message_id,
                text,
                attachments,
            } => {
                // Without one the CLI would send no receipts, and we would wait for them.
                let id = MessageId::parse(message_id).ok_or_else(|| CommandError::NotExpressible {
                    what: "the id of a message must be a UUID".to_owned(),
                })?;
                let message = UserMessage {
                    id: Some(id),
                    content: message_content(text, attachments),
                };
                // As receipts write it.
                self.unanswered.push(id.to_string());
                let capabilities = self.setup.capabilities.unwrap_or_else(Capabilities::current);
                let line = composed_message(message, self.setup.expansion, &capabilities);
                if let Some(held) = &mut self.held_prompt {
                    *held = [held.as_ref(), &line].concat().into();
                    events.message_updated(message_id, MessageState::Queued);
                    return Ok(None);
                }
                line
            }
            Command::Interrupt { command_id } => host_request(command_id, &HostRequest::Interrupt),
            Command::SetModel { command_id, model } => {
                host_request(command_id, &HostRequest::SetModel(model.clone()))
            }
            Command::SetPermissionMode { command_id, mode } => {
                host_request(command_id, &HostRequest::SetPermissionMode((*mode).into()))
            }
            Command::Other {
                command_id,
                name,
                body,
            } => {
                self.requests.push(command_id.clone());
                let request = HostRequest::Other {
                    subtype: name.clone(),
                    body: body.clone(),
                };
                host_request(command_id, &request)
            }
            Command::Answer { request, answer } => return self.write_answer(request, answer, events),
        };
        Ok(Some(line))
    }

    fn write_answer(
        &mut self,
        request: &RequestId,
        given: &Answer,
        events: &mut Emitter,
    ) -> Result<Option<Bytes>, CommandError> {
        let open = self
            .permission_requests
            .get(request)
            .ok_or_else(|| CommandError::NoSuchRequest {
                request: request.to_string(),
            })?;
        // After an error, the request still waits for another answer.
        let (wire, reason) = permission(given, open).map_err(|what| CommandError::NotExpressible { what })?;
        let line = answer(&open.wire_id, &WireAnswer::Permission(wire));
        self.permission_requests.remove(request);
        events.emit(Body::RequestClosed(RequestClosed {
            request: request.clone(),
            reason,
        }));
        Ok(Some(line))
    }
}

/// Attachments come before the text, as the vendor advises.
pub(super) fn message_content(text: &str, attachments: &[Attachment]) -> MessageContent {
    if attachments.is_empty() {
        return MessageContent::Text(text.to_owned());
    }
    let document = |name: &str, source: Value| {
        MessageBlock::Other(json!({"type": "document", "title": name, "source": source}))
    };
    let block = |attachment: &Attachment| match attachment {
        Attachment::Image { media_type, base64 } => MessageBlock::Image {
            media_type: media_type.clone(),
            base64: base64.clone(),
        },
        Attachment::Text { name, text } => document(
            name,
            json!({"type": "text", "media_type": "text/plain", "data": text}),
        ),
        Attachment::Document {
            name,
            media_type,
            base64,
        } => document(
            name,
            json!({"type": "base64", "media_type": media_type, "data": base64}),
        ),
    };
    let mut blocks: Vec<MessageBlock> = attachments.iter().map(block).collect();
    if !text.trim().is_empty() {
        blocks.push(MessageBlock::Text(text.to_owned()));
    }
    MessageContent::Blocks(blocks)
}

fn permission(given: &Answer, open: &OpenRequest) -> Result<(PermissionAnswer, CloseReason), String> {
    let missing = || "the request has no arguments to send back".to_owned();
    let asked = || open.input.as_ref().ok_or_else(missing);
    let unchanged = || PermissionAnswer::allow(asked()?).map_err(|error| error.to_string());
    let allow = match given {
        Answer::Allow => unchanged()?,
        Answer::AllowWithGrants { grants } => {
            let mut allow = unchanged()?;
            if let PermissionAnswer::Allow { permissions, .. } = &mut allow {
                *permissions = open.grants.payloads(grants)?;
            }
            allow
        }
        Answer::AllowChanged { input } => PermissionAnswer::Allow {
            input: to_raw_value(input).map_err(|_| "the arguments cannot be written as JSON".to_owned())?,
            permissions: Vec::new(),
        },
        Answer::Answers(answers) => {
            let answers = open.wire_answers(answers);
            let answers = answers
                .iter()
                .map(|(question, answer)| (question.as_str(), answer.as_str()));
            PermissionAnswer::answers(asked()?, answers).map_err(|error| error.to_string())?
        }
        Answer::Deny { reason } => return Ok((PermissionAnswer::deny(reason), CloseReason::Denied)),
        Answer::DenyAndInterrupt { reason } => {
            return Ok((PermissionAnswer::deny_and_end_turn(reason), CloseReason::Denied));
        }
    };
    Ok((allow, CloseReason::Answered))
}

/// The id of the request that announces hooks and tools.
pub(super) const INITIALIZE: &str = "initialize";
/// How long after its start the CLI may take to answer it.
pub(super) const INITIALIZE_LIMIT: Duration = Duration::from_secs(60);

impl ClaudeMapper {
    pub(super) fn map_response(&mut self, response: &ControlResponse, events: &mut Emitter) {
        let answer = match &response.body {
            ControlResponseBody::Success { response, .. } => Ok(response.as_ref()),
            ControlResponseBody::Error { error, .. } => Err(error.as_deref().unwrap_or("refused").to_owned()),
            ControlResponseBody::Other { raw, .. } => Ok(Some(raw)),
            _ => Ok(None),
        };
        let command_id = response.request_id().unwrap_or_default().to_owned();
        let error = answer.as_ref().err().cloned();
        if let Some(index) = self.requests.iter().position(|known| *known == command_id) {
            self.requests.swap_remove(index);
            let value =
                |raw: Option<&RawJson>| raw.and_then(|raw| raw.deserialize().ok()).unwrap_or(Value::Null);
            events.answer_command(&command_id, answer.map(value));
        }
        // The holder of the run has not asked for this one.
        if command_id == INITIALIZE {
            return self.map_initialized(error.as_deref(), events);
        }
        events.emit(Body::CommandAnswered(CommandAnswered { command_id, error }));
    }

    fn map_initialized(&mut self, error: Option<&str>, events: &mut Emitter) {
        match (self.held_prompt.take(), error) {
            (Some(prompt), None) => events.reply(prompt),
            (Some(_), Some(error)) => {
                let message = format!("the CLI does not take the hooks and tools of this run: {error}");
                self.refuse_to_start(
                    ErrorInfo::new(ErrorClass::Config, "hooks_refused", message),
                    events,
                );
            }
            (None, Some(error)) => events.notice(Severity::Warning, "initialize_refused", error),
            (None, None) => {}
        }
        events.framing(INITIALIZE);
    }

    /// A run whose hooks would not be called must not begin.
    fn refuse_to_start(&mut self, error: ErrorInfo, events: &mut Emitter) {
        self.is_refused = true;
        self.cancel_messages(events);
        self.begin_turn(events);
        let number = self.end_turn(events);
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            error: Some(error),
            ..TurnFinished::new(number, Outcome::Failed)
        })));
    }

    /// Messages that waited for the prompt, which the CLI will never get.
    pub(super) fn cancel_messages(&mut self, events: &mut Emitter) {
        for id in std::mem::take(&mut self.unanswered) {
            events.message_updated(id, MessageState::Cancelled);
        }
    }

    /// The CLI has not answered the request that announces hooks and tools.
    pub(super) fn give_up_initialize(&mut self, events: &mut Emitter) {
        if self.held_prompt.take().is_some() {
            let message = format!(
                "the CLI did not answer `{INITIALIZE}` within {} s: run it in a terminal to see whether it waits for \
                 a login",
                INITIALIZE_LIMIT.as_secs()
            );
            self.refuse_to_start(ErrorInfo::new(ErrorClass::Process, "no_answer", message), events);
        }
    }
}
