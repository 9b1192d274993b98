//! What people say to a run.

use jiff::Timestamp;

use super::record_keeper::SyncWait;
use super::run::Driver;
use crate::control::{ControlCommand, Incoming, Receipt, Refusal, RefusalCode, SendMode};
use crate::machine::{Input, MessagePlace, RunCommand};
use crate::record::{CommandReceived, RunBody};

impl Driver<'_> {
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
        let name = command.name();
        let mut noted = CommandReceived {
            command_id,
            command: name.to_owned(),
            by,
            ..CommandReceived::default()
        };
        let accepted = self.accept(command, &mut noted);
        noted.refused = accepted.as_ref().err().map(|refusal| refusal.message.clone());
        if let (Ok(_), Some(request)) = (&accepted, &noted.request) {
            // Whoever comes second is told at once, not when the agent has taken the first.
            self.keeper
                .pending
                .note_answer(request, noted.by.as_deref(), Timestamp::now());
        }
        self.keeper.body(RunBody::CommandReceived(Box::new(noted)));
        self.keeper.flush();
        match accepted {
            Ok((command, receipt)) => {
                let synced = self.keeper.start_sync();
                self.step(Input::Command(command)).await;
                // What was taken is on disk before the sender is told so.
                tokio::task::spawn_blocking(move || match synced.map(SyncWait::wait) {
                    Some(true) => reply.send(Ok(receipt)),
                    Some(false) | None => reply.send(Err(Refusal::new(
                        RefusalCode::Other,
                        "it was done, but could not be written down: is the disk full?",
                    ))),
                });
            }
            Err(refusal) => reply.send(Err(refusal)),
        }
    }

    fn accept(
        &self,
        command: ControlCommand,
        noted: &mut CommandReceived,
    ) -> Result<(RunCommand, Receipt), Refusal> {
        let mut receipt = Receipt::default();
        let command = match command {
            ControlCommand::Send { text, mode } => {
                noted.text = Some(text.clone());
                noted.mode = Some(mode);
                self.check_message(&text, mode)?;
                let id = agent_api::new_message_id();
                noted.message_id = Some(id.clone());
                receipt.message_id = Some(id.clone());
                RunCommand::Send { id, text, mode }
            }
            ControlCommand::EditMessage { message_id: id, text } => {
                noted.message_id = Some(id.clone());
                noted.text = Some(text.clone());
                self.check_waiting(&id)?;
                check_text(&text)?;
                receipt.message_id = Some(id.clone());
                RunCommand::EditMessage { id, text }
            }
            ControlCommand::WithdrawMessage { message_id: id } => {
                noted.message_id = Some(id.clone());
                self.check_waiting(&id)?;
                receipt.message_id = Some(id.clone());
                RunCommand::WithdrawMessage { id }
            }
            ControlCommand::Answer { request, answer } => {
                noted.request = Some(request.clone());
                let answer = self.keeper.pending.resolve(&request, answer)?;
                RunCommand::Answer { request, answer }
            }
            ControlCommand::Status => {
                return Err(Refusal::new(RefusalCode::Invalid, "a question is no command"));
            }
            ControlCommand::Interrupt => {
                if self.machine.is_idle() {
                    receipt.note = Some("nothing goes on: it waits for a message".to_owned());
                }
                RunCommand::Interrupt
            }
            ControlCommand::Stop => RunCommand::Stop,
            ControlCommand::CloseInput if self.spec.plan.session.is_some() => RunCommand::CloseInput,
            ControlCommand::CloseInput => {
                return Err(Refusal::new(
                    RefusalCode::Unsupported,
                    "a loop ends its agent's input by itself: interrupt or stop it",
                ));
            }
            ControlCommand::Kill => RunCommand::Kill,
            ControlCommand::SetModel { model } => {
                noted.model.clone_from(&model);
                RunCommand::SetModel(model)
            }
            ControlCommand::SetPermissionMode { mode } => {
                noted.permission_mode = Some(mode);
                RunCommand::SetPermissionMode(mode.into())
            }
        };
        Ok((command, receipt))
    }

    /// Whether a message can be taken.
    fn check_message(&self, text: &str, mode: SendMode) -> Result<(), Refusal> {
        if !self.spec.takes_messages {
            return Err(Refusal::new(
                RefusalCode::Unsupported,
                "this run's agent takes no messages after its prompt",
            ));
        }
        check_text(text)?;
        if !self.machine.takes_messages() {
            let what = if self.spec.plan.session.is_some() {
                "the session is ending and hears nothing more; it can be resumed when it is over"
            } else {
                "the agent is ending and hears nothing more; the next iteration, if there is one, will"
            };
            return Err(Refusal::new(RefusalCode::InputClosed, what));
        }
        if mode == SendMode::Queue && self.machine.is_queue_full() {
            let what = "too many messages wait already: withdraw some, or wait";
            return Err(Refusal::new(RefusalCode::Busy, what));
        }
        Ok(())
    }

    /// Whether a message can still be changed.
    fn check_waiting(&self, id: &str) -> Result<(), Refusal> {
        match self.machine.place_of(id) {
            MessagePlace::Waiting => Ok(()),
            MessagePlace::Sent => Err(Refusal::new(
                RefusalCode::AlreadySent,
                "the agent was given this message already: send another one",
            )),
            MessagePlace::Unknown => Err(Refusal::new(
                RefusalCode::NoSuchMessage,
                "no message of this run has this id, or it was taken back",
            )),
        }
    }
}

fn check_text(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::new(
            RefusalCode::Invalid,
            "an empty message: say something",
        ));
    }
    Ok(())
}
