//! `OpenRequests`: what the agent has asked and whether it was answered, so that the answer can be shown with its question.

use agent_api::{CloseReason, RequestClosed, RequestId};

use crate::keyboard::ACTOR;

/// Requests without an answer, in the order they were made.
#[derive(Debug, Default)]
pub(super) struct OpenRequests(Vec<OpenRequest>);

#[derive(Debug)]
struct OpenRequest {
    id: RequestId,
    label: &'static str,
    /// What it asks for, in a few words; empty where the label says enough.
    subject: String,
    is_answered: bool,
    answered_by: Option<String>,
}

impl OpenRequests {
    pub(super) fn open(&mut self, id: &RequestId, label: &'static str, subject: String) {
        self.0.retain(|request| request.id != *id);
        self.0.push(OpenRequest {
            id: id.clone(),
            label,
            subject,
            is_answered: false,
            answered_by: None,
        });
    }

    pub(super) fn answer(&mut self, id: &RequestId, by: Option<&str>) {
        if let Some(request) = self.0.iter_mut().find(|request| request.id == *id) {
            request.is_answered = true;
            request.answered_by = by.map(str::to_owned);
        }
    }

    /// The label and text of the answer. None for a request that ended with its process.
    pub(super) fn close(&mut self, closed: &RequestClosed) -> Option<(&'static str, String)> {
        let place = self.0.iter().position(|request| request.id == closed.request)?;
        let request = self.0.remove(place);
        let mut text = match (closed.reason, request.label) {
            (CloseReason::Answered, "Question") => "answered",
            (CloseReason::Answered, "Plan") => "approved",
            (CloseReason::Answered, _) => "allowed",
            (CloseReason::Denied, "Plan") => "rejected",
            (CloseReason::Denied, _) => "denied",
            (CloseReason::Withdrawn, _) => "withdrawn by the agent",
            // Also reasons of newer versions.
            _ => return None,
        }
        .to_owned();
        if let Some(by) = &request.answered_by {
            text.push_str(&match by == ACTOR {
                true => " in the terminal".to_owned(),
                false => format!(" by {by}"),
            });
        } else if !request.is_answered && closed.reason == CloseReason::Denied {
            text.push_str(" (no answer)");
        }
        if !request.subject.is_empty() {
            text.push_str(&format!(": {}", request.subject));
        }
        Some((request.label, text))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
