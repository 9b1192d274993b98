//! What is said to the CLI.

use claude_code::event::{ControlResponseBody, PermissionMode as WireMode};
use claude_code::input::{
    Answer as WireAnswer, HostRequest, MessageContent, MessageId, PermissionAnswer, UserMessage, answer,
    composed_message, host_request,
};
use claude_code::{Capabilities, RawJson};
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::mapper::ClaudeMapper;
use super::text::copied;
use crate::backend::{Answer, Command, Encoded};
use crate::emitter::Emitter;
use crate::error::CommandError;
use crate::event::{Body, CloseReason, RequestClosed, RequestId};
use crate::request::PermissionMode;

impl ClaudeMapper {
    pub(super) fn write_command(
        &mut self,
        command: &Command,
        events: &mut Emitter,
    ) -> Result<Encoded, CommandError> {
        let line = match command {
            Command::Send { message_id, text } => {
                // Without one the CLI would send no receipts, and we would wait for them.
                let id = MessageId::parse(message_id).ok_or_else(|| CommandError::Unsayable {
                    what: "the id of a message must be a UUID".to_owned(),
                })?;
                let message = UserMessage {
                    id: Some(id),
                    content: MessageContent::Text(text.clone()),
                };
                // As receipts write it.
                self.unanswered.push(id.to_string());
                let capabilities = self.setup.capabilities.unwrap_or_else(Capabilities::current);
                composed_message(message, self.setup.expansion, &capabilities)
            }
            Command::Interrupt { command_id } => host_request(command_id, &HostRequest::Interrupt),
            Command::SetModel { command_id, model } => {
                host_request(command_id, &HostRequest::SetModel(model.clone()))
            }
            Command::SetPermissionMode { command_id, mode } => {
                host_request(command_id, &HostRequest::SetPermissionMode(wire_mode(*mode)))
            }
            Command::Answer { request, answer } => return self.write_answer(request, answer, events),
        };
        Ok(Encoded::Line(line))
    }

    fn write_answer(
        &mut self,
        request: &RequestId,
        given: &Answer,
        events: &mut Emitter,
    ) -> Result<Encoded, CommandError> {
        let input = self
            .asks
            .take(request)
            .ok_or_else(|| CommandError::NoSuchRequest {
                request: request.to_string(),
            })?;
        let (wire, reason) = match permission(given, input.as_ref()) {
            Ok(answer) => answer,
            Err(what) => {
                // It still waits for a better one.
                self.asks.put_back(request.clone(), input);
                return Err(CommandError::Unsayable { what });
            }
        };
        events.emit(Body::RequestClosed(RequestClosed {
            request: request.clone(),
            reason,
        }));
        Ok(Encoded::Line(answer(
            request.as_str(),
            &WireAnswer::Permission(wire),
        )))
    }
}

fn permission(given: &Answer, input: Option<&RawJson>) -> Result<(PermissionAnswer, CloseReason), String> {
    let missing = || "the request has no arguments to send back".to_owned();
    let asked = || input.ok_or_else(missing);
    let unchanged = || PermissionAnswer::allow(asked()?).map_err(|error| error.to_string());
    let allow = match given {
        Answer::Allow => unchanged()?,
        Answer::AllowAlways { rules } => match (unchanged()?, rules) {
            (PermissionAnswer::Allow { input, .. }, Value::Array(permissions)) => PermissionAnswer::Allow {
                input,
                permissions: permissions.clone(),
            },
            _ => return Err("rules must be a list, as the request's suggestions are".to_owned()),
        },
        Answer::AllowChanged { input } => PermissionAnswer::Allow {
            input: to_raw_value(input).map_err(|_| "the arguments cannot be written as JSON".to_owned())?,
            permissions: Vec::new(),
        },
        Answer::Answers(answers) => {
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

pub(super) fn wire_mode(mode: PermissionMode) -> WireMode {
    match mode {
        PermissionMode::Ask => WireMode::Default,
        PermissionMode::AcceptEdits => WireMode::AcceptEdits,
        PermissionMode::Plan => WireMode::Plan,
        PermissionMode::Refuse => WireMode::DontAsk,
        PermissionMode::Bypass => WireMode::BypassPermissions,
    }
}

/// Which command was answered, and why it was refused if it was.
pub(super) fn response(body: &ControlResponseBody) -> (String, Option<String>) {
    let id = |id: &Option<claude_code::Text>| id.as_ref().map(copied).unwrap_or_default();
    match body {
        ControlResponseBody::Success { request_id, .. } | ControlResponseBody::Other { request_id, .. } => {
            (id(request_id), None)
        }
        ControlResponseBody::Error {
            request_id, error, ..
        } => {
            let error = error.as_ref().map(copied);
            (
                id(request_id),
                Some(error.unwrap_or_else(|| "refused".to_owned())),
            )
        }
    }
}
