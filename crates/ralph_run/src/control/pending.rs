//! `PendingRequests`: requests of the agent that are not answered yet. The machine, `RunModel` and clients use it.

use std::collections::VecDeque;

use agent_api::{
    Answer, Body, GrantId, GrantKind, PermissionRequested, PlanProposed, QuestionAsked, RequestId,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::command::AnswerChoice;
use super::refusal::{Refusal, RefusalCode};
use crate::record::{Record, RunBody, RunEvent};

/// Unanswered requests, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingRequests {
    requests: Vec<PendingRequest>,
    /// Those that were answered, the newest last.
    answered: VecDeque<Answered>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Answered {
    request: RequestId,
    at: Timestamp,
    by: Option<String>,
    /// Not closed yet: the agent may not understand the answer, and then it waits for a better one.
    asked: Option<PendingRequest>,
}

const MAX_ANSWERED: usize = 256;

/// A request of the agent that waits for an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingRequest {
    Permission(Box<PermissionRequested>),
    Question(Box<QuestionAsked>),
    Plan(Box<PlanProposed>),
}

impl PendingRequests {
    pub fn observe_record(&mut self, record: &Record) {
        match &record.event {
            RunEvent::Agent(event) => self.observe(&event.body),
            // With the process goes what it waited for.
            RunEvent::Run(RunBody::AttemptStarted(_) | RunBody::AttemptEnded(_) | RunBody::RunEnded(_)) => {
                self.requests.clear();
            }
            RunEvent::Run(_) | RunEvent::Unknown(_) => {}
        }
    }

    /// Whether [`Self::observe_record`] may learn something from this event.
    pub(crate) fn is_concerned(event: &RunEvent) -> bool {
        match event {
            RunEvent::Agent(event) => matches!(
                event.body,
                Body::PermissionRequested(_)
                    | Body::QuestionAsked(_)
                    | Body::PlanProposed(_)
                    | Body::RequestClosed(_)
                    | Body::CommandAnswered(_)
                    | Body::Finished(_)
            ),
            RunEvent::Run(body) => matches!(
                body,
                RunBody::AttemptStarted(_) | RunBody::AttemptEnded(_) | RunBody::RunEnded(_)
            ),
            RunEvent::Unknown(_) => false,
        }
    }

    pub fn observe(&mut self, body: &Body) {
        let request = match body {
            Body::PermissionRequested(asked) => PendingRequest::Permission(asked.clone()),
            Body::QuestionAsked(asked) => PendingRequest::Question(asked.clone()),
            Body::PlanProposed(asked) => PendingRequest::Plan(asked.clone()),
            Body::RequestClosed(closed) => {
                self.settle(&closed.request);
                return self.remove(&closed.request);
            }
            // The agent refuses an answer under the id of the request.
            Body::CommandAnswered(answered) if answered.error.is_some() => {
                return self.reopen(&answered.command_id);
            }
            Body::Finished(_) => return self.requests.clear(),
            _ => return,
        };
        // Asked again under the same id: the newest words count.
        self.remove(request.id());
        self.answered.retain(|one| one.request != *request.id());
        self.requests.push(request);
    }

    /// The process that asked is gone.
    pub fn clear(&mut self) {
        self.requests.clear();
    }

    pub fn remove(&mut self, id: &RequestId) {
        self.requests.retain(|request| request.id() != id);
    }

    /// Remembers who answered, for the refusal of later answers.
    pub fn note_answer(&mut self, id: &RequestId, by: Option<&str>, at: Timestamp) {
        let asked = self.get(id).cloned();
        self.remove(id);
        while self.answered.len() >= MAX_ANSWERED {
            self.answered.pop_front();
        }
        self.answered.push_back(Answered {
            request: id.clone(),
            at,
            by: by.map(str::to_owned),
            asked,
        });
    }

    fn settle(&mut self, id: &RequestId) {
        let answered = self.answered.iter_mut().rev().find(|one| one.request == *id);
        if let Some(answered) = answered {
            answered.asked = None;
        }
    }

