//! `Approvals`: requests of `codex app-server` that wait for an answer.

use std::collections::HashMap;

use bytes::Bytes;
use json_lines::Value;
use serde_json::{Map, json};

use crate::backend::Answer;
use crate::backends::codex::items::{COMMAND_EXECUTION, FILE_CHANGE, Items};
use crate::backends::json_rpc::JsonRpc;
use crate::backends::offered_grants::OfferedGrants;
use crate::backends::question_answers::whole_answers;
use crate::backends::tool_names::one_line;
use crate::emitter::{Emitter, in_order};
use crate::event::{
    Body, CloseReason, Denial, GrantDestination, GrantKind, ItemId, Json, PermissionRequested, Question,
    QuestionAsked, QuestionOption, RequestId, ToolKind,
};

const COMMAND: &str = "item/commandExecution/requestApproval";
const CHANGE: &str = "item/fileChange/requestApproval";
const PERMISSIONS: &str = "item/permissions/requestApproval";
pub(super) const USER_INPUT: &str = "item/tool/requestUserInput";

/// The requests that wait.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    open: HashMap<RequestId, (u64, Pending)>,
    /// How many there were.
    count: u64,
}

#[derive(Debug)]
struct Pending {
    /// The request's id as it came.
    id: serde_json::Value,
    item: Option<ItemId>,
    /// Its thread and turn.
    turn: Option<(String, String)>,
    kind: Kind,
}

/// An answer, and what it was for.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) line: Bytes,
    pub(super) item: Option<ItemId>,
    /// The thread and turn that waited for it.
    pub(super) turn: Option<(String, String)>,
    pub(super) ends_turn: bool,
}

#[derive(Debug)]
enum Kind {
    /// A command or a change of files.
    Decision(OfferedGrants),
    /// More permissions for the turn: these.
    Permissions(serde_json::Value, OfferedGrants),
    /// Questions to the user, and the id of each.
    Questions(Vec<Question>, Vec<String>),
}

impl Approvals {
    /// Maps a request about one of these items. Says whether it is one that can be answered.
    pub(super) fn ask(
        &mut self,
        method: &str,
        id: &Value,
        params: &Value,
        items: &Items,
        events: &mut Emitter,
    ) -> bool {
        let request = request_id(id);
        let item = params.text("itemId").map(ItemId::new);
        let call = item.as_ref().and_then(|item| items.call(item));
        let reason = params.text("reason").map(str::to_owned);
        let (kind, body) = match method {
            COMMAND => {
                let grants = command_grants(params);
                let command = params.text("command");
                let input = json!({ "command": command, "cwd": params.get("cwd") });
                let body = PermissionRequested {
                    request: request.clone(),
                    item: item.clone(),
                    tool: COMMAND_EXECUTION.to_owned(),
                    kind: ToolKind::Execute,
                    subject: command.map(one_line),
                    description: reason,
                    input: Some(Json::from(&input)),
                    grants: grants.list(),
                    takes_one_grant: true,
                };
                (Kind::Decision(grants), Body::PermissionRequested(Box::new(body)))
            }
            CHANGE => {
                let text = "Allow further changes to the same files for this session";
                let grants = session_grant(text, "acceptForSession");
                let body = PermissionRequested {
                    request: request.clone(),
                    item: item.clone(),
                    tool: FILE_CHANGE.to_owned(),
                    kind: ToolKind::Edit,
                    // The request does not repeat the changes.
                    subject: call.and_then(|call| call.subject.clone()),
                    description: reason,
                    input: call.and_then(|call| call.input.clone()),
                    grants: grants.list(),
                    takes_one_grant: true,
                };
                (Kind::Decision(grants), Body::PermissionRequested(Box::new(body)))
            }
            PERMISSIONS => {
                let permissions = params
                    .get("permissions")
                    .map_or_else(|| json!({}), Value::to_owned_json);
                let grants = session_grant(
                    "Give these permissions for this session, not only for this turn",
                    "session",
                );
                let body = PermissionRequested {
                    request: request.clone(),
                    item: item.clone(),
                    tool: "request_permissions".to_owned(),
                    kind: ToolKind::SwitchMode,
                    subject: reason.as_deref().map(one_line),
                    description: reason,
                    input: Some(Json::from(&permissions)),
                    grants: grants.list(),
                    takes_one_grant: true,
                };
                let kind = Kind::Permissions(permissions, grants);
                (kind, Body::PermissionRequested(Box::new(body)))
            }
            USER_INPUT => {
                let asked = params.list("questions");
                let ids = asked.iter().map(|from| from.text("id").unwrap_or_default());
                let ids = ids.map(str::to_owned).collect();
                let questions: Vec<Question> = asked.iter().map(question).collect();
                let body = QuestionAsked {
                    request: request.clone(),
                    item: item.clone(),
                    questions: questions.clone(),
                };
                let kind = Kind::Questions(questions, ids);
                (kind, Body::QuestionAsked(Box::new(body)))
            }
            _ => return false,
        };
        // A second request of the same id takes the place of the first.
        self.close(&request, CloseReason::Withdrawn, events);
        let turn = params.text("threadId").zip(params.text("turnId"));
        let pending = Pending {
            id: id.to_owned_json(),
            item,
            turn: turn.map(|(thread, turn)| (thread.to_owned(), turn.to_owned())),
            kind,
        };
        self.count += 1;
        self.open.insert(request, (self.count, pending));
        events.emit(body);
        true
    }

