//! Replies of the run to commands. A refusal brings back what was typed.

use ralph_run::control::ControlCommand;
use run_view::one_line;

use super::screen::RunScreen;
use crate::app::Now;
use crate::dialog::{Dialog, ModelDialog, QueueDialog, TopUpDialog};
use crate::input::Reply;

impl RunScreen {
    pub(crate) fn reply(&mut self, reply: &Reply, now: Now) {
        match &reply.result {
            Ok(note) => {
                let note = note.as_deref().map(|note| one_line(note, 200));
                self.notice = note.or_else(|| done(&reply.command).map(str::to_owned));
            }
            Err(reason) => {
                self.notice = Some(format!("refused: {}", one_line(reason, 200)));
                self.restore(&reply.command, reason, now);
            }
        }
    }

    fn restore(&mut self, command: &ControlCommand, reason: &str, now: Now) {
        let is_free = self.dialog.is_none();
        match command {
            ControlCommand::Send { text, mode } => {
                // It must not take the keys of an answer that is being given.
                let is_answering = self.prompt.as_ref().is_some_and(|prompt| !prompt.is_answered());
                if self.composer.restore(text, *mode) && is_free && !is_answering {
                    self.composer.is_open = true;
                }
            }
            ControlCommand::Answer { request, .. } => {
                if let Some(prompt) = self.prompt.as_mut().filter(|prompt| prompt.id() == request) {
                    prompt.reopen(reason, now.instant);
                }
            }
            ControlCommand::EditMessage { message_id, text } => {
                let is_queue = matches!(self.dialog, Some(Dialog::Queue(_)));
                if is_free || is_queue {
                    self.dialog = Some(Dialog::Queue(QueueDialog::refused(message_id, text, reason)));
                }
            }
            ControlCommand::TopUp(amounts) if is_free => {
                self.dialog = Some(Dialog::TopUp(TopUpDialog::refused(amounts, reason)));
            }
            ControlCommand::SetModel { model } if is_free => {
                self.dialog = Some(Dialog::Model(ModelDialog::refused(model.as_deref(), reason)));
            }
            ControlCommand::TopUp(_)
            | ControlCommand::SetModel { .. }
            | ControlCommand::WithdrawMessage { .. }
            | ControlCommand::Interrupt
            | ControlCommand::Stop
            | ControlCommand::Kill
            | ControlCommand::CloseInput
            | ControlCommand::SetPermissionMode { .. }
            | ControlCommand::Status => {}
        }
    }
}

/// What to say about a command that was accepted without a note. Some show by themselves.
fn done(command: &ControlCommand) -> Option<&'static str> {
    match command {
        ControlCommand::Send { .. } => Some("message accepted"),
        ControlCommand::EditMessage { .. } => Some("message changed"),
        ControlCommand::WithdrawMessage { .. } => Some("message withdrawn"),
        ControlCommand::Interrupt => Some("interrupting"),
        ControlCommand::Stop => Some("stopping"),
        ControlCommand::Kill => Some("killing"),
        ControlCommand::SetModel { .. } => Some("model changed"),
        ControlCommand::SetPermissionMode { .. } => Some("permission mode changed"),
        ControlCommand::TopUp(_) => Some("limits raised"),
        ControlCommand::Answer { .. } | ControlCommand::CloseInput | ControlCommand::Status => None,
    }
}
