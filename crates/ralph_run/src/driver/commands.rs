//! What people say to a run.

use super::run::Driver;
use crate::control::{ControlCommand, Incoming, Receipt, Refusal, RefusalCode, StatusReport};
use crate::journal::PendingSync;
use crate::machine::{Input, RunCommand};
use crate::record::{CommandReceived, RunBody};

impl Driver<'_> {
    pub(super) async fn on_command(&mut self, incoming: Incoming) {
        let Incoming {
            command_id,
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
            text: None,
            request: None,
            item: None,
            refused: None,
        };
        let accepted = self.accept(command, &mut noted);
        noted.refused = accepted.as_ref().err().map(|refusal| refusal.message.clone());
        self.keeper.body(RunBody::CommandReceived(noted));
        self.keeper.flush();
        match accepted {
            Ok((command, receipt)) => {
                let synced = self.keeper.start_sync();
                self.step(Input::Command(command)).await;
                // What was taken is on disk before the sender is told so.
                tokio::task::spawn_blocking(move || match synced.map(PendingSync::wait) {
                    Some(Ok(())) => reply.send(Ok(receipt)),
                    Some(Err(_)) | None => reply.send(Err(Refusal::new(
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
                if !self.spec.takes_messages {
                    return Err(Refusal::new(
                        RefusalCode::Unsupported,
                        "this run's agent takes no messages after its prompt",
                    ));
                }
                if text.trim().is_empty() {
                    return Err(Refusal::new(
                        RefusalCode::Invalid,
                        "an empty message: say something",
                    ));
                }
                if !self.machine.takes_messages() {
                    return Err(Refusal::new(
                        RefusalCode::InputClosed,
                        "the agent is ending and hears nothing more; the next iteration, if there is one, will",
                    ));
                }
                let id = agent_api::new_message_id();
                receipt.message_id = Some(id.clone());
                RunCommand::Send { id, text, mode }
            }
            ControlCommand::Answer { request, answer } => {
                noted.request = Some(request.clone());
                let answer = self.keeper.pending.resolve(&request, answer)?;
                RunCommand::Answer { request, answer }
            }
            ControlCommand::Status => {
                return Err(Refusal::new(RefusalCode::Invalid, "a question is no command"));
            }
            ControlCommand::Interrupt => RunCommand::Interrupt,
            ControlCommand::Stop => RunCommand::Stop,
            ControlCommand::CloseInput => {
                return Err(Refusal::new(
                    RefusalCode::Unsupported,
                    "a loop ends its agent's input by itself: interrupt or stop it",
                ));
            }
            ControlCommand::Kill => RunCommand::Kill,
            ControlCommand::SetModel { model } => RunCommand::SetModel(model),
            ControlCommand::SetPermissionMode { mode } => RunCommand::SetPermissionMode(mode.into()),
        };
        Ok((command, receipt))
    }

    fn status(&self) -> StatusReport {
        let status = &self.run_file.status;
        let state = serde_json::to_value(status.state).ok();
        StatusReport {
            state: state
                .as_ref()
                .and_then(|state| state.as_str())
                .unwrap_or_default()
                .to_owned(),
            activity: status.activity.clone(),
            iteration: status.iteration,
            attempt: status.attempt,
            seq: self.keeper.seq(),
            totals: status.totals,
            pending: self
                .keeper
                .pending
                .iter()
                .map(|pending| pending.id().clone())
                .collect(),
        }
    }
}
