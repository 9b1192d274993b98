//! Commands from the control socket: the machine accepts or refuses them, the journal keeps both, and the sender gets a
//! receipt once the command is on disk.

use super::record_keeper::SyncWait;
use super::run::Driver;
use crate::control::{AnswerChoice, ControlCommand, Incoming, Receipt, Refusal, RefusalCode};
use crate::machine::{CommandInput, Input};
use crate::record::{CommandReceived, RunBody};

impl Driver {
    pub(super) async fn on_command(&mut self, incoming: Incoming) {
        let Incoming {
            command_id,
            by,
            command,
            reply,
        } = incoming;
        if command.is_query() {
            reply.send(Ok(Receipt {
                status: Some(self.status()),
                ..Receipt::default()
            }));
            return;
        }
        let accepted = self.machine.accept(&command);
        let message_id = agent_api::new_message_id();
        let mut received = received(&command);
        if accepted.is_ok() && matches!(command, ControlCommand::Send { .. }) {
            received.message_id = Some(message_id.clone());
        }
        let receipt_id = received.message_id.clone();
        received.command_id = command_id;
        received.by.clone_from(&by);
        received.refused = accepted.as_ref().err().map(|refusal| refusal.message.clone());
        self.keeper.body(RunBody::CommandReceived(Box::new(received)));
        self.keeper.flush();
        let note = match accepted {
            Ok(note) => note,
            Err(refusal) => return reply.send(Err(refusal)),
        };
        let synced = self.keeper.start_sync();
        let input = CommandInput {
            command,
            message_id,
            by,
        };
        self.step(Input::Command(input)).await;
        let receipt = Receipt {
            message_id: receipt_id,
            note,
            ..Receipt::default()
        };
        tokio::task::spawn_blocking(move || match synced.map(SyncWait::wait) {
            Some(true) => reply.send(Ok(receipt)),
            Some(false) | None => reply.send(Err(Refusal::new(
                RefusalCode::Other,
                "done, but it could not be saved; is the disk full?",
            ))),
        });
    }
}

/// What the journal keeps of a command.
fn received(command: &ControlCommand) -> CommandReceived {
    let mut received = CommandReceived {
        command: command.name().to_owned(),
        ..CommandReceived::default()
    };
    match command {
        ControlCommand::Send { text, mode } => {
            received.text = Some(text.clone());
            received.mode = Some(*mode);
        }
        ControlCommand::EditMessage { message_id, text } => {
            received.message_id = Some(message_id.clone());
            received.text = Some(text.clone());
        }
        ControlCommand::WithdrawMessage { message_id } => received.message_id = Some(message_id.clone()),
        ControlCommand::Answer { request, answer } => {
            received.request = Some(request.clone());
            match answer {
                AnswerChoice::Allow { grants } => received.grants.clone_from(grants),
                AnswerChoice::AllowAlways => {}
                AnswerChoice::AllowChanged { input } => {
                    received.changed_input = Some(agent_api::bounds::cut_text(input.to_string()));
                }
                AnswerChoice::Deny { reason } | AnswerChoice::DenyAndInterrupt { reason } => {
                    received.text =
                        (!reason.is_empty()).then(|| agent_api::bounds::cut_text(reason.as_str()));
                }
                AnswerChoice::Answers { answers } => {
                    received.text = Some(agent_api::bounds::cut_text(answers.join("\n")));
                }
            }
        }
        ControlCommand::SetModel { model } => received.model.clone_from(model),
        ControlCommand::SetPermissionMode { mode } => received.permission_mode = Some(*mode),
        ControlCommand::Status
        | ControlCommand::Interrupt
        | ControlCommand::Stop
        | ControlCommand::CloseInput
        | ControlCommand::TopUp(_)
        | ControlCommand::Kill => {}
    }
    received
}

#[cfg(test)]
mod tests {
    use super::received;
    use crate::control::{AnswerChoice, ControlCommand};
    use agent_api::RequestId;
    use serde_json::json;

    fn answered(answer: AnswerChoice) -> crate::record::CommandReceived {
        let request = RequestId::new("r");
        received(&ControlCommand::Answer { request, answer })
    }

    #[test]
    fn the_journal_keeps_what_was_answered() {
        let input = json!({"command": "echo safe"});
        let changed = answered(AnswerChoice::AllowChanged { input });
        assert_eq!(
            changed.changed_input.as_deref(),
            Some(r#"{"command":"echo safe"}"#)
        );
        let reason = "not now".to_owned();
        let denied = answered(AnswerChoice::Deny { reason });
        assert_eq!(denied.text.as_deref(), Some("not now"));
        let answers = vec!["Hello".to_owned(), "Red".to_owned()];
        let chosen = answered(AnswerChoice::Answers { answers });
        assert_eq!(chosen.text.as_deref(), Some("Hello\nRed"));
    }
}