    /// Answers a request; `Ok(None)` if no such request waits.
    ///
    /// # Errors
    /// When the request cannot be answered like this. It still waits then.
    pub(super) fn answer(
        &mut self,
        request: &RequestId,
        answer: &Answer,
        events: &mut Emitter,
    ) -> Result<Option<Answered>, String> {
        let Some((_, pending)) = self.open.get(request) else {
            return Ok(None);
        };
        let (value, reason) = match &pending.kind {
            Kind::Decision(grants) => decision(grants, answer)?,
            Kind::Permissions(asked, grants) => permissions(asked, grants, answer)?,
            Kind::Questions(questions, ids) => answers(questions, ids, answer)?,
        };
        let answered = Answered {
            line: JsonRpc::Unversioned.result(&pending.id, &value),
            item: pending.item.clone(),
            turn: pending.turn.clone(),
            ends_turn: matches!(answer, Answer::DenyAndInterrupt { .. })
                && matches!(pending.kind, Kind::Decision(_)),
        };
        self.close(request, reason, events);
        Ok(Some(answered))
    }

    /// The agent no longer waits for this answer. Says whether it did.
    pub(super) fn withdraw(&mut self, id: &Value, events: &mut Emitter) -> bool {
        self.close(&request_id(id), CloseReason::Withdrawn, events)
    }

    /// The turn has ended: no request of it waits any more.
    pub(super) fn withdraw_all(&mut self, events: &mut Emitter) {
        for (request, _) in in_order(std::mem::take(&mut self.open)) {
            events.request_closed(request, CloseReason::Withdrawn);
        }
    }

    fn close(&mut self, request: &RequestId, reason: CloseReason, events: &mut Emitter) -> bool {
        let is_open = self.open.remove(request).is_some();
        if is_open {
            events.request_closed(request.clone(), reason);
        }
        is_open
    }
}

/// Denies a request at once, without asking the run's holder. Says whether it is one that can be denied.
pub(super) fn deny(
    method: &str,
    id: &Value,
    params: &Value,
    reason: &str,
    items: &mut Items,
    events: &mut Emitter,
) -> bool {
    let (tool, answer) = match method {
        COMMAND => (COMMAND_EXECUTION, json!({ "decision": "decline" })),
        CHANGE => (FILE_CHANGE, json!({ "decision": "decline" })),
        PERMISSIONS => ("request_permissions", json!({ "permissions": {} })),
        USER_INPUT => ("request_user_input", json!({ "answers": {} })),
        _ => return false,
    };
    events.reply(JsonRpc::Unversioned.result(id, &answer));
    let item = params.text("itemId").map(ItemId::new);
    match item.filter(|item| items.call(item).is_some()) {
        // The end of the call says that it was denied.
        Some(item) => {
            items.explain_denial(item, reason);
            events.framing(method);
        }
        None => events.emit(Body::PermissionDenied(Box::new(Denial {
            item: params.text("itemId").map(ItemId::new),
            tool: tool.to_owned(),
            reason: Some(reason.to_owned()),
        }))),
    }
    true
}

/// Ids are numbers or strings; `0` and `"0"` are two.
fn request_id(id: &Value) -> RequestId {
    RequestId::new(&id.to_owned_json().to_string())
}

