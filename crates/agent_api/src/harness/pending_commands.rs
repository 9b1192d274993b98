//! `PendingCommands`: commands that were accepted and have no event yet. None of them stays without one.

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::backend::Command;
use crate::event::{Body, CommandAnswered, MessageState, MessageUpdated};

#[derive(Debug, Default)]
pub(super) struct PendingCommands {
    pending: Vec<Pending>,
}

#[derive(Debug)]
struct Pending {
    id: String,
    kind: Kind,
    /// Resolved once the agent could read the command.
    receipt: oneshot::Receiver<()>,
    is_written: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The agent sends receipts, if it has any.
    Message,
    /// Its request was closed when it was sent.
    Answer,
    /// The agent answers it.
    Setting,
}

impl Pending {
    fn is_written(&mut self) -> bool {
        self.is_written |= !matches!(
            self.receipt.try_recv(),
            Err(TryRecvError::Empty | TryRecvError::Closed)
        );
        self.is_written
    }
}

impl PendingCommands {
    /// Notes a command that was queued for the agent's input.
    pub(super) fn note(&mut self, command: &Command, receipt: oneshot::Receiver<()>) {
        // What the agent has read is its own to report, settings excepted.
        self.pending
            .retain_mut(|pending| !pending.is_written() || pending.kind == Kind::Setting);
        let kind = match command {
            Command::Send { .. } => Kind::Message,
            Command::Answer { .. } => Kind::Answer,
            Command::Interrupt { .. }
            | Command::SetModel { .. }
            | Command::SetPermissionMode { .. }
            | Command::Other { .. } => Kind::Setting,
        };
        self.pending.push(Pending {
            id: command.id().to_owned(),
            kind,
            receipt,
            is_written: false,
        });
    }

    /// Removes the setting that an event answers. An answer stays: its id is the request's, and the event may refuse
    /// another answer to the same request, while dropping a receipt takes back a line that is not written yet.
    pub(super) fn observe(&mut self, body: &Body) {
        if let Body::CommandAnswered(answered) = body {
            self.pending
                .retain(|pending| pending.kind != Kind::Setting || pending.id != answered.command_id);
        }
    }

    /// The events for all commands that never got one.
    pub(super) fn drain_unanswered(&mut self) -> impl Iterator<Item = Body> {
        let pending = std::mem::take(&mut self.pending).into_iter();
        pending.filter_map(|mut pending| {
            let is_written = pending.is_written();
            let command_id = pending.id;
            let unanswered = |error: &str| {
                Some(Body::CommandAnswered(CommandAnswered {
                    command_id: command_id.clone(),
                    error: Some(error.to_owned()),
                }))
            };
            match pending.kind {
                Kind::Message | Kind::Answer if is_written => None,
                Kind::Message => Some(Body::MessageUpdated(MessageUpdated {
                    message_id: command_id,
                    state: MessageState::Cancelled,
                })),
                Kind::Answer => unanswered("the run ended before the agent could read it"),
                Kind::Setting => unanswered("the run ended before the agent answered"),
            }
        })
    }
}

impl Command {
    /// The id that events about the command carry.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Send { message_id, .. } => message_id,
            Self::Interrupt { command_id }
            | Self::SetModel { command_id, .. }
            | Self::SetPermissionMode { command_id, .. }
            | Self::Other { command_id, .. } => command_id,
            Self::Answer { request, .. } => request.as_str(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::PendingCommands;
    use crate::backend::{Answer, Command};
    use crate::event::{Body, CommandAnswered, MessageState, RequestId};

    fn message(id: &str) -> Command {
        Command::Send {
            message_id: id.to_owned(),
            text: "hello".to_owned(),
            attachments: Vec::new(),
        }
    }

    fn interrupt(id: &str) -> Command {
        Command::Interrupt {
            command_id: id.to_owned(),
        }
    }

    #[test]
    fn commands_that_were_not_written_are_reported_and_written_ones_are_the_agents_to_report() {
        let mut commands = PendingCommands::default();
        let answer = |id: &str| Command::Answer {
            request: RequestId::new(id),
            answer: Answer::Allow,
        };
        for (number, command) in [message("a"), answer("b"), message("c"), answer("d")]
            .iter()
            .enumerate()
        {
            let (written, receipt) = oneshot::channel();
            if number < 2 {
                written.send(()).unwrap();
            }
            commands.note(command, receipt);
        }
        let reported: Vec<Body> = commands.drain_unanswered().collect();
        assert!(
            matches!(&reported[..], [Body::MessageUpdated(message), Body::CommandAnswered(answer)]
                if message.message_id == "c" && message.state == MessageState::Cancelled
                    && answer.command_id == "d" && answer.error.is_some()),
            "{reported:?}"
        );
    }

    #[test]
    fn a_setting_is_pending_until_it_is_answered() {
        let mut commands = PendingCommands::default();
        for id in ["a", "b"] {
            let (written, receipt) = oneshot::channel();
            written.send(()).unwrap();
            commands.note(&interrupt(id), receipt);
        }
        commands.observe(&Body::CommandAnswered(CommandAnswered {
            command_id: "a".to_owned(),
            error: None,
        }));
        let reported: Vec<Body> = commands.drain_unanswered().collect();
        assert!(
            matches!(&reported[..], [Body::CommandAnswered(answered)] if answered.command_id == "b"),
            "{reported:?}"
        );
    }
}
