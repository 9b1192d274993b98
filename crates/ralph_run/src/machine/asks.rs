//! What the agent asks, and who answers.

use agent_api::{Answer, ItemId, RequestId};

use super::effect::{Effect, Timer};
use super::state::Machine;
use crate::record::{RunBody, Warned, WarningKind};

const NOBODY: &str = "Nobody is available to answer: decide yourself, or do without.";

impl Machine {
    pub(super) fn on_asked(&mut self, request: &RequestId, item: Option<&ItemId>, effects: &mut Vec<Effect>) {
        self.asks.insert(request.clone());
        if let Some(item) = item {
            self.asked_items.push((request.clone(), item.clone()));
        }
        effects.push(Effect::Arm(Timer::Ask(request.clone()), self.plan.ask_timeout));
    }

    pub(super) fn on_closed(&mut self, request: &RequestId, effects: &mut Vec<Effect>) {
        if self.asks.remove(request) {
            effects.push(Effect::Disarm(Timer::Ask(request.clone())));
        }
    }

    pub(super) fn on_answer(&mut self, request: RequestId, answer: Answer, effects: &mut Vec<Effect>) {
        if matches!(answer, Answer::Deny { .. } | Answer::DenyAndInterrupt { .. }) {
            self.note_denial(&request);
        }
        effects.push(Effect::Answer { request, answer });
    }

    pub(super) fn on_unanswered(&mut self, request: RequestId, effects: &mut Vec<Effect>) {
        if !self.asks.contains(&request) {
            return;
        }
        self.note_denial(&request);
        effects.push(Effect::Record(Box::new(RunBody::Warned(Warned {
            kind: WarningKind::Unanswered,
            message: "nobody answered the agent in time; it was told to decide by itself".to_owned(),
        }))));
        effects.push(Effect::Answer {
            request,
            answer: Answer::Deny {
                reason: NOBODY.to_owned(),
            },
        });
    }

    /// What a person did not allow is no denial of the agent's own rules.
    fn note_denial(&mut self, request: &RequestId) {
        let item = self.asked_items.iter().find(|(asked, _)| asked == request);
        if let Some((_, item)) = item {
            self.denied_by_person.insert(item.clone());
        }
    }

    pub(super) fn is_persons(&self, item: Option<&ItemId>) -> bool {
        item.is_some_and(|item| self.denied_by_person.contains(item))
    }
}