/// The decisions that allow more than this one call. One that is not known is not offered.
fn command_grants(params: &Value) -> OfferedGrants {
    let mut grants = OfferedGrants::default();
    for decision in params.list("availableDecisions") {
        let payload = decision.to_owned_json();
        if decision.as_str() == Some("acceptForSession") {
            let text = "Allow the same command for this session".to_owned();
            grants.offer(GrantKind::Rule, GrantDestination::Session, text, payload);
        } else if let Some(words) = amendment(&payload) {
            let text = format!(
                "Allow commands that begin with `{}`, kept in Codex's rules",
                words.join(" ")
            );
            grants.offer(GrantKind::Rule, GrantDestination::User, text, payload);
        }
    }
    grants
}

/// The first words of the commands that a decision would allow from now on, if that is all it does.
fn amendment(decision: &serde_json::Value) -> Option<Vec<&str>> {
    let object = decision.as_object().filter(|object| object.len() == 1)?;
    let amendment = object.get("acceptWithExecpolicyAmendment")?.as_object()?;
    let words = amendment
        .get("execpolicy_amendment")
        .filter(|_| amendment.len() == 1)?;
    let words: Option<Vec<&str>> = words.as_array()?.iter().map(serde_json::Value::as_str).collect();
    words.filter(|words| !words.is_empty())
}

fn session_grant(text: &str, payload: &str) -> OfferedGrants {
    let mut grants = OfferedGrants::default();
    grants.offer(
        GrantKind::Rule,
        GrantDestination::Session,
        text.to_owned(),
        json!(payload),
    );
    grants
}

fn decision(grants: &OfferedGrants, answer: &Answer) -> Result<(serde_json::Value, CloseReason), String> {
    let (decision, reason) = match answer {
        Answer::Allow => (json!("accept"), CloseReason::Answered),
        Answer::AllowWithGrants { grants: chosen } => (grants.only_payload(chosen)?, CloseReason::Answered),
        Answer::Deny { .. } => (json!("decline"), CloseReason::Denied),
        Answer::DenyAndInterrupt { .. } => (json!("cancel"), CloseReason::Denied),
        Answer::AllowChanged { .. } => return Err("Codex runs a call as it is or not at all".to_owned()),
        Answer::Answers(_) => return Err("the request is not a question".to_owned()),
    };
    Ok((json!({ "decision": decision }), reason))
}

fn permissions(
    asked: &serde_json::Value,
    grants: &OfferedGrants,
    answer: &Answer,
) -> Result<(serde_json::Value, CloseReason), String> {
    Ok(match answer {
        Answer::Allow => (
            json!({ "permissions": asked, "scope": "turn" }),
            CloseReason::Answered,
        ),
        Answer::AllowWithGrants { grants: chosen } => (
            json!({ "permissions": asked, "scope": grants.only_payload(chosen)? }),
            CloseReason::Answered,
        ),
        Answer::AllowChanged { input } => (
            json!({ "permissions": input, "scope": "turn" }),
            CloseReason::Answered,
        ),
        Answer::Deny { .. } | Answer::DenyAndInterrupt { .. } => {
            (json!({ "permissions": {} }), CloseReason::Denied)
        }
        Answer::Answers(_) => return Err("the request is not a question".to_owned()),
    })
}

fn answers(
    questions: &[Question],
    ids: &[String],
    answer: &Answer,
) -> Result<(serde_json::Value, CloseReason), String> {
    let given = match answer {
        Answer::Answers(given) => given,
        Answer::Deny { .. } | Answer::DenyAndInterrupt { .. } => {
            return Ok((json!({ "answers": {} }), CloseReason::Denied));
        }
        Answer::Allow | Answer::AllowWithGrants { .. } | Answer::AllowChanged { .. } => {
            return Err("the request is a question: answer it".to_owned());
        }
    };
    let mut chosen: Vec<Vec<String>> = vec![Vec::new(); questions.len()];
    for (index, (text, _)) in whole_answers(questions, given).into_iter().zip(given) {
        let (index, answer) = index.ok_or_else(|| format!("there is no question `{text}`"))?;
        chosen[index].push(answer);
    }
    let answers: Map<_, _> = ids
        .iter()
        .zip(chosen)
        .map(|(id, chosen)| (id.clone(), json!({ "answers": chosen })))
        .collect();
    Ok((json!({ "answers": answers }), CloseReason::Answered))
}

fn question(from: &Value) -> Question {
    let option = |from: &Value| QuestionOption {
        label: from.text("label").unwrap_or_default().to_owned(),
        description: from.text("description").map(str::to_owned),
    };
    Question {
        text: from.text("question").unwrap_or_default().to_owned(),
        header: from.text("header").map(str::to_owned),
        options: from.list("options").iter().map(option).collect(),
        is_multiple: false,
    }
}
