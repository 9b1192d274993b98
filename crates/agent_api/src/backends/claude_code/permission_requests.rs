//! `PermissionRequests`: the requests of the CLI that wait for an answer.

use std::collections::HashMap;

use claude_code::RawJson;
use claude_code::event::{CanUseTool, ControlCancelRequest, ControlRequest, ControlRequestBody};
use claude_code::input::{Answer as WireAnswer, PermissionAnswer, answer};
use serde::Deserialize;

use super::grants::offered_grants;
use super::mapper::ClaudeMapper;
use super::messages::{json, subject};
use crate::backends::offered_grants::OfferedGrants;
use crate::backends::question_answers::whole_answers;
use crate::backends::tool_names::kind_of;
use crate::emitter::{Emitter, LateReply};
use crate::event::{
    Body, CloseReason, Denial, Grant, ItemId, PermissionRequested, PlanProposed, Question, QuestionAsked,
    QuestionOption, RequestClosed, RequestId, Severity, ToolKind,
};

#[derive(Debug, Default)]
pub(super) struct PermissionRequests {
    open: HashMap<RequestId, OpenRequest>,
    /// The plan of an `ExitPlanMode` call, which its request may not repeat.
    plan: Option<(ItemId, String)>,
}

/// A request that waits for an answer. It keeps what the answer has to repeat exactly: events are bounded, so their
/// ids, questions and labels may differ from those of the CLI.
#[derive(Debug)]
pub(super) struct OpenRequest {
    /// The CLI's own id.
    pub(super) wire_id: String,
    pub(super) input: Option<RawJson>,
    pub(super) grants: OfferedGrants,
}

impl OpenRequest {
    /// Puts the questions and labels of the CLI in place of those that its event shows.
    pub(super) fn wire_answers(&self, answers: &[(String, String)]) -> Vec<(String, String)> {
        let questions = self.input.as_ref().and_then(questions).unwrap_or_default();
        let whole = whole_answers(&questions, answers).into_iter().zip(answers);
        whole
            .map(|(whole, shown)| match whole {
                Some((index, answer)) => (questions[index].text.clone(), answer),
                None => shown.clone(),
            })
            .collect()
    }
}

impl PermissionRequests {
    pub(super) fn note_plan(&mut self, call: &ItemId, input: &RawJson) {
        if let Some(plan) = input.get("plan").and_then(|plan| plan.text()) {
            self.plan = Some((call.clone(), str::to_owned(&plan)));
        }
    }

    /// The plan that a request asks to approve.
    fn plan_of(&mut self, ask: &CanUseTool) -> Option<String> {
        let asked = ask.input.as_ref().and_then(|input| input.get("plan")?.text());
        let call = ask.tool_use_id.as_deref();
        let noted = self.plan.take_if(|(noted, _)| Some(noted.as_str()) == call);
        let is_end = ask
            .tool_name
            .as_deref()
            .is_some_and(|name| name.starts_with("Exit") || name.starts_with("exit"));
        asked
            .as_deref()
            .map(str::to_owned)
            .or(noted.map(|(_, plan)| plan))
            .or_else(|| is_end.then(String::new))
    }

    pub(super) fn get(&self, request: &RequestId) -> Option<&OpenRequest> {
        self.open.get(request)
    }

    pub(super) fn remove(&mut self, request: &RequestId) -> Option<OpenRequest> {
        self.open.remove(request)
    }
}

