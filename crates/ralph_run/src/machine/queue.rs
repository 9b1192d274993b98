//! `MessageQueue`: messages to the agent, from being accepted to the first sign that the agent has them.

use std::collections::{HashSet, VecDeque};

use super::input::SendMode;

const MAX_WAITING: usize = 1_000;

/// A message that has not been sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedMessage {
    pub id: String,
    pub text: String,
    pub mode: SendMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessagePlace {
    /// Not sent yet: it can be edited and withdrawn.
    Waiting,
    Sent,
    Unknown,
}

#[derive(Debug, Default)]
pub(super) struct MessageQueue {
    waiting: VecDeque<QueuedMessage>,
    sent: HashSet<String>,
    /// Sent, and the agent has not reacted yet.
    in_flight: HashSet<String>,
}

impl MessageQueue {
    pub(super) fn push(&mut self, message: QueuedMessage) {
        self.waiting.push_back(message);
    }

    pub(super) fn pop(&mut self) -> Option<QueuedMessage> {
        self.waiting.pop_front()
    }

    /// A message that a new process gets as its prompt.
    pub(super) fn mark_sent(&mut self, id: &str) {
        self.sent.insert(id.to_owned());
    }

    /// A message that is given to the running process.
    pub(super) fn mark_in_flight(&mut self, id: &str) {
        self.mark_sent(id);
        self.in_flight.insert(id.to_owned());
    }

    pub(super) fn mark_received(&mut self, id: &str) {
        self.in_flight.remove(id);
    }

    pub(super) fn mark_all_received(&mut self) {
        self.in_flight.clear();
    }

    pub(super) fn has_in_flight(&self) -> bool {
        !self.in_flight.is_empty()
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
        self.waiting.len() >= MAX_WAITING
    }
}
