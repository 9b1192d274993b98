//! What was said to the agent and is not settled yet.

use crate::backend::Command;
use crate::event::{Body, CommandAnswered, MessageState, MessageUpdated};

/// Commands that were accepted. None of them stays without an event.
#[derive(Debug, Default)]
pub(super) struct Said {
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    /// Which line of the input it is.
    line: u64,
    id: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The agent gives its receipts, if it has any.
    Message,
    /// It was told as closed when it was given.
    Answer,
    /// The agent answers it.
    Setting,
}

impl Said {
    /// A command became a line of the input, of which so many are written.
    pub(super) fn note(&mut self, command: &Command, line: u64, written: u64) {
        self.open
            .retain(|open| open.kind == Kind::Setting || open.line >= written);
        let kind = match command {
            Command::Send { .. } => Kind::Message,
            Command::Answer { .. } => Kind::Answer,
            Command::Interrupt { .. } | Command::SetModel { .. } | Command::SetPermissionMode { .. } => {
                Kind::Setting
            }
        };
        self.open.push(Open {
            line,
            id: command.id().to_owned(),
            kind,
        });
    }

    /// Something was handed over that may settle one.
    pub(super) fn see(&mut self, body: &Body) {
        if let Body::CommandAnswered(answered) = body {
            self.open.retain(|open| open.id != answered.command_id);
        }
    }

    /// What has to be told at the end, when so many lines are written.
    pub(super) fn settle(&mut self, written: u64) -> impl Iterator<Item = Body> {
        let open = std::mem::take(&mut self.open).into_iter();
        open.filter_map(move |Open { line, id, kind }| {
            let is_written = line < written;
            let unanswered = |error: &str| {
                Some(Body::CommandAnswered(CommandAnswered {
                    command_id: id.clone(),
                    error: Some(error.to_owned()),
                }))
            };
            match kind {
                Kind::Message | Kind::Answer if is_written => None,
                Kind::Message => Some(Body::MessageUpdated(MessageUpdated {
                    message_id: id,
                    state: MessageState::Cancelled,
                })),
                Kind::Answer => unanswered("the run ended before the agent could read it"),
                Kind::Setting => unanswered("the run ended before the agent answered"),
            }
        })
    }
}

impl Command {
    /// What its receipts are told under.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Send { message_id, .. } => message_id,
            Self::Interrupt { command_id }
            | Self::SetModel { command_id, .. }
            | Self::SetPermissionMode { command_id, .. } => command_id,
            Self::Answer { request, .. } => request.as_str(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Said;
    use crate::backend::{Answer, Command};
    use crate::event::{Body, CommandAnswered, MessageState, RequestId};

    fn message(id: &str) -> Command {
        Command::Send {
            message_id: id.to_owned(),
            text: "hello".to_owned(),
        }
    }

    fn interrupt(id: &str) -> Command {
        Command::Interrupt {
            command_id: id.to_owned(),
        }
    }

    #[test]
    fn what_was_not_written_is_told_and_what_was_written_is_the_agents_to_tell() {
        let mut said = Said::default();
        let answer = |id: &str| Command::Answer {
            request: RequestId::new(id),
            answer: Answer::Allow,
        };
        for (line, command) in [message("a"), answer("b"), message("c"), answer("d")]
            .iter()
            .enumerate()
        {
            said.note(command, line as u64, 0);
        }
        let told: Vec<Body> = said.settle(2).collect();
        assert!(
            matches!(&told[..], [Body::MessageUpdated(message), Body::CommandAnswered(answer)]
                if message.message_id == "c" && message.state == MessageState::Cancelled
                    && answer.command_id == "d" && answer.error.is_some()),
            "{told:?}"
        );
    }

    #[test]
    fn a_setting_is_open_until_it_is_answered() {
        let mut said = Said::default();
        said.note(&interrupt("a"), 0, 0);
        said.note(&interrupt("b"), 1, 1);
        said.see(&Body::CommandAnswered(CommandAnswered {
            command_id: "a".to_owned(),
            error: None,
        }));
        let told: Vec<Body> = said.settle(2).collect();
        assert!(
            matches!(&told[..], [Body::CommandAnswered(answered)] if answered.command_id == "b"),
            "{told:?}"
        );
    }
}