    fn reopen(&mut self, id: &str) {
        let place = self
            .answered
            .iter()
            .rposition(|one| one.request.as_str() == id && one.asked.is_some());
        if let Some(asked) = place.and_then(|place| self.answered.remove(place)?.asked) {
            self.requests.push(asked);
        }
    }

    pub fn get(&self, id: &RequestId) -> Option<&PendingRequest> {
        self.requests.iter().find(|request| request.id() == id)
    }

    /// All, the oldest first.
    pub fn iter(&self) -> std::slice::Iter<'_, PendingRequest> {
        self.requests.iter()
    }

    pub fn len(&self) -> usize {
        self.requests.len()
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// What the agent is to be told, in its own terms.
    pub fn resolve(&self, id: &RequestId, choice: AnswerChoice) -> Result<Answer, Refusal> {
        match self.get(id) {
            Some(request) => request.resolve(choice),
            None => match self.answered.iter().rev().find(|one| one.request == *id) {
                Some(Answered { at, by, .. }) => {
                    let by = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
                    let at = at.strftime("%H:%M:%S UTC");
                    Err(Refusal::new(
                        RefusalCode::AlreadyAnswered,
                        format!("request `{id}` was answered at {at}{by}: the first answer counts"),
                    ))
                }
                None => Err(Refusal::new(
                    RefusalCode::NoSuchRequest,
                    format!("no open request `{id}`: it was answered, withdrawn, or never there"),
                )),
            },
        }
    }
}

impl PendingRequest {
    pub fn id(&self) -> &RequestId {
        match self {
            Self::Permission(asked) => &asked.request,
            Self::Question(asked) => &asked.request,
            Self::Plan(asked) => &asked.request,
        }
    }

    /// What the agent is to be told, in its own terms.
    pub fn resolve(&self, choice: AnswerChoice) -> Result<Answer, Refusal> {
        match (choice, self) {
            (AnswerChoice::Deny { reason }, _) => Ok(Answer::Deny { reason }),
            (AnswerChoice::DenyAndInterrupt { reason }, _) => Ok(Answer::DenyAndInterrupt { reason }),
            (AnswerChoice::Allow { grants }, Self::Permission(_) | Self::Plan(_)) if grants.is_empty() => {
                Ok(Answer::Allow)
            }
            (AnswerChoice::Allow { grants }, Self::Permission(asked)) => allow_with_grants(asked, grants),
            (AnswerChoice::AllowAlways, Self::Permission(asked)) => match asked.grants.as_slice() {
                [] => Err(unfitting(
                    "the request offers nothing to allow for good: allow it once",
                )),
                [only] if only.kind == GrantKind::Rule => allow_with_grants(asked, vec![only.id.clone()]),
                _ => Err(unfitting(
                    "`allow_always` does not say what to grant: send `allow` with the ids of the request's `grants`",
                )),
            },
            (AnswerChoice::AllowChanged { input }, Self::Permission(_)) => Ok(Answer::AllowChanged { input }),
            (AnswerChoice::Answers { answers }, Self::Question(asked)) => {
                if answers.len() != asked.questions.len() {
                    return Err(unfitting(format!(
                        "{} answers to {} questions: give one for each",
                        answers.len(),
                        asked.questions.len()
                    )));
                }
                let questions = asked.questions.iter().map(|question| question.text.clone());
                Ok(Answer::Answers(questions.zip(answers).collect()))
            }
            (
                AnswerChoice::Allow { .. } | AnswerChoice::AllowAlways | AnswerChoice::AllowChanged { .. },
                Self::Question(_),
            ) => Err(unfitting("this is a question: answer it with a text")),
            (
                AnswerChoice::Allow { .. } | AnswerChoice::AllowAlways | AnswerChoice::AllowChanged { .. },
                Self::Plan(_),
            ) => Err(unfitting("this is a plan: allow it or deny it")),
            (AnswerChoice::Answers { .. }, Self::Permission(_) | Self::Plan(_)) => {
                Err(unfitting("this is a permission request: allow it or deny it"))
            }
        }
    }
}

