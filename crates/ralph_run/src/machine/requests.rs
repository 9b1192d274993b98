//! `OpenRequests`: what the agent has asked and who may still answer.

use std::collections::HashSet;

use agent_api::{Answer, Body, ItemId, RequestId};

use super::effect::{Effect, Timer};
use super::supervisor::Supervisor;
use crate::control::{AnswerChoice, PendingRequests};
use crate::record::WarningKind;

const NO_ANSWER_REASON: &str = "No one is available to answer. Decide for yourself, or do without.";

#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    pub(super) pending: PendingRequests,
    /// Every request that the agent has not closed yet, answered or not, with the tool call it is about.
    asked: Vec<(RequestId, Option<ItemId>)>,
    /// Tool calls that were denied by the user. The agent's own rules did not deny them.
    denied_items: HashSet<ItemId>,
}

impl OpenRequests {
    /// Forgets the requests of a process that has ended; returns their ids.
    fn close_all(&mut self) -> Vec<RequestId> {
        self.pending.clear();
        self.asked.drain(..).map(|(request, _)| request).collect()
    }

    fn note_denial(&mut self, request: &RequestId) {
        let asked = self.asked.iter().find(|(asked, _)| asked == request);
        if let Some((_, Some(item))) = asked {
            self.denied_items.insert(item.clone());
        }
    }

    pub(super) fn is_denied_by_user(&self, item: Option<&ItemId>) -> bool {
        item.is_some_and(|item| self.denied_items.contains(item))
    }
}

impl Supervisor {
    /// Follows requests as they are opened, closed, and reopened by a refused answer.
    pub(super) fn observe_request(&mut self, body: &Body) {
        self.requests.pending.observe(body);
        match body {
            Body::PermissionRequested(asked) => self.on_asked(&asked.request, asked.item.as_ref()),
            Body::QuestionAsked(asked) => self.on_asked(&asked.request, asked.item.as_ref()),
            Body::PlanProposed(asked) => self.on_asked(&asked.request, asked.item.as_ref()),
            Body::RequestClosed(closed) => {
                self.requests
                    .asked
                    .retain(|(request, _)| *request != closed.request);
                self.disarm(Timer::Ask(closed.request.clone()));
            }
            Body::CommandAnswered(answered) if answered.error.is_some() => {
                // An answer is refused under the id of its request.
                let request = RequestId::new(answered.command_id.as_str());
                if self.requests.pending.get(&request).is_some() {
                    self.arm_ask(request);
                }
            }
            _ => {}
        }
    }

    fn on_asked(&mut self, request: &RequestId, item: Option<&ItemId>) {
        self.requests.asked.retain(|(asked, _)| asked != request);
        self.requests.asked.push((request.clone(), item.cloned()));
        self.arm_ask(request.clone());
    }

    fn arm_ask(&mut self, request: RequestId) {
        if let Some(timeout) = self.plan.ask_timeout {
            self.arm(Timer::Ask(request), timeout);
        }
    }

    pub(super) fn answer(&mut self, request: RequestId, choice: AnswerChoice, by: Option<&str>) {
        // What does not fit was refused before.
        let Ok(answer) = self.requests.pending.resolve(&request, choice) else {
            return;
        };
        if matches!(answer, Answer::Deny { .. } | Answer::DenyAndInterrupt { .. }) {
            self.requests.note_denial(&request);
        }
        // A second answer is refused from now on, not only once the agent has taken the first.
        self.requests.pending.note_answer(&request, by, self.now.at);
        self.push(Effect::Answer { request, answer });
    }

    pub(super) fn on_unanswered(&mut self, request: RequestId) {
        if self.requests.pending.get(&request).is_none() {
            return;
        }
        self.requests.note_denial(&request);
        self.requests.pending.remove(&request);
        self.warn(
            WarningKind::Unanswered,
            "no answer in time; the request was denied and the agent told to decide for itself",
        );
        let reason = NO_ANSWER_REASON.to_owned();
        self.push(Effect::Answer {
            request,
            answer: Answer::Deny { reason },
        });
    }

    pub(super) fn close_requests(&mut self) {
        for request in self.requests.close_all() {
            self.disarm(Timer::Ask(request));
        }
    }
}
