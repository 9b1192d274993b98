//! `OpenRequests`: what the agent has asked and whether it was answered, so that the answer can be shown with its question.

use agent_api::{RequestClosed, RequestId};
use ralph_run::CommandReceived;
use run_view::{Answer, RequestKind, describe_answer};

/// Requests without an answer, in the order they were made.
#[derive(Debug, Default)]
pub(super) struct OpenRequests(Vec<OpenRequest>);

#[derive(Debug)]
struct OpenRequest {
    id: RequestId,
    kind: RequestKind,
    /// What it asks for, in a few words; empty where the kind says enough.
    subject: String,
    answer: Answer,
}

impl OpenRequests {
    pub(super) fn open(&mut self, id: &RequestId, kind: RequestKind, subject: String) {
        self.0.retain(|request| request.id != *id);
        self.0.push(OpenRequest {
            id: id.clone(),
            kind,
            subject,
            answer: Answer::default(),
        });
    }

    pub(super) fn answer(&mut self, id: &RequestId, command: &CommandReceived) {
        if let Some(request) = self.0.iter_mut().find(|request| request.id == *id) {
            request.answer = command.into();
        }
    }

    /// The label and text of the answer. None for a request that ended with its process.
    pub(super) fn close(&mut self, closed: &RequestClosed) -> Option<(&'static str, String)> {
        let place = self.0.iter().position(|request| request.id == closed.request)?;
        let request = self.0.remove(place);
        let mut text = describe_answer(request.kind, closed.reason, &request.answer)?;
        if !request.subject.is_empty() {
            text = match request.answer.changed_input {
                Some(_) => format!("{text} (asked for: {})", request.subject),
                None => format!("{text}: {}", request.subject),
            };
        }
        Some((request.kind.label(), text))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
