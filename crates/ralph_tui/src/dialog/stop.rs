//! `StopDialog`: asks before a run is ended.

use ralph_run::control::ControlCommand;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use terminal_input::Key;

use super::{Anchor, BoxFrame, DialogStep};
use crate::bindings::{Action, Context, Keymap};
use crate::theme::{Role, Theme};
use crate::widgets::put;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopKind {
    Stop,
    /// Of a loop, which ends with its turn.
    Interrupt,
}

#[derive(Debug)]
pub(crate) struct StopDialog {
    kind: StopKind,
    title: Option<String>,
}

impl StopDialog {
    pub(crate) fn new(kind: StopKind) -> Self {
        Self { kind, title: None }
    }

    /// Of a run that is not on the screen. `name` is safe for a terminal.
    pub(crate) fn of_run(name: &str) -> Self {
        Self {
            kind: StopKind::Stop,
            title: Some(format!("Stop run {name}?")),
        }
    }

    /// Only the key that changes nothing works before the dialog is armed.
    pub(crate) fn key(&self, key: &Key, is_armed: bool, keymap: &Keymap) -> DialogStep {
        match (self.kind, keymap.action(Context::Stop, key)) {
            (_, Some(Action::ConfirmStop | Action::Kill)) if !is_armed => DialogStep::Stay,
            (StopKind::Stop, Some(Action::ConfirmStop)) => DialogStep::Command(ControlCommand::Stop),
            (StopKind::Stop, Some(Action::Kill)) => DialogStep::Command(ControlCommand::Kill),
            (StopKind::Interrupt, Some(Action::ConfirmStop)) => {
                DialogStep::Command(ControlCommand::Interrupt)
            }
            (_, Some(Action::Close)) => DialogStep::Close,
            _ => DialogStep::Stay,
        }
    }

    pub(crate) fn render(
        &self,
        is_armed: bool,
        keymap: &Keymap,
        area: Rect,
        buffer: &mut Buffer,
        theme: Theme,
    ) {
        let (title, rows, keys) = match self.kind {
            StopKind::Stop => (
                "Stop the run?",
                [
                    "Stopping lets the agent finish cleanly.",
                    "Killing ends its process at once.",
                ],
                keymap.hints(Context::Stop),
            ),
            StopKind::Interrupt => (
                "Interrupt the agent?",
                [
                    "This run is a loop: interrupting the agent ends the run.",
                    "To give it a hint instead, send a message.",
                ],
                keymap
                    .hints_of(Context::Stop, |action| action != Action::Kill)
                    .replacen(" stop", " interrupt", 1),
            ),
        };
        let frame = BoxFrame {
            title: self.title.as_deref().unwrap_or(title),
            keys: if is_armed { &keys } else { "" },
            anchor: Anchor::Center,
            columns: 56,
            rows: rows.len(),
        };
        let inner = frame.render(area, buffer, theme);
        for (row, text) in (0..).zip(rows) {
            let role = if row == 0 { Role::Strong } else { Role::Faint };
            put(buffer, inner, row, text, theme.style(role));
        }
    }
}