/// Every grant must be one that the request offers: what is sent to the agent is exactly what was chosen.
fn allow_with_grants(asked: &PermissionRequested, mut grants: Vec<GrantId>) -> Result<Answer, Refusal> {
    let mut seen = Vec::new();
    grants.retain(|id| {
        let is_new = !seen.contains(id);
        seen.push(id.clone());
        is_new
    });
    if asked.takes_one_grant && grants.len() > 1 {
        return Err(unfitting("this agent takes one grant with an answer: choose one"));
    }
    let is_offered = |id: &GrantId| asked.grants.iter().any(|grant| grant.id == *id);
    match grants.iter().find(|id| !is_offered(id)) {
        None => Ok(Answer::AllowWithGrants { grants }),
        Some(id) => Err(unfitting(format!(
            "the request does not offer the grant `{id}`; was it replaced by another one?"
        ))),
    }
}

fn unfitting(what: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::Unfitting, what)
}

#[cfg(test)]
mod tests {
    use super::{PendingRequest, PendingRequests};
    use crate::control::{AnswerChoice, RefusalCode};
    use agent_api::{Answer, Body, GrantId, RequestId};
    use serde_json::json;

    fn body(name: &str, data: &serde_json::Value) -> Body {
        let event = json!({"agent_kind": "claude_code", "type": name, "data": data});
        serde_json::from_str::<agent_api::Event>(&event.to_string())
            .unwrap()
            .body
    }

    /// Grants of these kinds, each with its kind as its id.
    fn grants(kinds: &[&str]) -> serde_json::Value {
        let grant =
            |kind: &&str| json!({"id": kind, "kind": kind, "destination": "session", "text": "Allow it"});
        kinds.iter().map(grant).collect()
    }

    fn permission(id: &str, kinds: &[&str]) -> Body {
        let data = json!({"request": id, "tool": "Bash", "kind": "execute", "grants": grants(kinds)});
        body("permission_requested", &data)
    }

    fn question(id: &str) -> Body {
        let questions = json!([{"text": "Colour?"}, {"text": "Size?"}]);
        body("question_asked", &json!({"request": id, "questions": questions}))
    }

    fn code(result: Result<Answer, crate::control::Refusal>) -> RefusalCode {
        result.unwrap_err().code
    }

    #[test]
    fn requests_wait_until_they_are_closed() {
        let mut pending = PendingRequests::default();
        pending.observe(&permission("a", &[]));
        pending.observe(&question("b"));
        pending.observe(&body("plan_proposed", &json!({"request": "c", "plan": "# Plan"})));
        pending.observe(&permission("a", &[]));
        let ids: Vec<&str> = pending.iter().map(|request| request.id().as_str()).collect();
        assert_eq!(ids, ["b", "c", "a"]);
        pending.observe(&body(
            "request_closed",
            &json!({"request": "b", "reason": "answered"}),
        ));
        assert_eq!(pending.len(), 2);
        assert_eq!(
            code(pending.resolve(&RequestId::new("b"), AnswerChoice::allow_once())),
            RefusalCode::NoSuchRequest
        );
        assert_eq!(
            pending.resolve(&RequestId::new("c"), AnswerChoice::allow_once()),
            Ok(Answer::Allow)
        );
    }

