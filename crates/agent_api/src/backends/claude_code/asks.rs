//! What the CLI asks.

use std::collections::HashMap;

use claude_code::RawJson;
use claude_code::event::{CanUseTool, ControlCancelRequest, ControlRequest, ControlRequestBody};
use claude_code::input::{Answer as WireAnswer, answer};
use serde::Deserialize;

use super::blocks::{json, subject};
use super::mapper::{ClaudeMapper, notice};
use super::text::copied;
use crate::backends::tool_names::kind_of;
use crate::emitter::Emitter;
use crate::event::{
    Body, CloseReason, ItemId, PermissionRequested, PlanProposed, Question, QuestionAsked, QuestionOption,
    RequestClosed, RequestId, Severity, ToolKind,
};

/// Requests that wait for an answer, and the arguments that the answer must repeat.
#[derive(Debug, Default)]
pub(super) struct Asks {
    open: HashMap<RequestId, Option<RawJson>>,
    /// The plan of a call that ends the planning: the request itself does not repeat it.
    plan: Option<(ItemId, String)>,
}

impl Asks {
    pub(super) fn note_plan(&mut self, call: &ItemId, input: &RawJson) {
        if let Some(plan) = input.get("plan").and_then(|plan| plan.text()) {
            self.plan = Some((call.clone(), copied(&plan)));
        }
    }

    /// The plan that a request is about, if it is about one.
    fn plan_of(&mut self, ask: &CanUseTool) -> Option<String> {
        let asked = ask.input.as_ref().and_then(|input| input.get("plan")?.text());
        let call = ask.tool_use_id.as_deref();
        let noted = self.plan.take_if(|(noted, _)| Some(noted.as_str()) == call);
        let is_end = ask
            .tool_name
            .as_deref()
            .is_some_and(|name| name.starts_with("Exit") || name.starts_with("exit"));
        asked
            .as_ref()
            .map(copied)
            .or(noted.map(|(_, plan)| plan))
            .or_else(|| is_end.then(String::new))
    }

    pub(super) fn put_back(&mut self, request: RequestId, input: Option<RawJson>) {
        self.open.insert(request, input);
    }

    pub(super) fn take(&mut self, request: &RequestId) -> Option<Option<RawJson>> {
        self.open.remove(request)
    }
}

impl ClaudeMapper {
    pub(super) fn map_request(&mut self, request: &ControlRequest, events: &mut Emitter) {
        let id = RequestId::new(request.request_id.as_deref().unwrap_or_default());
        match &request.body {
            ControlRequestBody::CanUseTool(ask) => {
                self.asks.open.insert(id.clone(), ask.input.clone());
                let plan = match kind_of(ask.tool_name.as_deref().unwrap_or_default()) {
                    ToolKind::SwitchMode => self.asks.plan_of(ask),
                    _ => None,
                };
                events.emit(asked(id, ask, plan));
            }
            ControlRequestBody::HookCallback(_) | ControlRequestBody::McpMessage(_) => {
                let what = "the CLI asks for a hook or a tool server that is not here";
                refuse(request, what, events);
            }
            ControlRequestBody::Other { subtype, .. } => {
                refuse(request, subtype.as_deref().unwrap_or_default(), events);
            }
        }
    }

    pub(super) fn map_withdrawal(&mut self, cancel: &ControlCancelRequest, events: &mut Emitter) {
        let request = RequestId::new(cancel.request_id.as_deref().unwrap_or_default());
        if self.asks.take(&request).is_some() {
            events.emit(Body::RequestClosed(RequestClosed {
                request,
                reason: CloseReason::Withdrawn,
            }));
        }
    }
}

/// The CLI waits for an answer to each of its requests, also to one that nobody here can serve.
fn refuse(request: &ControlRequest, what: &str, events: &mut Emitter) {
    events.emit(notice(Severity::Warning, "unsupported_request", what));
    if let Some(id) = &request.request_id {
        let error = WireAnswer::Error("not supported by this client".to_owned());
        events.reply(answer(id, &error));
    }
}

fn asked(request: RequestId, ask: &CanUseTool, plan: Option<String>) -> Body {
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
    let description = ask.description.as_ref().or(ask.decision_reason.as_ref());
    Body::PermissionRequested(Box::new(PermissionRequested {
        request,
        item,
        tool: tool.to_owned(),
        kind,
        subject: input
            .and_then(|input| subject(kind, input))
            .or_else(|| ask.blocked_path.as_ref().map(copied)),
        description: description.map(copied),
        input: input.and_then(json),
        suggestions: ask.permission_suggestions.as_ref().and_then(json),
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
