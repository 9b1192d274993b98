//! `MessageLog`: messages that people sent to the agent, and what became of them. A part of `RunModel`.

use std::collections::VecDeque;

use agent_api::{Body, MessageState as AgentState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::text_tail::head_chars;
use crate::machine::SendMode;
use crate::record::{CommandReceived, Record, RunBody, RunEvent};

/// How many settled messages are kept, and how much of each.
const MAX_SETTLED: usize = 50;
const SETTLED_CHARS: usize = 200;

/// The messages to the agent of a run: all that are on their way, and the last 50 others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageLog {
    open: Vec<Message>,
    settled: VecDeque<Message>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: String,
    pub command_id: String,
    pub seq: u64,
    pub at: Timestamp,
    pub mode: SendMode,
    /// Redacted. Of a settled message at most 200 characters.
    pub text: String,
    pub state: MessageState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// It has not been sent to the agent yet.
    Queued,
    /// It was sent to the agent.
    Sent,
    Delivered,
    /// It was withdrawn before it was sent.
    Withdrawn,
    /// The run or the process ended first.
    Lost,
}

impl MessageState {
    fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Sent)
    }
}

impl MessageLog {
    /// Applies a record; what changed is added to `changed`.
    pub fn apply(&mut self, record: &Record, changed: &mut Vec<Message>) {
        match &record.event {
            RunEvent::Agent(event) => {
                if let Body::MessageUpdated(update) = &event.body {
                    let state = match update.state {
                        // In the agent's own queue.
                        AgentState::Queued => MessageState::Sent,
                        AgentState::Started | AgentState::Completed => MessageState::Delivered,
                        AgentState::Cancelled => MessageState::Withdrawn,
                    };
                    self.set(&update.message_id, state, changed);
                }
            }
            RunEvent::Run(RunBody::CommandReceived(command)) if command.refused.is_none() => {
                self.on_command(record, command, changed);
            }
            RunEvent::Run(RunBody::MessageSent(sent)) => {
                self.set(&sent.message_id, MessageState::Sent, changed);
            }
            RunEvent::Run(RunBody::AttemptEnded(_)) => self.end_attempt(changed),
            RunEvent::Run(RunBody::RunEnded(_)) => {
                self.end_attempt(changed);
                self.lose(|message| message.state == MessageState::Queued, changed);
                for message in std::mem::take(&mut self.open) {
                    self.settle(message);
                }
            }
            RunEvent::Run(_) | RunEvent::Unknown(_) => {}
        }
    }

    fn on_command(&mut self, record: &Record, command: &CommandReceived, changed: &mut Vec<Message>) {
        match (command.command.as_str(), &command.text, &command.message_id) {
            ("send", Some(text), id) => {
                let mode = command.mode.unwrap_or_default();
                // An older runner gives a message no id of its own and sends it at once unless it is to wait.
                let waits = id.is_some() || mode == SendMode::Queue;
                let message = Message {
                    id: id.as_ref().unwrap_or(&command.command_id).clone(),
                    command_id: command.command_id.clone(),
                    seq: record.seq,
                    at: record.at,
                    mode,
                    text: text.clone(),
                    state: if waits {
                        MessageState::Queued
                    } else {
                        MessageState::Sent
                    },
                };
                changed.push(message.clone());
                self.open.push(message);
            }
            ("edit_message", Some(text), Some(id)) => {
                if let Some(message) = self.open.iter_mut().find(|message| message.id == *id) {
                    message.text.clone_from(text);
                    changed.push(message.clone());
                }
            }
            ("withdraw_message", _, Some(id)) => self.set(id, MessageState::Withdrawn, changed),
            _ => {}
        }
    }

    fn set(&mut self, id: &str, state: MessageState, changed: &mut Vec<Message>) {
        let Some(index) = self.open.iter().position(|message| message.id == id) else {
            return;
        };
        let Some(message) = self.open.get_mut(index).filter(|message| message.state != state) else {
            return;
        };
        message.state = state;
        changed.push(message.clone());
        if !state.is_open() {
            let message = self.open.remove(index);
            self.settle(message);
        }
    }

    /// What was sent to a process and not confirmed ends with it. An older runner's messages are never confirmed, so
    /// nothing is known about them.
    fn end_attempt(&mut self, changed: &mut Vec<Message>) {
        self.lose(
            |message| message.state == MessageState::Sent && message.id != message.command_id,
            changed,
        );
    }

    fn lose(&mut self, is_lost: impl Fn(&Message) -> bool, changed: &mut Vec<Message>) {
        let lost: Vec<Message> = self.open.extract_if(.., |message| is_lost(message)).collect();
        for mut message in lost {
            message.state = MessageState::Lost;
            changed.push(message.clone());
            self.settle(message);
        }
    }

    fn settle(&mut self, mut message: Message) {
        message
            .text
            .truncate(head_chars(&message.text, SETTLED_CHARS).len());
        if self.settled.len() == MAX_SETTLED {
            self.settled.pop_front();
        }
        self.settled.push_back(message);
    }

    pub(super) fn forget_settled(&mut self) {
        self.settled.clear();
    }

    /// Messages that are queued, or sent and not confirmed yet; oldest first.
    pub fn open(&self) -> std::slice::Iter<'_, Message> {
        self.open.iter()
    }

    /// Messages that will not change any more; the last 50, in the order in which they were settled.
    pub fn settled(&self) -> std::collections::vec_deque::Iter<'_, Message> {
        self.settled.iter()
    }
}