    #[test]
    fn the_first_answer_counts_and_the_second_is_told_whose_it_was() {
        let mut pending = PendingRequests::default();
        pending.observe(&permission("a", &[]));
        pending.observe(&permission("b", &[]));
        let id = RequestId::new("a");
        pending.note_answer(&id, Some("the browser"), jiff::Timestamp::UNIX_EPOCH);
        let refusal = pending.resolve(&id, AnswerChoice::allow_once()).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::AlreadyAnswered);
        let told = "answered at 00:00:00 UTC by the browser";
        assert!(refusal.message.contains(told), "{}", refusal.message);
        assert!(
            pending
                .resolve(&RequestId::new("b"), AnswerChoice::allow_once())
                .is_ok()
        );
        // The agent did not understand it, and waits for a better one.
        let answered = |id: &str| json!({"command_id": id, "error": "no"});
        pending.observe(&body("command_answered", &answered("a")));
        assert!(pending.resolve(&id, AnswerChoice::allow_once()).is_ok());
        pending.note_answer(&id, None, jiff::Timestamp::UNIX_EPOCH);
        let closed = json!({"request": "a", "reason": "answered"});
        pending.observe(&body("request_closed", &closed));
        pending.observe(&body("command_answered", &answered("a")));
        assert_eq!(
            code(pending.resolve(&id, AnswerChoice::allow_once())),
            RefusalCode::AlreadyAnswered
        );
    }

    fn allow(grants: &[&str]) -> AnswerChoice {
        AnswerChoice::Allow {
            grants: grants.iter().map(|id| GrantId::new(id)).collect(),
        }
    }

    fn granted(grants: &[&str]) -> Result<Answer, crate::control::Refusal> {
        let grants = grants.iter().map(|id| GrantId::new(id)).collect();
        Ok(Answer::AllowWithGrants { grants })
    }

    #[test]
    fn exactly_the_grants_that_an_answer_names_are_given() {
        let mut pending = PendingRequests::default();
        pending.observe(&permission("a", &["rule", "directory", "mode"]));
        let resolve = |choice| pending.resolve(&RequestId::new("a"), choice);
        assert_eq!(resolve(AnswerChoice::allow_once()), Ok(Answer::Allow));
        assert_eq!(resolve(allow(&["rule"])), granted(&["rule"]));
        assert_eq!(resolve(allow(&["rule", "mode"])), granted(&["rule", "mode"]));
        assert_eq!(code(resolve(allow(&["rule", "other"]))), RefusalCode::Unfitting);
        // The same request with other grants is another request.
        pending.observe(&permission("a", &["mode"]));
        let replaced = pending.resolve(&RequestId::new("a"), allow(&["rule"]));
        assert_eq!(code(replaced), RefusalCode::Unfitting);
    }

    #[test]
    fn an_agent_that_takes_one_grant_is_not_sent_two() {
        let mut pending = PendingRequests::default();
        let grants = grants(&["rule", "option"]);
        let data = json!({"request": "a", "tool": "Bash", "kind": "execute", "grants": grants,
            "takes_one_grant": true});
        pending.observe(&body("permission_requested", &data));
        let resolve = |choice| pending.resolve(&RequestId::new("a"), choice);
        assert_eq!(resolve(allow(&["option"])), granted(&["option"]));
        assert_eq!(code(resolve(allow(&["rule", "option"]))), RefusalCode::Unfitting);
    }

    #[test]
    fn always_of_an_older_client_is_taken_only_where_it_means_one_rule() {
        let resolve = |grants: &[&str]| {
            let mut pending = PendingRequests::default();
            pending.observe(&permission("a", grants));
            pending.resolve(&RequestId::new("a"), AnswerChoice::AllowAlways)
        };
        assert_eq!(resolve(&["rule"]), granted(&["rule"]));
        for grants in [&[][..], &["mode"], &["directory"], &["option"], &["rule", "mode"]] {
            assert_eq!(code(resolve(grants)), RefusalCode::Unfitting, "{grants:?}");
        }
    }

    #[test]
    fn each_question_gets_its_answer() {
        let mut pending = PendingRequests::default();
        pending.observe(&question("q"));
        let request: &PendingRequest = pending.iter().next().unwrap();
        let answers = |texts: &[&str]| AnswerChoice::Answers {
            answers: texts.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(
            request.resolve(answers(&["red", "XL"])),
            Ok(Answer::Answers(vec![
                ("Colour?".into(), "red".into()),
                ("Size?".into(), "XL".into())
            ]))
        );
        assert_eq!(code(request.resolve(answers(&["red"]))), RefusalCode::Unfitting);
        assert_eq!(
            code(request.resolve(AnswerChoice::allow_once())),
            RefusalCode::Unfitting
        );
        let reason = "no".to_owned();
        assert_eq!(
            request.resolve(AnswerChoice::Deny {
                reason: reason.clone()
            }),
            Ok(Answer::Deny { reason })
        );
    }
}
