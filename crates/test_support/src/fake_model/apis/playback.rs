use crate::fake_model::events::{Action, Identity, cut};
use crate::fake_model::message::{Incident, Message};

/// Tokens that each call of the model takes: whoever adds them up shows how. Cached ones are part of the input, reasoning
/// is part of the output.
pub(super) const INPUT: u64 = 1_200;
pub(super) const CACHED: u64 = 1_000;
pub(super) const OUTPUT: u64 = 34;
pub(super) const REASONING: u64 = 10;

/// A stream that is being written: it keeps the pace, and an incident ends it or holds it.
pub(super) struct Playback<'a> {
    message: &'a Message,
    directory: &'a str,
    actions: Vec<Action>,
    deltas: usize,
    is_cut: bool,
}

impl<'a> Playback<'a> {
    pub(super) fn new(message: &'a Message, identity: &Identity<'a>) -> Self {
        Self {
            message,
            directory: identity.directory,
            actions: Vec::new(),
            deltas: 0,
            is_cut: false,
        }
    }

    pub(super) fn send(&mut self, event: String) {
        if !self.is_cut {
            self.actions.push(Action::Send(event));
        }
    }

    /// A text in pieces, each a JSON string.
    pub(super) fn deltas(&mut self, text: &str, mut event: impl FnMut(&str) -> String) {
        for piece in cut(text, self.message.delta_chars, self.directory) {
            if self.is_cut {
                return;
            }
            if !self.message.pace.is_zero() {
                self.actions.push(Action::Pause(self.message.pace));
            }
            self.actions.push(Action::Send(event(&piece)));
            self.deltas += 1;
            if let Some((after, incident)) = &self.message.incident
                && *after == self.deltas
            {
                self.is_cut = !matches!(incident, Incident::Gate(_));
                if !matches!(incident, Incident::End) {
                    self.actions.push(Action::Incident(incident.clone()));
                }
            }
        }
    }

    pub(super) fn finish(self) -> Vec<Action> {
        self.actions
    }
}
