//! Messages on their way to the agent.

use std::collections::{HashSet, VecDeque};

use super::input::SendMode;

/// More than anybody says; a run must not be filled up.
const MOST_WAITING: usize = 1_000;

/// A message that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedMessage {
    /// Names it.
    pub id: String,
    /// The message.
    pub text: String,
    /// When it is delivered.
    pub mode: SendMode,
}

/// Where a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessagePlace {
    /// It waits, and can be changed.
    Waiting,
    /// The agent was given it.
    Sent,
    /// There is none of this name.
    Unknown,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<QueuedMessage>,
    sent: HashSet<String>,
}

impl Queue {
    pub(super) fn push(&mut self, message: QueuedMessage) {
        self.waiting.push_back(message);
    }

    /// The next one, which counts as sent from now on.
    pub(super) fn pop(&mut self) -> Option<QueuedMessage> {
        let message = self.waiting.pop_front()?;
        self.note_sent(&message.id);
        Some(message)
    }

    pub(super) fn note_sent(&mut self, id: &str) {
        self.sent.insert(id.to_owned());
    }

    pub(super) fn edit(&mut self, id: &str, text: String) {
        if let Some(message) = self.waiting.iter_mut().find(|message| message.id == id) {
            message.text = text;
        }
    }

    pub(super) fn withdraw(&mut self, id: &str) {
        self.waiting.retain(|message| message.id != id);
    }

    pub(super) fn place_of(&self, id: &str) -> MessagePlace {
        if self.waiting.iter().any(|message| message.id == id) {
            MessagePlace::Waiting
        } else if self.sent.contains(id) {
            MessagePlace::Sent
        } else {
            MessagePlace::Unknown
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.waiting.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= MOST_WAITING
    }
}
