//! Messages to the agent, and what becomes of them.

use jiff::Timestamp;

use super::data::{Command, MessageNews};
use crate::rows::{MessageRow, MessageState};

/// The messages of a run.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Those that are on their way, and whether an index has not seen them as they are.
    open: Vec<(MessageRow, bool)>,
    closed: Vec<MessageRow>,
}

impl Messages {
    pub(super) fn resume(rows: Vec<MessageRow>) -> Self {
        Self {
            open: rows.into_iter().map(|row| (row, false)).collect(),
            closed: Vec::new(),
        }
    }

    /// Somebody told the run something, and it was not refused.
    pub(super) fn on_command(&mut self, run: &str, command: Command<'_>, seq: u64, at: Timestamp) {
        match (&*command.command, command.text) {
            ("send", Some(text)) => {
                let mode = command.mode.as_deref().unwrap_or("steer");
                // Without a name of its own nothing more is ever heard of it: an older runner gave it away at once.
                let waits = command.message_id.is_some() || mode == "queue";
                let id = command.message_id.as_ref().unwrap_or(&command.command_id);
                let row = MessageRow {
                    run: run.to_owned(),
                    id: id.to_string(),
                    command_id: command.command_id.to_string(),
                    seq,
                    at,
                    state: if waits {
                        MessageState::Queued
                    } else {
                        MessageState::Sent
                    },
                    mode: mode.to_owned(),
                    text,
                };
                self.open.push((row, true));
            }
            ("edit_message", Some(text)) => {
                if let Some((row, is_changed)) = command.message_id.and_then(|id| self.find(&id)) {
                    row.text = text;
                    *is_changed = true;
                }
            }
            ("withdraw_message", _) => {
                if let Some(id) = command.message_id {
                    self.set(&id, MessageState::Withdrawn);
                }
            }
            _ => {}
        }
    }

    /// It was given to the agent.
    pub(super) fn on_sent(&mut self, news: &MessageNews<'_>) {
        self.set(&news.message_id, MessageState::Sent);
    }

    /// The agent tells how far it is.
    pub(super) fn on_news(&mut self, news: &MessageNews<'_>) {
        let state = match &*news.state {
            // The agent's own queue: it has it.
            "queued" => MessageState::Sent,
            "started" | "completed" => MessageState::Delivered,
            "cancelled" => MessageState::Withdrawn,
            _ => return,
        };
        self.set(&news.message_id, state);
    }

    /// The process is gone: what it was given and never took is lost. Of an agent that tells nothing about its
    /// messages nobody knows.
    pub(super) fn end_attempt(&mut self) {
        self.lose(|row| row.state == MessageState::Sent && row.id != row.command_id);
    }

    /// The run is over: what still waits was never given to the agent.
    pub(super) fn end(&mut self) {
        self.end_attempt();
        self.lose(|row| row.state == MessageState::Queued);
        let rest = self.open.drain(..).filter(|(_, is_changed)| *is_changed);
        self.closed.extend(rest.map(|(row, _)| row));
    }

    fn lose(&mut self, is_lost: impl Fn(&MessageRow) -> bool) {
        for (mut row, _) in self.open.extract_if(.., |(row, _)| is_lost(row)) {
            row.state = MessageState::Lost;
            self.closed.push(row);
        }
    }

    fn find(&mut self, id: &str) -> Option<&mut (MessageRow, bool)> {
        self.open.iter_mut().find(|(row, _)| row.id == id)
    }

    fn set(&mut self, id: &str, state: MessageState) {
        let Some((row, is_changed)) = self.find(id) else {
            return;
        };
        if row.state == state {
            return;
        }
        row.state = state;
        *is_changed = true;
        if !matches!(state, MessageState::Queued | MessageState::Sent) {
            let index = self.open.iter().position(|(row, _)| row.id == id);
            if let Some(index) = index {
                let (row, _) = self.open.remove(index);
                self.closed.push(row);
            }
        }
    }

    /// Rows that an index has not seen as they are.
    pub(super) fn take(&mut self) -> Vec<MessageRow> {
        let mut rows = std::mem::take(&mut self.closed);
        for (row, is_changed) in &mut self.open {
            if std::mem::take(is_changed) {
                rows.push(row.clone());
            }
        }
        rows
    }
}
