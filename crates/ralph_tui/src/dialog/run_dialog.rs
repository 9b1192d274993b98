//! `Dialog`: the dialogs about a run, and what a key did to one.

use ralph_run::control::ControlCommand;
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use terminal_input::Key;

use crate::theme::Theme;

use super::{ModelDialog, PermissionModeDialog, QueueDialog, StopDialog, TopUpDialog};

/// A dialog about a run.
#[derive(Debug)]
pub(crate) enum Dialog {
    Stop(StopDialog),
    TopUp(TopUpDialog),
    Model(ModelDialog),
    PermissionMode(PermissionModeDialog),
    Queue(QueueDialog),
}

/// What a key did to a dialog.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DialogStep {
    Stay,
    Close,
    /// The dialog is done.
    Command(ControlCommand),
    /// The dialog stays open.
    CommandAndStay(ControlCommand),
}

impl Dialog {
    pub(crate) fn key(&mut self, key: &Key, run: &RunModel) -> DialogStep {
        if matches!(key, Key::Mouse(_) | Key::Focused | Key::Unfocused) {
            return DialogStep::Stay;
        }
        match self {
            Self::Stop(dialog) => dialog.key(key),
            Self::TopUp(dialog) => dialog.key(key),
            Self::Model(dialog) => dialog.key(key),
            Self::PermissionMode(dialog) => dialog.key(key),
            Self::Queue(dialog) => dialog.key(key, run),
        }
    }

    pub(crate) fn render(
        &mut self,
        run: &RunModel,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        match self {
            Self::Stop(dialog) => {
                dialog.render(area, buffer, theme);
                None
            }
            Self::TopUp(dialog) => dialog.render(area, buffer, theme),
            Self::Model(dialog) => dialog.render(area, buffer, theme),
            Self::PermissionMode(dialog) => dialog.render(run, area, buffer, theme),
            Self::Queue(dialog) => dialog.render(run, area, buffer, theme),
        }
    }
}
