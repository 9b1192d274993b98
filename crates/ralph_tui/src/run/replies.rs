//! Replies of the run to commands. A refusal brings back what was typed.

use ralph_run::control::ControlCommand;
use run_view::{one_line, permission_choice_words};

use super::header::run_title;
use super::screen::RunScreen;
use crate::app::Now;
use crate::dialog::{Dialog, ModelDialog, QueueDialog, TopUpDialog};
use crate::input::Reply;

/// How much of a run's title a notice has.
const NAME_COLUMNS: usize = 32;

impl RunScreen {
    pub(crate) fn reply(&mut self, reply: &Reply, now: Now) {
        match &reply.result {
            Ok(note) => {
                let note = note.as_deref().map(|note| one_line(note, 200));
                self.notice = note
                    .or_else(|| done(&reply.command))
                    .map(|note| self.about(&reply.command, note));
            }
            Err(reason) => {
                self.notice = Some(format!("refused: {}", one_line(reason, 200)));
                self.restore(&reply.command, reason, now);
            }
        }
    }

    /// What changes a run names it: the user may believe to be in another one.
    fn about(&self, command: &ControlCommand, note: String) -> String {
        match command {
            ControlCommand::SetModel { .. }
            | ControlCommand::SetPermissionMode { .. }
            | ControlCommand::TopUp(_)
            | ControlCommand::Interrupt
            | ControlCommand::Stop
            | ControlCommand::Kill => {
                let name = one_line(&run_title(&self.model, self.name()), NAME_COLUMNS);
                format!("{name}: {note}")
            }
            _ => note,
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
fn done(command: &ControlCommand) -> Option<String> {
    let text = match command {
        ControlCommand::Send { .. } => "message accepted",
        ControlCommand::EditMessage { .. } => "message changed",
        ControlCommand::WithdrawMessage { .. } => "message withdrawn",
        ControlCommand::Interrupt => "interrupting",
        ControlCommand::Stop => "stopping",
        ControlCommand::Kill => "killing",
        ControlCommand::SetModel { model } => {
            let model = model.as_deref().unwrap_or("default");
            return Some(format!("asked the agent for model {}", one_line(model, 60)));
        }
        ControlCommand::SetPermissionMode { mode } => {
            let words = permission_choice_words(*mode);
            return Some(format!("permission mode is now {words}"));
        }
        ControlCommand::TopUp(_) => "limits raised",
        ControlCommand::Answer { .. } | ControlCommand::CloseInput | ControlCommand::Status => return None,
    };
    Some(text.to_owned())
}