impl ClaudeMapper {
    pub(super) fn map_request(&mut self, request: &ControlRequest, events: &mut Emitter) {
        let wire_id = request.request_id.as_deref().unwrap_or_default();
        match &request.body {
            ControlRequestBody::CanUseTool(ask) if self.setup.denies_requests || !events.can_ask() => {
                let reason = if self.setup.denies_requests {
                    "permission denied: this run takes no answers"
                } else {
                    "permission denied: too many requests wait for an answer"
                };
                events.emit(Body::PermissionDenied(Box::new(Denial {
                    item: ask.tool_use_id.as_deref().map(ItemId::new),
                    tool: ask.tool_name.as_deref().unwrap_or_default().to_owned(),
                    reason: Some(reason.to_owned()),
                })));
                let denial = WireAnswer::Permission(PermissionAnswer::deny(reason));
                events.reply(answer(wire_id, &denial));
            }
            ControlRequestBody::CanUseTool(ask) => {
                let id = RequestId::new(wire_id);
                let open = OpenRequest {
                    wire_id: wire_id.to_owned(),
                    input: ask.input.clone(),
                    grants: offered_grants(ask.permission_suggestions.as_ref()),
                };
                let grants = open.grants.list();
                self.permission_requests.open.insert(id.clone(), open);
                let plan = match kind_of(ask.tool_name.as_deref().unwrap_or_default()) {
                    ToolKind::SwitchMode => self.permission_requests.plan_of(ask),
                    _ => None,
                };
                events.emit(asked(id, ask, plan, grants));
            }
            body @ (ControlRequestBody::HookCallback(_) | ControlRequestBody::McpMessage(_))
                if !self.host.is_empty() =>
            {
                let Some(response) = self.host.respond(body) else {
                    return;
                };
                let id = wire_id.to_owned();
                events.reply_later(LateReply::Start {
                    key: id.clone(),
                    fallback: answer(wire_id, &response.fallback),
                    timeout: response.timeout,
                    line: Box::pin(async move { answer(&id, &response.answer.await) }),
                });
            }
            ControlRequestBody::HookCallback(_) | ControlRequestBody::McpMessage(_) => {
                let what = "this run has no hooks and no tools of its own";
                refuse(request, what, events);
            }
            ControlRequestBody::Other { subtype, .. } => {
                refuse(request, subtype.as_deref().unwrap_or_default(), events);
            }
            _ => refuse(request, "", events),
        }
    }

    pub(super) fn map_withdrawal(&mut self, cancel: &ControlCancelRequest, events: &mut Emitter) {
        let id = cancel.request_id.as_deref().unwrap_or_default();
        if !self.host.is_empty() {
            events.reply_later(LateReply::Withdraw(id.to_owned()));
        }
        let request = RequestId::new(id);
        if self.permission_requests.remove(&request).is_some() {
            events.emit(Body::RequestClosed(RequestClosed {
                request,
                reason: CloseReason::Withdrawn,
            }));
        }
    }
}

/// The CLI waits for an answer to each of its requests, also to one that is not supported here.
fn refuse(request: &ControlRequest, what: &str, events: &mut Emitter) {
    events.notice(Severity::Warning, "unsupported_request", what);
    if let Some(id) = &request.request_id {
        let error = WireAnswer::Error("not supported by this client".to_owned());
        events.reply(answer(id, &error));
    }
}

fn asked(request: RequestId, ask: &CanUseTool, plan: Option<String>, grants: Vec<Grant>) -> Body {
    let tool = ask.tool_name.as_deref().unwrap_or_default();
    let kind = kind_of(tool);
    let item = ask.tool_use_id.as_deref().map(ItemId::new);
    let input = ask.input.as_ref();
    if let Some(plan) = plan {
        return Body::PlanProposed(Box::new(PlanProposed { request, item, plan }));
    }
    if kind == ToolKind::Question
        && let Some(questions) = input.and_then(questions)
    {
        return Body::QuestionAsked(Box::new(QuestionAsked {
            request,
            item,
            questions,
        }));
    }
    let description = ask.description.as_deref().or(ask.decision_reason.as_deref());
    Body::PermissionRequested(Box::new(PermissionRequested {
        request,
        item,
        tool: tool.to_owned(),
        kind,
        subject: input
            .and_then(|input| subject(kind, input))
            .or_else(|| ask.blocked_path.as_deref().map(str::to_owned)),
        description: description.map(str::to_owned),
        input: input.and_then(json),
        grants,
        takes_one_grant: false,
    }))
}

#[derive(Deserialize)]
struct WireQuestion {
    question: String,
    header: Option<String>,
    #[serde(default)]
    options: Vec<WireOption>,
    #[serde(default, rename = "multiSelect")]
    is_multiple: bool,
}

#[derive(Deserialize)]
struct WireOption {
    label: String,
    description: Option<String>,
}

fn questions(input: &RawJson) -> Option<Vec<Question>> {
    let wire: Vec<WireQuestion> = input.get("questions")?.deserialize().ok()?;
    let question = |wire: WireQuestion| Question {
        text: wire.question,
        header: wire.header,
        options: wire
            .options
            .into_iter()
            .map(|option| QuestionOption {
                label: option.label,
                description: option.description,
            })
            .collect(),
        is_multiple: wire.is_multiple,
    };
    Some(wire.into_iter().map(question).collect())
}
