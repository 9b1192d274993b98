//! `Dialog`: the dialogs about a run, and what a key did to one.

use ralph_run::control::ControlCommand;
use ralph_run::model::RunModel;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use terminal_input::Key;

use crate::bindings::Keymap;
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
    /// `is_armed` is whether nothing was typed for a moment: what changes or ends a run is not confirmed by text that is
    /// being typed.
    pub(crate) fn key(&mut self, key: &Key, is_armed: bool, keymap: &Keymap, run: &RunModel) -> DialogStep {
        if matches!(key, Key::Mouse(_) | Key::Focused | Key::Unfocused) {
            return DialogStep::Stay;
        }
        match self {
            Self::Stop(dialog) => dialog.key(key, is_armed, keymap),
            Self::TopUp(dialog) => dialog.key(key, keymap),
            Self::Model(dialog) => dialog.key(key, keymap),
            Self::PermissionMode(dialog) => dialog.key(key, is_armed, keymap),
            Self::Queue(dialog) => dialog.key(key, keymap, run),
        }
    }

    /// Whether its keys are armed like those of a request.
    pub(crate) fn waits_for_quiet(&self) -> bool {
        matches!(self, Self::Stop(_) | Self::PermissionMode(_))
    }

    pub(crate) fn render(
        &mut self,
        run: &RunModel,
        is_armed: bool,
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) -> Option<Position> {
        match self {
            Self::Stop(dialog) => {
                dialog.render(is_armed, keymap, area, buffer, theme);
                None
            }
            Self::TopUp(dialog) => dialog.render(run, keymap, area, buffer, theme),
            Self::Model(dialog) => dialog.render(run, keymap, area, buffer, theme),
            Self::PermissionMode(dialog) => dialog.render(run, is_armed, keymap, area, buffer, theme),
            Self::Queue(dialog) => dialog.render(run, keymap, area, buffer, theme),
        }
    }
}
